"""Days drawn from the public prior on a world: feasible, open, and such as people have."""

from __future__ import annotations

import numpy as np

from elsewhere.arrays import Indices, Words
from elsewhere.compiled import compiled
from elsewhere.knowledge.prior import MEAN_GAP_MINUTES, Prior, build_prior, draw_from, of_length
from elsewhere.knowledge.sphere import chord_squared, great_circle_km_squared
from elsewhere.randomness import next_float, next_weighted
from elsewhere.world.visits import PlaceWorld, least_steps
from elsewhere.world.world import World

_GUESSES = 300
_TRIES = 50
_DAYS_TRIED = 100


def world_prior(world: World, length: int | None = None) -> Prior:
    """The prior of a world: its places' popularity, hours and settings; of days of one length, if given."""
    settings, minutes = world.settings.get("prior", {}), world.clock.timestep_minutes
    prior = build_prior(world.places.popularity, world.is_open, world.places.vectors, minutes, **settings)
    if length is None:
        return prior
    return of_length(prior, length, minutes, settings.get("mean_gap_minutes", MEAN_GAP_MINUTES))


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
