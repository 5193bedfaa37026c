"""The chain through layers against all ways to each node, one after the other; and its short cuts."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from elsewhere.arrays import Bools, Floats
from elsewhere.reconstruct.chain import CHAINED, INDEPENDENT, NO_CHAIN, best_chain, region_edges, room_for
from elsewhere.world.place_world import _rung, place_world
from elsewhere.world.world import World
from examples import examples
from worlds import build, place

_SIZES = (3, 11, 64, 150)


def _plainly(costs: Floats, follows: Bools) -> tuple[float, list[int]]:
    """The least total for each node of a layer from all before it; of equals the first is taken."""
    totals, origins = costs[0], []
    for row in costs[1:]:
        ways = np.where(follows, totals[:, None], np.inf)
        origins.append(ways.argmin(axis=0))
        totals = ways.min(axis=0) + row
    path = [int(totals.argmin())]
    for origin in reversed(origins):
        path.append(int(origin[path[-1]]))
    return float(totals.min()), path[::-1]


def _words(follows: Bools) -> Any:
    width = -(-len(follows) // 64) * 64
    padded = np.zeros((len(follows), width), dtype=np.bool_)
    padded[:, : len(follows)] = follows
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def _some_world(folder: Path) -> World:
    return build(folder, [place("a", 50, 10, "cafe", hours="24/7")], {"kappa": 1})


@given(st.integers(0, 2**32 - 1), st.data())
@examples(max_examples=300)
def test_the_chain_is_the_one_that_all_ways_give(tmp_path: Path, seed: int, data: st.DataObject) -> None:
    """With dense and sparse edges, forbidden nodes, and costs of which many are the same."""
    generator = np.random.default_rng(seed)
    count, length = data.draw(st.sampled_from(_SIZES)), data.draw(st.integers(1, 6))
    follows = generator.random((count, count)) < data.draw(st.sampled_from([0.01, 0.1, 0.5, 0.9]))
    costs = generator.gamma(3.0, 4.0, (length, count))
    if data.draw(st.booleans()):
        costs = np.round(costs)
    costs[generator.random(costs.shape) < data.draw(st.sampled_from([0.0, 0.3, 0.95]))] = np.inf
    path = np.zeros(length, dtype=np.int32)
    edges = region_edges(_words(follows), place_world(_some_world(tmp_path)))
    way = best_chain(costs, edges, room_for(*costs.shape), path)
    least, expected = _plainly(costs, follows)
    if math.isinf(least):
        assert way == NO_CHAIN
        assert path.tolist() == costs.argmin(axis=1).tolist()
    elif way == INDEPENDENT:
        assert path.tolist() == costs.argmin(axis=1).tolist()
        assert least == costs.min(axis=1).cumsum()[-1]
    else:
        assert way == CHAINED
        assert path.tolist() == expected


@given(
    st.lists(st.floats(0, 4, allow_subnormal=True) | st.just(math.inf), max_size=30),
    st.floats(0, 4, allow_subnormal=True),
    st.booleans(),
)
@examples(max_examples=500)
def test_rungs_are_found_whatever_the_thresholds(given_: list[float], chord: float, squares: bool) -> None:
    """Those of one speed, of many, equal ones, ones at zero; none at all."""
    thresholds = np.sort(np.array([1e-3 * k * k for k in range(1, 20)] if squares else given_))
    assert _rung(thresholds, chord) == np.searchsorted(thresholds, chord)
    for edge in thresholds[np.isfinite(thresholds)].tolist():
        for near in (edge, np.nextafter(edge, 0), np.nextafter(edge, 5)):
            assert _rung(thresholds, float(near)) == np.searchsorted(thresholds, near)
