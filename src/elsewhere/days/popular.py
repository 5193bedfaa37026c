"""Days made of public popularity alone: what anybody could write down without asking anyone."""

from __future__ import annotations

import numpy as np

from elsewhere.arrays import Floats, Indices, Words
from elsewhere.compiled import compiled
from elsewhere.days.smoothing import settle_days, smooth_times, spread
from elsewhere.days.visits import VisitDistances, place_distance
from elsewhere.randomness import next_below, next_weighted
from elsewhere.world.place_world import PlaceWorld, least_steps
from elsewhere.world.world import World

_MOST_CENTRES = 2000


def popularity_by_timestep(world: World) -> Floats:
    """How popular each place is at each timestep: by the hour, and not at all while it is closed."""
    hours = np.arange(world.clock.timesteps) * world.clock.timestep_minutes // 60
    return np.ascontiguousarray(world.places.popularity[:, hours] * world.is_open)


@compiled
def popular_days(
    places: PlaceWorld, popularity: Floats, length: int, seeds: Words
) -> tuple[Indices, Indices, Indices]:
    """Days of popular places at popular times, one for each seed; how each was settled.

    Timesteps by the popularity of all places together, each once; then each place by its popularity
    among those that are open and can be reached from the one before.
    """
    chosen = np.empty((len(seeds), length), dtype=np.int32)
    times = np.empty((len(seeds), length), dtype=np.int32)
    by_time = popularity.sum(axis=0)
    for row in range(len(seeds)):
        state = seeds[row : row + 1].copy()
        times[row] = _popular_times(by_time, length, state)
        for i in range(length):
            chosen[row, i] = _popular_place(places, popularity, chosen[row], times[row], i, state)
    return chosen, times, settle_days(places, chosen, times)


@compiled
def _popular_times(by_time: Floats, length: int, state: Words) -> Indices:
    left = by_time.copy()
    times = np.empty(length, dtype=np.int32)
    is_taken = np.zeros(len(left), dtype=np.bool_)
    for i in range(length):
        if left.sum() > 0:
            time = np.int64(next_weighted(state, left))
        else:  # at no other time is any place open
            time = np.int64(next_below(state, len(left)))
            while is_taken[time]:
                time = (time + 1) % len(left)
        times[i] = time
        left[time] = 0.0
        is_taken[time] = True
    times.sort()
    return times


@compiled
def _popular_place(
    places: PlaceWorld, popularity: Floats, chosen: Indices, times: Indices, i: int, state: Words
) -> int:
    weights = popularity[:, times[i]].copy()
    if i > 0:
        gap = times[i] - times[i - 1]
        for place in range(len(weights)):
            if weights[place] > 0 and least_steps(places, chosen[i - 1], place, times[i - 1]) > gap:
                weights[place] = 0.0
    if weights.sum() > 0:
        return next_weighted(state, weights)
    return int(chosen[i - 1]) if i > 0 else next_below(state, len(weights))


def constant_day(
    places: PlaceWorld, distances: VisitDistances, popularity: Floats, length: int
) -> tuple[Indices, Indices]:
    """One day for everybody: the most central place, at times that split the day's popularity evenly.

    Central is the least mean distance (d_s and d_c together) to all places, weighted by popularity.
    """
    by_place, by_time = (popularity.sum(axis=axis) for axis in (1, 0))
    if not by_place.any():
        by_place, by_time = np.ones_like(by_place), np.ones_like(by_time)
    popular = np.argsort(-by_place, kind="stable")[:_MOST_CENTRES].astype(np.int32)
    centre = _central_place(distances, by_place, popular)
    shares = (np.arange(length) + 0.5) / length * by_time.sum()
    quantiles = np.searchsorted(np.cumsum(by_time), shares)
    chosen = np.full(length, centre, dtype=np.int32)
    times = spread(quantiles.astype(np.int32), len(by_time))
    if not smooth_times(places, chosen, times, True):
        smooth_times(places, chosen, times, False)
    return chosen, times


@compiled
def _central_place(distances: VisitDistances, weights: Floats, candidates: Indices) -> int:
    best, least = candidates[0], np.inf
    for place in candidates:
        total = 0.0
        for other in range(len(weights)):
            if weights[other] > 0:
                total += weights[other] * place_distance(distances, place, other)
        if total < least:
            best, least = place, total
    return int(best)
