"""Places of several categories: perturbed, rebuilt and evaluated by one rule."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import elsewhere as ew
from elsewhere.days.visits import visit_distance, visit_distances
from elsewhere.evaluate.error import mean_errors
from elsewhere.knowledge.categories import category_distances
from elsewhere.knowledge.places import Place
from elsewhere.mechanism.individual import visit_score
from elsewhere.mechanism.secret import RegionOfEachVisit
from elsewhere.methods.individual import Individual
from elsewhere.world.kinds import first_pairs
from elsewhere.world.world import World
from examples import examples
from worlds import TREE, build, place, world_inputs


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> World:
    rows = [
        place("both", 50.00, 10.0, "shoes;cafe", hours="24/7"),
        place("cafe", 50.00, 10.0, "cafe", hours="24/7"),
        place("shop", 50.00, 10.0, "shoes", hours="24/7"),
        place("bar", 50.00, 10.0, "wine-bar", hours="off"),
        place("late", 50.00, 10.0, "boots;wine-bar", hours="off"),
    ]
    return build(tmp_path_factory.mktemp("town"), rows, {"kappa": 1, "timestep_minutes": 60})


def _far(world: World, first: str, second: str) -> float:
    p, q = world.place_index[first], world.place_index[second]
    found = visit_distance(visit_distances(world), p, 0, q, 0)
    assert found == visit_distance(visit_distances(world), q, 0, p, 0)
    return float(found)


def test_a_shop_with_a_cafe_is_near_to_both(town: World) -> None:
    assert _far(town, "both", "both") == _far(town, "both", "cafe") == _far(town, "both", "shop") == 0
    assert _far(town, "cafe", "shop") == 10
    assert _far(town, "both", "bar") == 5.25
    assert _far(town, "both", "late") == 1.75


def test_evaluation_goes_by_the_same_distance(town: World) -> None:
    real, shared = [ew.Trajectory([("both", 9)])], [ew.Trajectory([("cafe", 9)])]
    assert mean_errors(town, real, shared)["category"] == 0
    assert mean_errors(town, real, [ew.Trajectory([("late", 9)])])["combined"] == 1.75


def test_a_true_visit_is_in_the_region_of_the_category_listed_first(town: World) -> None:
    regions, [region] = town.regions, RegionOfEachVisit(town).of([ew.Visit("both", 9)])
    assert town.tree.ids[regions.nodes[region]] == "shoes"  # "cafe" is first by its id
    assert town.tree.ids[regions.pair_nodes[first_pairs(town)[town.place_index["late"]]]] == "boots"


def test_a_closed_place_goes_to_the_nearest_region_of_any_of_its_categories(tmp_path: Path) -> None:
    rows = [
        place("closed", 50, 10, "boots;wine-bar", hours="off"),
        place("beer", 50, 10, "beer-bar", hours="24/7"),
        place("cafe", 50, 10, "cafe", hours="24/7"),
    ]
    world = build(tmp_path, rows, {"kappa": 1, "timestep_minutes": 60})
    [region] = RegionOfEachVisit(world).of([ew.Visit("closed", 9)])
    assert world.tree.ids[world.regions.nodes[region]] == "beer-bar"
    assert world.clock.hour_of(int(world.regions.starts[region])) == 9


def test_draws_take_the_one_for_the_other(town: World) -> None:
    """A visit to both is scored as one to the café or to the shop."""
    core = Individual(town, epsilon=1, uses_reach=False)
    tables, day = core.tables(1), town.clock.timesteps
    mine, shop, cafe, bar = (town.place_index[name] * day + 9 for name in ("both", "shop", "cafe", "bar"))
    assert visit_score(tables, mine, shop) == visit_score(tables, mine, cafe) == 0
    assert visit_score(tables, mine, bar) > 0


@given(world_inputs())
@examples(max_examples=40)
def test_distances_are_the_least_over_pairs_of_categories(
    tmp_path: Path, inputs: tuple[list[Place], dict[str, Any]]
) -> None:
    world = build(tmp_path, *inputs)
    cut = world.tree.ancestors_at(world.settings.category_levels)
    table = category_distances(TREE, np.arange(len(TREE.ids), dtype=np.int32))
    distances = visit_distances(world)
    for p, q in product(range(len(world.places)), repeat=2):
        mine, theirs = (world.places.categories_of(place) for place in (p, q))
        least = min(float(table[cut[a], cut[b]]) for a, b in product(mine, theirs))
        assert distances.category_table[distances.kinds[p], distances.kinds[q]] == least
