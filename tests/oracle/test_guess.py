"""The best guess from a pick, against every option weighed one by one, in the measure of the error tables."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import elsewhere as ew
from elsewhere.arrays import Floats
from elsewhere.audit.agreement import depends_on_the_draws_alone
from elsewhere.days.candidates import candidate_days
from elsewhere.days.prior import ANY_LENGTH
from elsewhere.days.typical import typical_day
from elsewhere.days.visits import shared_days
from elsewhere.device.expectation import what_to_expect
from elsewhere.evaluate.error import day_errors
from elsewhere.evaluate.pairs import paired
from elsewhere.experiments.recipes import recipes
from elsewhere.knowledge.travel import is_reachable
from elsewhere.methods import guess
from elsewhere.methods.codebook import Codebook
from elsewhere.methods.guess import least_expected
from elsewhere.methods.protocol import Drawn
from elsewhere.methods.sharing import Sharing
from elsewhere.randomness import SeededRandomness
from elsewhere.trajectories import SharedTrajectory
from elsewhere.world.world import World
from worlds import build, place

FEW: dict[str, Any] = {"candidates": 24, "shards": 2, "k": 3}


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> World:
    kinds = ("cafe", "bar", "shoes", "wine-bar")
    rows = [
        place(
            f"p{i}", 50 + 0.01 * (i % 5), 10 + 0.02 * (i // 5), kinds[i % 4],
            hours="08:00-22:00" if i % 3 else "24/7", popularity=tuple([1.0 + i % 7] * 24),
        )
        for i in range(20)
    ]  # fmt: skip
    return build(tmp_path_factory.mktemp("town"), rows, {"kappa": 1, "speed_kmh": 4})


@pytest.fixture(autouse=True)
def _few_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guess, "SAMPLES", 60)


def _errors(world: World, options: list[SharedTrajectory], sample: list[SharedTrajectory]) -> Floats:
    """Option × sample, as `evaluate` and the tables measure them."""
    return np.array(
        [day_errors(paired(world, sample, [option] * len(sample)))["combined"] for option in options]
    )


def _expected(core: Codebook, key: int, shard: int, epsilon: float) -> tuple[list[SharedTrajectory], Floats]:
    """All options, and for each pick the expected error of each: no tables, no matrices."""
    world, book = core.world, shared_days(core.world, core.book(key, shard))
    options = book + (shared_days(world, typical_day(world)) if key == ANY_LENGTH else [])
    sample = shared_days(world, candidate_days(world, "guess", 60, length=key))
    errors = _errors(world, options, sample)
    nearest = []
    for number, day in enumerate(sample):
        costs = [errors[c, number] * max(len(day), len(other)) for c, other in enumerate(book)]
        nearest.append(set(sorted(range(len(book)), key=lambda c: (round(costs[c], 9), c))[: FEW["k"]]))
    found = np.empty((len(book), len(options)))
    for picked in range(len(book)):
        weights = [math.exp(epsilon) if picked in near else 1.0 for near in nearest]
        found[picked] = errors @ weights / sum(weights)
    return options, found


def _guessed(core: Codebook, key: int, shard: int) -> list[SharedTrajectory]:
    """What is shared for each pick of a shard."""
    values = np.array([[shard, picked] for picked in range(core.candidates)], dtype=np.int32)
    return shared_days(core.world, core.rebuild(Drawn(length=key, values=values), SeededRandomness(1)).days)


@pytest.mark.parametrize("key", [ANY_LENGTH, 3])
@pytest.mark.parametrize("epsilon", [1, 2, 5])
def test_the_guess_is_the_least_of_all_options(town: World, epsilon: int, key: int) -> None:
    """Never worse in expectation than the typical day, nor than the picked one; and it goes by the pick."""
    core = Codebook(town, epsilon=epsilon, reading="guess", same_length=key != ANY_LENGTH, **FEW)
    for shard in range(2):
        options, expected = _expected(core, key, shard, epsilon)
        shared = _guessed(core, key, shard)
        rows = [options.index(day) for day in shared]
        mine = expected[np.arange(24), rows]
        assert mine == pytest.approx(expected.min(axis=1), abs=1e-4)
        assert (mine <= expected[np.arange(24), np.arange(24)] + 1e-4).all()
        if key == ANY_LENGTH:
            assert len(options) == 25
            assert (mine <= expected[:, 24] + 1e-4).all()
        if epsilon == 5:
            assert len(set(rows)) > 3
            # The day that would do for everybody does not do for everybody.
            best_for_all = int(np.argmin(expected.mean(axis=0)))
            assert (mine < expected[:, best_for_all] - 0.01).any()


def test_a_pick_that_tells_nothing_is_read_as_the_best_day_for_everybody() -> None:
    generator = np.random.default_rng(2)
    errors = generator.random((50, 9), dtype=np.float32)
    near = generator.random((50, 700)) < 0.2
    assert set(least_expected(errors, near, 1e-9).tolist()) == {int(np.argmin(errors.mean(axis=0)))}
    certain = least_expected(errors, near, 600.0)
    plain = [int(np.argmin(errors[near[:, picked]].sum(axis=0))) for picked in range(700)]
    assert (certain == plain).mean() > 0.99  # but for what rounding takes for a tie
    assert least_expected(np.full((5, 3), np.inf, dtype=np.float32), near[:5], 1.0).tolist() == [0] * 700
    assert least_expected(np.zeros((5, 3), dtype=np.float32), near[:5], 1.0).tolist() == [0] * 700


def test_the_draws_are_the_same_and_so_is_the_other_reading(town: World) -> None:
    """A guess is made after the pick: same seeds, same picks, and the candidate is shared as it ever was."""
    cores = [Codebook(town, epsilon=3, reading=reading, **FEW) for reading in ("candidate", "guess")]
    day = ew.Trajectory([("p3", 60), ("p9", 80)])
    drawn = [
        core.perturb(
            np.array([core.secret(day)] * 200, dtype=np.int32), SeededRandomness(5), constant_work=False
        )[0]
        for core in cores
    ]
    np.testing.assert_array_equal(drawn[0].values, drawn[1].values)
    books = [shared_days(town, cores[0].book(ANY_LENGTH, shard)) for shard in range(2)]
    as_picked = [books[shard][index] for shard, index in drawn[0].values.tolist()]
    read = [shared_days(town, core.rebuild(drawn[0], SeededRandomness(1)).days) for core in cores]
    assert read[0] == as_picked
    assert read[1] != as_picked
    assert Codebook(town, epsilon=3, **FEW).facts() == cores[0].facts()
    assert [core.facts().as_json()["reading"] for core in cores] == ["candidate", "guess"]
    assert cores[0].draws_for(2) == cores[1].draws_for(2)


def test_guesses_go_by_the_draws_alone_and_are_feasible_and_open(town: World) -> None:
    method = ew.method("codebook", town, epsilon=1, reading="guess", candidates=64, shards=2)
    days = [ew.Trajectory([("p3", 60)]), ew.Trajectory((f"p{i}", 50 + 8 * i) for i in range(9))]
    assert depends_on_the_draws_alone(method, *days, draws=3)
    assert isinstance(method.core, Codebook)
    index = town.place_index
    for day in _guessed(method.core, ANY_LENGTH, 0) + _guessed(method.core, ANY_LENGTH, 1):
        visits = [(index[visit.place_id], visit.timestep) for visit in day]
        assert all(town.is_open[visit] for visit in visits)
        assert all(
            is_reachable(town.travel, town.clock, origin=p, departure=t, destination=q, arrival=u)
            for (p, t), (q, u) in pairwise(visits)
        )


def test_guesses_are_kept_beside_the_world_and_made_anew_if_spoilt(town: World, tmp_path: Path) -> None:
    """What is read must stay within bounds, and be of the same ε, k and shard."""
    options: dict[str, Any] = {"reading": "guess", "cache": tmp_path, **FEW}
    honest = _guessed(Codebook(town, epsilon=5, **options), ANY_LENGTH, 0)
    (kept,) = tmp_path.glob("guess-*.npz")
    with np.load(kept) as stored:
        best = stored["best"]
    np.savez_compressed(kept, best=np.zeros_like(best))
    assert len(set(_guessed(Codebook(town, epsilon=5, **options), ANY_LENGTH, 0))) == 1
    for spoilt in (best[:-1], best + 25, best - 25, best.astype(np.int64), best[None, :]):
        np.savez_compressed(kept, best=spoilt)
        assert _guessed(Codebook(town, epsilon=5, **options), ANY_LENGTH, 0) == honest
    kept.write_bytes(b"nothing of the kind")
    assert _guessed(Codebook(town, epsilon=5, **options), ANY_LENGTH, 0) == honest
    assert _guessed(Codebook(town, epsilon=1, **options), ANY_LENGTH, 0) != honest
    _guessed(Codebook(town, epsilon=5, **options), ANY_LENGTH, 1)
    assert len(list(tmp_path.glob("guess-*.npz"))) == 3


def test_what_many_shares_need_is_made_before_the_first(town: World) -> None:
    told: list[tuple[int, int]] = []
    core = Codebook(
        town, epsilon=5, reading="guess", progress=lambda done, total: told.append((done, total)), **FEW
    )
    Sharing(core).prepare_many(3)
    assert told[-1] == (4, 4)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    told.clear()
    Sharing(core).share_many([ew.Trajectory([("p3", 60), ("p9", 80), ("p1", 90)])] * 20)
    assert told == []


def test_a_person_is_told_that_it_is_a_guess(town: World) -> None:
    texts = [
        what_to_expect(ew.method("codebook", town, epsilon=5, reading=reading, **FEW), 3)
        for reading in ("candidate", "guess")
    ]
    assert [("it is one of the 3 made-up" in text, "best guess" in text) for text in texts] == [
        (True, False),
        (False, True),
    ]


def test_error_tables_have_both_readings() -> None:
    for recipe in ("table-error", "fig-error"):
        labels = {cell.label for cell in recipes("paper")[recipe].cells}
        assert {"codebook", "codebook, guess", "codebook, same length"} <= labels
