"""Trajectories of a file as a list."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from elsewhere.io.matching import Matcher, people_of
from elsewhere.io.points import read_points
from elsewhere.randomness import SystemRandomness
from elsewhere.trajectories import SharedTrajectory, Trajectory
from elsewhere.world.world import World


def read_trajectories(path: str | Path, *, world: World) -> list[Trajectory]:
    """All trajectories, in the order of the file, matched and cleaned for ``world``."""
    matcher = Matcher(world.places, world.clock, SystemRandomness())
    points = read_points(Path(path), world.clock)
    return [person.trajectory for person in people_of(points, matcher, Path(path))]


def read_shared(path: str | Path, world: World) -> list[SharedTrajectory]:
    """Shared trajectories of a file that `perturb` wrote, as they are: nothing is matched or cleaned."""
    points = read_points(Path(path), world.clock)
    shared = []
    for _, group in groupby(points, key=lambda point: (point.uid, point.tid)):
        minutes = world.clock.timestep_minutes
        shared.append(
            SharedTrajectory(
                (point.place_id, (point.moment.hour * 60 + point.moment.minute) // minutes) for point in group
            )
        )
    return shared
