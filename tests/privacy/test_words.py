"""Words of randomness that a pick takes: as many as the numbers say, and tapes long enough."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from elsewhere.mechanism.codebook import odds_of, pick_candidates
from elsewhere.mechanism.words import of_below, of_coin, words_for_pick
from elsewhere.randomness import SeededRandomness, SystemRandomness
from elsewhere.tape import accepts_exp, below, new_tape


@pytest.mark.parametrize("bound", [1, 2, 5, 8192, 5000])
def test_a_whole_number_takes_as_many_words_as_counted(bound: int) -> None:
    tape = new_tape(SeededRandomness(1).words(400_000))
    for _ in range(100_000):
        below(tape, bound)
    assert tape.cursor[0] / 100_000 == pytest.approx(of_below(bound).first, rel=0.01)


@pytest.mark.parametrize("gamma", ["0", "1/3", "1", "5/2", "5", "14"])
def test_a_coin_takes_as_many_words_as_counted(gamma: str) -> None:
    """Mean and mean square; a mean that is 5 % off is rejected."""
    odds, tape = Fraction(gamma), new_tape(SeededRandomness(2).words(2_000_000))
    taken = []
    for _ in range(50_000):
        before = tape.cursor[0]
        accepts_exp(tape, odds.numerator, odds.denominator)
        taken.append(int(tape.cursor[0] - before))
    counted = of_coin(odds.numerator, odds.denominator)
    assert counted.chance == pytest.approx(1)
    assert np.mean(taken) == pytest.approx(counted.first, rel=0.02)
    assert np.mean(np.square(taken)) == pytest.approx(counted.second, rel=0.05)


class _Counting(SystemRandomness):
    """The operating system's words, and how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def words(self, count: int) -> np.ndarray:
        self.asked += 1
        return super().words(count)


@pytest.mark.parametrize("constant_work", [True, False])
@pytest.mark.parametrize(
    ("epsilon", "k", "m"), [("5", 200, 8192), ("1", 3, 40), ("1/2", 30, 31), ("10", 7, 900)]
)
def test_a_first_tape_is_long_enough(epsilon: str, k: int, m: int, *, constant_work: bool) -> None:
    """A tape that ran out would double the time: with eight words a trial three of four did."""
    flags = np.zeros((1, m), dtype=np.bool_)
    flags[0, :k] = True
    odds, counting = odds_of(Fraction(epsilon), k, m), _Counting()
    for _ in range(200):
        pick_candidates(flags, odds, counting, constant_work=constant_work)
    allowed = 200 if constant_work else 230  # trials until one is accepted vary more than their words
    assert 200 <= counting.asked <= allowed


def test_tapes_are_not_absurdly_long() -> None:
    odds = odds_of(Fraction(5), 200, 8192)
    words = words_for_pick(odds.coin, odds.candidates, 1 - 200 / 8192, constant_work=True)
    assert odds.trials < words < 12 * odds.trials
