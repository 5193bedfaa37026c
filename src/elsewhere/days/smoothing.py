"""Time smoothing: times shifted as little as possible until a day can be travelled and, if possible, open."""

from __future__ import annotations

import numpy as np

from elsewhere.arrays import Floats, Indices
from elsewhere.compiled import compiled
from elsewhere.world.place_world import PlaceWorld, least_steps

SETTLE_WAYS = ("as drawn", "smoothed", "smoothed, partly closed", "stayed")
"""What the numbers that `settle_days` returns stand for."""


@compiled
def settle_days(places: PlaceWorld, chosen: Indices, times: Indices) -> Indices:
    """Make each row of visits feasible, by the least total shift of its times where it is not; says how.

    0 as it was, 1 shifted, 2 shifted to where some place is closed, 3 stayed at the first place.
    """
    ways = np.zeros(len(chosen), dtype=np.int32)
    for row in range(len(chosen)):
        if is_feasible(places, chosen[row], times[row]):
            continue
        if smooth_times(places, chosen[row], times[row], True):
            ways[row] = 1
        elif smooth_times(places, chosen[row], times[row], False):
            ways[row] = 2
        else:
            stay(places, chosen[row], times[row])
            ways[row] = 3
    return ways


@compiled
def is_feasible(places: PlaceWorld, chosen: Indices, times: Indices) -> bool:
    for i in range(len(chosen) - 1):
        if times[i + 1] <= times[i]:
            return False
    for i in range(len(chosen) - 1):
        if times[i + 1] - times[i] < least_steps(places, chosen[i], chosen[i + 1], times[i]):
            return False
    return True


@compiled
def smooth_times(places: PlaceWorld, chosen: Indices, times: Indices, must_be_open: bool) -> bool:
    """Shift times by the least total that makes every step reachable; False if no times do.

    Least cost over timesteps, place by place: to arrive at t one leaves the place before at any
    timestep from which t is late enough.

    Paper: section 5.6 (ss:poi-reconstruct), time smoothing.
    Deviation: smoothing — by the least total shift; the paper does not say how.
    """
    length, day = len(chosen), places.is_open.shape[1]
    shifts = np.full((length, day), np.inf)
    froms = np.zeros((length, day), dtype=np.int32)
    best = np.zeros(day)
    for i in range(length):
        if i > 0:
            _least_shifts(places, chosen[i - 1], chosen[i], shifts[i - 1], best, froms[i])
        for t in range(day):
            if not must_be_open or places.is_open[chosen[i], t]:
                shifts[i, t] = abs(t - times[i]) + best[t]
    last = np.argmin(shifts[length - 1])
    if shifts[length - 1, last] == np.inf:
        return False
    for i in range(length - 1, -1, -1):
        times[i] = last
        last = froms[i, last]
    return True


@compiled
def _least_shifts(
    places: PlaceWorld, origin: int, destination: int, shifts: Floats, best: Floats, froms: Indices
) -> None:
    """For each arrival, the least total shift so far and the departure that has it."""
    best[:] = np.inf
    profile, steps = -1, 0
    for departure in range(len(shifts)):
        if places.profile_of_timestep[departure] != profile:
            profile = places.profile_of_timestep[departure]
            steps = least_steps(places, origin, destination, departure)
        arrival = departure + steps
        if arrival < len(shifts) and shifts[departure] < best[arrival]:
            best[arrival] = shifts[departure]
            froms[arrival] = departure
    for t in range(1, len(best)):
        if best[t - 1] <= best[t]:
            best[t], froms[t] = best[t - 1], froms[t - 1]


@compiled
def stay(places: PlaceWorld, chosen: Indices, times: Indices) -> None:
    """No times make a sequence of places feasible: stay where the day begins."""
    chosen[:] = chosen[0]
    if not smooth_times(places, chosen, times, True):
        smooth_times(places, chosen, times, False)


@compiled
def spread(drawn: Indices, day: int) -> Indices:
    """Drawn timesteps sorted, then shifted by the least total that makes them strictly increasing."""
    times = np.sort(drawn)
    length = len(times)
    shifts = np.full((length, day), np.inf)
    froms = np.zeros((length, day), dtype=np.int32)
    for i in range(length):
        best, origin = (0.0, 0) if i == 0 else (np.inf, 0)
        for t in range(day):
            shifts[i, t] = best + abs(t - times[i])
            froms[i, t] = origin
            if i > 0 and shifts[i - 1, t] < best:
                best, origin = shifts[i - 1, t], t
    last = np.argmin(shifts[length - 1])
    for i in range(length - 1, -1, -1):
        times[i] = last
        last = froms[i, last]
    return times
