"""Privacy levels: visits to sensitive places are told apart by less than ε, proven by listing everything."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import elsewhere as ew
from elsewhere.audit.channel import all_trajectories
from elsewhere.audit.levels import level_losses
from elsewhere.mechanism import levels as levels_module
from elsewhere.mechanism.levels import COIN_BITS, Levels, staying_chance
from elsewhere.methods.levels import suggested_levels, write_levels
from elsewhere.randomness import SeededRandomness
from elsewhere.world.world import World
from worlds import build, place

_CASES = [
    ("codebook", {"candidates": 5, "shards": 1, "k": 2}, 1),
    ("ind-noreach", {}, 1),
    ("ind-reach", {}, 2),
    ("ngram", {"n": 2}, 1),
    ("global", {}, 2),
]


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A café, a clinic next to it, a church next to that, and a shop far away."""
    rows = [
        place("cafe", 50.0, 10, "cafe"),
        place("church", 50.0003, 10, "boots"),
        place("clinic", 50.0001, 10, "shoes"),
        place("shop", 50.3, 10, "shoes"),
    ]
    keys = {"kappa": 1, "timestep_minutes": 480, "interval_minutes": 480, "speed_kmh": 1000.0}
    return build(tmp_path_factory.mktemp("town"), rows, keys)


@pytest.mark.parametrize(("name", "options", "visits"), _CASES)
@pytest.mark.parametrize("epsilon", ["1", "4"])
def test_each_level_is_kept_and_so_is_epsilon(
    town: World, name: str, options: dict[str, Any], visits: int, epsilon: str
) -> None:
    levels = {"clinic": "1/4", "church": "1/2"}
    method = ew.method(name, town, epsilon=epsilon, levels=levels, **options)
    days = list(all_trajectories(town, visits, unknown=visits == 1))
    losses = level_losses(method, days[:: 1 if visits == 1 else 3])
    assert losses[Fraction(1, 4)] <= 0.25 + 1e-12
    assert losses[Fraction(1, 2)] <= 0.5 + 1e-12
    assert losses[None] <= float(epsilon) + 1e-12


def test_nothing_is_lost_on_the_way_to_a_level(town: World) -> None:
    """A pick spends all of ε between days whose nearest candidates differ: there the level is attained."""
    options: dict[str, Any] = {"candidates": 40, "shards": 1, "k": 1}
    method = ew.method("codebook", town, epsilon=3, levels={"shop": 1}, **options)
    losses = level_losses(method, list(all_trajectories(town, 1)))
    assert losses[None] == pytest.approx(3, abs=1e-9)
    assert 0.9 < losses[Fraction(1)] <= 1


def test_a_coin_that_lets_too_many_stay_is_caught(town: World, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = staying_chance
    monkeypatch.setattr(
        levels_module, "staying_chance", lambda one, whole: min(1 << 62, 2 * honest(one, whole))
    )
    method = ew.method("codebook", town, epsilon=3, levels={"shop": 1}, candidates=40, shards=1, k=1)
    monkeypatch.setattr("elsewhere.audit.levels.staying_chance", levels_module.staying_chance)
    assert level_losses(method, list(all_trajectories(town, 1)))[Fraction(1)] > 1.2


@pytest.mark.parametrize(
    ("level", "epsilon"), [("1/10", "5"), ("1", "2"), ("0", "1"), ("3", "3"), ("9", "2")]
)
def test_the_chance_to_stay_is_just_below_the_formula(level: str, epsilon: str) -> None:
    own, whole = Fraction(level), Fraction(epsilon)
    chance = Fraction(staying_chance(own, whole), 1 << COIN_BITS)
    if own >= whole:
        assert chance == 1
        return
    exact = Fraction((Decimal(own.numerator) / own.denominator).exp() - 1) / Fraction(
        (Decimal(whole.numerator) / whole.denominator).exp() - 1
    )
    assert 0 <= exact - chance <= Fraction(3, 1 << COIN_BITS) + Fraction(1, 10**25)


def test_the_real_coin_falls_as_listed(town: World) -> None:
    """Of many days so many visits stay as the formula says, within five standard deviations."""
    levels, epsilon, times = Levels(town, {"clinic": Fraction(1)}), Fraction(2), 20_000
    source, day = SeededRandomness(5), ew.Trajectory([("clinic", 0), ("shop", 1), ("clinic", 2)])
    seen = Counter(levels.draw(day, epsilon, source) for _ in range(times))
    moved = ew.Trajectory([("cafe", 0), ("shop", 1), ("cafe", 2)])
    assert set(seen) == {day, moved}  # one coin for the whole day
    chance = (math.e - 1) / (math.e**2 - 1)
    assert abs(seen[day] / times - chance) < 5 * math.sqrt(chance * (1 - chance) / times)


def test_higher_levels_stay_whenever_lower_ones_do(town: World) -> None:
    levels = Levels(town, {"clinic": Fraction(1, 2), "church": Fraction(1)})
    day = ew.Trajectory([("clinic", 0), ("church", 1)])
    seen = [levels.seen(day, Fraction(2), coin << 52) for coin in range(1 << 10)]
    assert {tuple(visit.place_id for visit in one) for one in seen} == {
        ("clinic", "church"),
        ("cafe", "church"),
        ("cafe", "cafe"),
    }


def test_sharing_moves_visits_and_says_so(town: World) -> None:
    method = ew.method("ind-noreach", town, epsilon="16", levels={"clinic": 0})
    days = [ew.Trajectory([("clinic", 1)])] * 200
    shared = Counter(
        day.visits[0].place_id for day in method.share_many(days, randomness=SeededRandomness(1))
    )
    plain = ew.method("ind-noreach", town, epsilon="16")
    open_days = [ew.Trajectory([("cafe", 1)])] * 200
    same = Counter(
        day.visits[0].place_id for day in plain.share_many(open_days, randomness=SeededRandomness(1))
    )
    assert shared.total() == same.total() == 200
    assert method.facts().options["levels"].startswith("ε = 0 for 1 places (list ")
    other = ew.method("ind-noreach", town, epsilon="16", levels={"church": 0})
    assert other.facts().options != method.facts().options  # a ledger tells the two apart
    assert method.share(days[0])[1].epsilon == 16


def test_levels_of_a_table_are_of_places_and_of_categories_and_below(town: World, tmp_path: Path) -> None:
    path = tmp_path / "levels.csv"
    path.write_text("category_id,place_id,epsilon,note\nshoes,,1,all\n,shop,1/2,one\n", encoding="utf-8")
    assert ew.read_levels(path, town) == {
        "church": 1,
        "clinic": 1,
        "shop": Fraction(1, 2),
    }
    path.write_text("place_id,epsilon\nnowhere,1\ncafe,-1\n,1\ncafe,x\n", encoding="utf-8")
    with pytest.raises(ew.InputError) as found:
        ew.read_levels(path, town)
    assert [fault.row for fault in found.value.faults] == [2, 3, 4, 5]
    path.write_text("category_id,place_id,epsilon\nshoes,,1\nshoes,,2\n,shop,1\n,shop,3\n", encoding="utf-8")
    with pytest.raises(ew.InputError) as twice:  # a laxer row must not win by coming later
        ew.read_levels(path, town)
    assert [fault.row for fault in twice.value.faults] == [3, 5]


@pytest.mark.parametrize("text", ["", "place_id\ncafe\n", "epsilon\n1\n", "\0", '"place_id,epsilon\n'])
def test_a_table_that_is_none_is_refused(town: World, tmp_path: Path, text: str) -> None:
    path = tmp_path / "levels.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ew.InputError):
        ew.read_levels(path, town)


def test_what_makes_no_sense_is_refused(town: World) -> None:
    refused: list[Any] = [
        {},
        "levels.csv",
        {"nowhere": 1},
        {"cafe": -1},
        {"cafe": "x"},
        dict.fromkeys(town.places.ids, 1),
    ]
    for levels in refused:
        with pytest.raises(ew.InputError, match="levels"):
            ew.method("codebook", town, epsilon=1, levels=levels)


def test_a_list_is_suggested_by_the_names_of_categories(town: World, tmp_path: Path) -> None:
    rows = suggested_levels(town, Fraction(1))
    write_levels(tmp_path / "levels.csv", rows)
    assert all(isinstance(row[0], str) for row in rows)
    assert set(ew.read_levels(tmp_path / "levels.csv", town)) <= set(town.places.ids)
