"""The exact shortest path = the paper's integer program = brute force, with and without the bounding box."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from elsewhere.mechanism.windows import window_tables
from elsewhere.reconstruct.chain import NO_CHAIN, region_edges
from elsewhere.reconstruct.node_errors import region_boxes, region_columns
from elsewhere.reconstruct.region_path import region_paths
from elsewhere.world.place_world import place_world
from elsewhere.world.world import World
from examples import examples
from integer_program import solve_integer_program
from privacy_tools import even_draws
from worlds import build, world_inputs

Array = np.ndarray[Any, Any]


def _node_errors(world: World, draw: Array, length: int, n: int) -> Array:
    """e(r, i) = Σ d(r, y_i) over the draws that cover i (eq:region-error), the slow way."""
    errors = np.zeros((length, len(world.regions)))
    everything = np.arange(len(world.regions))
    position = 0
    for window in even_draws(Fraction(1), length, n):
        for j in range(window.length):
            errors[window.start + j] += world.distances.combined(everything, int(draw[position]))
            position += 1
    return errors


def _inside_box(world: World, draw: Array) -> list[int]:
    """Regions with at least one place in the rectangle around all places of the drawn regions."""
    drawn = sorted({int(p) for region in draw for p in world.regions.places_of(int(region))})
    lat, lng = world.places.latitudes, world.places.longitudes
    south, north = lat[drawn].min(), lat[drawn].max()
    west, east = lng[drawn].min(), lng[drawn].max()
    is_in = (south <= lat) & (lat <= north) & (west <= lng) & (lng <= east)
    return [r for r in range(len(world.regions)) if is_in[world.regions.places_of(r)].any()]


def _brute_force(world: World, errors: Array, allowed: list[int]) -> float | None:
    """Least Σ_i e(w(1), i) + e(w(2), i+1) over all chains of allowed regions."""
    best = None
    for path in product(allowed, repeat=len(errors)):
        if all(world.graph.has_edge(a, b) for a, b in pairwise(path)):
            cost = sum(errors[i, a] + errors[i + 1, b] for i, (a, b) in enumerate(pairwise(path)))
            best = cost if best is None else min(best, cost)
    return best


@given(world_inputs(most=5), st.data())
@examples(max_examples=320)
def test_shortest_path_integer_program_and_brute_force_agree(
    tmp_path: Path, inputs: tuple[Any, Any], data: st.DataObject
) -> None:
    rows, keys = inputs
    world = build(tmp_path, rows, keys | {"timestep_minutes": 240, "interval_minutes": 480})
    count = len(world.regions)
    length = data.draw(st.integers(2, 4 if count <= 8 else 3))
    n = data.draw(st.integers(1, 3))
    windows = window_tables(even_draws(Fraction(1), length, n), world.max_distance)
    size = int(windows.lengths.sum())
    draw = np.array(
        data.draw(st.lists(st.integers(0, count - 1), min_size=size, max_size=size)), dtype=np.int32
    )
    paths, costs, ways = region_paths(
        draw[None, :],
        windows,
        region_columns(world.distances),
        world.distances,
        region_edges(world.graph.words, place_world(world)),
        region_boxes(world),
        length,
    )
    errors = _node_errors(world, draw, length, n)
    expected = _brute_force(world, errors, _inside_box(world, draw))
    if expected is None:
        expected = _brute_force(world, errors, list(range(count)))
    if expected is None:
        assert ways[0] == NO_CHAIN
        return
    assert ways[0] != NO_CHAIN
    assert all(world.graph.has_edge(int(a), int(b)) for a, b in pairwise(paths[0]))
    assert abs(costs[0] - expected) < 1e-9 * max(1, expected)
    _check_integer_program(world, errors, _inside_box(world, draw))


def _check_integer_program(world: World, errors: Array, allowed: list[int]) -> None:
    bigrams = np.array(
        [(a, b) for a in allowed for b in allowed if world.graph.has_edge(a, b)], dtype=np.int32
    ).reshape(-1, 2)
    expected = _brute_force(world, errors, allowed)
    solution = solve_integer_program(errors, [bigrams] * (len(errors) - 1)) if len(bigrams) else None
    assert (solution is None) == (expected is None)
    if solution is not None and expected is not None:
        assert abs(solution[1] - expected) < 1e-9 * max(1, expected)


@given(world_inputs(most=6), st.data())
@examples(max_examples=60)
def test_one_visit_takes_the_best_region(
    tmp_path: Path, inputs: tuple[Any, Any], data: st.DataObject
) -> None:
    """|τ| = 1 has no bigram: the best region is the drawn one."""
    world = build(tmp_path, *inputs)
    drawn = data.draw(st.integers(0, len(world.regions) - 1))
    windows = window_tables(even_draws(Fraction(1), 1, 2), world.max_distance)
    paths, costs, _ = region_paths(
        np.array([[drawn]], dtype=np.int32), windows, region_columns(world.distances), world.distances,
        region_edges(world.graph.words, place_world(world)), region_boxes(world), 1,
    )  # fmt: skip
    assert costs[0] == 0
    assert float(world.distances.combined(int(paths[0, 0]), drawn)) == 0
