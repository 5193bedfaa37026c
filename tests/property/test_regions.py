"""Properties of decomposition and merging, on any world that hypothesis finds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from elsewhere.knowledge.clock import interval_levels
from elsewhere.knowledge.places import Place
from elsewhere.world.regions import shortest_arcs
from elsewhere.world.world import World
from worlds import build, world_inputs

Inputs = tuple[list[Place], dict[str, Any]]


def _open_memberships(world: World) -> set[tuple[int, int, int]]:
    """Every (place, interval, category) that is open, the slow way."""
    levels = world.settings.category_levels
    cut = world.tree.ancestors_at(levels)
    found = set()
    for p in range(len(world.places)):
        for interval in range(world.clock.intervals):
            width = world.clock.timesteps_per_interval
            if any(world.is_open[p, t] for t in range(interval * width, (interval + 1) * width)):
                found |= {(p, interval, int(cut[node])) for node in world.places.categories_of(p)}
    return found


@given(world_inputs())
def test_every_open_place_hour_and_category_is_in_exactly_one_region(tmp_path: Path, inputs: Inputs) -> None:
    world = build(tmp_path, *inputs)
    regions, width = world.regions, world.clock.timesteps_per_interval
    expected = _open_memberships(world)
    pairs, intervals = np.nonzero(regions.region_of >= 0)
    listed = [
        (int(regions.pair_places[pair]), int(interval), int(regions.pair_nodes[pair]))
        for pair, interval in zip(pairs, intervals, strict=True)
    ]
    assert len(listed) == len(set(listed))
    assert set(listed) == expected
    for (p, interval, node), pair in zip(listed, pairs, strict=True):
        region = int(regions.region_of[pair, interval])
        assert p in regions.places_of(region)
        assert interval * width in regions.timesteps_of(region, world.clock.timesteps)
        assert regions.nodes[region] in world.tree.lineage[node]


@given(world_inputs())
def test_no_region_is_empty_and_each_is_made_of_its_members(tmp_path: Path, inputs: Inputs) -> None:
    world = build(tmp_path, *inputs)
    regions, width = world.regions, world.clock.timesteps_per_interval
    for region in range(len(regions)):
        pairs, intervals = np.nonzero(regions.region_of == region)
        assert len(pairs) > 0
        assert set(regions.places_of(region)) == set(regions.pair_places[pairs])
        start, end = _slow_arc(set(intervals.tolist()), world.clock.intervals)
        assert (regions.starts[region], regions.ends[region]) == (start * width, end * width)
        hours = world.clock.interval_minutes / 60
        assert regions.mid_hours[region] == (start + end) / 2 * hours % 24
        members = regions.places_of(region)
        has_position = ~world.places.is_anywhere[members]
        middle = world.places.vectors[members[has_position] if has_position.any() else members].mean(axis=0)
        np.testing.assert_allclose(regions.vectors[region], middle / np.linalg.norm(middle), atol=1e-12)


def _slow_arc(intervals: set[int], day: int) -> tuple[int, int]:
    """Of all arcs that cover the intervals the shortest; rather not past midnight, rather early."""
    arcs = [
        (length, start + length > day, start)
        for start in range(day)
        for length in range(1, day + 1)
        if intervals <= {(start + step) % day for step in range(length)}
    ]
    length, _, start = min(arcs)
    return start, start + length


@given(st.integers(1, 24), st.data())
def test_arcs_are_the_shortest_of_all(day: int, data: st.DataObject) -> None:
    intervals = data.draw(st.sets(st.integers(0, day - 1), min_size=1))
    # Between two other regions, so that none takes what is another's.
    rows = np.array([0, *[1] * len(intervals), 2], dtype=np.int32)
    starts, ends = shortest_arcs(rows, np.array([0, *intervals, day - 1], dtype=np.int32), 3, day)
    assert (starts[1], ends[1]) == _slow_arc(intervals, day)
    assert (starts.tolist()[::2], ends.tolist()[::2]) == ([0, day - 1], [1, day])


@given(world_inputs())
def test_below_kappa_only_when_fully_climbed(tmp_path: Path, inputs: Inputs) -> None:
    world = build(tmp_path, *inputs)
    order = world.settings.merge_order
    kappa = world.settings.kappa.least
    regions = world.regions
    below = [r for r in range(len(regions)) if len(regions.places_of(r)) < kappa]
    assert len(below) == world.merge_report.below_kappa
    if len(order) == 3:  # the rest of a category, once at most
        assert len({int(regions.nodes[region]) for region in below}) == len(below)
    for region in below:
        if "space" in order:
            assert regions.space_levels[region] == len(world.space_labels) - 1
        if "time" in order:
            assert regions.time_levels[region] == len(interval_levels(world.clock)) - 1
        if "category" in order:
            assert world.tree.levels[regions.nodes[region]] == 1


@given(world_inputs())
def test_the_largest_distance_is_the_largest(tmp_path: Path, inputs: Inputs) -> None:
    world = build(tmp_path, *inputs)
    rows = np.arange(len(world.regions))
    everything = world.distances.combined(rows[:, None], rows[None, :])
    np.testing.assert_allclose(world.max_distance, everything.max(), rtol=1e-12, atol=1e-9)
    np.testing.assert_array_equal(everything, everything.T)
    assert (np.diag(everything) == 0).all()
