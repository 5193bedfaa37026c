"""Mixed reports: the bound against plain sums, and against mixes that can be listed whole."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import combinations_with_replacement, permutations

import pytest

from elsewhere.errors import InputError
from elsewhere.estimates.shuffling import shuffled_delta, shuffled_epsilon


def _plain_delta(local: float, epsilon: float, reports: int) -> float:
    """The theorem as it is written: P and Q listed, no thresholds, no tails."""
    p, q = math.exp(local) / (math.exp(local) + 1), math.exp(-local)
    first: dict[tuple[int, ...], float] = defaultdict(float)
    second: dict[tuple[int, ...], float] = defaultdict(float)
    for c in range(reports):
        clones = math.comb(reports - 1, c) * q**c * (1 - q) ** (reports - 1 - c)
        for a in range(c + 1):
            chance = clones * math.comb(c, a) / 2**c
            for delta, part in ((1, p), (0, 1 - p)):
                first[a + delta, c - a + 1 - delta] += chance * part
                second[a + 1 - delta, c - a + delta] += chance * part
    return max(_hockey(first, second, epsilon), _hockey(second, first, epsilon))


def _hockey(one: dict[tuple[int, ...], float], other: dict[tuple[int, ...], float], epsilon: float) -> float:
    return sum(max(one[k] - math.exp(epsilon) * other.get(k, 0.0), 0.0) for k in one)


@pytest.mark.parametrize("reports", [1, 2, 3, 10, 60])
@pytest.mark.parametrize("local", [0.01, 0.5, 1.0, 2.0, 5.0])
def test_the_bound_is_the_theorems(local: float, reports: int) -> None:
    for part in (0.0, 0.01, 0.1, 0.3, 0.5, 0.9, 0.999):
        plain = _plain_delta(local, part * local, reports)
        assert shuffled_delta(local, part * local, reports) == pytest.approx(plain, rel=1e-6, abs=1e-12)
        assert shuffled_delta(local, part * local, reports) >= plain * (1 - 1e-9) - 1e-15
    assert shuffled_delta(local, local, reports) == 0


def _mixed(inputs: tuple[int, ...], local: float, kinds: int) -> dict[tuple[int, ...], float]:
    """All mixes of k-ary randomised response, with their chances: how often each answer is in it."""
    true = math.exp(local) / (math.exp(local) + kinds - 1)
    other = (1 - true) / (kinds - 1)
    found: dict[tuple[int, ...], float] = {(0,) * kinds: 1.0}
    for mine in inputs:
        after: dict[tuple[int, ...], float] = defaultdict(float)
        for counts, chance in found.items():
            for answer in range(kinds):
                more = (*counts[:answer], counts[answer] + 1, *counts[answer + 1 :])
                after[more] += chance * (true if answer == mine else other)
        found = after
    return found


@pytest.mark.parametrize(("kinds", "reports"), [(2, 1), (2, 4), (2, 9), (3, 4), (3, 6), (4, 4)])
@pytest.mark.parametrize("local", [0.5, 1.0, 3.0])
def test_no_mix_of_randomised_answers_is_worse(kinds: int, reports: int, local: float) -> None:
    """For every pair of inputs of one person and all inputs of the others; and it is not far off for two."""
    for part in (0.1, 0.4, 0.8):
        epsilon, worst = part * local, 0.0
        for others in combinations_with_replacement(range(kinds), reports - 1):
            for one, two in permutations(range(kinds), 2):
                mine, theirs = (_mixed((*others, true), local, kinds) for true in (one, two))
                worst = max(worst, _hockey(mine, theirs, epsilon))
        bound = shuffled_delta(local, epsilon, reports)
        assert worst <= bound * (1 + 1e-9)
        if reports > 4 and part < 0.5:
            assert worst > bound / 100  # a bound of 1 would hold too


def test_more_people_and_more_delta_never_make_it_worse() -> None:
    deltas = [shuffled_delta(2, 0.5, n) for n in (1, 2, 5, 20, 100, 1000, 10_000, 100_000)]
    assert deltas == sorted(deltas, reverse=True)
    assert deltas[-1] < 1e-20 < deltas[0]
    for local in (0.5, 5.0):
        by_people = [shuffled_epsilon(local, 1e-6, n) for n in (1, 10, 1000, 10_000, 100_000, 1_000_000)]
        assert by_people == sorted(by_people, reverse=True)
        by_delta = [shuffled_epsilon(local, delta, 10_000) for delta in (1e-12, 1e-9, 1e-6, 1e-3, 0.1)]
        assert by_delta == sorted(by_delta, reverse=True)
        assert by_people[-1] < local / 4
    by_local = [shuffled_epsilon(local, 1e-6, 10_000) for local in (0.1, 1, 2, 4, 8)]
    assert by_local == sorted(by_local)


@pytest.mark.parametrize(("local", "reports"), [(1.0, 1000), (5.0, 100_000), (0.3, 10), (12.0, 50)])
def test_what_is_said_is_on_the_safe_side(local: float, reports: int) -> None:
    epsilon = shuffled_epsilon(local, 1e-6, reports)
    assert 0 < epsilon <= local
    assert shuffled_delta(local, epsilon, reports) <= 1e-6
    assert shuffled_delta(local, epsilon * (1 - 1e-6), reports) > 1e-6


def test_alone_nobody_hides() -> None:
    for local in (0.5, 5.0):
        assert shuffled_epsilon(local, 1e-12, 1) == pytest.approx(local, rel=1e-9)
        assert shuffled_epsilon(local, 1e-12, 1) <= local
    assert shuffled_epsilon(50, 1e-9, 1_000_000) <= 50
    assert shuffled_epsilon(0.1, 0.9, 5) == 0


def test_numbers_of_clones_that_are_left_out_are_added(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = shuffled_delta(2, 0.5, 5000)
    monkeypatch.setattr("elsewhere.estimates.shuffling._DEVIATIONS", 3)
    assert exact + 1e-5 < shuffled_delta(2, 0.5, 5000) < exact + 1e-3


def test_numbers_of_clones_are_grouped_on_the_safe_side(monkeypatch: pytest.MonkeyPatch) -> None:
    one_by_one = shuffled_delta(1, 0.1, 3000)
    monkeypatch.setattr("elsewhere.estimates.shuffling._GROUPS", 100)
    grouped = shuffled_delta(1, 0.1, 3000)
    assert one_by_one < grouped < 1.1 * one_by_one


def test_bad_numbers_are_told() -> None:
    for local in (0, -1, math.nan, math.inf):
        with pytest.raises(InputError, match=f"epsilon_local: found {local}, must be a number above 0"):
            shuffled_delta(local, 1, 10)
    for epsilon in (-1, math.nan, math.inf):
        with pytest.raises(InputError, match=f"epsilon: found {epsilon}, must be a number, 0 or more"):
            shuffled_delta(1, epsilon, 10)
    for delta in (0, 1, -1, math.nan):
        with pytest.raises(InputError, match=f"delta: found {delta}, must be above 0 and below 1"):
            shuffled_epsilon(1, delta, 10)
    for reports in (0, -5, 2.5, 10**13):
        with pytest.raises(InputError, match=r"reports: found .*, must be a whole number from 1 to"):
            shuffled_epsilon(1, 1e-6, reports)  # type: ignore[arg-type]
