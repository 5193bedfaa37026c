"""Bootstrap confidence intervals over trajectories."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Floats
from elsewhere.randomness import seeded_generator

RESAMPLES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number and where it would lie, 95 times out of 100, if other people had been asked."""

    value: float
    low: float
    high: float


def mean_with_interval(values: Floats, seed: int = 0) -> Estimate:
    """Mean over days; resampled means all at once."""
    generator, count = seeded_generator(seed), len(values)
    means = np.empty(RESAMPLES)
    for number in range(RESAMPLES):
        means[number] = values[generator.integers(count, size=count)].mean()
    return _estimate(float(values.mean()), means)


def statistic_with_interval(
    statistic: Callable[[NDArray[np.int64]], float], days: int, seed: int = 0, resamples: int = RESAMPLES
) -> Estimate:
    """Any number made of weights over days: 1 for each, or how often each was drawn in a resample."""
    generator = seeded_generator(seed)
    found = np.empty(resamples)
    for number in range(resamples):
        weights = np.bincount(generator.integers(days, size=days), minlength=days)
        found[number] = statistic(weights)
    return _estimate(statistic(np.ones(days, dtype=np.int64)), found)


def _estimate(value: float, resampled: Floats) -> Estimate:
    known = resampled[np.isfinite(resampled)]
    if not len(known):
        return Estimate(value=value, low=value, high=value)
    low, high = np.percentile(known, [2.5, 97.5])
    return Estimate(value=value, low=float(low), high=float(high))
