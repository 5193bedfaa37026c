"""Place reconstruction: places and times inside a chain of regions, uniformly among all feasible ones.

The paper draws places and times at random until every step is reachable. What it accepts is uniform
over the feasible sequences, so after a few quick tries the same distribution is sampled by counting:
how many ways lead on from each place and timestep. A count of zero is a proof that there is none.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Floats, Indices, Words
from elsewhere.compiled import compiled
from elsewhere.days.smoothing import is_feasible, smooth_times, stay
from elsewhere.randomness import next_below, next_weighted
from elsewhere.world.place_world import PlaceWorld, rank_of, region_hours, steps_block, timestep_at

QUICK_TRIES = 32
_FEW_TRIES = 4
_CHEAP_WORK = 100_000
# How a sequence was found.
TRIED, COUNTED, SMOOTHED_OPEN, SMOOTHED, STAYED = 0, 1, 2, 3, 4


@compiled
def place_paths(paths: Indices, places: PlaceWorld, seeds: Words) -> tuple[Indices, Indices, Indices]:
    """Places and timesteps for each chain of regions, and how each was found."""
    chosen = np.empty(paths.shape, dtype=np.int32)
    times = np.empty(paths.shape, dtype=np.int32)
    ways = np.empty(len(paths), dtype=np.int32)
    for row in range(len(paths)):
        state = seeds[row : row + 1].copy()
        ways[row] = place_path(paths[row], places, state, chosen[row], times[row])
    return chosen, times, ways


@compiled
def place_path(path: Indices, places: PlaceWorld, state: Words, chosen: Indices, times: Indices) -> int:
    """Fill ``chosen`` and ``times``; returns how.

    Paper: section 5.6 (ss:poi-reconstruct).
    Deviation: place-counting — after a few tries, exact counting samples the same distribution.
    """
    for _ in range(QUICK_TRIES if _counting_work(path, places) > _CHEAP_WORK else _FEW_TRIES):
        sample_anything(path, places, state, chosen, times)
        if is_feasible(places, chosen, times):
            return TRIED
    if sample_by_counting(path, places, state, chosen, times):
        return COUNTED
    for _ in range(QUICK_TRIES):
        sample_anything(path, places, state, chosen, times)
        if smooth_times(places, chosen, times, True):
            return SMOOTHED_OPEN
    for _ in range(QUICK_TRIES):
        sample_anything(path, places, state, chosen, times)
        if smooth_times(places, chosen, times, False):
            return SMOOTHED
    stay(places, chosen, times)
    return STAYED


@compiled
def sample_anything(path: Indices, places: PlaceWorld, state: Words, chosen: Indices, times: Indices) -> None:
    """An open place and timestep of each region, uniformly and independently."""
    for i in range(len(path)):
        first, last = places.offsets[path[i]], places.offsets[path[i] + 1]
        hours = region_hours(places, path[i])
        while True:
            place = places.members[first + next_below(state, last - first)]
            time = timestep_at(hours, next_below(state, hours.steps))
            if places.is_open[place, time]:
                break
        chosen[i], times[i] = place, time


@compiled
def _members(places: PlaceWorld, region: int) -> Indices:
    return places.members[places.offsets[region] : places.offsets[region + 1]]


@compiled
def _counting_work(path: Indices, places: PlaceWorld) -> int:
    """About how many additions counting takes."""
    work = 0
    for i in range(len(path) - 1):
        here, there = path[i], path[i + 1]
        sizes = (places.offsets[here + 1] - places.offsets[here]) * (places.ends[here] - places.starts[here])
        work += sizes * (places.offsets[there + 1] - places.offsets[there])
    return work


@compiled
def _ways_on(path: Indices, places: PlaceWorld) -> tuple[Floats, NDArray[np.int64]]:
    """For each position, timestep and member of its region, how many feasible sequences start there.

    β_i(p, t) = Σ_p' C_{i+1}(p', t + steps(p, p', t)), with C the sum of β over all later timesteps.
    """
    sizes = np.zeros(len(path) + 1, dtype=np.int64)
    for i in range(len(path)):
        span = places.ends[path[i]] - places.starts[path[i]]
        sizes[i + 1] = sizes[i] + span * len(_members(places, path[i]))
    ways = np.zeros(sizes[-1])
    later = np.ones((0, 0))
    for i in range(len(path) - 1, -1, -1):
        members = _members(places, path[i])
        hours = region_hours(places, path[i])
        span = hours.steps
        grid = ways[sizes[i] : sizes[i + 1]].reshape(span, len(members))
        if i < len(path) - 1:
            _count_ways(places, path[i], path[i + 1], later, grid)
        else:
            grid[:] = 1.0
        for step in range(span):
            timestep = timestep_at(hours, step)
            for member in range(len(members)):
                if not places.is_open[members[member], timestep]:
                    grid[step, member] = 0.0
        later = grid.copy()
        for step in range(span - 2, -1, -1):
            later[step] += later[step + 1]
    return ways, sizes


@compiled
def _count_ways(places: PlaceWorld, here: int, there: int, later: Floats, grid: Floats) -> None:
    """Add up, for each timestep and member of a region, the ways that go on into the region ``there``."""
    members, destinations = _members(places, here), _members(places, there)
    hours, after, span = region_hours(places, here), region_hours(places, there), len(later)
    block = np.zeros((0, 0), dtype=np.uint16)
    profile = -1
    for step in range(len(grid)):
        departure = timestep_at(hours, step)
        if places.profile_of_timestep[departure] != profile:
            profile = places.profile_of_timestep[departure]
            block = steps_block(places, members, destinations, departure)
        for member in range(len(members)):
            total = 0.0
            for other in range(len(destinations)):
                arrival = rank_of(after, departure + int(block[member, other]))
                if arrival < span:
                    total += later[arrival, other]
            grid[step, member] = total


@compiled
def sample_by_counting(
    path: Indices, places: PlaceWorld, state: Words, chosen: Indices, times: Indices
) -> bool:
    """A feasible sequence, uniformly among all of them; False if there is none."""
    ways, sizes = _ways_on(path, places)
    for i in range(len(path)):
        members = _members(places, path[i])
        hours = region_hours(places, path[i])
        weights = ways[sizes[i] : sizes[i + 1]].copy()
        if i > 0:
            steps = steps_block(places, chosen[i - 1 : i], members, times[i - 1])[0]
            for cell in range(len(weights)):
                gap = timestep_at(hours, cell // len(members)) - times[i - 1]
                if gap < np.int64(steps[cell % len(members)]):
                    weights[cell] = 0.0
        if weights.sum() <= 0:
            return False
        cell = next_weighted(state, weights)
        chosen[i] = members[cell % len(members)]
        times[i] = timestep_at(hours, cell // len(members))
    return True
