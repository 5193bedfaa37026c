"""The tape and its coin: exact, also rejecting a wrong one, and the same as its plain-Python twin."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from elsewhere.compiled import compiled
from elsewhere.randomness import SeededRandomness
from elsewhere.tape import Tape, accepts_exp, below, new_tape, ran_out
from privacy_tools import PlainTape, p_value

SAMPLES = 200_000


@compiled
def _count_heads(tape: Tape, numerator: int, denominator: int, flips: int) -> int:
    heads = 0
    for _ in range(flips):
        heads += accepts_exp(tape, numerator, denominator)
    return heads


@compiled
def _many_below(tape: Tape, bound: int, counts: NDArray[np.int64]) -> None:
    for _ in range(SAMPLES):
        counts[below(tape, bound)] += 1


@pytest.mark.parametrize(
    "gamma", [Fraction(0), Fraction(1, 7), Fraction(5, 12), Fraction(1), Fraction(27, 10), Fraction(6)]
)
def test_heads_come_with_probability_e_to_the_minus_gamma(gamma: Fraction) -> None:
    tape = new_tape(SeededRandomness(1).words(SAMPLES * 40))
    heads = int(_count_heads(tape, gamma.numerator, gamma.denominator, SAMPLES))
    assert not ran_out(tape)
    counts = Counter({True: heads, False: SAMPLES - heads})
    chance = math.exp(-gamma)
    assert p_value(counts, {True: chance, False: 1 - chance} if gamma else {True: 1.0, False: 0.0}) > 1e-4
    if gamma:
        wrong = math.exp(-gamma * 1.3)
        assert p_value(counts, {True: wrong, False: 1 - wrong}) < 1e-6


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 64, 100])
def test_integers_below_a_bound_are_uniform(bound: int) -> None:
    counts = np.zeros(bound, dtype=np.int64)
    tape = new_tape(SeededRandomness(2).words(SAMPLES * 4))
    _many_below(tape, bound, counts)
    observed = Counter(dict(enumerate(counts.tolist())))
    assert p_value(observed, dict.fromkeys(range(bound), 1 / bound)) > 1e-4


@given(st.integers(0, 2**32), st.integers(0, 10**13), st.integers(1, 10**13))
def test_the_compiled_coin_and_its_twin_agree_word_for_word(
    seed: int, numerator: int, denominator: int
) -> None:
    numerator = min(numerator, 20 * denominator)
    words = SeededRandomness(seed).words(4000)
    tape, twin = new_tape(words), PlainTape(words)
    for _ in range(5):
        assert accepts_exp(tape, numerator, denominator) == twin.accepts_exp(
            Fraction(numerator, denominator), denominator
        )
        assert tape.cursor[0] == twin.used


def test_a_tape_that_runs_out_says_so() -> None:
    tape = new_tape(np.zeros(3, dtype=np.uint64))
    accepts_exp(tape, 1, 2)
    assert ran_out(tape)
