"""What is counted while a file is perturbed. It depends on what was true: for the device's own screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from elsewhere.arrays import Counts, Indices
from elsewhere.compiled import compiled
from elsewhere.knowledge.travel import is_reachable
from elsewhere.methods.sharing import Sharing
from elsewhere.trajectories import Trajectories, Trajectory
from elsewhere.world.place_world import PlaceWorld, least_steps, place_world
from elsewhere.world.world import World

LONG_DAYS = "days with more visits than any shared day can have"


def counts_of(days: Trajectories, shared_visits: int, method: Sharing, matched: Counter[str]) -> Counter[str]:
    """What had to be done to true days, and what they are like: it never leaves the device."""
    counts: Counter[str] = Counter()
    if not method.hides_length:
        counts["visits"] = len(days.places)
    counts["shared visits"] = shared_visits
    counts.update(matched)
    matched.clear()
    counts.update(irregularities_in(days, method.world))
    most = method.facts().most_visits
    if most is not None:
        counts[LONG_DAYS] += int((days.lengths > most).sum())
    return counts


def irregularities_in(days: Trajectories, world: World) -> dict[str, int]:
    """How often `irregularities` finds what in many days."""
    unknown = len(world.places)
    steps = np.minimum(days.times, world.clock.timesteps - 1)
    is_known = days.places < unknown
    is_open = world.is_open[np.minimum(days.places, unknown - 1), steps]
    return {
        "visits to unknown places": int((~is_known).sum()),
        "visits to closed places": int((is_known & ~is_open).sum()),
        "steps too far for their time": int(
            _count_far(place_world(world), days.places, steps, days.owners, unknown)
        ),
    }


@compiled
def _count_far(world: PlaceWorld, places: Indices, steps: Indices, owners: Counts, unknown: int) -> int:
    """Steps between known places of the same day that take longer than there is time."""
    count = 0
    for i in range(1, len(places)):
        if owners[i] == owners[i - 1] and places[i] < unknown and places[i - 1] < unknown:
            needed = least_steps(world, places[i - 1], places[i], steps[i - 1])
            count += steps[i] - steps[i - 1] < needed
    return count


def irregularities(trajectory: Trajectory, world: World) -> Iterator[str]:
    """What in a trajectory does not fit the world; it is projected, never refused (R10)."""
    rows = [world.place_index.get(visit.place_id, -1) for visit in trajectory]
    steps = [min(visit.timestep, world.clock.timesteps - 1) for visit in trajectory]
    for row, step in zip(rows, steps, strict=True):
        if row < 0:
            yield "visits to unknown places"
        elif not world.is_open[row, step]:
            yield "visits to closed places"
    for (origin, departure), (destination, arrival) in pairwise(zip(rows, steps, strict=True)):
        if (
            origin >= 0
            and destination >= 0
            and not is_reachable(
                world.travel,
                world.clock,
                origin=origin,
                departure=departure,
                destination=destination,
                arrival=arrival,
            )
        ):
            yield "steps too far for their time"
