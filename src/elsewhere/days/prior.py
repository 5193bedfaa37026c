"""A public mobility prior: days that people might well have, from what everybody may know.

When people are out: as lively as the city is at each hour. Where they go next: by popularity at the hour,
among places that are open and can be reached, the nearer the likelier. Nothing in it may come from the people
who share.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Counts, Floats, Words
from elsewhere.days.nearby import Nearby, nearby_places
from elsewhere.days.prior_times import Times, fitted_times
from elsewhere.world.world import World

ANY_LENGTH = 0
"""In place of a number of visits: days of all lengths together."""
# A day of many visits must go on faster, to be over by midnight.
_DAY_IN_USE_MINUTES = 12 * 60
_BROAD = 4.0


class Prior(NamedTuple):
    """All that the generator goes by."""

    row_of: Counts
    """For each timestep its row of what follows: hardly any two within an hour differ."""
    popularity: Floats
    """Row × place: 0 while closed."""
    cumulative: Floats
    """For each row the popularity of all places up to one."""
    times: Times
    """When the visits of a day happen, and how many there are."""
    vectors: Floats
    nearby: Nearby
    decay_km: float
    """Places this much farther are e times less likely to be next."""


def most_visits(world: World) -> int:
    """The most visits that a day of a world's prior has."""
    return min(len(world.settings.prior.lengths), world.clock.timesteps)


@lru_cache(maxsize=2)
def world_prior(world: World, length: int = ANY_LENGTH) -> Prior:
    """The prior of a world: its places' popularity, hours and settings; of days of one length, if given."""
    settings, minutes, day = world.settings.prior, world.clock.timestep_minutes, world.clock.timesteps
    hours = np.arange(day) * minutes // 60
    popularity = world.places.popularity
    # A place nobody counted may still be visited.
    known = popularity + 1e-3 * max(float(popularity.mean()), 1e-9)
    table = _table(world, known)
    usual = np.array(settings.activity_by_hour, dtype=np.float64)[hours]
    totals = table.cumulative[table.row_of, -1]
    activity = _activity(totals, usual, has_hours=bool(np.ptp(popularity, axis=1).any()))
    is_lively = activity > 0
    starts = np.array(settings.start_by_hour, dtype=np.float64)[hours] * is_lively
    lengths = np.array(settings.lengths[: most_visits(world)], dtype=np.float64)
    mean_gap = settings.mean_gap_minutes
    if length != ANY_LENGTH:
        lengths = (np.arange(1, length + 1) == length).astype(np.float64)
        mean_gap = min(mean_gap, _DAY_IN_USE_MINUTES / length)
    return Prior(
        **table._asdict(),
        times=fitted_times(
            activity,
            # Where nothing is open when people set out, they set out whenever something is.
            starts if starts.any() else is_lively.astype(np.float64),
            lengths,
            _gaps(day, minutes, mean_gap),
        ),
        vectors=world.places.vectors,
        nearby=nearby_places(world.places.vectors, world.places.is_anywhere),
        decay_km=settings.decay_km,
    )


@lru_cache(maxsize=1)
def broad_prior(world: World) -> Prior:
    """A prior that knows hours and travel, and little else: every open place, any time, any number of visits.

    For what the usual prior thinks all but impossible.
    """
    usual, day = world_prior(world), world.clock.timesteps
    table = _table(world, np.ones((len(world.places), 1)))
    is_lively = np.asarray(table.cumulative[table.row_of, -1] > 0, dtype=np.float64)
    return usual._replace(
        **table._asdict(),
        times=fitted_times(
            is_lively,
            is_lively,
            np.ones(most_visits(world)),
            _gaps(day, world.clock.timestep_minutes, world.settings.prior.mean_gap_minutes),
        ),
        decay_km=_BROAD * usual.decay_km,
    )


class _Table(NamedTuple):
    """The part of a prior that says where people go."""

    row_of: Counts
    popularity: Floats
    cumulative: Floats


def _table(world: World, known: Floats) -> _Table:
    """Popularity while open, a row for timesteps alike; ``known`` is by the hour, or the same all day."""
    hours = np.arange(world.clock.timesteps) * world.clock.timestep_minutes // 60 % known.shape[1]
    by_hour, is_open = np.ascontiguousarray(known.T), np.ascontiguousarray(world.is_open.T)
    alike = _first_alike(by_hour)
    doors = _first_alike(np.packbits(is_open, axis=1))
    pairs = list(zip(alike[hours].tolist(), doors.tolist(), strict=True))
    rows = {pair: row for row, pair in enumerate(dict.fromkeys(pairs))}
    popularity = np.stack([by_hour[hour] * is_open[timestep] for hour, timestep in rows])
    return _Table(
        row_of=np.array([rows[pair] for pair in pairs], dtype=np.int64),
        popularity=popularity,
        cumulative=np.cumsum(popularity, axis=1),
    )


def _first_alike(rows: NDArray[Any]) -> Counts:
    """For each row the first that is the same."""
    seen: dict[bytes, int] = {}
    return np.array([seen.setdefault(row.tobytes(), at) for at, row in enumerate(rows)], dtype=np.int64)


def _activity(totals: Floats, usual: Floats, *, has_hours: bool) -> Floats:
    """How lively the city is at each timestep, from ``totals`` of popularity × opening hours.

    Where no place's popularity says anything about hours, a usual day does.
    """
    activity = np.asarray(totals)
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
