"""T4 and T7 for every registered method: real draws are the listed ones, and nothing else gets out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import elsewhere as ew
from cases import cases, longest, most_places, plain_options
from elsewhere import tape
from elsewhere.arrays import Words
from elsewhere.audit.agreement import agreement, agreement_of, depends_on_the_draws_alone, real_paths
from elsewhere.audit.channel import all_trajectories
from elsewhere.mechanism.codebook import CodebookTables
from elsewhere.mechanism.ngram import NgramTables
from elsewhere.mechanism.place_ngram import PlaceNgramTables
from elsewhere.mechanism.rejection import coin_of
from elsewhere.methods.ngram import Ngram
from elsewhere.methods.place_ngram import PlaceNgram
from elsewhere.methods.registry import DEFAULT, METHODS, null_names
from elsewhere.methods.sharing import Sharing
from elsewhere.randomness import SeededRandomness, SystemRandomness
from elsewhere.world.world import World
from tiny_worlds import closed_at_noon, far_apart, one_way, tiny_world

CASES = [(name, options) for name in METHODS for options in cases(name)]


def _worlds_and_cases() -> Iterator[Any]:
    """All cases of the default method on one world, one of each other; `make audit` has all on three."""
    for name, options in CASES:
        for seed in (4, 7, 22):
            is_for_audit = seed != 4 or (name != DEFAULT and options != cases(name)[0])
            yield pytest.param(name, options, seed, marks=[pytest.mark.audit] if is_for_audit else [])


@pytest.mark.parametrize(("name", "options", "seed"), list(_worlds_and_cases()), ids=str)
def test_real_draws_follow_the_audited_tables(
    tmp_path: Path, name: str, options: dict[str, Any], seed: int
) -> None:
    """R14: the audited table is the sampled table; a 30 % wrong ε is rejected."""
    world = tiny_world(tmp_path, seed, most_places(name))
    days = list(all_trajectories(world, longest(name, world, 3)))
    day = days[len(days) // 5]
    method = ew.method(name, world, epsilon=8, **options)
    paths = real_paths(method, day, 40_000, SeededRandomness(seed))
    assert agreement_of(paths, day, method) > 1e-4
    assert agreement(method, day, 600, SeededRandomness(seed), constant_work=True) > 1e-4
    # A sample of one or two leaves hardly anything to choose.
    if name not in {*null_names(), "global-subsampled"}:
        wrong = ew.method(name, world, epsilon=Fraction(104, 10), **options)
        assert agreement_of(paths, day, wrong) < 1e-4


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


class _FewTrialsOfPlaces(PlaceNgram):
    """The real core of n-grams of places with so few trials that the fallback shows."""

    def tables(self, length: int) -> PlaceNgramTables:
        tables = super().tables(length)
        windows = tables.windows._replace(trials=np.full_like(tables.windows.trials, 1))
        return tables._replace(windows=windows, time_coin=tables.time_coin._replace(trials=1))


# Pairs in `make test`; visits by themselves, and three together, in `make audit`.
@pytest.mark.parametrize("n", [2, *(pytest.param(n, marks=pytest.mark.audit) for n in (1, 3))])
@pytest.mark.parametrize("constant_work", [False, True])
@pytest.mark.parametrize("make", [far_apart, closed_at_noon, one_way])
def test_places_that_must_be_counted_follow_the_tables_too(
    tmp_path: Path, make: Callable[[Path], World], constant_work: bool, n: int
) -> None:
    """What guessing does not find, and what is found only among closed places."""
    world = make(tmp_path)
    ids = world.places.ids
    days = [
        ew.Trajectory([(ids[i % len(ids)], i) for i in range(3)]),
        ew.Trajectory([(ids[-1], 0), (ids[0], 2)]),
        ew.Trajectory([(ids[0], 0), (ids[0], 1)]),
    ]
    samples = 600 if constant_work else 8000
    method = ew.method("ngram-noh", world, epsilon=16, n=n)
    for day in days:
        paths = real_paths(method, day, samples, SeededRandomness(5), constant_work=constant_work)
        assert agreement_of(paths, day, method) > 1e-4
    if not constant_work:  # the last day's
        assert agreement_of(paths, day, ew.method("ngram-noh", world, epsilon=24, n=n)) < 1e-4


@pytest.mark.parametrize("make", [closed_at_noon, one_way])
def test_places_that_must_be_counted_leave_the_truth_behind(
    tmp_path: Path, make: Callable[[Path], World]
) -> None:
    """T7 where windows are closed or counted."""
    world = make(tmp_path)
    days = list(all_trajectories(world, 2))
    for n in (1, 2):
        method = ew.method("ngram-noh", world, epsilon=5, n=n)
        for first, second in zip(days[:: len(days) // 5], days[-1 :: -len(days) // 5], strict=False):
            assert depends_on_the_draws_alone(method, first, second, draws=3)


@pytest.mark.parametrize("constant_work", [False, True])
def test_the_fallback_of_places_is_one_more_proposal(tmp_path: Path, constant_work: bool) -> None:
    world = closed_at_noon(tmp_path)
    day = ew.Trajectory([("p0", 0), ("p1", 2)])
    few, plain = Sharing(_FewTrialsOfPlaces(world, epsilon=30)), ew.method("ngram-noh", world, epsilon=30)
    paths = real_paths(few, day, 20_000, SeededRandomness(3), constant_work=constant_work)
    assert agreement_of(paths, day, few) > 1e-4
    assert agreement_of(paths, day, plain) < 1e-6


@pytest.mark.parametrize("name", METHODS)
def test_constant_work_makes_every_trial(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """R15: with constant work a share uses far more words than until something is accepted."""
    monkeypatch.setattr(tape, "_tape_length", lambda *_: 64)  # so that words asked for are words used
    world = tiny_world(tmp_path, 4, most_places(name))
    days = list(all_trajectories(world, longest(name, world, 3)))
    method = ew.method(name, world, epsilon=6, **plain_options(name))
    if not method.draws_for(len(days[0])):
        pytest.skip("draws nothing")
    used = []
    for constant_work in (True, False):
        counted = _Counting(1)
        for day in (days[0], days[-1]):
            secret = np.array([method.core.secret(day)], dtype=np.int32)
            method.core.perturb(secret, counted, constant_work=constant_work)
        used.append(counted.asked)
    if name not in {"global-pf", "global-subsampled"}:  # their work is that of the list
        assert used[0] > 4 * used[1]
        # Each trial takes a word to propose and one for its coin, at least.
        tables = method.core.tables(len(days[0]))
        draws = method.draws_for(len(days[0]))
        trials = sum(coin_of(draw.epsilon).trials for draw in draws)
        if isinstance(tables, CodebookTables):
            trials = tables.odds.trials
        assert used[0] >= 2 * 2 * trials


class _Counting(SeededRandomness):
    """Counts the words it is asked for."""

    asked = 0

    def words(self, count: int) -> Words:
        self.asked += count
        return super().words(count)


class _FewTrials(Ngram):
    """The real core with so few trials that the fallback shows."""

    def tables(self, length: int) -> NgramTables:
        tables = super().tables(length)
        windows = tables.windows._replace(trials=np.full_like(tables.windows.trials, 1))
        return replace(tables, windows=windows)


@pytest.mark.parametrize("constant_work", [False, True])
def test_the_fallback_is_one_more_proposal(tmp_path: Path, constant_work: bool) -> None:
    """What happens once in 2⁶⁴ draws is tested where it happens half the time."""
    world = tiny_world(tmp_path, 4)
    few, plain = Sharing(_FewTrials(world, epsilon=12)), ew.method("ngram", world, epsilon=12)
    day = list(all_trajectories(world, 2))[40]
    paths = real_paths(few, day, 40_000, SeededRandomness(3), constant_work=constant_work)
    assert agreement_of(paths, day, few) > 1e-4
    assert agreement_of(paths, day, plain) < 1e-6


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("seed", [4, *(pytest.param(seed, marks=pytest.mark.audit) for seed in (7, 9, 22))])
def test_the_output_depends_on_the_truth_only_through_the_draws(tmp_path: Path, name: str, seed: int) -> None:
    """T7: same draws, same randomness afterwards: the same output, whatever was true."""
    world = tiny_world(tmp_path, seed, most_places(name))
    days = list(all_trajectories(world, longest(name, world, 3)))
    for options in cases(name):
        method = ew.method(name, world, epsilon=5, **options)
        for first, second in zip(days[:: len(days) // 4], days[-1 :: -len(days) // 4], strict=False):
            assert depends_on_the_draws_alone(method, first, second, draws=3)
