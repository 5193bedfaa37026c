"""Windows of a trajectory: where each n-gram starts, and the shorter ones at both ends."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from elsewhere.arrays import Counts, Floats, Indices
from elsewhere.mechanism.budget import Draw, Window
from elsewhere.mechanism.rejection import Coin, coin_of


def windows(length: int, n: int) -> list[Window]:
    """Where the draws of a trajectory start and how long they are: every position is covered n times.

    First the shorter windows at the start, then the main ones, then the shorter ones at the end. A
    trajectory shorter than n is perturbed with n = |τ|.

    Paper: section 5.4 (ss:ngram-perturbation), fig:perturbation.
    """
    n = min(n, length)
    prefixes = [(0, size) for size in range(1, n)]
    main = [(start, n) for start in range(length - n + 1)]
    suffixes = [(length - size, size) for size in range(n - 1, 0, -1)]
    return prefixes + main + suffixes


class Windows(NamedTuple):
    """All windows of a trajectory of one length, as compiled loops take them: public, whatever is true."""

    starts: Indices
    lengths: Indices
    offsets: Indices
    """Where each window's n-gram stands in a row of draws."""
    numerators: Counts
    denominators: Counts
    trials: Counts
    sensitivities: Floats

    def coin(self, index: int) -> Coin:
        """The coin of one window, outside compiled loops."""
        return Coin(int(self.numerators[index]), int(self.denominators[index]), int(self.trials[index]))


def window_tables(
    draws: Sequence[Draw], max_distance: float, coin_epsilons: Sequence[Fraction] | None = None
) -> Windows:
    """Whole numbers of the draws: Δ = length · max d, a constant of the world (R2).

    The ε of a draw's coin is that of the draw, unless it was calibrated (`calibration`).

    Deviation: sensitivity — the paper does not say which Δ its experiments use; this one holds for any world.
    """
    lengths = np.array([draw.length for draw in draws], dtype=np.int32)
    coins = [coin_of(epsilon) for epsilon in coin_epsilons or [draw.epsilon for draw in draws]]
    return Windows(
        starts=np.array([draw.start for draw in draws], dtype=np.int32),
        lengths=lengths,
        offsets=(np.cumsum(lengths) - lengths).astype(np.int32),
        numerators=np.array([coin.numerator for coin in coins], dtype=np.int64),
        denominators=np.array([coin.denominator for coin in coins], dtype=np.int64),
        trials=np.array([coin.trials for coin in coins], dtype=np.int64),
        sensitivities=lengths.astype(np.float64) * max_distance,
    )
