"""How many words of randomness a pick takes: public numbers, so that a tape hardly ever runs out.

A tape that runs out is done again on a longer one. The draws stay the same, but it takes twice as long, and
how long a device takes must not hang on what is true.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

from elsewhere.mechanism.rejection import Coin

# A tape is too short once in a billion picks.
_DEVIATIONS = 6.0
_MOST_ROUNDS = 40


@dataclass(frozen=True, slots=True)
class WordCount:
    """How likely something is to happen, and the first two moments of the words taken where it does."""

    chance: float
    first: float
    second: float

    def then(self, other: WordCount) -> WordCount:
        """Both happen, one after the other."""
        return WordCount(
            self.chance * other.chance,
            self.first * other.chance + self.chance * other.first,
            self.second * other.chance + 2 * self.first * other.first + self.chance * other.second,
        )

    def times(self, chance: float) -> WordCount:
        """The same, if a coin comes up that takes no words."""
        return WordCount(self.chance * chance, self.first * chance, self.second * chance)

    def __add__(self, other: WordCount) -> WordCount:
        """One of two things that exclude each other."""
        return WordCount(self.chance + other.chance, self.first + other.first, self.second + other.second)


_NOTHING, _NEVER = WordCount(1.0, 0.0, 0.0), WordCount(0.0, 0.0, 0.0)


def of_below(bound: int) -> WordCount:
    """`tape.below`: words cut to as many bits as needed, until one fits."""
    fits = bound / (1 << (bound - 1).bit_length())
    return WordCount(1.0, 1 / fits, (2 - fits) / fits**2)


def of_coin(numerator: int, denominator: int) -> WordCount:
    """`tape.accepts_exp`: coins of e^−1 as long as they come up, then one of what is left."""
    whole, left = divmod(numerator, denominator)
    taken, up = _NEVER, _NOTHING
    for _ in range(min(whole, _MOST_ROUNDS)):
        heads, tails = _up_to_one(1, 1)
        taken, up = taken + up.then(tails), up.then(heads)
    heads, tails = _up_to_one(left, denominator)
    return taken + up.then(heads) + up.then(tails)


def _up_to_one(numerator: int, denominator: int) -> tuple[WordCount, WordCount]:
    """Coming up, and not: rounds of a coin of γ and one of 1/k until one fails; odd rounds come up."""
    gamma = numerator / denominator
    heads, tails = _NEVER, _NEVER
    for k in range(_MOST_ROUNDS, 0, -1):
        second = of_below(k).times(gamma) if k > 1 else _NOTHING.times(gamma)
        ends = _NOTHING.times(1 - gamma) + second.times(1 - 1 / k)
        heads, tails = (of_below(denominator).then(second.times(1 / k).then(side)) for side in (heads, tails))
        if k % 2:
            heads += of_below(denominator).then(ends)
        else:
            tails += of_below(denominator).then(ends)
    return heads, tails


@cache
def words_for_pick(coin: Coin, options: int, far: float, *, constant_work: bool) -> int:
    """Words for a pick among ``options``, of which a share of ``far`` must pass the coin."""
    either = of_coin(coin.numerator, coin.denominator).times(far) + of_coin(0, coin.denominator).times(
        1 - far
    )
    trial = of_below(options).then(either)
    accepted = 1 - far + far * math.exp(-coin.numerator / coin.denominator)
    # Without constant work trials end at the first that is accepted: their number varies, too.
    trials = coin.trials if constant_work else min(coin.trials, 2 / accepted)
    variance = trial.second - trial.first**2 if constant_work else trial.second
    return math.ceil(trials * trial.first + _DEVIATIONS * math.sqrt(trials * variance)) + 64
