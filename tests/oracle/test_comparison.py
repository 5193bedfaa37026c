"""Days compared column by column against one pair of days at a time, visit by visit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from elsewhere.arrays import Floats, Indices
from elsewhere.days.alignment import least_sum
from elsewhere.days.comparison import day_columns, day_costs, prefix_costs
from elsewhere.days.visits import Days, VisitDistances, visit_distance, visit_distances
from elsewhere.mechanism.codebook import nearest_flags
from examples import examples
from worlds import build, place, world_inputs

_KINDS = ("cafe", "bar", "shoes", "wine-bar")


def _cost(distances: VisitDistances, unmatched: float, mine: Indices, theirs: Indices) -> float:
    """Every matched pair looked up by itself, then `least_sum`."""
    short, long = sorted((mine, theirs), key=lambda day: day.shape[1])
    rows, spare = short.shape[1], long.shape[1] - short.shape[1]
    band, best = np.empty((rows, spare + 1)), np.empty((rows, spare + 1))
    for i in range(rows):
        for k in range(spare + 1):
            band[i, k] = visit_distance(distances, *short[:, i], *long[:, i + k])
    return float(least_sum(band, rows, spare, best) + spare * unmatched)


def _book(days: list[Any], width: int) -> Days:
    rows = np.full((2, len(days), width), -1, dtype=np.int32)
    for number, day in enumerate(days):
        rows[:, number, : len(day)] = np.array(day).T
    return Days(rows[0], rows[1], np.array([len(day) for day in days], dtype=np.int32))


def _plainly(book: Days, distances: VisitDistances, unmatched: float, day: Indices) -> Floats:
    others = [np.array(row, dtype=np.int32) for row in book.rows()]
    return np.array([_cost(distances, unmatched, day, other) for other in others])


@given(world_inputs(most=5), st.data())
@examples(max_examples=60)
def test_costs_are_those_of_one_pair_at_a_time(tmp_path: Path, inputs: Any, data: st.DataObject) -> None:
    """Bit for bit, for days shorter and longer than the others, at places known and not."""
    world = build(tmp_path, *inputs)
    distances, count, day = visit_distances(world), len(world.places), world.clock.timesteps
    visit = st.tuples(st.integers(0, count - 1), st.integers(0, day - 1))
    days = data.draw(st.lists(st.lists(visit, min_size=1, max_size=5), min_size=1, max_size=8))
    anywhere = st.tuples(st.integers(0, count), st.integers(0, day - 1))
    truth = np.array(data.draw(st.lists(anywhere, min_size=1, max_size=7)), dtype=np.int32).T.copy()
    book, unmatched = _book(days, 5), data.draw(st.sampled_from([0.0, 7.0, 10.0]))
    columns = day_columns(book)
    prefixes = prefix_costs(columns, distances, unmatched, *truth)
    for length in range(1, truth.shape[1] + 1):
        first = np.ascontiguousarray(truth[:, :length])
        expected = _plainly(book, distances, unmatched, first)
        np.testing.assert_array_equal(day_costs(columns, distances, unmatched, *first), expected)
        np.testing.assert_array_equal(prefixes[length - 1], expected)


def test_the_same_are_near_among_as_many_as_are_used(tmp_path: Path) -> None:
    """With more days of one length than are compared at once, in a city with far and unknown places."""
    rows = [
        place(f"p{i}", 50 + 0.3 * (i % 9), 10 + 0.02 * (i // 9), _KINDS[i % 4], hours="24/7")
        for i in range(60)
    ]
    world = build(tmp_path, rows, {"kappa": 1})
    generator, distances = np.random.default_rng(1), visit_distances(world)
    days = [generator.integers(0, (60, 144), (generator.integers(1, 5), 2)) for _ in range(1500)]
    book = _book(days, 4)
    for length in (1, 3, 6):
        truth = generator.integers(0, (61, 144), (length, 2)).astype(np.int32).T.copy()
        costs = day_costs(day_columns(book), distances, 10.0, *truth)
        expected = _plainly(book, distances, 10.0, truth)
        np.testing.assert_array_equal(costs, expected)
        order = np.argsort(expected, kind="stable")[:40]
        assert np.flatnonzero(nearest_flags(costs, 40)).tolist() == sorted(order.tolist())
