"""Sentences of the paper as tests."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from elsewhere.knowledge.categories import build_tree, category_distances, edge_weights
from elsewhere.knowledge.clock import Clock
from elsewhere.knowledge.places import Place
from elsewhere.pages.world_regions import region_levels
from elsewhere.world.build import build_world
from elsewhere.world.summary import possible_trajectories
from elsewhere.world.toml import parse_config
from worlds import TREE, build, place, write_world_files


def _distance(first: str, second: str) -> float:
    nodes = np.array([TREE.ids.index(first), TREE.ids.index(second)], dtype=np.int32)
    return float(category_distances(TREE, nodes)[0, 1])


def test_time_domain() -> None:
    """For example, if g_t = 5 minutes, the time domain would be: T = {...10:00, 10:05, 10:10,...}."""
    clock = Clock(timestep_minutes=5)
    first = clock.timestep_at("10:00")
    assert [clock.label(first + i) for i in range(3)] == ["10:00", "10:05", "10:10"]
    assert clock.timesteps == 24 * 60 // 5


def test_time_distance(tmp_path: Path) -> None:
    """If two regions cover 2-4pm and 5-7pm, d_t = |3 - 6| = 3 hours."""
    rows = [
        place("early", 50, 10, "cafe", hours="14:00-16:00"),
        place("late", 50, 10, "bar", hours="17:00-19:00"),
    ]
    world = build(tmp_path, rows, {"kappa": 2, "merge_order": ["time"]})
    labels = {
        (world.clock.label(int(start)), world.clock.label(int(end)))
        for start, end in zip(world.regions.starts, world.regions.ends, strict=True)
    }
    assert labels == {("14:00", "16:00"), ("17:00", "19:00")}
    assert float(world.distances.time_hours(0, 1)) == 3.0


def test_time_distance_is_capped(tmp_path: Path) -> None:
    """We limit time distances to ensure that no time distance is greater than 12 hours."""
    rows = [place("early", 50, 10, hours="00:00-01:00"), place("late", 50, 10, hours="23:00-24:00")]
    capped = build(tmp_path, rows, {"kappa": 1})
    assert float(capped.distances.time_hours(0, 1)) == 12.0
    circular = build(tmp_path, rows, {"kappa": 1, "circular_time": True})
    assert float(circular.distances.time_hours(0, 1)) == 1.0


def test_unrelated_categories() -> None:
    """If two POIs or regions do not share a level 1 category, we deem them unrelated and d_c = 10."""
    assert _distance("cafe", "boots") == 10
    assert _distance("food", "shop") == 10


def test_category_distance_is_symmetric() -> None:
    """d_c(Shoe Shop, Shopping) = d_c(Shopping, Shoe Shop)."""
    assert _distance("shoes", "shop") == _distance("shop", "shoes") == 1.75
    assert _distance("boots", "shop") == 3.5


def test_category_distances_step_at_three_and_a_half() -> None:
    """There is an evident step at δ_c = 3.5, which suggests strong preservation within levels 2 and 3."""
    assert _distance("wine-bar", "beer-bar") == 3.5
    assert _distance("cafe", "bar") == 3.5
    assert _distance("wine-bar", "food") == 3.5
    assert _distance("wine-bar", "bar") == 1.75
    assert _distance("wine-bar", "cafe") == 5.25
    cousins = build_tree(["a", "b", "c", "d", "e"], [""] * 5, ["", "a", "a", "b", "c"], [""] * 5)
    table = category_distances(cousins, np.arange(5, dtype=np.int32))
    assert table[3, 4] == 7


def test_any_number_of_levels_can_be_used() -> None:
    """We use three, although any number of levels can be used."""
    ids = [f"{side}{level}" for side in "ab" for level in range(1, 9)]
    parents = ["" if i[1] == "1" else f"{i[0]}{int(i[1]) - 1}" for i in ids]
    parents[ids.index("b2")] = "a1"  # two deep branches under one root, and one root of its own
    tree = build_tree(ids, ids, parents, [""] * len(ids))
    table = category_distances(tree, np.arange(len(ids), dtype=np.int32))
    assert table[tree.ids.index("a8"), tree.ids.index("b8")] < 10
    assert table[tree.ids.index("a8"), tree.ids.index("b1")] == 10
    assert edge_weights(5) == [1.75, 1.75, 0.75, 0.375]


def test_combined_distance(tmp_path: Path) -> None:
    """D(r_a, r_b) = (d_s² + d_t² + d_c²)^(1/2)."""
    rows = [
        place("a", 50, 10, "cafe", hours="10:00-11:00"),
        place("b", 50, 10.2, "boots", hours="12:00-13:00"),
    ]
    world = build(tmp_path, rows, {"kappa": 1})
    km = float(world.distances.space_km(0, 1))
    assert km == pytest.approx(14.295, abs=1e-3)
    assert float(world.distances.combined(0, 1)) == pytest.approx((km**2 + 2**2 + 10**2) ** 0.5)
    assert world.max_distance == pytest.approx((km**2 + 2**2 + 10**2) ** 0.5)


def test_number_of_possible_trajectories() -> None:
    """|τ| = 5, g_t = 15 minutes, |𝒫| = 1,000, and μ = 20%: |𝒮| ≈ 9.78e19."""
    count = possible_trajectories(1000, Clock(timestep_minutes=15).timesteps, 5, Fraction(1, 5))
    assert f"{count:.2e}" == "9.78e+19"


# Ten places on a 3 × 3 grid; the second number is how popular each is. Two share the middle cell.
_FIGURE = {
    (0, 0): [1], (0, 1): [9], (0, 2): [1],
    (1, 0): [2], (1, 1): [10, 1], (1, 2): [1],
    (2, 0): [8], (2, 1): [1], (2, 2): [2],
}  # fmt: skip


def _figure_places() -> list[Place]:
    noon = {"hours": "12:00-13:00"}
    return [
        place(f"{r}{c}-{i}", 50 + r * 0.01, 10 + c * 0.01, popularity=(float(size),), **noon)
        for (r, c), sizes in _FIGURE.items()
        for i, size in enumerate(sizes)
    ]


def test_merging_by_geography(tmp_path: Path) -> None:
    """How regions might be merged if we only consider geographic proximity (fig:merging-c)."""
    world = build(tmp_path, _figure_places(), {"grid": 3, "kappa": 2})
    sizes = sorted(np.diff(world.regions.place_offsets).tolist())
    assert sizes == [2, 8]  # the middle cell has enough; the others join
    assert world.merge_report.below_kappa == 0


def test_merging_by_popularity(tmp_path: Path) -> None:
    """More POIs in regions with less popular POIs, whereas very popular POIs exist singly (fig:merging-r)."""
    keys = {"grid": 3, "kappa": {"least": 5, "weight": "popularity"}}
    world = build(tmp_path, _figure_places(), keys)
    regions = [set(world.regions.places_of(r).tolist()) for r in range(len(world.regions))]
    popular = {i for i in range(10) if world.places.popularity[i, 12] >= 5}
    assert len(popular) == 3
    for index in popular:
        assert [region for region in regions if index in region] == [{index}]
    crowd = [region for region in regions if not region & popular]
    assert crowd == [set(range(10)) - popular]


def test_a_region_without_places_does_not_exist(tmp_path: Path) -> None:
    """We remove all STC regions that have zero POIs (e.g., (top of mountain, 3am, church))."""
    world = build(tmp_path, [place("church", 50, 10, hours="09:00-12:00")], {"kappa": 1})
    assert [world.clock.label(int(t)) for t in world.regions.starts] == ["09:00", "10:00", "11:00"]


def test_merging_example(tmp_path: Path) -> None:
    """Instead of (Main Street, 1am, Nightclub) and (Main Street, 11pm, Bar): (.., 11pm-2am, Nightlife)."""
    tree = build_tree(
        ["nightlife", "nightclub", "bar", "shop"],
        ["Nightlife", "Nightclub", "Bar", "Shop"],
        ["", "nightlife", "nightlife", ""],
        [""] * 4,
    )
    rows = [
        place("club", 50, 10, "nightclub", hours="01:00-02:00"),
        place("pub", 50, 10, "bar", hours="23:00-24:00"),
        *(place(f"kiosk-{i}", 50, 10, "shop", hours="23:00-24:00") for i in range(2)),
    ]
    keys = write_world_files(tmp_path, rows, {"kappa": 2, "merge_order": ["time", "category"]}, tree)
    world = build_world(parse_config(keys, folder=tmp_path, source="world.toml"))
    regions, clock = world.regions, world.clock
    merged, other = (world.tree.names[node] for node in regions.nodes)
    assert (merged, other) == ("Nightlife", "Shop")
    assert set(regions.places_of(0).tolist()) == {world.place_index["club"], world.place_index["pub"]}
    start, end = int(regions.starts[0]), int(regions.ends[0])
    assert (clock.label(start), clock.label(end - 144)) == ("23:00", "02:00")
    assert regions.timesteps_of(0, 144).tolist() == [*range(12), *range(138, 144)]
    assert regions.mid_hours.tolist() == [0.5, 23.5]
    assert float(world.distances.time_hours(0, 1)) == 1.0  # |24.5 − 23.5|
    assert float(world.distances.time_hours(1, 0)) == 1.0
    assert "Nightlife, 23:00–02:00: club, pub" in region_levels(world)[0]["regions"][0]["words"]


def test_reachability_example(tmp_path: Path) -> None:
    """{New York City, Tokyo, London} would be unrealistic if the time granularity was one hour."""
    rows = [
        place("new-york", 40.7128, -74.006, "cafe", hours="24/7"),
        place("tokyo", 35.6762, 139.6503, "bar", hours="24/7"),
        place("jersey-city", 40.7178, -74.0431, "boots", hours="24/7"),
    ]
    world = build(tmp_path, rows, {"kappa": 1, "timestep_minutes": 60, "grid": 1})
    by_place = {world.places.ids[int(world.regions.places_of(r)[0])]: r for r in range(len(world.regions))}
    day = [r for r in range(len(world.regions)) if world.regions.starts[r] == 0]
    first = {world.places.ids[int(world.regions.places_of(r)[0])]: r for r in day}
    assert world.graph.has_edge(first["new-york"], by_place["jersey-city"])
    assert not world.graph.has_edge(first["new-york"], by_place["tokyo"])
