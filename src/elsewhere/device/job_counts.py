"""What is counted while a file is perturbed. It depends on what was true: for the device's own screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from elsewhere.device.matching import Matcher
from elsewhere.knowledge.travel import is_reachable
from elsewhere.methods.sharing import Sharing
from elsewhere.trajectories import SharedTrajectory, Trajectory
from elsewhere.world.world import World

LONG_DAYS = "days with more visits than any shared day can have"


def counts_of(
    trajectories: Sequence[Trajectory], shared: Sequence[SharedTrajectory], method: Sharing, matcher: Matcher
) -> Counter[str]:
    """What had to be done to true days, and what they are like: it never leaves the device."""
    counts: Counter[str] = Counter()
    if not method.hides_length:
        counts["visits"] = sum(map(len, trajectories))
    counts["shared visits"] = sum(map(len, shared))
    counts.update(matcher.counts)
    matcher.counts.clear()
    most = method.facts().most_visits
    for trajectory in trajectories:
        counts.update(irregularities(trajectory, method.world))
        counts[LONG_DAYS] += most is not None and len(trajectory) > most
    return counts


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
