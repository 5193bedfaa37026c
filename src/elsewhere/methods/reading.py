"""Trajectories of a file as a list."""

from __future__ import annotations

from pathlib import Path

from elsewhere.io.matching import Matcher, people_of
from elsewhere.io.points import read_points
from elsewhere.randomness import SystemRandomness
from elsewhere.trajectories import Trajectory
from elsewhere.world.world import World


def read_trajectories(path: str | Path, *, world: World) -> list[Trajectory]:
    """All trajectories, in the order of the file, matched and cleaned for ``world``."""
    matcher = Matcher(world.places, world.clock, SystemRandomness())
    points = read_points(Path(path), world.clock)
    return [person.trajectory for person in people_of(points, matcher, Path(path))]
