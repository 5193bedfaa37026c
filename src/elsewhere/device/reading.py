"""Trajectories of a file as a list."""

from __future__ import annotations

import datetime as dt
from itertools import groupby
from pathlib import Path

from elsewhere.days.visits import Days
from elsewhere.device.matching import Matcher, people_of
from elsewhere.device.owner import NO_OWNER, NOT_SAID_WHOSE
from elsewhere.device.points import Point, read_points
from elsewhere.errors import InputError
from elsewhere.randomness import SystemRandomness
from elsewhere.trajectories import SharedTrajectory, Trajectory
from elsewhere.world.world import World


def read_trajectories(path: str | Path, *, world: World) -> list[Trajectory]:
    """All trajectories of a file, matched and cleaned for a world.

    Parameters
    ----------
    path
        CSV, Parquet or GeoJSON with the columns ``uid, tid, datetime`` and ``place_id`` or ``lat, lng``.
    world
        Points without a known place go to its nearest place within 100 m.

    Returns
    -------
    list of Trajectory
        In the order of the file. PRIVATE.

    Raises
    ------
    InputError
        With every fault of the file, by row and column; private values are never quoted.

    Examples
    --------
    >>> days = ew.read_trajectories("trajectories.csv", world=world)
    >>> days[0]
    <private Trajectory of 2 visits>
    """
    matcher = Matcher(world.places, world.clock, SystemRandomness())
    points = read_points(Path(path), world.clock)
    return [person.trajectory for person in people_of(points, matcher, Path(path))]


def trajectories_of(world: World, days: Days) -> list[Trajectory]:
    """Made-up days as if people had had them."""
    ids = world.places.ids
    return [
        Trajectory(zip([ids[place] for place in places], times, strict=True)) for places, times in days.rows()
    ]


def read_shared(path: str | Path, world: World) -> list[SharedTrajectory]:
    """Shared trajectories of a file that `perturb` wrote, as they are: nothing is matched or cleaned."""
    return list(_shared_by_day(Path(path), world).values())


def _shared_by_day(path: Path, world: World) -> dict[tuple[str, dt.date], SharedTrajectory]:
    """Shared days by person and date."""
    minutes = world.clock.timestep_minutes

    def visit(point: Point) -> tuple[str, int]:
        return point.place_id, (point.moment.hour * 60 + point.moment.minute) // minutes

    def key(point: Point) -> tuple[str, dt.date]:
        return point.uid, point.moment.date()

    found: dict[tuple[str, dt.date], SharedTrajectory] = {}
    for (uid, date), group in groupby(read_points(path, world.clock), key=key):
        if uid == NO_OWNER:
            raise InputError(str(path), NOT_SAID_WHOSE)
        if (uid, date) in found:
            raise InputError(str(path), "rows of one person's day are apart: sort the file by uid and time")
        found[uid, date] = SharedTrajectory(sorted(map(visit, group), key=lambda one: one[1]))
    return found


def read_epsilons(shared: str | Path, world: World) -> list[str]:
    """The ε of each shared day, in the order of `read_matching`; blank where the file does not say."""
    found: dict[tuple[str, dt.date], str] = {}
    for point in read_points(Path(shared), world.clock):
        found.setdefault((point.uid, point.moment.date()), point.epsilon)
    return list(found.values())


def read_matching(
    real: str | Path, shared: str | Path, world: World
) -> tuple[list[Trajectory], list[SharedTrajectory]]:
    """True trajectories and what was shared of them, matched by person and date."""
    matcher = Matcher(world.places, world.clock, SystemRandomness())
    points = read_points(Path(real), world.clock)
    people = {
        (person.uid, person.date): person.trajectory for person in people_of(points, matcher, Path(real))
    }
    given = _shared_by_day(Path(shared), world)
    strangers = len(given.keys() - people.keys())
    if strangers:
        raise InputError(
            str(shared),
            f"{strangers:,} of {len(given):,} days are not those of {real} (by uid and date)",
        )
    return [people[key] for key in given], list(given.values())
