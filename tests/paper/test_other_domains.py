"""The paper's shopping example: products in shops, some of which are nowhere in particular."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import elsewhere as ew
from elsewhere.audit.channel import all_trajectories, largest_loss
from elsewhere.days.visits import visit_distance, visit_distances
from elsewhere.knowledge.travel import is_reachable
from elsewhere.world.world import World

_KINDS = "category_id,name,parent_id\nhome,Home,\nflowers,Flowers,home\ntools,Tools,home\nbooks,Books,\n"
_PRODUCTS = """place_id,name,lat,lng,category,hours,anywhere
florist/rose,Rose,60.0,24.0,flowers,08:00-16:00,
market/rose,Rose,60.5,24.0,flowers,24/7,no
online/book,Book,,,books,24/7,yes
online/rose,Rose,,,flowers,24/7,yes
"""


@pytest.fixture
def mall(tmp_path: Path) -> World:
    (tmp_path / "kinds.csv").write_text(_KINDS)
    (tmp_path / "products.csv").write_text(_PRODUCTS)
    (tmp_path / "mall.toml").write_text(
        'places = "products.csv"\ncategories = "kinds.csv"\nkappa = 1\nspeed_kmh = 4\n'
        "timestep_minutes = 480\ninterval_minutes = 480\n"
    )
    return ew.build_world(tmp_path / "mall.toml")


def test_online_stores_would_always_be_reachable(mall: World) -> None:
    """The paper: "Online stores would always be 'reachable' given their non-physical presence"."""

    def can_follow(first: str, second: str) -> bool:
        origin, destination = mall.place_index[first], mall.place_index[second]
        return is_reachable(
            mall.travel, mall.clock, origin=origin, departure=0, destination=destination, arrival=1
        )

    assert not can_follow("florist/rose", "market/rose")  # 55 km at 4 km/h
    assert can_follow("florist/rose", "online/book")
    assert can_follow("online/book", "market/rose")


def test_where_there_is_no_position_there_is_no_distance_in_space(mall: World) -> None:
    distances, row = visit_distances(mall), mall.place_index
    assert visit_distance(distances, row["online/rose"], 0, row["florist/rose"], 0) == 0
    assert visit_distance(distances, row["online/rose"], 0, row["market/rose"], 0) == 0
    assert visit_distance(distances, row["online/book"], 0, row["market/rose"], 0) == 10
    assert visit_distance(distances, row["florist/rose"], 0, row["market/rose"], 0) > 50
    here = [mall.places.latitudes[row[name]] for name in ("online/book", "online/rose")]
    assert here == [pytest.approx(60.25)] * 2  # in the middle, for maps


@pytest.mark.parametrize("name", ["ngram", "ind-reach", "codebook", "global"])
def test_purchases_are_shared_under_the_same_promise(mall: World, name: str) -> None:
    """The paper: "the impossibility of some combinations (e.g., purchasing a car from a florist)"."""
    options: dict[str, Any] = {"candidates": 12, "shards": 1, "k": 2} if name == "codebook" else {}
    method = ew.method(name, mall, epsilon=2, **options)
    days = list(all_trajectories(mall, 1))
    assert float(largest_loss(method, [method.core.secret(day) for day in days]).epsilon) <= 2 + 1e-12
    for day in method.share_many(days * 5):
        assert all(mall.is_open[mall.place_index[product], step] for product, step in day)


def test_nothing_but_what_is_anywhere_may_lack_a_position(tmp_path: Path, mall: World) -> None:
    assert np.isfinite(mall.places.latitudes).all()
    (tmp_path / "products.csv").write_text(_PRODUCTS.replace("60.0,24.0", ","))
    with pytest.raises(ew.InputError, match="row 2, column lat"):
        ew.build_world(tmp_path / "mall.toml")
    (tmp_path / "products.csv").write_text(
        "place_id,lat,lng,category,anywhere\na,,,books,yes\nb,,,flowers,1\n"
    )
    assert len(ew.build_world(tmp_path / "mall.toml").places) == 2  # nothing has a position
