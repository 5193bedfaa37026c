"""A second opinion: OpenDP's exponential mechanism on the same scores."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import opendp.prelude as dp
import pytest
from scipy.stats import chi2_contingency

import elsewhere as ew
from elsewhere.audit.channel import all_trajectories, chances
from elsewhere.mechanism.listing import Step
from elsewhere.mechanism.rejection import SCORE_STEPS
from elsewhere.randomness import SeededRandomness
from privacy_tools import p_value
from tiny_worlds import tiny_world

SAMPLES = 15_000


@pytest.fixture(autouse=True)
def _contrib() -> None:
    dp.enable_features("contrib")


def _opendp_draws(scores: list[float], scale: float) -> Counter[int]:
    """Under zCDP its noisy max adds Gumbel noise, which is the exponential mechanism with e^(score / scale).

    Under max-divergence it would be permute-and-flip, another mechanism.
    """
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    choose = dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=scale)
    return Counter(choose(scores) for _ in range(SAMPLES))


def test_our_draws_and_those_of_opendp_have_one_distribution(tmp_path: Path) -> None:
    world = tiny_world(tmp_path, 21)
    method = ew.method("ngram", world, epsilon=6, n=1)
    day = next(all_trajectories(world, 1))
    step = method.step(method.core.secret(day), None)
    assert isinstance(step, Step)
    # Scores in [−1, 0], so that e^(score / scale) = e^(−ε s / 2) with scale = 2 / ε.
    scores = [-number / 6 / SCORE_STEPS for number in step.numerators]
    theirs = _opendp_draws(scores, scale=2 / 6)
    exact = dict(enumerate(map(float, chances(step))))
    assert p_value(theirs, exact) > 1e-4
    ours = Counter(
        step.outcomes.index(path[0]) for path in method.outcomes(day, SAMPLES, SeededRandomness(1))
    )
    table = np.array([[counts[i] for i in exact] for counts in (ours, theirs)])
    assert chi2_contingency(table).pvalue > 1e-4
    sharper = _opendp_draws(scores, scale=2 / 6 / 1.3)
    assert p_value(sharper, exact) < 1e-6


def test_opendp_accounts_for_the_same_epsilon() -> None:
    """Scores that differ by at most 1 at scale 2 / ε: ε-DP, and ρ = ε² / 8 for the exponential mechanism."""
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    for epsilon in (Fraction(1), Fraction(5)):
        choose = dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=2 / float(epsilon))
        rho = choose.map(1.0)  # type: ignore[no-untyped-call]  # OpenDP has no types here
        assert rho == pytest.approx(float(epsilon) ** 2 / 8, rel=1e-9)
