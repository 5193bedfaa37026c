"""Bootstrap confidence intervals over trajectories: what would be measured if other people had been asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from elsewhere.arrays import Floats
from elsewhere.randomness import seeded_generator

RESAMPLES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number and where it would lie, 95 times out of 100, if other people had been asked."""

    value: float
    low: float
    high: float


def estimates(statistic: Callable[[Floats], Floats], days: int, *, seed: int = 0) -> list[Estimate | None]:
    """Numbers made of weights over days, with intervals; None for one that there is not.

    ``statistic`` is given how often each day counts: once, or as often as it was drawn in a resample. NaN
    stands for a number that there is not. A resample that has none is left out of the interval, which is
    that of the resamples moved by their bias.
    """
    generator = seeded_generator(seed)
    values = statistic(np.ones(days))
    resampled = np.empty((RESAMPLES, len(values)))
    for number in range(RESAMPLES):
        drawn = np.bincount(generator.integers(days, size=days), minlength=days)
        resampled[number] = statistic(drawn.astype(np.float64))
    return [_estimate(value, resampled[:, column]) for column, value in enumerate(values.tolist())]


def mean_estimates(values: Floats, *, seed: int = 0) -> list[Estimate]:
    """Means over days, for a table of days × numbers."""
    days = len(values)
    found = estimates(lambda weights: weights @ values / days, days, seed=seed)
    return [estimate for estimate in found if estimate is not None]


def mean_estimate(values: Floats, *, seed: int = 0) -> Estimate:
    """Mean over days of one number."""
    return mean_estimates(values[:, None], seed=seed)[0]


def _estimate(value: float, resampled: Floats) -> Estimate | None:
    if not np.isfinite(value):
        return None
    known = resampled[np.isfinite(resampled)]
    if not len(known):
        return Estimate(value=value, low=value, high=value)
    # People drawn twice make histograms rougher, so resamples of a divergence or a threshold lie to one side.
    bias = float(known.mean()) - value
    low, high = np.clip(
        np.percentile(known, [2.5, 97.5]) - bias, min(known.min(), value), max(known.max(), value)
    )
    return Estimate(value=value, low=float(min(low, value)), high=float(max(high, value)))
