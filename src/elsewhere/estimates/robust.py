"""Intervals that cover on average, whatever the biases of shrunken estimates are.

An estimate that is pulled toward a prediction has a bias, and nobody knows its distribution: only its mean
square can be seen. Armstrong, Kolesár and Plagborg-Møller, "Robust Empirical Bayes Confidence Intervals"
(Econometrica 2022), widen the interval until it covers under the least favourable one.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from elsewhere.arrays import Floats

ALPHA = 0.05
_LARGEST = 1e7


def miss(square: float, half: float) -> float:
    """Chance that ±half misses a normal estimate whose bias, in standard deviations, has this square."""
    bias = math.sqrt(square)
    return float(ndtr(-half - bias) + ndtr(bias - half))


def worst_miss(mean_square: float, half: float) -> float:
    """The largest mean chance of a miss over all biases with this mean square.

    As a function of the square, the chance of a miss first rises ever faster, then ever slower. So the worst
    is one bias for all, or none for some and one for the others: the line from 0 that touches the curve.
    """
    if half <= math.sqrt(3):
        return miss(mean_square, half)  # the curve bends down everywhere
    touching = _touching(half)
    if mean_square >= touching:
        return miss(mean_square, half)
    start = miss(0.0, half)
    return start + mean_square / touching * (miss(touching, half) - start)


@lru_cache(maxsize=4096)
def _touching(half: float) -> float:
    """Where the line from no bias touches the curve of misses."""

    def above(square: float) -> float:
        bias = math.sqrt(square)
        slope = (_density(bias - half) - _density(bias + half)) / (2 * bias)
        return miss(square, half) - square * slope - miss(0.0, half)

    # Below the turning point the tangent passes under the start, far beyond it above.
    return float(brentq(above, half**2 - 3, (half + 4) ** 2))


def _density(value: float) -> float:
    return math.exp(-(value**2) / 2) / math.sqrt(2 * math.pi)


@lru_cache(maxsize=65536)
def critical_value(mean_square: float, alpha: float = ALPHA) -> float:
    """Half-length, in standard deviations, that misses at most ``alpha``, whatever the biases."""
    plain = float(ndtri(1 - alpha / 2))
    if not mean_square > 0:
        return plain
    if mean_square > _LARGEST:
        return math.sqrt(mean_square / alpha)
    # Chebyshev bounds it from above.
    upper = math.sqrt((1 + mean_square) / alpha) + 1
    return float(brentq(lambda half: worst_miss(mean_square, half) - alpha, plain / 2, upper))


def half_lengths(weights: Floats, variances: Floats, bias_squares: Floats, alpha: float = ALPHA) -> Floats:
    """Half-lengths for f + w (m̂ − f): m̂ has a variance, f is off by so much in the mean square.

    Where w is 0 there is no noise, only the bias: Chebyshev's inequality is all there is.
    """
    found = np.empty(len(weights))
    for row, (weight, variance, square) in enumerate(
        zip(weights.tolist(), variances.tolist(), bias_squares.tolist(), strict=True)
    ):
        noise = weight * math.sqrt(variance)
        bias = (1 - weight) ** 2 * square
        if noise <= 0:
            found[row] = math.sqrt(bias / alpha)
            continue
        # Rounded, so that few different values have to be worked out.
        found[row] = noise * critical_value(float(f"{bias / noise**2:.3g}"), alpha)
    return found
