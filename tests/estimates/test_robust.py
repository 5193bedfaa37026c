"""Robust intervals: the numbers of the paper, and coverage under the least favourable biases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linprog

from elsewhere.estimates.robust import critical_value, half_lengths, miss, worst_miss


def test_without_bias_it_is_the_usual_interval() -> None:
    assert critical_value(0.0) == pytest.approx(1.959964, abs=1e-5)
    assert critical_value(0.0, 0.1) == pytest.approx(1.644854, abs=1e-5)


@pytest.mark.parametrize("mean_square", [0.1, 0.5, 1.0, 4.0, 25.0])
def test_the_worst_biases_are_those_that_a_linear_program_finds(mean_square: float) -> None:
    """The largest chance of a miss over all distributions of biases on a fine grid."""
    squares = np.linspace(0, 60 + 8 * mean_square, 6001)
    for half in (1.2, 2.0, 3.5, 6.0):
        chances = np.array([miss(square, half) for square in squares.tolist()])
        found = linprog(
            -chances,
            A_eq=np.vstack([np.ones_like(squares), squares]),
            b_eq=[1.0, mean_square],
            bounds=(0, 1),
        )
        assert worst_miss(mean_square, half) == pytest.approx(-float(found.fun or 0), abs=2e-4)


@pytest.mark.parametrize("mean_square", [1e-6, 0.01, 0.3, 1.0, 9.0, 400.0, 1e9])
@pytest.mark.parametrize("alpha", [0.05, 0.1])
def test_the_critical_value_misses_just_so_often(mean_square: float, alpha: float) -> None:
    half = critical_value(mean_square, alpha)
    assert half <= math.sqrt((1 + mean_square) / alpha) + 1e-9
    if mean_square < 1e6:
        assert worst_miss(mean_square, half) == pytest.approx(alpha, abs=1e-6)


def test_more_bias_needs_a_longer_interval() -> None:
    values = [critical_value(square) for square in (0, 0.01, 0.1, 1, 10, 100, 1e4)]
    assert values == sorted(values)


def test_intervals_cover_on_average_whatever_the_biases_are() -> None:
    """Biases that are mostly none and sometimes large, as for a prediction that is off in a few places."""
    generator = np.random.default_rng(1)
    count, square, variance, weight = 400_000, 0.5, 1.0, 0.4
    for share in (1.0, 0.2, 0.02):
        bias = np.where(generator.random(count) < share, math.sqrt(square / share), 0.0)
        truth = bias * generator.choice([-1.0, 1.0], count)  # the prediction f is 0
        estimate = weight * (truth + generator.normal(0, math.sqrt(variance), count))
        half = half_lengths(np.array([weight]), np.array([variance]), np.array([square]))[0]
        assert (np.abs(estimate - truth) <= half).mean() > 0.949
        plain = 1.96 * weight
        if share == 1.0:
            assert (np.abs(estimate - truth) <= plain).mean() < 0.9  # what a plain interval would give


def test_a_prediction_alone_has_chebyshevs_interval() -> None:
    half = half_lengths(np.array([0.0]), np.array([1.0]), np.array([4.0]))
    assert half[0] == pytest.approx(2 / math.sqrt(0.05))
