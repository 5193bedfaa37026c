"""True days whose steps cannot be travelled in their time: shifted before they are shared, if so wished.

What is done to a person's own data before the draw costs nothing. Without it days are shared as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from elsewhere.days.smoothing import settle_days
from elsewhere.device.matching import Person
from elsewhere.trajectories import Trajectories, Trajectory, in_columns
from elsewhere.world.place_world import place_world
from elsewhere.world.world import World

SHIFTED = "days whose times were shifted until every step can be travelled"
_STAYED = 3


def smoothed_days(days: Trajectories, world: World) -> tuple[Trajectories, int]:
    """The same days with the least total shift of their times, and how many were shifted.

    A day stays as it was if no times fit, or a place is unknown.

    Paper: section 6.1.5 (sss:pre-processing-costs), "smoothing operations can be performed".
    """
    shifted, times, places = 0, days.times.copy(), place_world(world)
    is_known = np.ones(len(days), dtype=np.bool_)
    is_known[days.owners[days.places >= len(world.places)]] = False
    for length in sorted(set(days.lengths.tolist())):
        rows = np.flatnonzero(is_known & (days.lengths == length))
        at = days.starts[rows][:, None] + np.arange(length)
        settled = np.minimum(days.times[at], world.clock.timesteps - 1).astype(np.int32)
        ways = settle_days(places, days.places[at], settled)
        is_settled = (ways != 0) & (ways != _STAYED)
        times[at[is_settled]] = settled[is_settled]
        shifted += int(is_settled.sum())
    return replace(days, times=times), shifted


def smoothed_people(people: Iterable[Person], world: World, counts: Counter[str]) -> Iterator[Person]:
    """The same people with feasible days, one by one."""
    for person in people:
        trajectory = smoothed(person.trajectory, world)
        counts[SHIFTED] += trajectory != person.trajectory
        yield replace(person, trajectory=trajectory)


def smoothed(trajectory: Trajectory, world: World) -> Trajectory:
    """A day with the least total shift of its times."""
    days, shifted = smoothed_days(in_columns([trajectory], world.place_index), world)
    ids = [visit.place_id for visit in trajectory]
    return Trajectory(zip(ids, days.times.tolist(), strict=True)) if shifted else trajectory
