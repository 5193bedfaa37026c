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
from elsewhere.world.place_world import PlaceWorld, RegionHours, region_hours, steps_block, timestep_at

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
    """For each position, member of its region and timestep, how many feasible sequences start there.

    β_i(p, t) = Σ_p' C_{i+1}(p', t + steps(p, p', t)), with C the sum of β over all later timesteps. Empty if
    there is no sequence at all.
    """
    sizes = np.zeros(len(path) + 1, dtype=np.int64)
    for i in range(len(path)):
        span = places.ends[path[i]] - places.starts[path[i]]
        sizes[i + 1] = sizes[i] + span * len(_members(places, path[i]))
    ways = np.zeros(sizes[-1])
    later = np.ones((0, 0))
    for i in range(len(path) - 1, -1, -1):
        members, hours = _members(places, path[i]), region_hours(places, path[i])
        grid = ways[sizes[i] : sizes[i + 1]].reshape(len(members), hours.steps)
        if i < len(path) - 1:
            _count_ways(places, path[i], path[i + 1], later, grid)
        else:
            grid[:] = 1.0
        for member in range(len(members)):
            is_open, row = places.is_open[members[member]], grid[member]
            for step in range(hours.steps):
                if not is_open[timestep_at(hours, step)]:
                    row[step] = 0.0
        later = _sums_from(grid, hours, places.is_open.shape[1])
        if later[:, 0].max() == 0:
            return np.zeros(0), sizes
    return ways, sizes


@compiled
def _sums_from(grid: Floats, hours: RegionHours, day: int) -> Floats:
    """C: for each member and timestep of the whole day the sum of its row from that timestep on."""
    sums = np.empty((len(grid), day))
    for member in range(len(grid)):
        row, here = grid[member], sums[member]
        total, after = 0.0, day
        for step in range(hours.steps - 1, -1, -1):
            timestep = timestep_at(hours, step)
            here[timestep + 1 : after] = total
            total += row[step]
            here[timestep] = total
            after = timestep
        here[:after] = total
    return sums


@compiled
def _count_ways(places: PlaceWorld, here: int, there: int, later: Floats, grid: Floats) -> None:
    """Add up, for each member of a region and timestep, the ways that go on into the region ``there``."""
    members, destinations = _members(places, here), _members(places, there)
    hours, profiles = region_hours(places, here), places.profile_of_timestep
    block = np.zeros((0, 0), dtype=np.uint16)
    profile, step = -1, 0
    while step < hours.steps:
        # As many timesteps as follow each other with the same travel, at once.
        departure, run = timestep_at(hours, step), 1
        while (
            step + run < hours.steps
            and timestep_at(hours, step + run) == departure + run
            and profiles[departure + run] == profiles[departure]
        ):
            run += 1
        if profiles[departure] != profile:
            profile = profiles[departure]
            block = steps_block(places, members, destinations, departure)
        for member in range(len(members)):
            row = grid[member, step : step + run]
            for other in range(len(destinations)):
                arrivals = later[other, departure + np.int64(block[member, other]) :]
                for k in range(min(run, len(arrivals))):
                    row[k] += arrivals[k]
        step += run


@compiled
def sample_by_counting(
    path: Indices, places: PlaceWorld, state: Words, chosen: Indices, times: Indices
) -> bool:
    """A feasible sequence, uniformly among all of them; False if there is none."""
    ways, sizes = _ways_on(path, places)
    if not len(ways):
        return False
    for i in range(len(path)):
        members, hours = _members(places, path[i]), region_hours(places, path[i])
        grid = ways[sizes[i] : sizes[i + 1]].reshape(len(members), hours.steps)
        weights = np.zeros((hours.steps, len(members)))
        steps = np.zeros(len(members), dtype=np.uint16)
        if i:
            steps = steps_block(places, chosen[i - 1 : i], members, times[i - 1])[0]
        for step in range(hours.steps):
            timestep = timestep_at(hours, step)
            for member in range(len(members)):
                if i == 0 or timestep - times[i - 1] >= np.int64(steps[member]):
                    weights[step, member] = grid[member, step]
        if weights.sum() <= 0:
            return False
        cell = next_weighted(state, weights.ravel())
        chosen[i] = members[cell % len(members)]
        times[i] = timestep_at(hours, cell // len(members))
    return True
