"""T4 and T7 for every registered method: real draws are the listed ones, and nothing else gets out."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import elsewhere as ew
from cases import cases, longest, most_places
from elsewhere.audit.agreement import agreement, depends_on_the_draws_alone
from elsewhere.audit.channel import all_trajectories
from elsewhere.methods.ngram import Ngram, NgramTables
from elsewhere.methods.nulls import NULLS
from elsewhere.methods.registry import METHODS
from elsewhere.methods.sharing import Sharing
from elsewhere.randomness import SeededRandomness, SystemRandomness
from tiny_worlds import tiny_world

CASES = [(name, options) for name in METHODS for options in cases(name)]


@pytest.mark.parametrize(("name", "options"), CASES, ids=str)
@pytest.mark.parametrize("seed", [4, 7, 22])
def test_real_draws_follow_the_audited_tables(
    tmp_path: Path, name: str, options: dict[str, Any], seed: int
) -> None:
    """R14: the audited table is the sampled table; a 30 % wrong ε is rejected."""
    world = tiny_world(tmp_path, seed, most_places(name))
    days = list(all_trajectories(world, longest(name, world, 3)))
    day = days[len(days) // 5]
    method = ew.method(name, world, epsilon=8, **options)
    assert agreement(method, day, 40_000, SeededRandomness(seed)) > 1e-4
    assert agreement(method, day, 2000, SeededRandomness(seed), constant_work=True) > 1e-4
    if name not in {*NULLS, "global-subsampled"}:  # a sample of one or two leaves hardly anything to choose
        wrong = ew.method(name, world, epsilon=Fraction(104, 10), **options)
        assert agreement(method, day, 40_000, SeededRandomness(seed), listed=wrong) < 1e-4


@pytest.mark.audit
@pytest.mark.parametrize(("name", "options"), CASES, ids=str)
@pytest.mark.parametrize("seed", [22])
def test_a_million_draws_follow_the_audited_tables(
    tmp_path: Path, name: str, options: dict[str, Any], seed: int
) -> None:
    """T4 at length."""
    world = tiny_world(tmp_path, seed, most_places(name))
    days = list(all_trajectories(world, longest(name, world, 3)))
    try:
        method = ew.method(name, world, epsilon=5, **options)
    except ew.InputError:
        pytest.skip("no n regions in a row on this world")
    assert agreement(method, days[len(days) // 3], 1_000_000, SeededRandomness(seed)) > 1e-4


@pytest.mark.parametrize(("name", "options"), CASES, ids=str)
def test_draws_with_the_systems_randomness_follow_the_tables_too(
    tmp_path: Path, name: str, options: dict[str, Any]
) -> None:
    world = tiny_world(tmp_path, 9, most_places(name))
    day = list(all_trajectories(world, longest(name, world, 3)))[-1]
    method = ew.method(name, world, epsilon=8, **options)
    assert agreement(method, day, 10_000, SystemRandomness()) > 1e-6


class _FewTrials(Ngram):
    """The real core with so few trials that the fallback shows."""

    def tables(self, length: int) -> NgramTables:
        tables = super().tables(length)
        return replace(tables, plan=tables.plan._replace(trials=np.full_like(tables.plan.trials, 1)))


@pytest.mark.parametrize("constant_work", [False, True])
def test_the_fallback_is_one_more_proposal(tmp_path: Path, constant_work: bool) -> None:
    """What happens once in 2⁶⁴ draws is tested where it happens half the time."""
    world = tiny_world(tmp_path, 4)
    few, plain = Sharing(_FewTrials(world, epsilon=12)), ew.method("ngram", world, epsilon=12)
    day = list(all_trajectories(world, 2))[40]
    source = SeededRandomness(3)
    assert agreement(few, day, 40_000, source, constant_work=constant_work) > 1e-4
    assert agreement(few, day, 40_000, source, listed=plain, constant_work=constant_work) < 1e-6


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("seed", [4, 7, 9, 22])
def test_the_output_depends_on_the_truth_only_through_the_draws(tmp_path: Path, name: str, seed: int) -> None:
    """T7: same draws, same randomness afterwards: the same output, whatever was true."""
    world = tiny_world(tmp_path, seed, most_places(name))
    days = list(all_trajectories(world, longest(name, world, 3)))
    for options in cases(name):
        method = ew.method(name, world, epsilon=5, **options)
        for first, second in zip(days[:: len(days) // 4], days[-1 :: -len(days) // 4], strict=False):
            assert depends_on_the_draws_alone(method, first, second, draws=3)
