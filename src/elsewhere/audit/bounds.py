"""ε of single draws on real worlds, where nothing can be listed: exact for n-grams of regions.

Without rounding a window's weight is a product over its positions, so its normaliser is a product of
matrices, and the worst output is a max-plus product: for every output y the largest of
c d(x', y) + ln Z(x') over all inputs x', and of −c d(x, y) − ln Z(x) over all x, one position after the
other. That is |ℛ|^(n + 1) steps instead of |ℛ|^(3n). Scores are rounded up to 2⁻²⁰, which moves the
result by at most ε' · 2⁻²⁰; the proven bound ε' takes over where the matrices would be too large.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, singledispatch

import numpy as np

from elsewhere.arrays import Bools, Floats, Words
from elsewhere.compiled import compiled
from elsewhere.mechanism.budget import Draw
from elsewhere.mechanism.codebook import CodebookTables
from elsewhere.mechanism.ngram import NgramTables
from elsewhere.mechanism.rejection import SCORE_STEPS
from elsewhere.world.distances import RegionDistances, region_distance

_MOST_STEPS = 3e10
_MOST_ENTRIES = 5e7
_ROWS_AT_ONCE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawLoss:
    """What one draw spends."""

    epsilon: Fraction
    """Claimed."""
    spent: float
    """The largest log-ratio, or a bound on it; never below what is really spent."""
    is_exact: bool
    first: tuple[int, ...] = ()
    """Regions that attain it, if it is exact."""
    second: tuple[int, ...] = ()
    output: tuple[int, ...] = ()


@singledispatch
def draw_losses(
    tables: object, draws: Sequence[Draw], tick: Callable[[], None] = lambda: None
) -> list[DrawLoss]:
    """What each draw of a method spends, in the order of its draws: by default what is proven of it."""
    del tables, tick
    return [DrawLoss(epsilon=draw.epsilon, spent=float(draw.epsilon), is_exact=False) for draw in draws]


@draw_losses.register
def _ngram_losses(
    tables: NgramTables, _draws: Sequence[Draw], tick: Callable[[], None] = lambda: None
) -> list[DrawLoss]:
    """Windows of the same length with the same ε' spend the same; ``tick`` is called for each position."""
    sizes = {(draw.length, draw.epsilon) for draw in tables.draws}
    found = {(size, epsilon): window_loss(tables, size, epsilon, tick) for size, epsilon in sizes}
    return [found[draw.length, draw.epsilon] for draw in tables.draws]


@draw_losses.register
def _codebook_losses(
    tables: CodebookTables, draws: Sequence[Draw], _tick: Callable[[], None] = lambda: None
) -> list[DrawLoss]:
    """A pick spends as much for any two days whose nearest candidates differ: ε, but for what is missed."""
    odds = tables.odds
    outside = math.exp(-odds.epsilon)
    accepted = (odds.nearest + (odds.candidates - odds.nearest) * outside) / odds.candidates
    missed = (1 - accepted) ** odds.trials
    inside, other = ((1 - missed) * weight / accepted + missed for weight in (1.0, outside))
    spent = math.log(inside / other) if odds.nearest < odds.candidates else 0.0
    return [
        DrawLoss(epsilon=draw.epsilon, spent=min(spent, float(odds.epsilon)), is_exact=True) for draw in draws
    ]


def factor_of(tables: NgramTables, size: int, epsilon: Fraction) -> float:
    """The c in the weights e^(−c d) of a window of ``size`` regions: ε' / 2Δ, or ε' / 2 with Δ := 1."""
    index = next(i for i, draw in enumerate(tables.draws) if (draw.length, draw.epsilon) == (size, epsilon))
    delta = float(tables.windows.sensitivities[index]) if tables.is_clamped else 1.0
    return float(epsilon) / 2 / delta if delta > 0 else 0.0


def window_loss(
    tables: NgramTables, size: int, epsilon: Fraction, tick: Callable[[], None] = lambda: None
) -> DrawLoss:
    """Largest log-ratio of one draw: any n-grams of regions as inputs, any feasible one as output."""
    count = len(tables.distances.kinds)
    factor = factor_of(tables, size, epsilon)
    largest = 2 * factor * size * _largest(tables)
    if count**size > _MOST_ENTRIES or size * float(count) ** (size + 1) > _MOST_STEPS or largest > 600:
        proven = float(epsilon) if tables.is_clamped else largest
        return DrawLoss(epsilon=epsilon, spent=proven, is_exact=False)
    costs = factor * _all_distances(tables.distances)
    edges = _dense(tables.proposals.words, count)
    mass = _log_masses(np.exp(-costs), edges, size)
    lowest, highest = -mass, mass
    for axis in range(size):
        highest = _max_plus(highest, costs, axis)
        lowest = _max_plus(lowest, -costs, axis)
        tick()
    ratios = np.where(_feasible(edges, size), highest + lowest, -np.inf)
    output = np.unravel_index(int(np.argmax(ratios)), ratios.shape)
    spent = float(ratios[output])
    if tables.is_clamped:
        spent = min(spent + float(epsilon) / SCORE_STEPS, float(epsilon))
    ngram = tuple(int(region) for region in output)
    return DrawLoss(
        epsilon=epsilon,
        spent=spent,
        is_exact=True,
        first=_attained(-mass, -costs, ngram),
        second=_attained(mass, costs, ngram),
        output=ngram,
    )


def _largest(tables: NgramTables) -> float:
    """Largest distance of the world: Δ of a window over its length."""
    return float(tables.windows.sensitivities[0] / tables.windows.lengths[0])


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
