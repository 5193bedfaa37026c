"""Exact calibration of `ngram`: the largest coin whose draw spends no more than ε', so that none is unused.

The exponential mechanism gives away half of ε' for a normaliser that hardly differs between inputs: on real
worlds a draw of ε' spends about 0.6 ε'. What it spends can be computed exactly (`window_loss`), so the coin
may have a larger ε, up to where that number reaches ε'. The proof is the number itself: it is the largest
log-ratio over all inputs and outputs. It is rounded to the safe side for what it leaves out:

- Scores are rounded up to 2⁻²⁰, which moves a log-ratio by at most 2⁻²⁰ of the coin's ε.
- Rounded sums of some thousand positive numbers, and the chance below 2⁻⁶⁴ that no trial is accepted, move it
  by far less than 10⁻⁷.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from elsewhere.arrays import Words
from elsewhere.errors import InputError
from elsewhere.mechanism.rejection import LARGEST_EPSILON, SCORE_STEPS
from elsewhere.mechanism.window_loss import exact_window_loss
from elsewhere.world.distances import RegionDistances

_SAFETY = 1e-7
_STEPS_OF_ONE = 10_000
_TRIES = 12
_SMALLEST, _LARGEST = 1e-9, 1e9

Spent = Callable[[Fraction], float]
"""What a draw spends at most whose coin has some ε."""


def spent_by_coin(distances: RegionDistances, words: Words, size: int, max_distance: float) -> Spent:
    """An upper bound, exact but for its rounding, for draws of n-grams of ``size`` regions.

    A world comes from anyone. Where its numbers are so large or so small that sums pass what a float can
    hold, scores are no longer distances over Δ, and nothing is calibrated.
    """
    if max_distance != 0 and not _SMALLEST <= max_distance <= _LARGEST:
        raise InputError(
            "calibration",
            f"cannot be exact where the largest distance of a world is {max_distance:g}",
        )

    def spent(coin_epsilon: Fraction) -> float:
        # The score of a window is its distance over Δ = size · max d, so these are the coin's own weights.
        factor = float(coin_epsilon) / 2 / (size * max_distance) if max_distance > 0 else 0.0
        loss = exact_window_loss(distances, words, size, factor, max_distance)
        if loss is None:
            raise InputError(
                "calibration",
                f"cannot be exact for windows of {size}: this world has too many regions",
            )
        if not 0 <= loss.spent < math.inf:
            raise InputError("calibration", "cannot be exact: this world's distances make no sense")
        return loss.spent + float(coin_epsilon) / SCORE_STEPS + _SAFETY

    return spent


def calibrated(spent: Spent, epsilon: Fraction) -> Fraction:
    """The largest ε of a coin that spends at most ``epsilon``, rounded down to a ten-thousandth.

    Never less than ``epsilon`` itself, for which no computation is needed: that is the lemma of `rejection`.
    """
    target, low = float(epsilon), epsilon
    most = min(4 * epsilon, Fraction(LARGEST_EPSILON))
    spent_low = spent(low)
    high: tuple[Fraction, float] | None = None
    for _ in range(_TRIES):
        # Nearly a straight line: a secant, through the origin at first, meets ε' in a few steps.
        end, spent_end = (Fraction(0), 0.0) if high is None else high
        slope = (spent_end - spent_low) / float(end - low)
        guess = min(most, _rounded_down(float(low) + (target - spent_low) / slope))
        if guess <= low or (high is not None and guess >= high[0]):
            break
        spent_guess = spent(guess)
        if spent_guess <= target:
            low, spent_low = guess, spent_guess
        else:
            high = (guess, spent_guess)
    return low


def is_coin_for(coin: Fraction, epsilon: Fraction) -> bool:
    """Whether a coin is of those that `calibrated` finds: what a file says may be anything."""
    is_on_grid = coin == epsilon or _STEPS_OF_ONE % coin.denominator == 0
    return is_on_grid and epsilon <= coin <= min(4 * epsilon, Fraction(LARGEST_EPSILON))


def _rounded_down(value: float) -> Fraction:
    return Fraction(math.floor(value * _STEPS_OF_ONE), _STEPS_OF_ONE)
