"""A public mobility prior: days that people might well have, from what everybody may know.

When a day begins, how long people stay, where they go next: by popularity at the hour, among places that
are open and can be reached, the nearer the likelier. Nothing in it comes from the people who share.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from elsewhere.arrays import Bools, Floats, Words
from elsewhere.compiled import compiled
from elsewhere.randomness import next_float

# When days begin, hour by hour: a time-use diary's first outing (a morning hump, a long tail).
START_BY_HOUR = (1.0, 1, 1, 1, 1, 3, 8, 14, 16, 14, 12, 10, 9, 8, 6, 5, 5, 5, 4, 3, 2, 1, 1, 1)
# How many visits a day has, 1 to 8.
LENGTHS = (2.0, 4, 8, 7, 5, 3, 2, 1)
DECAY_KM = 3.0
MEAN_GAP_MINUTES = 150.0
# A day of many visits must go on faster, to be over by midnight.
_DAY_IN_USE_MINUTES = 12 * 60


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


def build_prior(
    popularity: Floats,
    is_open: Bools,
    vectors: Floats,
    timestep_minutes: int,
    *,
    start_by_hour: Sequence[float] = START_BY_HOUR,
    lengths: Sequence[float] = LENGTHS,
    mean_gap_minutes: float = MEAN_GAP_MINUTES,
    decay_km: float = DECAY_KM,
) -> Prior:
    """Prior from public popularity by hour; all settings are public."""
    day = is_open.shape[1]
    hours = np.arange(day) * timestep_minutes // 60
    # A place nobody counted may still be visited.
    known = popularity + 1e-3 * max(float(popularity.mean()), 1e-9)
    weights = np.ascontiguousarray(known[:, hours] * is_open)
    is_lively = weights.sum(axis=0) > 0
    starts = np.array(start_by_hour, dtype=np.float64)[hours] * is_lively
    return Prior(
        popularity=weights,
        cumulative=np.ascontiguousarray(np.cumsum(weights, axis=0).T),
        # Where nothing is open when people set out, they set out whenever something is.
        starts=np.cumsum(starts if starts.any() else is_lively.astype(np.float64)),
        lengths=np.cumsum(np.array(lengths[:day], dtype=np.float64)),
        gaps=_gaps(day, timestep_minutes, mean_gap_minutes),
        vectors=vectors,
        decay_km=decay_km,
    )


def of_length(prior: Prior, length: int, timestep_minutes: int, mean_gap_minutes: float) -> Prior:
    """The same for days of exactly ``length`` visits."""
    mean = min(mean_gap_minutes, _DAY_IN_USE_MINUTES / length)
    return prior._replace(
        lengths=np.cumsum(np.arange(1, length + 1) == length).astype(np.float64),
        gaps=_gaps(len(prior.starts), timestep_minutes, mean),
    )


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
