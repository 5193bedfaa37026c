"""Days drawn from the public prior: feasible, open, and such as people have."""

from __future__ import annotations

import numpy as np

from elsewhere.arrays import Floats, Indices, Words
from elsewhere.compiled import compiled, patient
from elsewhere.days.nearby import farthest_chord, may_be_within
from elsewhere.days.prior import ANY_LENGTH, Prior, broad_prior, prior_seed, world_prior
from elsewhere.days.prior_times import Times
from elsewhere.days.prior_twin import PlainPrior
from elsewhere.days.visits import Days
from elsewhere.knowledge.sphere import chord_squared, great_circle_km_squared
from elsewhere.randomness import next_float, next_weighted
from elsewhere.world.place_world import PlaceWorld, least_steps, place_world
from elsewhere.world.world import World

_GUESSES = 300
_TRIES = 20
_DAYS_TRIED = 100


def prior_days(world: World, label: str, count: int, *, length: int = ANY_LENGTH) -> Days:
    """``count`` days of the prior, the same for everybody: the seed is the world's hash and a ``label``.

    A length of 0 stands for a day that was not found: the world has hardly any of ``length`` visits.
    """
    prior, places = world_prior(world, length), place_world(world)
    return Days(*likely_days(prior, places, count, max(length, 1), prior_seed(world, label, length)))


def broad_days(world: World, label: str, count: int) -> Days:
    """``count`` days of the broad prior, the same for everybody."""
    prior, places = broad_prior(world), place_world(world)
    return Days(*likely_days(prior, places, count, 1, prior_seed(world, f"broad {label}", ANY_LENGTH)))


@compiled
def draw_from(totals: Floats, state: Words) -> int:
    """An index by weights that are added up; the last must be above 0."""
    target = next_float(state) * totals[-1]
    low, high = 0, len(totals) - 1
    while low < high:
        middle = (low + high) // 2
        if totals[middle] > target:
            high = middle
        else:
            low = middle + 1
    return low


@compiled
def compiled_likely_days(
    prior: Prior, places: PlaceWorld, count: int, least: int, seed: Words
) -> tuple[Indices, Indices, Indices]:
    """``count`` days of ``least`` visits or more: places, timesteps (rows filled up with −1), and lengths.

    A length of 0 stands for a day that was not found: the world has hardly any of ``least`` visits.
    """
    most = len(prior.times.lengths)
    chosen = np.full((count, most), -1, dtype=np.int32)
    times = np.full((count, most), -1, dtype=np.int32)
    lengths = np.zeros(count, dtype=np.int32)
    state = seed.copy()
    if prior.times.lengths[-1] <= 0:
        return chosen, times, lengths
    for row in range(count):
        for _ in range(_DAYS_TRIED):
            length = _likely_day(prior, places, state, chosen[row], times[row])
            if length >= least:
                lengths[row] = length
                break
        if not lengths[row]:
            break
    return chosen, times, lengths


@compiled
def _likely_day(prior: Prior, places: PlaceWorld, state: Words, chosen: Indices, times: Indices) -> int:
    """Fill one day; returns its length, shorter than wished where nothing more can be reached."""
    wished, found = 1 + draw_from(prior.times.lengths, state), 0
    for _ in range(_TRIES):
        chosen[:], times[:] = -1, -1
        _draw_times(prior.times, wished, state, times)
        chosen[0] = draw_from(prior.cumulative[prior.row_of[times[0]]], state)
        found = 1
        while found < wished:
            place = _next_place(prior, places, chosen[found - 1], times[found - 1], times[found], state)
            if place < 0:
                break
            chosen[found] = place
            found += 1
        if found == wished:
            break
    times[found:] = -1
    return found


@compiled
def _draw_times(tables: Times, wished: int, state: Words, times: Indices) -> None:
    """Timesteps of a day of so many visits, each after the one before."""
    times[0] = draw_from(tables.first[wished - 1], state)
    for i in range(1, wished):
        to_come, before = wished - 1 - i, times[i - 1]
        target = next_float(state) * tables.onward[to_come + 1, before]
        found = before + 1
        for later in range(before + 1, tables.worth.shape[1]):
            weight = tables.gaps[later - before - 1] * tables.worth[to_come, later]
            if weight > 0:
                found = later  # the last with any weight, if rounding leaves none above the target
                target -= weight
                if target < 0:
                    break
        times[i] = found


@compiled
def _next_place(
    prior: Prior, places: PlaceWorld, origin: int, departure: int, arrival: int, state: Words
) -> int:
    """By popularity at arrival and nearness, among what is reachable; −1 if nothing is.

    Popular places are guessed and let through by their nearness; after a while all are weighed.
    """
    gap, totals, vectors = arrival - departure, prior.cumulative[prior.row_of[arrival]], prior.vectors
    scale = -1.0 / prior.decay_km
    for _ in range(_GUESSES):
        place = draw_from(totals, state)
        km = np.sqrt(great_circle_km_squared(chord_squared(vectors, origin, vectors, place)))
        is_wanted = place != origin and next_float(state) < np.exp(scale * km)
        if is_wanted and least_steps(places, origin, place, departure) <= gap:
            return place
    return _weighed(prior, places, origin, departure, arrival, state)


@compiled
def _weighed(
    prior: Prior, places: PlaceWorld, origin: int, departure: int, arrival: int, state: Words
) -> int:
    """One of all places within reach by popularity and nearness; −1 if there is none."""
    gap, vectors, scale = arrival - departure, prior.vectors, -1.0 / prior.decay_km
    popularity = prior.popularity[prior.row_of[arrival]]
    farthest = farthest_chord(places, departure, gap)
    near = may_be_within(prior.nearby, places.is_anywhere[origin], origin, farthest)
    weights = np.zeros(len(near))
    for i in range(len(near)):
        place = near[i]
        is_open = place != origin and popularity[place] > 0
        if is_open and least_steps(places, origin, place, departure) <= gap:
            km = np.sqrt(great_circle_km_squared(chord_squared(vectors, origin, vectors, place)))
            weights[i] = popularity[place] * np.exp(scale * km)
    return int(near[next_weighted(state, weights)]) if weights.sum() > 0 else -1


def plain_likely_days(
    prior: Prior, places: PlaceWorld, count: int, least: int, seed: Words
) -> tuple[Indices, Indices, Indices]:
    """The plain twin of `compiled_likely_days`: the same days."""
    most = len(prior.times.lengths)
    chosen, times = (np.full((count, most), -1, dtype=np.int32) for _ in range(2))
    lengths = np.zeros(count, dtype=np.int32)
    if prior.times.lengths[-1] <= 0:
        return chosen, times, lengths
    source = PlainPrior(prior, places, seed, guesses=_GUESSES, tries=_TRIES)
    for row in range(count):
        for _ in range(_DAYS_TRIED):
            where, when = source.day()
            if len(where) >= least:
                break
        chosen[row, : len(where)], times[row, : len(when)] = where, when
        if len(where) < least:
            break
        lengths[row] = len(where)
    return chosen, times, lengths


likely_days = patient(compiled_likely_days, plain_likely_days, calls=4)
"""Days of a prior: interpreted on a device that has not compiled anything yet."""
