"""A peer like PrivTrace (Wang et al., USENIX Security 2023): noisy Markov chains of a trusted collector.

The collector sees everybody's true day. It makes a grid that is finer where more people are, counts how
people move from cell to cell, by the last cell and in busy cells by the last two, adds Laplace noise, and
lets made-up people walk by it. This is *central* differential privacy, a weaker promise than ε-LDP: nothing
protects a day from the collector, or from whoever gets hold of what it has. To add or remove one person costs
ε; to change a person's day, which is what ε-LDP is about, costs twice as much.

As in PrivTrace: a fifth of ε for the grid, two fifths for each of the two chains; a person's counts add up to
1, so that long days weigh no more than short ones; a beginning and an end that are states as others are;
the sizes of the grid (a cell for 600 people, split for each 200); and which cells are told by the last two.

Simpler: where trips begin and end is not estimated again by convex optimisation, so short days weigh more in
it. The longer memory is used wherever its counts are clearly more than noise. And visits are at places that
everybody knows, by popularity within a cell, where PrivTrace draws positions anywhere in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from elsewhere.arrays import Bools, Floats, Indices
from elsewhere.randomness import Generator

_FOR_GRID, _FOR_FIRST, _FOR_SECOND = 0.2, 0.4, 0.4
_PEOPLE_PER_CELL, _PEOPLE_PER_PART = 600, 200
_FEWEST, _MOST = 2, 60
_CLEAR = 5.0
"""Where the next cell is so many times as likely as the second, the cell before says nothing more."""
_MOST_VISITS = 50


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chains:
    """What the collector may tell: noisy moves, none of them below 0."""

    first: Floats
    """From each cell, and from the beginning in the last row, to each cell, or to the end."""
    second: Floats
    """The same by the last two, for those of them that more than noise is known of."""
    row_of: Indices
    """By the last but one (or the beginning) and the last: the row in ``second``; −1 if there is none."""


def coarse_cells(positions: Floats, people: int) -> tuple[Indices, int]:
    """The cell of each place on a square grid, and how many cells a side has; by public numbers alone."""
    side = int(np.clip(math.floor(math.sqrt(people / _PEOPLE_PER_CELL)), _FEWEST, _MOST))
    return _on_grid(positions, positions.min(axis=0), np.ptp(positions, axis=0), side), side


def _on_grid(positions: Floats, corner: Floats, size: Floats, side: int) -> Indices:
    steps = np.floor((positions - corner) / np.maximum(size, 1e-12) * side)
    column, row = np.clip(steps, 0, side - 1).astype(np.int32).T
    return np.asarray(row * side + column, dtype=np.int32)


def density(walks: Indices, cells: int) -> Floats:
    """How much of people's days is in each cell; each day adds up to 1."""
    is_visit = walks >= 0
    weights = is_visit / np.maximum(is_visit.sum(axis=1, keepdims=True), 1)
    return np.bincount(walks[is_visit], weights=weights[is_visit], minlength=cells).astype(np.float64)


def adaptive_cells(positions: Floats, walks: Indices, epsilon: float, generator: Generator) -> Indices:
    """The cell of each place: a coarse grid, and a finer one within each cell that many people are in.

    ``walks`` has a row of places for each person, filled up with −1. Cells without a place are left out.
    """
    coarse, side = coarse_cells(positions, len(walks))
    told = noisy(density(_cells_of(coarse, walks), side * side), epsilon, generator)
    size = np.ptp(positions, axis=0) / side
    found, so_far = np.zeros(len(positions), dtype=np.int32), 0
    for cell, people in enumerate(told.tolist()):
        corner = positions.min(axis=0) + size * np.array([cell % side, cell // side])
        parts = max(1, math.ceil(math.sqrt(max(people, 0.0) / _PEOPLE_PER_PART)))
        here = coarse == cell
        found[here] = so_far + _on_grid(positions[here], corner, size, parts)
        so_far += parts * parts
    return np.unique(found, return_inverse=True)[1].astype(np.int32)


def _cells_of(cell_of_place: Indices, walks: Indices) -> Indices:
    return np.where(walks >= 0, cell_of_place[walks], np.int32(-1))


def _with_ends(walks: Indices, cells: int) -> Indices:
    """Walks with a beginning before them and an end behind them, both of which have the number ``cells``."""
    lengths = (walks >= 0).sum(axis=1)
    padded = np.pad(walks, ((0, 0), (1, 1)), constant_values=-1)
    padded[:, 0] = cells
    padded[np.arange(len(walks)), lengths + 1] = cells
    return padded


def first_counts(walks: Indices, cells: int) -> Floats:
    """Moves from cell to cell, from the beginning and to the end; each person's add up to 1."""
    padded = _with_ends(walks, cells)
    before, after = padded[:, :-1], padded[:, 1:]
    is_move = after >= 0
    weights = is_move / is_move.sum(axis=1, keepdims=True)
    counts = np.zeros((cells + 1, cells + 1))
    np.add.at(counts, (before[is_move], after[is_move]), weights[is_move])
    return counts


def second_counts(walks: Indices, cells: int, cell: int) -> Floats:
    """Moves from one cell by the one before; each person's, over all cells, add up to 1."""
    padded = _with_ends(walks, cells)
    earlier, before, after = padded[:, :-2], padded[:, 1:-1], padded[:, 2:]
    is_move = after >= 0
    weights = is_move / np.maximum(is_move.sum(axis=1, keepdims=True), 1)
    counted = is_move & (before == cell)
    counts = np.zeros((cells + 1, cells + 1))
    np.add.at(counts, (earlier[counted], after[counted]), weights[counted])
    return counts


def split_cells(first: Floats, epsilon: float) -> Bools:
    """Cells that many people leave, to more than one other: from what is noisy already, so for nothing."""
    cells = len(first) - 1
    onward = -np.sort(-first[:cells, :cells], axis=1)
    is_busy = onward.sum(axis=1) > cells * math.sqrt(2) / epsilon
    return np.asarray(is_busy & (onward[:, 0] < _CLEAR * onward[:, min(1, cells - 1)]))


def noisy_chains(walks: Indices, cells: int, epsilon: float, generator: Generator) -> Chains:
    """Both chains of walks from cell to cell, for ``epsilon`` in equal parts."""
    part = epsilon / 2
    first = not_negative(noisy(first_counts(walks, cells), part, generator))
    first[cells, cells] = 0.0  # nobody's day is without a visit
    # The standard deviation of a row's sum, if nobody is in it.
    noise = math.sqrt(2 * (cells + 1)) / part
    known, row_of, so_far = [], np.full((cells + 1, cells), -1, dtype=np.int32), 0
    for cell in np.flatnonzero(split_cells(first, part)).tolist():
        told = not_negative(noisy(second_counts(walks, cells, cell), part, generator))
        sure = np.flatnonzero(told.sum(axis=1) > 2 * noise)
        known.append(told[sure])
        row_of[sure, cell] = so_far + np.arange(len(sure))
        so_far += len(sure)
    return Chains(first=first, second=np.vstack([np.zeros((0, cells + 1)), *known]), row_of=row_of)


def noisy(counts: Floats, epsilon: float, generator: Generator) -> Floats:
    """Counts of which one person changes 1 in all, with Laplace noise that makes them cost ``epsilon``."""
    return counts + generator.laplace(scale=1 / epsilon, size=counts.shape)


def not_negative(counts: Floats) -> Floats:
    """The nearest rows without a number below 0 that add up to the same, or to 0.

    Where negative numbers are merely taken for 0, noise adds people who are nowhere.
    """
    falling = -np.sort(-counts, axis=-1)
    totals = np.maximum(counts.sum(axis=-1, keepdims=True), 0.0)
    lowered = (np.cumsum(falling, axis=-1) - totals) / np.arange(1, counts.shape[-1] + 1)
    kept = (falling > lowered).sum(axis=-1, keepdims=True)
    by = np.take_along_axis(lowered, np.maximum(kept - 1, 0), axis=-1)
    return np.where(totals > 0, np.maximum(counts - by, 0.0), 0.0)


def walks_by(chains: Chains, count: int, generator: Generator) -> Indices:
    """Made-up walks from cell to cell, each until its end, or until it is very long."""
    cells = len(chains.first) - 1
    walks = np.full((count, _MOST_VISITS), -1, dtype=np.int32)
    earlier, before = np.full(count, cells), np.full(count, cells)
    going = np.arange(count)
    for step in range(_MOST_VISITS):
        chances = chains.first[before[going]]
        known = before[going] < cells
        rows = going[known]
        second = chains.row_of[earlier[rows], before[rows]]
        chances[np.flatnonzero(known)[second >= 0]] = chains.second[second[second >= 0]]
        found = _drawn(chances, generator)
        going, found = going[found < cells], found[found < cells]
        if not len(going):
            break
        walks[going, step] = found
        earlier[going], before[going] = before[going], found
    return walks


def _drawn(chances: Floats, generator: Generator) -> Indices:
    """One column of each row, by its chance; the last column, the end, where nothing has any."""
    sums = np.cumsum(chances, axis=1)
    marks = generator.random(len(chances)) * sums[:, -1]
    found = (marks[:, None] >= sums).sum(axis=1)
    return np.asarray(np.minimum(found, chances.shape[1] - 1), dtype=np.int32)


def places_in_cells(
    cell_of_place: Indices, popularity: Floats, walks: Indices, generator: Generator
) -> Indices:
    """A place for each visit, by its popularity among those of the cell."""
    found = np.full(walks.shape, -1, dtype=np.int32)
    for cell in np.unique(walks[walks >= 0]).tolist():
        here = np.flatnonzero(cell_of_place == cell)
        weights = popularity[here] + 1e-9
        is_here = walks == cell
        found[is_here] = generator.choice(here, size=int(is_here.sum()), p=weights / weights.sum())
    return found


def walks_like_privtrace(
    positions: Floats, popularity: Floats, walks: Indices, epsilon: float, generator: Generator
) -> Indices:
    """As many made-up walks from place to place as there are true ones, for ``epsilon`` in all."""
    cell_of_place = adaptive_cells(positions, walks, _FOR_GRID * epsilon, generator)
    cells = int(cell_of_place.max()) + 1
    true = _cells_of(cell_of_place, walks)
    chains = noisy_chains(true, cells, (_FOR_FIRST + _FOR_SECOND) * epsilon, generator)
    made_up = walks_by(chains, len(walks), generator)
    return places_in_cells(cell_of_place, popularity, made_up, generator)
