"""The paper's utility theorems (eq:em-utility, eq:global-utility, eq:ngram-utility), against simulation."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import elsewhere as ew
from elsewhere.days.feasible import list_days
from elsewhere.evaluate.theory import em_distance_at_most, global_prediction, ngram_prediction
from elsewhere.mechanism.rejection import SCORE_STEPS
from elsewhere.mechanism.whole_day import day_scores
from elsewhere.methods.whole_day import Global
from elsewhere.randomness import SeededRandomness
from tiny_worlds import tiny_world


def test_the_bound_is_the_formula() -> None:
    """Pr[q ≤ OPT − 2Δ/ε (ln |𝒴|/|𝒴_OPT| + ζ)] ≤ e^−ζ, by hand."""
    bound = em_distance_at_most(epsilon=2, sensitivity=3, log_candidates=math.log(10), zeta=1, optimum=0.5)
    assert bound == pytest.approx(0.5 + 3 * (math.log(10) + 1))
    with pytest.raises(ew.InputError):
        em_distance_at_most(epsilon=0, sensitivity=1, log_candidates=1, zeta=1)


@pytest.mark.parametrize("confidence", [0.3, 0.6, 0.95])
def test_draws_of_windows_keep_the_bound(tmp_path: Path, confidence: float) -> None:
    """Simulated at an ε at which the bound is within reach, so that it could be broken."""
    world = tiny_world(tmp_path, 21)
    truth = next((a, b) for a, b in pairwise(range(len(world.regions))) if world.graph.has_edge(a, b))
    method = ew.method("ngram", world, epsilon=40)
    drawn, _ = method.core.perturb(
        np.tile(np.array(truth, dtype=np.int32), (5000, 1)), SeededRandomness(1), constant_work=False
    )
    window = drawn.values[:, 1:3]
    far = world.distances.combined(np.array(truth)[None, :], window).sum(axis=1)
    told = ngram_prediction(world, epsilon=40, length=2, confidence=confidence)
    assert told.log_candidates == pytest.approx(math.log(world.graph.bigrams))
    assert told.says_something
    assert (far > told.distance).mean() <= 1 - confidence


def test_days_keep_the_bound(tmp_path: Path) -> None:
    world = tiny_world(tmp_path, 9, 3)
    core = Global(world, epsilon=14)
    told = global_prediction(world, epsilon=14, length=2, confidence=0.5)
    days, _ = list_days(core.tables(2).days)
    assert told.log_candidates == pytest.approx(math.log(len(days)))
    assert told.says_something
    truth = days[0]
    drawn, _ = core.perturb(np.tile(truth, (5000, 1)), SeededRandomness(1), constant_work=False)
    far = day_scores(core.tables(2), truth, drawn.values) / SCORE_STEPS * told.largest
    assert far.min() == 0
    assert (far > told.distance).mean() <= 0.5


def test_on_ordinary_settings_it_says_nothing(tmp_path: Path) -> None:
    """At ε = 5 for five visits the bound is beyond the largest distance: true, and of no use."""
    told = ngram_prediction(tiny_world(tmp_path, 4), epsilon=5, length=5)
    assert not told.says_something
    assert told.distance > 5 * told.largest
