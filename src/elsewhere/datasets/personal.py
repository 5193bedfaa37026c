"""A person's own files as a data set on the places of a world. PRIVATE."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from elsewhere.datasets.bundle import Dataset
from elsewhere.datasets.given_places import places_given
from elsewhere.datasets.notes import note
from elsewhere.device.ledger_file import owner_of, user_ledger
from elsewhere.device.matching import Person
from elsewhere.device.owner import own_uid
from elsewhere.device.personal import DayMaker, read_own
from elsewhere.progress import Progress, no_progress
from elsewhere.world.world import World


def read_personal(
    raw: Sequence[Path], *, world: World, ledger: Path | None = None, progress: Progress = no_progress
) -> Dataset:
    """A person's files as a data set on the places of a world: every day on which they were somewhere.

    All rows have the uid of this device's ledger, so that `perturb` charges them to it.
    """
    records, maker = read_own(raw, world, progress), DayMaker(world)
    days = {date: maker.day(spots) for date, spots in records.spots(world.clock.timestep_minutes).items()}
    uid = own_uid(owner_of(ledger or user_ledger()))
    title, what, terms = note("personal")
    given = places_given(world, None, None)
    return Dataset(
        title=title,
        what=what,
        terms=terms,
        places=given.places,
        tree=given.tree,
        days=[Person(uid=uid, tid=date.isoformat(), date=date, trajectory=day) for date, day in days.items()],
        clock=given.clock,
        settings=given.settings,
        steps=maker.counts,
        is_private=True,
    )
