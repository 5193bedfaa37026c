"""Answers: exactly k outputs are mine, whatever is true; real answers are the listed ones."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from elsewhere.arrays import Indices
from elsewhere.compiled import interpreted
from elsewhere.errors import InputError
from elsewhere.mechanism import answer as module
from elsewhere.mechanism.answer import (
    AnswerTables,
    answer_step,
    answers,
    best_buckets,
    better_answer,
    bucket_of,
    chances,
    chances_of_mine,
    direct_answer,
    hashed_answer,
    rare_variance,
)
from elsewhere.mechanism.budget import exact_epsilon
from elsewhere.randomness import SeededRandomness
from elsewhere.tape import new_tape
from examples import examples

SAMPLES = 60_000
TABLES = [
    direct_answer(Fraction(1), 6, 2),
    direct_answer(Fraction(5), 4, 3),
    hashed_answer(Fraction(1), 6, 2, 5, seeds=1),
    hashed_answer(Fraction(3), 9, 3, 4, seeds=1),
]
DAYS: list[tuple[int, ...]] = [(), (2,), (0, 3), (0, 1, 2, 3)]


def _rows(things: tuple[int, ...], count: int, width: int = 6) -> Indices:
    row = np.full(width, -1, dtype=np.int32)
    row[: len(things)] = things
    return np.tile(row, (count, 1))


@pytest.mark.parametrize("tables", TABLES, ids=str)
@pytest.mark.parametrize("things", DAYS, ids=str)
@pytest.mark.parametrize("constant_work", [False, True])
def test_real_answers_are_the_listed_ones(
    tables: AnswerTables, things: tuple[int, ...], *, constant_work: bool
) -> None:
    """T4: none, fewer, as many and more things than k; a 30 % wrong ε is rejected."""
    drawn, _ = answers(_rows(things, SAMPLES), tables, SeededRandomness(3), constant_work=constant_work)
    counts = np.bincount(drawn[:, 1], minlength=tables.odds.candidates)

    def listed(of: AnswerTables) -> np.ndarray:
        return np.array([float(chance) for chance in answer_step(of, things, 0, ()).chances])

    odds = tables.odds
    wrong = tables._replace(
        odds=odds._replace(numerator=13 * odds.numerator, denominator=10 * odds.denominator)
    )
    assert chisquare(counts, SAMPLES * listed(tables)).pvalue > 1e-5
    # Where buckets are filled up at random for a day that has nothing, ε makes no difference at all.
    if np.abs(listed(tables) - listed(wrong)).max() > 0.01:
        assert chisquare(counts, SAMPLES * listed(wrong)).pvalue < 1e-5


@examples(max_examples=80)
@given(
    things=st.integers(1, 5),
    kept=st.integers(1, 3),
    buckets=st.integers(0, 5),
    seed=st.integers(0, 2**31 - 1),
)
def test_no_two_days_differ_by_more_than_the_promise(things: int, kept: int, buckets: int, seed: int) -> None:
    """T1 for the pick: every set of things against every other, the fallback included."""
    epsilon = Fraction(2)
    tables = (
        hashed_answer(epsilon, things, kept, kept + buckets)
        if buckets
        else direct_answer(epsilon, things, kept)
    )
    sets = [day for size in range(things + 1) for day in combinations(range(things), size)]
    listed = [answer_step(tables, day, seed, ()).chances for day in sets]
    for day, row in zip(sets, listed, strict=True):
        assert sum(row) == pytest.approx(1, abs=1e-12)
        assert sum(chances_of_mine(tables, day, seed)) == kept
    pairs = [(ours, theirs) for ours in listed for theirs in listed]
    worst = max(float((a / b).ln()) for pair in pairs for a, b in zip(*pair, strict=True))
    assert worst <= 2 + 1e-12


def test_the_whole_of_epsilon_is_used() -> None:
    tables = direct_answer(Fraction(2), 5, 2)
    one, other = (answer_step(tables, day, 0, ()).chances for day in ((0, 1), (2, 3)))
    assert float((one[0] / other[0]).ln()) == pytest.approx(2, abs=1e-9)


def test_kept_things_are_chosen_as_often_as_each_other() -> None:
    tables = direct_answer(Fraction(12), 6, 2)  # an answer is mine, all but surely
    drawn, _ = answers(_rows((0, 1, 2, 3, 4), SAMPLES), tables, SeededRandomness(1), constant_work=False)
    counts = Counter(drawn[:, 1].tolist())
    assert chisquare([counts[thing] for thing in range(5)]).pvalue > 1e-4


def test_the_kernel_refuses_anything_but_k() -> None:
    """R19: a mark too many or too few, and nothing is drawn."""
    rows, tables = _rows((0, 0), 1), direct_answer(Fraction(1), 6, 2)  # a thing twice
    tape = new_tape(SeededRandomness(1).words(500))
    drawn, accepted = np.zeros((1, 2), dtype=np.int32), np.zeros((1, 1), dtype=np.int64)
    with pytest.raises(AssertionError, match="not exactly k"):
        module._compiled_rows(tape, tables, rows, False, drawn, accepted)


@pytest.mark.parametrize("tables", TABLES, ids=str)
def test_no_row_is_refused_whatever_stands_in_it(tables: AnswerTables) -> None:
    """R10: what comes twice counts once, what is no thing not at all."""
    odd = np.array([[0, 0, 99, -7, tables.things, 2]], dtype=np.int32)
    plain = np.array([[0, 2, -1, -1, -1, -1]], dtype=np.int32)
    for constant_work in (False, True):
        one, other = (
            answers(rows, tables, SeededRandomness(6), constant_work=constant_work)[0]
            for rows in (odd, plain)
        )
        np.testing.assert_array_equal(one, other)


def test_a_full_day_takes_as_many_words_as_an_empty_one() -> None:
    """R15, also where buckets have to be filled up."""
    tables = hashed_answer(Fraction(1, 2), 500, 50, 140)
    used = []
    for things in ((), tuple(range(50))):
        rows, total = _rows(things, 40, width=60), 0
        tape = new_tape(SeededRandomness(3).words(400_000))
        drawn, accepted = np.zeros((40, 2), dtype=np.int32), np.zeros((40, 1), dtype=np.int64)
        finished, total = module._compiled_rows(tape, tables, rows, True, drawn, accepted)
        assert finished == 40
        used.append(total)
    assert used[0] == pytest.approx(used[1], rel=0.1)  # without filling up for nothing it was half


def test_a_seed_spreads_things_evenly_and_is_used() -> None:
    counts = np.bincount([bucket_of(seed, 17, 7) for seed in range(70_000)], minlength=7)
    assert chisquare(counts).pvalue > 1e-4
    pairs = Counter((bucket_of(seed, 3, 4), bucket_of(seed, 900, 4)) for seed in range(64_000))
    assert chisquare([pairs[a, b] for a in range(4) for b in range(4)]).pvalue > 1e-4
    drawn, _ = answers(
        _rows((1, 2), 3000), hashed_answer(Fraction(2), 9, 2, 20), SeededRandomness(1), constant_work=False
    )
    assert len(np.unique(drawn[:, 0])) > 2990
    assert drawn[:, 0].min() >= 0


@pytest.mark.parametrize("epsilon", ["1/2", "1", "3", "5"])
def test_the_better_way_is_the_one_with_the_smaller_variance(epsilon: str) -> None:
    exact = Fraction(epsilon)
    for things, kept in [(4, 2), (40, 3), (384, 5), (6144, 5)]:
        best = better_answer(exact, things, kept)
        others = [direct_answer(exact, things, kept)]
        others += [hashed_answer(exact, things, kept, kept + more) for more in (1, 3, 10, 40, 200, 1000)]
        assert rare_variance(best) <= min(map(rare_variance, others)) + 1e-12


def test_few_things_are_told_directly_and_many_hashed() -> None:
    assert not better_answer(Fraction(5), 384, 5).is_hashed
    assert better_answer(Fraction(1), 384, 5).is_hashed
    assert best_buckets(Fraction(1), 5) > 10


@pytest.mark.parametrize(
    "tables", [direct_answer(Fraction(2), 30, 3), hashed_answer(Fraction(1), 500, 3, 12)], ids=str
)
def test_counts_of_answers_tell_how_many_have_each_thing(tables: AnswerTables) -> None:
    """m̂ = (c/n − q) / (p − q) is unbiased, for things that few, many or nobody has."""
    generator = np.random.default_rng(2)
    rows = np.full((SAMPLES, 3), -1, dtype=np.int32)
    rows[:, 0] = np.where(generator.random(SAMPLES) < 0.3, 7, -1)
    rows[:, 1] = np.where(generator.random(SAMPLES) < 0.6, 9, -1)
    drawn, _ = answers(rows, tables, SeededRandomness(4), constant_work=False)
    p, q = chances(tables)
    for thing, share in [(7, 0.3), (9, 0.6), (11, 0.0)]:
        if tables.is_hashed:
            pointed = np.array([bucket_of(s, thing, tables.odds.candidates) == y for s, y in drawn.tolist()])
        else:
            pointed = drawn[:, 1] == thing
        spread = math.sqrt(0.25 / SAMPLES) / (p - q)
        assert (pointed.mean() - q) / (p - q) == pytest.approx(share, abs=5 * spread)


def test_one_day_and_many_give_the_same_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plain twin of a device that has compiled nothing, word for word."""
    for tables in TABLES:
        for things in DAYS:
            compiled = answers(_rows(things, 1), tables, SeededRandomness(8), constant_work=True)
            with monkeypatch.context() as patched:
                patched.setattr(module, "_rows", interpreted(module._compiled_rows))
                plain = answers(_rows(things, 1), tables, SeededRandomness(8), constant_work=True)
            np.testing.assert_array_equal(compiled[0], plain[0])
            np.testing.assert_array_equal(compiled[1], plain[1])


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3", "5", "8"])
@pytest.mark.parametrize("kept", [1, 2, 3, 7, 40])
def test_the_best_number_of_buckets_is_found_without_trying_all(epsilon: str, kept: int) -> None:
    odds = math.exp(float(Fraction(epsilon)))
    tried = np.arange(kept + 1, kept + 3 + 4 * math.ceil(kept * odds), dtype=np.float64)
    variances = (tried - 1) * (kept * odds + tried - kept) ** 2 / (tried - kept) ** 2
    assert best_buckets(Fraction(epsilon), kept) == int(tried[np.argmin(variances)])


def test_a_large_epsilon_takes_neither_memory_nor_a_refusal() -> None:
    assert best_buckets(Fraction(20), 1000) > 1e11
    assert not better_answer(Fraction(25, 2), 8, 1).is_hashed


@pytest.mark.parametrize("text", ["1e10000000", "1E+9999", "1e-99999999", "9" * 101, "1/1e5000"])
def test_numbers_that_would_fill_the_memory_are_no_epsilon(text: str) -> None:
    with pytest.raises(InputError, match="epsilon"):
        exact_epsilon(text)
