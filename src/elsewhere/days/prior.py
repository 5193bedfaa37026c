"""A public mobility prior: days that people might well have, from what everybody may know.

When a day begins, how long people stay, where they go next: by popularity at the hour, among places that
are open and can be reached, the nearer the likelier. Nothing in it comes from the people who share.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np

from elsewhere.arrays import Floats, Indices, Words
from elsewhere.compiled import compiled
from elsewhere.days.visits import Days
from elsewhere.knowledge.sphere import chord_squared, great_circle_km_squared
from elsewhere.randomness import next_float, next_weighted
from elsewhere.world.place_world import PlaceWorld, least_steps, place_world
from elsewhere.world.world import World

ANY_LENGTH = 0
"""In place of a number of visits: days of all lengths together."""
# A day of many visits must go on faster, to be over by midnight.
_DAY_IN_USE_MINUTES = 12 * 60
_GUESSES = 300
_TRIES = 50
_DAYS_TRIED = 100


class Prior(NamedTuple):
    """All that the generator goes by."""

    popularity: Floats
    """Place × timestep: 0 while closed."""
    cumulative: Floats
    """For each timestep the popularity of all places up to one."""
    starts: Floats
    """Weights, added up, of each timestep as the first of a day."""
    lengths: Floats
    """Weights, added up, of each number of visits, from 1 on."""
    gaps: Floats
    """Weights, added up, of each number of timesteps between two visits, from 1 on."""
    vectors: Floats
    decay_km: float
    """Places this much farther are e times less likely to be next."""


def world_prior(world: World, length: int = ANY_LENGTH) -> Prior:
    """The prior of a world: its places' popularity, hours and settings; of days of one length, if given."""
    settings, minutes, day = world.settings.prior, world.clock.timestep_minutes, world.clock.timesteps
    hours = np.arange(day) * minutes // 60
    popularity = world.places.popularity
    # A place nobody counted may still be visited.
    known = popularity + 1e-3 * max(float(popularity.mean()), 1e-9)
    weights = np.ascontiguousarray(known[:, hours] * world.is_open)
    is_lively = weights.sum(axis=0) > 0
    starts = np.array(settings.start_by_hour, dtype=np.float64)[hours] * is_lively
    lengths = np.array(settings.lengths[:day], dtype=np.float64)
    mean_gap = settings.mean_gap_minutes
    if length != ANY_LENGTH:
        lengths = (np.arange(1, length + 1) == length).astype(np.float64)
        mean_gap = min(mean_gap, _DAY_IN_USE_MINUTES / length)
    return Prior(
        popularity=weights,
        cumulative=np.ascontiguousarray(np.cumsum(weights, axis=0).T),
        # Where nothing is open when people set out, they set out whenever something is.
        starts=np.cumsum(starts if starts.any() else is_lively.astype(np.float64)),
        lengths=np.cumsum(lengths),
        gaps=_gaps(day, minutes, mean_gap),
        vectors=world.places.vectors,
        decay_km=settings.decay_km,
    )


def prior_days(world: World, label: str, count: int, *, length: int = ANY_LENGTH) -> Days:
    """``count`` days of the prior, the same for everybody: the seed is the world's hash and a ``label``.

    A length of 0 stands for a day that was not found: the world has hardly any of ``length`` visits.
    """
    prior, places = world_prior(world, length), place_world(world)
    return Days(*likely_days(prior, places, count, max(length, 1), prior_seed(world, label, length)))


def prior_seed(world: World, label: str, length: int) -> Words:
    """The public seed of some days of the prior."""
    name = f"{world.hash} {length} visits, {label}"
    digest = hashlib.sha256(name.encode()).digest()
    return np.frombuffer(digest[:8], dtype="<u8").astype(np.uint64)


def _gaps(day: int, timestep_minutes: int, mean_minutes: float) -> Floats:
    """Γ-like: short stays are rare, long ones rarer the longer they are."""
    gaps = np.arange(1, max(day, 2)) * timestep_minutes
    weights = gaps * np.exp(-gaps / (mean_minutes / 2))
    # Timesteps far longer than the mean: one of them is as good as it gets.
    weights[0] = max(weights[0], 1e-300)
    return np.cumsum(weights)


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
def likely_days(
    prior: Prior, places: PlaceWorld, count: int, least: int, seed: Words
) -> tuple[Indices, Indices, Indices]:
    """``count`` days of ``least`` visits or more: places, timesteps (rows filled up with −1), and lengths.

    A length of 0 stands for a day that was not found: the world has hardly any of ``least`` visits.
    """
    most = len(prior.lengths)
    chosen = np.full((count, most), -1, dtype=np.int32)
    times = np.full((count, most), -1, dtype=np.int32)
    lengths = np.zeros(count, dtype=np.int32)
    state = seed.copy()
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
    """Fill one day; returns its length, shorter than wished where nothing more fits."""
    gaps, cumulative = prior.gaps, prior.cumulative
    chosen[:], times[:] = -1, -1
    wished = min(1 + draw_from(prior.lengths, state), len(chosen))
    times[0] = draw_from(prior.starts, state)
    chosen[0] = draw_from(cumulative[times[0]], state)
    for i in range(1, wished):
        is_found = False
        for _ in range(_TRIES):
            later = times[i - 1] + 1 + draw_from(gaps, state)
            if later >= len(cumulative) or cumulative[later, -1] <= 0:
                continue
            place = _next_place(prior, places, chosen[i - 1], times[i - 1], later, state)
            if place >= 0:
                chosen[i], times[i] = place, later
                is_found = True
                break
        if not is_found:
            return i
    return wished


@compiled
def _next_place(
    prior: Prior, places: PlaceWorld, origin: int, departure: int, arrival: int, state: Words
) -> int:
    """By popularity at arrival and nearness, among what is reachable; −1 if nothing is.

    Popular places are guessed and let through by their nearness; after a while all are weighed.
    """
    gap, totals, vectors = arrival - departure, prior.cumulative[arrival], prior.vectors
    scale = -1.0 / prior.decay_km
    for _ in range(_GUESSES):
        place = draw_from(totals, state)
        km = np.sqrt(great_circle_km_squared(chord_squared(vectors, origin, vectors, place)))
        is_wanted = place != origin and next_float(state) < np.exp(scale * km)
        if is_wanted and least_steps(places, origin, place, departure) <= gap:
            return place
    weights = prior.popularity[:, arrival].copy()
    for place in range(len(weights)):
        if weights[place] > 0:
            km = np.sqrt(great_circle_km_squared(chord_squared(vectors, origin, vectors, place)))
            is_near = place != origin and least_steps(places, origin, place, departure) <= gap
            weights[place] = weights[place] * np.exp(scale * km) if is_near else 0.0
    return int(next_weighted(state, weights)) if weights.sum() > 0 else -1
