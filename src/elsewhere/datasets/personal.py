"""A person's own files as a data set on the places of a world. PRIVATE."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from elsewhere.datasets.bundle import Dataset
from elsewhere.datasets.notes import note
from elsewhere.device.exports import Stay
from elsewhere.device.matching import Person
from elsewhere.device.personal import DayMaker, stays_of
from elsewhere.progress import Progress, no_progress
from elsewhere.world.settings import SpeedTravel
from elsewhere.world.world import World


def read_personal(raw: Sequence[Path], *, world: World, progress: Progress = no_progress) -> Dataset:
    """A person's files as a data set on the places of a world: every day with a stay."""
    maker = DayMaker(world)
    stays: list[Stay] = []
    for number, path in enumerate(raw, start=1):
        stays += stays_of(path, world)
        progress(number, len(raw))
    days = maker.days(stays)
    title, what, terms = note("personal")
    travel = world.settings.travel
    return Dataset(
        title=title,
        what=what,
        terms=terms,
        places=[world.places.row(place, world.tree) for place in range(len(world.places))],
        tree=world.tree,
        days=[
            Person(uid="me", tid=f"me-{date:%Y%m%d}", date=date, trajectory=day) for date, day in days.items()
        ],
        clock=world.clock,
        settings={"speed_kmh": travel.speed_kmh if isinstance(travel, SpeedTravel) else 8},
        steps=maker.counts,
    )
