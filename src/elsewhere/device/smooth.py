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
from elsewhere.trajectories import Trajectory
from elsewhere.world.place_world import PlaceWorld, place_world
from elsewhere.world.world import World

SHIFTED = "days whose times were shifted until every step can be travelled"
_STAYED = 3


def smoothed_people(people: Iterable[Person], world: World, counts: Counter[str]) -> Iterator[Person]:
    """The same people with feasible days, as far as shifting times makes them so.

    Paper: section 6.1.5 (sss:pre-processing-costs), "smoothing operations can be performed".
    """
    places = place_world(world)
    for person in people:
        trajectory = smoothed(person.trajectory, world, places)
        counts[SHIFTED] += trajectory != person.trajectory
        yield replace(person, trajectory=trajectory)


def smoothed(trajectory: Trajectory, world: World, places: PlaceWorld) -> Trajectory:
    """A day with the least total shift of its times; as it was if no times fit, or a place is unknown."""
    rows = [world.place_index.get(visit.place_id, -1) for visit in trajectory]
    if min(rows) < 0:
        return trajectory
    chosen = np.array([rows], dtype=np.int32)
    last = world.clock.timesteps - 1
    times = np.array([[min(visit.timestep, last) for visit in trajectory]], dtype=np.int32)
    if settle_days(places, chosen, times)[0] in {0, _STAYED}:
        return trajectory
    ids = [visit.place_id for visit in trajectory]
    return Trajectory(zip(ids, times[0].tolist(), strict=True))
