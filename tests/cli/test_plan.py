"""`plan` and the prior: expectations by simulation are those of sharing, and settings do what they say."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import elsewhere as ew
from commands import Command
from elsewhere.days.prior import ANY_LENGTH, world_prior
from elsewhere.days.prior_days import draw_from
from elsewhere.days.visits import Days
from elsewhere.evaluate.pairs import paired
from elsewhere.evaluate.plan import kept_share, plan, pretend_days
from elsewhere.knowledge.places import Place
from elsewhere.knowledge.sphere import chords_squared, great_circle_km
from elsewhere.methods.codebook import Codebook
from elsewhere.pages.plan import plan_page
from elsewhere.world.world import World
from worlds import build, place

KEYS = {"kappa": 1, "speed_kmh": 4}


def _rows() -> list[Place]:
    kinds = ("cafe", "bar", "shoes", "wine-bar")
    return [
        place(f"p{i}", 50 + 0.01 * (i % 5), 10 + 0.01 * (i // 5), kinds[i % 4], hours="24/7")
        for i in range(20)
    ]


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> World:
    return build(tmp_path_factory.mktemp("town"), _rows(), KEYS)


def test_more_epsilon_tells_more(town: World) -> None:
    found = plan(town, ["1/2", "3", "9"], [1000, 100_000], candidates=512, shards=2)
    errors = [line.errors["combined"].value for line in found.expectations]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < found.best_null["combined"]
    kept = [line.kept for line in found.expectations]
    assert kept == sorted(kept)
    for line in found.expectations:
        few, many = line.visible_change.values()
        assert few == pytest.approx(10 * many) or few == 100.0
        assert many > found.open_change[100_000]
    page = plan_page(found)
    assert "ε = 9" in page
    assert "Before anyone shares anything" in page


def test_what_is_kept_of_a_change(town: World) -> None:
    """All of it if everybody tells the truth, none if shared days have nothing to do with true ones."""
    days = pretend_days(town)
    assert kept_share(paired(town, days, days)) == pytest.approx(1, abs=0.02)
    others = [days[(number + 700) % len(days)] for number in range(len(days))]
    assert kept_share(paired(town, days, others)) < 0.03
    half = [day if number % 2 else others[number] for number, day in enumerate(days)]
    assert kept_share(paired(town, days, half)) == pytest.approx(0.5, abs=0.05)


def test_days_of_the_prior_follow_its_settings(tmp_path: Path) -> None:
    settings = {
        "start_by_hour": [0.0] * 9 + [1.0] + [0.0] * 14,
        "lengths": [0, 0, 1, 0, 3],
        "mean_gap_minutes": 60.0,
        "decay_km": 0.5,
    }
    world = build(tmp_path, _rows(), {**KEYS, "prior": settings})
    book = Codebook(world, epsilon=1).book(ANY_LENGTH, 0)
    assert set((book.times[:, 0] // 6).tolist()) == {9}
    lengths = np.bincount(book.lengths)
    assert lengths[5] / len(book.lengths) == pytest.approx(0.75, abs=0.02)
    assert lengths[3] / len(book.lengths) == pytest.approx(0.25, abs=0.02)
    wide = build(tmp_path / "wide", _rows(), {**KEYS, "prior": {**settings, "decay_km": 50.0}})
    assert _mean_km(world, book) < 0.7 * _mean_km(wide, Codebook(wide, epsilon=1).book(ANY_LENGTH, 0))


def _mean_km(world: World, book: Days) -> float:
    steps = [(row[i], row[i + 1]) for row in book.places[:2000].tolist() for i in range(4) if row[i + 1] >= 0]
    origins, destinations = (world.places.vectors[list(side)] for side in zip(*steps, strict=True))
    return float(great_circle_km(chords_squared(origins, destinations)).mean())


def test_popular_places_are_met_as_often_as_they_are_popular(tmp_path: Path) -> None:
    rows = [replace(row, popularity=(5.0 if row.place_id == "p7" else 1.0,) * 24) for row in _rows()]
    world = build(tmp_path, rows, KEYS)
    prior = world_prior(world)
    state = np.array([5], dtype=np.uint64)
    picks = np.bincount(
        [draw_from(prior.cumulative[prior.row_of[60]], state) for _ in range(20_000)], minlength=20
    )
    assert picks[world.place_index["p7"]] / picks.sum() == pytest.approx(5 / 24, abs=0.01)


@pytest.mark.parametrize(
    ("prior", "said"),
    [
        ({"lengths": [0, 0]}, "lengths"),
        ({"start_by_hour": [1.0] * 23}, "start_by_hour: must be a list of 24 numbers"),
        ({"decay_km": 0}, "decay_km"),
        ({"mean_gap": 5}, "unknown key, allowed are .*mean_gap_minutes"),
    ],
)
def test_a_bad_prior_is_told(tmp_path: Path, prior: dict[str, object], said: str) -> None:
    with pytest.raises(ew.InputError, match=said):
        build(tmp_path, _rows(), {**KEYS, "prior": prior})


def test_the_command(elsewhere: Command, town: World, tmp_path: Path) -> None:
    town.save(tmp_path / "w.world")
    code, out, _ = elsewhere(
        "plan", "-w", tmp_path / "w.world", "-e", "2,1/2", "--people", "100,1000", "--json"
    )
    assert code == 0
    found = json.loads(out)
    assert [line["epsilon"] for line in found["expectations"]] == ["2", "1/2"]
    assert set(found["open_change"]) == {"100", "1000"}
    code, out, _ = elsewhere("plan", "-w", tmp_path / "w.world", "-e", "5", "-o", tmp_path / "plan.html")
    assert code == 0
    assert "ignoring" in out
    assert (tmp_path / "plan.html").read_text().startswith("<!doctype html>")
    for bad in (["-e", "0"], ["-e", "x"], ["--people", "0"], ["--people", "many"], ["-o", "plan.png"]):
        code, _, err = elsewhere("plan", "-w", tmp_path / "w.world", *bad)
        assert code == 2
        assert err.count("\n") == 1
