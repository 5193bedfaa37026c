"""ε: what each draw gets, and that the sum is what was promised (R4)."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elsewhere.errors import InputError
from elsewhere.mechanism.budget import exact_epsilon, total
from elsewhere.mechanism.windows import windows
from privacy_tools import even_draws


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("length", range(1, 11))
def test_number_of_draws_and_their_epsilon(n: int, length: int) -> None:
    """ε' = ε / (|τ| + n − 1) (eq:ngram-perturbation); with |τ| < n, n = |τ|."""
    draws = even_draws(Fraction(5), length, n)
    effective = min(n, length)
    assert len(draws) == length + effective - 1
    assert {draw.epsilon for draw in draws} == {Fraction(5, length + effective - 1)}
    assert total(draws) == 5


@given(st.integers(1, 30), st.integers(1, 8))
def test_every_position_is_covered_n_times(length: int, n: int) -> None:
    """All timesteps have the same number of perturbed regions (ss:ngram-perturbation, end effects)."""
    covered = [0] * length
    for start, size in windows(length, n):
        for position in range(start, start + size):
            covered[position] += 1
    assert covered == [min(n, length)] * length


def test_end_windows_are_the_figures() -> None:
    """When |τ| = 4 and n = 2 [...] we would obtain z(1,1) and z(4,4) using 𝒲¹ (fig:perturbation)."""
    assert windows(4, 2) == [(0, 1), (0, 2), (1, 2), (2, 2), (3, 1)]


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=1000), st.integers(1, 40), st.integers(1, 6))
def test_the_sum_of_draws_never_exceeds_epsilon(epsilon: Fraction, length: int, n: int) -> None:
    exact = exact_epsilon(epsilon)
    assert exact <= epsilon
    assert epsilon - exact < Fraction(1, 10**6)
    assert total(even_draws(exact, length, n)) == exact


def test_epsilon_is_what_a_person_means() -> None:
    assert exact_epsilon(0.1) == Fraction(1, 10)
    assert exact_epsilon("0.1") == Fraction(1, 10)
    assert exact_epsilon(5) == 5


@pytest.mark.parametrize("value", [0, -1, "five", float("nan"), float("inf"), "1e-9", 10**9, None])
def test_bad_epsilon_is_refused(value: object) -> None:
    with pytest.raises(InputError, match="epsilon"):
        exact_epsilon(value)  # type: ignore[arg-type]  # that is the point
