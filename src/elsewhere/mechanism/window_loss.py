"""What one draw of an n-gram really spends: the largest log-ratio over all inputs and outputs, exactly.

Without rounding a window's weight is a product over its positions, so its normaliser is a product of
matrices, and the worst output is a max-plus product: for every output y the largest of
c d(x', y) + ln Z(x') over all inputs x', and of −c d(x, y) − ln Z(x) over all x, one position after the
other. That is |ℛ|^(n + 1) steps instead of |ℛ|^(3n).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import NamedTuple

import numpy as np

from elsewhere.arrays import Bools, Floats, Words
from elsewhere.compiled import compiled
from elsewhere.world.distances import RegionDistances, region_distance

_MOST_STEPS = 3e10
_MOST_ENTRIES = 5e7
_LARGEST_EXPONENT = 600
_ROWS_AT_ONCE = 8


class WindowLoss(NamedTuple):
    """The largest log-ratio of a draw, and the windows that attain it."""

    spent: float
    first: tuple[int, ...]
    second: tuple[int, ...]
    output: tuple[int, ...]


def exact_window_loss(
    distances: RegionDistances,
    words: Words,
    size: int,
    factor: float,
    max_distance: float,
    tick: Callable[[], None] = lambda: None,
) -> WindowLoss | None:
    """Loss of a draw with weights e^(−c d): any n-grams of regions as inputs, any feasible one as output.

    ``factor`` is c, and ``words`` say which regions can follow which. None where the matrices would be too
    large, or where some d is above ``max_distance``: scores are clamped there, and weights no products.
    ``tick`` is called for each position.
    """
    count = len(distances.kinds)
    if count**size > _MOST_ENTRIES or size * float(count) ** (size + 1) > _MOST_STEPS:
        return None
    far = _all_distances(distances)
    costs = factor * far
    is_sound = bool(((far >= 0) & (far <= max_distance)).all() and np.isfinite(costs).all())
    if not is_sound or size * costs.max() > _LARGEST_EXPONENT:
        return None
    edges = _dense(words, count)
    mass = _log_masses(np.exp(-costs), edges, size)
    lowest, highest = -mass, mass
    for axis in range(size):
        highest = _max_plus(highest, costs, axis)
        lowest = _max_plus(lowest, -costs, axis)
        tick()
    ratios = np.where(_feasible(edges, size), highest + lowest, -np.inf)
    output = np.unravel_index(int(np.argmax(ratios)), ratios.shape)
    ngram = tuple(int(region) for region in output)
    return WindowLoss(
        spent=float(ratios[output]),
        first=_attained(-mass, -costs, ngram),
        second=_attained(mass, costs, ngram),
        output=ngram,
    )


@cache
def _workers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=os.cpu_count() or 1)


@compiled
def _all_distances(distances: RegionDistances) -> Floats:
    count = len(distances.kinds)
    found = np.empty((count, count))
    for a in range(count):
        for b in range(count):
            found[a, b] = region_distance(distances, a, b)
    return found


def _dense(words: Words, count: int) -> Bools:
    bits = np.unpackbits(words.astype("<u8").view(np.uint8), axis=1, bitorder="little")
    return np.asarray(bits[:, :count], dtype=np.bool_)


def _log_masses(kernel: Floats, edges: Bools, size: int) -> Floats:
    """Ln Z for every n-gram of regions, an axis for each position."""
    follows = edges.astype(np.float64)
    partial = kernel if size > 1 else np.ones((1, len(kernel)))
    for position in range(1, size):
        reached = partial @ follows
        partial = reached[..., None, :] * kernel if position < size - 1 else reached
    mass = partial @ kernel.T
    return np.asarray(np.log(mass.reshape((len(kernel),) * size)))


def _feasible(edges: Bools, size: int) -> Bools:
    """Which n-grams are feasible, an axis for each position."""
    feasible = np.ones((len(edges),) * size, dtype=np.bool_)
    for position in range(size - 1):
        shape = [1] * size
        shape[position] = shape[position + 1] = len(edges)
        feasible &= edges.reshape(shape)
    return feasible


def _max_plus(values: Floats, costs: Floats, axis: int) -> Floats:
    """Largest of values[.., x, ..] + costs[x, y] over x, for every y in place of x along ``axis``."""
    moved = np.moveaxis(values, axis, -1)
    rows = np.ascontiguousarray(moved).reshape(-1, len(costs))
    out = np.full(rows.shape, -np.inf)
    pieces = np.array_split(np.arange(len(rows)), max(1, len(rows) // 64))
    list(_workers().map(lambda piece: _max_plus_rows(rows, costs, piece[0], piece[-1] + 1, out), pieces))
    return np.moveaxis(out.reshape(moved.shape), -1, axis)


@compiled
def _max_plus_rows(rows: Floats, costs: Floats, begin: int, end: int, out: Floats) -> None:
    for first in range(begin, end, _ROWS_AT_ONCE):
        last = min(end, first + _ROWS_AT_ONCE)
        for x in range(len(costs)):
            for row in range(first, last):
                value = rows[row, x]
                for y in range(costs.shape[1]):
                    total = value + costs[x, y]
                    out[row, y] = max(out[row, y], total)


def _attained(values: Floats, costs: Floats, ngram: tuple[int, ...]) -> tuple[int, ...]:
    """The input that is worst for an output."""
    total = values
    for axis, region in enumerate(ngram):
        shape = [1] * len(ngram)
        shape[axis] = len(costs)
        total = total + costs[:, region].reshape(shape)
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(total)), total.shape))
