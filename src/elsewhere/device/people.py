"""Days of many people from a file, for simulations: each once, or drawn with replacement."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from elsewhere.device.matching import Matcher, people_of
from elsewhere.device.points import read_points
from elsewhere.errors import InputError
from elsewhere.mechanism.pick import uniform_below
from elsewhere.randomness import Randomness
from elsewhere.trajectories import Trajectory
from elsewhere.world.world import World


def read_days(
    path: Path, world: World, randomness: Randomness, people: int | None = None
) -> list[tuple[dt.date, Trajectory]]:
    """Date and trajectory of each person's day; with ``people``, so many drawn with replacement. PRIVATE."""
    matcher = Matcher(world.places, world.clock, randomness)
    days = [
        (person.date, person.trajectory)
        for person in people_of(read_points(path, world.clock), matcher, path)
    ]
    if not days:
        raise InputError(str(path), "has no trajectory")
    if people is None:
        return days
    return [days[row] for row in uniform_below(len(days), people, randomness).tolist()]
