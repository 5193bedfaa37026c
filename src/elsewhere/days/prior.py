"""A public mobility prior: days that people might well have, from what everybody may know.

When people are out: as lively as the city is at each hour. Where they go next: by popularity at the hour,
among places that are open and can be reached, the nearer the likelier. Nothing in it may come from the people
who share.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np

from elsewhere.arrays import Floats, Words
from elsewhere.days.prior_times import Times, fitted_times
from elsewhere.world.world import World

ANY_LENGTH = 0
"""In place of a number of visits: days of all lengths together."""
# A day of many visits must go on faster, to be over by midnight.
_DAY_IN_USE_MINUTES = 12 * 60
_BROAD = 4.0


class Prior(NamedTuple):
    """All that the generator goes by."""

    popularity: Floats
    """Place × timestep: 0 while closed."""
    cumulative: Floats
    """For each timestep the popularity of all places up to one."""
    times: Times
    """When the visits of a day happen, and how many there are."""
    vectors: Floats
    decay_km: float
    """Places this much farther are e times less likely to be next."""


def most_visits(world: World) -> int:
    """The most visits that a day of a world's prior has."""
    return min(len(world.settings.prior.lengths), world.clock.timesteps)


def world_prior(world: World, length: int = ANY_LENGTH) -> Prior:
    """The prior of a world: its places' popularity, hours and settings; of days of one length, if given."""
    settings, minutes, day = world.settings.prior, world.clock.timestep_minutes, world.clock.timesteps
    hours = np.arange(day) * minutes // 60
    popularity = world.places.popularity
    # A place nobody counted may still be visited.
    known = popularity + 1e-3 * max(float(popularity.mean()), 1e-9)
    weights = np.ascontiguousarray(known[:, hours] * world.is_open)
    usual = np.array(settings.activity_by_hour, dtype=np.float64)[hours]
    activity = _activity(weights, usual, has_hours=bool(np.ptp(popularity, axis=1).any()))
    is_lively = activity > 0
    starts = np.array(settings.start_by_hour, dtype=np.float64)[hours] * is_lively
    lengths = np.array(settings.lengths[: most_visits(world)], dtype=np.float64)
    mean_gap = settings.mean_gap_minutes
    if length != ANY_LENGTH:
        lengths = (np.arange(1, length + 1) == length).astype(np.float64)
        mean_gap = min(mean_gap, _DAY_IN_USE_MINUTES / length)
    return Prior(
        popularity=weights,
        cumulative=np.ascontiguousarray(np.cumsum(weights, axis=0).T),
        times=fitted_times(
            activity,
            # Where nothing is open when people set out, they set out whenever something is.
            starts if starts.any() else is_lively.astype(np.float64),
            lengths,
            _gaps(day, minutes, mean_gap),
        ),
        vectors=world.places.vectors,
        decay_km=settings.decay_km,
    )


def broad_prior(world: World) -> Prior:
    """A prior that knows hours and travel, and little else: every open place, any time, any number of visits.

    For what the usual prior thinks all but impossible.
    """
    usual, day = world_prior(world), world.clock.timesteps
    weights = world.is_open.astype(np.float64)
    is_lively = np.asarray(weights.any(axis=0), dtype=np.float64)
    return usual._replace(
        popularity=weights,
        cumulative=np.ascontiguousarray(np.cumsum(weights, axis=0).T),
        times=fitted_times(
            is_lively,
            is_lively,
            np.ones(most_visits(world)),
            _gaps(day, world.clock.timestep_minutes, world.settings.prior.mean_gap_minutes),
        ),
        decay_km=_BROAD * usual.decay_km,
    )


def _activity(weights: Floats, usual: Floats, *, has_hours: bool) -> Floats:
    """How lively the city is at each timestep: popularity × opening hours.

    Where no place's popularity says anything about hours, a usual day does.
    """
    activity = np.asarray(weights.sum(axis=0))
    on_usual_days = activity * usual
    return activity if has_hours or not on_usual_days.any() else on_usual_days


def prior_seed(world: World, label: str, length: int) -> Words:
    """The public seed of some days of the prior."""
    name = f"{world.hash} {length} visits, {label}"
    digest = hashlib.sha256(name.encode()).digest()
    return np.frombuffer(digest[:8], dtype="<u8").astype(np.uint64)


def _gaps(day: int, timestep_minutes: int, mean_minutes: float) -> Floats:
    """Weights, Γ-like: short stays are rare, long ones rarer the longer they are."""
    gaps = np.arange(1, max(day, 2)) * timestep_minutes
    weights = gaps * np.exp(-gaps / (mean_minutes / 2))
    # Timesteps far longer than the mean: one of them is as good as it gets.
    weights[0] = max(weights[0], 1e-300)
    return np.asarray(weights, dtype=np.float64)
