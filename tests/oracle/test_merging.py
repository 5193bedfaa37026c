"""Merging against a slow and obvious twin: dictionaries, one region at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from elsewhere.knowledge.clock import interval_levels
from elsewhere.knowledge.places import Place
from elsewhere.world.space import SpaceLevels, divide_space
from elsewhere.world.world import World
from examples import examples
from worlds import CLOSED_ON_WEDNESDAY, build, world_inputs

Key = tuple[int, int, int, int, int]
Member = tuple[int, int, int]


def _slow_regions(world: World) -> set[frozenset[Member]]:
    """Regions as sets of (place, category, interval): climb one level, join the same key, repeat."""
    settings = world.settings
    space = divide_space(world.places, settings.space, world.polygons)
    sizes = interval_levels(world.clock)
    by_key, alone = _finest(world, space)
    climbs = {
        "space": [("space", level) for level in range(1, len(space.cells))],
        "time": [("time", level) for level in range(1, len(sizes))],
        "category": [("category", level) for level in range(settings.category_levels - 1, 0, -1)],
    }
    for dimension, level in [climb for d in settings.merge_order for climb in climbs[d]]:
        moved: dict[Key, set[Member]] = {}
        for old_key, members in by_key.items():
            key = old_key
            if _mass(world, members) < settings.kappa.least:
                p, _, interval = next(iter(members))
                space_level, cell, time_level, block, node = key
                if dimension == "space":
                    space_level, cell = level, int(space.cells[level, p])
                elif dimension == "time":
                    time_level, block = level, interval // sizes[level]
                else:
                    node = int(world.tree.ancestors_at(level)[node])
                key = (space_level, cell, time_level, block, node)
            moved.setdefault(key, set()).update(members)
        by_key = moved
    return {frozenset(members) for members in by_key.values()} | alone


def _finest(world: World, space: SpaceLevels) -> tuple[dict[Key, set[Member]], set[frozenset[Member]]]:
    """Before merging: who shares a cell, an interval and a category, and who weighs κ alone."""
    settings = world.settings
    cut = world.tree.ancestors_at(settings.category_levels)
    width = world.clock.timesteps_per_interval
    by_key: dict[Key, set[Member]] = {}
    alone: set[frozenset[Member]] = set()
    members = [
        (p, node, interval)
        for p in range(len(world.places))
        for node in {int(cut[n]) for n in world.places.categories_of(p)}
        for interval in range(world.clock.intervals)
        if world.is_open[p, interval * width : (interval + 1) * width].any()
    ]
    for p, node, interval in members:
        member = (p, node, interval)
        if settings.kappa.weight != "count" and _mass(world, {member}) >= settings.kappa.least:
            alone.add(frozenset([member]))
        else:
            by_key.setdefault((0, int(space.cells[0, p]), 0, interval, node), set()).add(member)
    return by_key, alone


def _mass(world: World, members: set[Member]) -> float:
    settings = world.settings
    if settings.kappa.weight == "count":
        return len({p for p, _, _ in members})
    minutes = world.clock.interval_minutes
    heaviest: dict[int, float] = {}
    for p, _, interval in members:
        touched = {minute // 60 for minute in range(interval * minutes, (interval + 1) * minutes)}
        weight = max(float(world.places.weights[p, hour]) for hour in touched)
        heaviest[p] = max(heaviest.get(p, 0.0), weight)
    return sum(heaviest.values())


def _fast_regions(world: World) -> set[frozenset[Member]]:
    regions = world.regions
    found: dict[int, set[Member]] = {}
    for pair, (p, node) in enumerate(zip(regions.pair_places, regions.pair_nodes, strict=True)):
        for interval, region in enumerate(regions.region_of[pair]):
            if region >= 0:
                found.setdefault(int(region), set()).add((int(p), int(node), interval))
    return {frozenset(members) for members in found.values()}


@given(world_inputs(most=12))
@examples(max_examples=300)
def test_merging_by_count(tmp_path: Path, inputs: tuple[list[Place], dict[str, Any]]) -> None:
    world = build(tmp_path, *inputs)
    assert _fast_regions(world) == _slow_regions(world)


@given(world_inputs(most=12), st.integers(1, 12))
@examples(max_examples=200)
def test_merging_by_popularity(
    tmp_path: Path, inputs: tuple[list[Place], dict[str, Any]], least: int
) -> None:
    rows, keys = inputs
    total = sum(max(row.popularity) for row in rows if row.hours not in CLOSED_ON_WEDNESDAY)
    keys["kappa"] = {"least": min(float(least), max(total, 1e-9)), "weight": "popularity"}
    if total > 0:
        world = build(tmp_path, rows, keys)
        assert _fast_regions(world) == _slow_regions(world)
