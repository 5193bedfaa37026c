"""Chains of places at given times: shortest path = integer program = brute force; times spread the least."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from elsewhere.days.smoothing import spread
from elsewhere.days.visits import place_distances, visit_distances
from elsewhere.knowledge.travel import is_reachable
from elsewhere.mechanism.windows import window_tables
from elsewhere.reconstruct.node_errors import place_boxes, region_columns
from elsewhere.reconstruct.place_chain import SHIFTED, place_chains
from elsewhere.world.place_world import place_world
from elsewhere.world.world import World
from examples import examples
from integer_program import solve_integer_program
from privacy_tools import even_draws
from worlds import build, world_inputs

Array = np.ndarray[Any, Any]


def _errors(world: World, draw: Array, length: int, n: int) -> Array:
    """e(p, i) = Σ √(d_s² + d_c²) over the draws that cover i, the slow way."""
    distances = place_distances(visit_distances(world))
    everything, errors, position = np.arange(len(world.places)), np.zeros((length, len(world.places))), 0
    for window in even_draws(Fraction(1), length, n):
        for j in range(window.length):
            errors[window.start + j] += distances.combined(everything, int(draw[position]))
            position += 1
    return errors


def _pairs(world: World, times: list[int], allowed: list[set[int]]) -> list[Array]:
    """Pairs of allowed places that can follow each other, for each gap."""
    return [
        np.array(
            [
                (p, q)
                for p, q in product(sorted(allowed[i]), sorted(allowed[i + 1]))
                if is_reachable(world.travel, world.clock, origin=p, departure=t, destination=q, arrival=u)
            ],
            dtype=np.int32,
        ).reshape(-1, 2)
        for i, (t, u) in enumerate(pairwise(times))
    ]


def _brute_force(errors: Array, pairs: list[Array]) -> float | None:
    can_follow = [set(map(tuple, some.tolist())) for some in pairs]
    costs = [
        sum(errors[i, a] + errors[i + 1, b] for i, (a, b) in enumerate(pairwise(path)))
        for path in product(range(errors.shape[1]), repeat=len(errors))
        if all(pair in can_follow[i] for i, pair in enumerate(pairwise(path)))
    ]
    return min(costs, default=None)


def _inside(world: World, draw: Array) -> set[int]:
    lat, lng = world.places.latitudes, world.places.longitudes
    drawn = [int(place) for place in draw]
    is_in = (lat[drawn].min() <= lat) & (lat <= lat[drawn].max())
    is_in &= (lng[drawn].min() <= lng) & (lng <= lng[drawn].max())
    return set(np.flatnonzero(is_in).tolist())


@given(world_inputs(most=5), st.data())
@examples(max_examples=200)
def test_shortest_path_integer_program_and_brute_force_agree(
    tmp_path: Path, inputs: tuple[Any, Any], data: st.DataObject
) -> None:
    world = build(tmp_path, inputs[0], {**inputs[1], "timestep_minutes": 240, "interval_minutes": 480})
    count = len(world.places)
    length, n = data.draw(st.integers(2, 4)), data.draw(st.integers(1, 3))
    times = sorted(data.draw(st.permutations(range(world.clock.timesteps)))[:length])
    distances = place_distances(visit_distances(world))
    windows = window_tables(even_draws(Fraction(1), length, n), 1.0)
    size = int(windows.lengths.sum())
    drawn = data.draw(st.lists(st.integers(0, count - 1), min_size=size, max_size=size))
    draw = np.array(drawn, dtype=np.int32)
    paths, costs, ways = place_chains(
        draw[None, :],
        np.array([times], dtype=np.int32),
        windows,
        region_columns(distances),
        distances,
        place_world(world),
        place_boxes(world.places),
    )
    errors = _errors(world, draw, length, n)
    is_open = [set(np.flatnonzero(world.is_open[:, t]).tolist()) for t in times]
    everything = [set(range(count))] * length
    inside = [some & _inside(world, draw) for some in is_open]
    by_rule = (_pairs(world, times, allowed) for allowed in (inside, is_open, everything))
    pairs, expected = next(
        (pairs, cost) for pairs in by_rule if (cost := _brute_force(errors, pairs)) is not None
    )
    assert abs(costs[0] - expected) < 1e-9 * max(1, expected)
    solution = solve_integer_program(errors, pairs)
    assert solution is not None
    assert abs(solution[1] - expected) < 1e-9 * max(1, expected)
    if ways[0] < SHIFTED:
        followed = zip(pairwise(paths[0].tolist()), pairs, strict=True)
        assert all(pair in set(map(tuple, some.tolist())) for pair, some in followed)


@given(st.lists(st.integers(0, 7), min_size=1, max_size=5))
@examples(max_examples=200)
def test_times_are_spread_by_the_least_total_shift(drawn: list[int]) -> None:
    found = spread(np.array(drawn, dtype=np.int32), 8).tolist()
    assert all(a < b for a, b in pairwise(found))
    assert found[0] >= 0
    assert found[-1] < 8
    shifts = [
        sum(abs(a - b) for a, b in zip(sorted(drawn), times, strict=True))
        for times in combinations(range(8), len(drawn))
    ]
    assert sum(abs(a - b) for a, b in zip(sorted(drawn), found, strict=True)) == min(shifts)
