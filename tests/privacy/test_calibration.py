"""Exact calibration: draws of `ngram` that spend all of their share, and never more."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

import elsewhere as ew
from elsewhere.audit.bounds import draw_losses
from elsewhere.audit.channel import largest_loss
from elsewhere.audit.report import audit
from elsewhere.mechanism import window_loss
from elsewhere.mechanism.calibration import calibrated, spent_by_coin
from elsewhere.mechanism.listing import Outcome, State, Step
from elsewhere.mechanism.ngram import NgramTables, window_step
from elsewhere.mechanism.ngram_proposal import list_ngrams
from elsewhere.mechanism.rejection import LARGEST_EPSILON, coin_of
from elsewhere.mechanism.windows import window_tables
from elsewhere.methods.exact_coins import ExactCoins
from elsewhere.methods.ngram import Ngram
from elsewhere.world.world import World
from tiny_worlds import tiny_world
from worlds import build, place


class _FirstDraw:
    """The first draw of some tables, and no other."""

    def __init__(self, tables: NgramTables) -> None:
        self.tables = tables

    def step(self, secret: Outcome, state: State | None) -> Step | None:
        if state is not None:
            return None
        size = self.tables.draws[0].length
        return window_step(self.tables, 0, list_ngrams(self.tables.proposals, size), secret, ("end",))


def _listed(world: World, epsilon: Fraction, coin: Fraction) -> float:
    """What a single draw of one region spends, by listing everything with 50 digits."""
    core = Ngram(world, epsilon=epsilon, n=1)
    tables = core.tables(1)
    windows = window_tables(tables.draws, world.max_distance, [coin])
    changed = NgramTables(
        draws=tables.draws, windows=windows, proposals=tables.proposals, distances=tables.distances
    )
    inputs = list(product(range(len(world.regions)), repeat=1))
    return float(largest_loss(_FirstDraw(changed), inputs).epsilon)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("epsilon", ["1/3", "2"])
def test_a_calibrated_draw_spends_its_share_and_no_more(tmp_path: Path, seed: int, epsilon: str) -> None:
    world, share = tiny_world(tmp_path, seed), Fraction(epsilon)
    spent = spent_by_coin(world.distances, world.graph.words, 1, world.max_distance)
    coin = calibrated(spent, share)
    listed = _listed(world, share, coin)
    assert share <= coin <= LARGEST_EPSILON
    assert listed <= share
    if coin < 4 * share and listed > 0:
        assert (
            listed >= share * (1 - Fraction(1, 500))
            or _listed(world, share, coin * Fraction(101, 100)) > share
        )


def test_a_coin_that_is_a_tenth_too_large_spends_too_much(tmp_path: Path) -> None:
    """The listing is able to say so: otherwise it would prove nothing."""
    world, share = tiny_world(tmp_path, 4), Fraction(2)
    coin = calibrated(spent_by_coin(world.distances, world.graph.words, 1, world.max_distance), share)
    assert _listed(world, share, coin * Fraction(11, 10)) > share


def test_no_epsilon_is_left_unused(tmp_path: Path) -> None:
    world = tiny_world(tmp_path, 4)
    plain, exact = (ew.method("ngram", world, epsilon=5, calibration=kind) for kind in ("proven", "exact"))
    assert audit(plain, 3).spent < 4.8
    assert 4.98 < audit(exact, 3).spent <= 5
    assert exact.facts().options["calibration"] == "exact"
    assert sum(draw.epsilon for draw in exact.draws_for(3)) == 5


def test_what_a_file_says_is_proven_before_it_is_used(tmp_path: Path) -> None:
    world, cache = tiny_world(tmp_path, 4), tmp_path / "kept"
    cache.mkdir()
    draws = Ngram(world, epsilon=5).draws_for(3)
    honest = ExactCoins(world, cache).of(draws)
    (first, *_) = files = sorted(cache.glob("ngram-*.json"))
    assert len(files) == 2
    assert ExactCoins(world, cache).of(draws) == honest
    for wrong in ('{"coin": "4"}', '{"coin": "1/0"}', "[]", "nonsense", '{"coin": "-1"}', '{"coin": null}'):
        first.write_text(wrong, encoding="utf-8")
        assert ExactCoins(world, cache).of(draws) == honest
        assert json.loads(first.read_text(encoding="utf-8"))["coin"] in map(str, honest)


def test_too_many_regions_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = tiny_world(tmp_path, 4)
    monkeypatch.setattr(window_loss, "_MOST_STEPS", 1)
    with pytest.raises(ew.InputError, match="too many regions"):
        ew.method("ngram", world, epsilon=5, calibration="exact").prepare(2)
    with pytest.raises(ew.InputError, match="must be proven or exact"):
        ew.method("ngram", world, epsilon=5, calibration="lucky")


def test_distances_above_the_largest_are_not_calibrated(tmp_path: Path) -> None:
    """Their scores are clamped, so weights are no longer products and the exact number would be wrong."""
    world = tiny_world(tmp_path, 4)
    spent = spent_by_coin(world.distances, world.graph.words, 1, world.max_distance / 2)
    with pytest.raises(ew.InputError):
        calibrated(spent, Fraction(1))


def test_losses_are_read_off_the_coins(tmp_path: Path) -> None:
    tables = Ngram(tiny_world(tmp_path, 7), epsilon=3, calibration="exact").tables(3)
    for loss, draw in zip(draw_losses(tables, tables.draws), tables.draws, strict=True):
        assert loss.spent <= float(draw.epsilon)


@pytest.mark.parametrize("largest", [1e308, 5e-324, 1e12, float("inf"), float("nan"), -1.0])
def test_a_forged_largest_distance_is_not_calibrated(tmp_path: Path, largest: float) -> None:
    """Found by an attacker: Δ past what a float can hold gave a loss of nothing, and coins of 4 ε'."""
    world = tiny_world(tmp_path, 4)
    with pytest.raises(ew.InputError, match="calibration"):
        spent_by_coin(world.distances, world.graph.words, 2, largest)(Fraction(1))


@pytest.mark.parametrize("coin", ["8862184920515/757076921217", "2.00005", "17", "1e300000000", "-2"])
def test_only_coins_of_the_right_kind_are_taken_from_a_file(tmp_path: Path, coin: str) -> None:
    """Found by an attacker: a coin with long digits passes the proof in floats and wraps in words."""
    world = tiny_world(tmp_path, 4)
    draws = Ngram(world, epsilon=6, n=1).draws_for(3)
    honest = ExactCoins(world, tmp_path / "a").of(draws)
    cache = tmp_path / "b"
    cache.mkdir()
    ExactCoins(world, cache).of(draws)
    for path in cache.iterdir():
        path.write_text(json.dumps({"coin": coin}), encoding="utf-8")
    assert ExactCoins(world, cache).of(draws) == honest


def test_coins_that_do_not_fit_machine_words_are_refused() -> None:
    assert coin_of(Fraction(5, 3)).numerator == 5
    for epsilon in (Fraction(8862184920515, 757076921217), Fraction(1, 10**14)):
        with pytest.raises(ew.InputError, match="digits"):
            coin_of(epsilon)


def test_a_registered_distance_is_not_calibrated(tmp_path: Path) -> None:
    """Its proof is about numbers, and a function may give others after it was made."""
    ew.register_distance("of my own", lambda space, time, category: space + time + category)
    rows = [place(f"p{i}", 50 + 0.01 * i, 10, hours="24/7") for i in range(3)]
    world = build(tmp_path, rows, {"kappa": 1, "distance": {"combine": "of my own"}})
    with pytest.raises(ew.InputError, match="registered"):
        ew.method("ngram", world, epsilon=1, calibration="exact")
