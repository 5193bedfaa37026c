"""A baseline like LDPTrace (Du et al., VLDB 2023): days as walks from cell to cell, told piece by piece.

Everybody tells how many cells a day has (a tenth of ε), then where it starts, each move and where it ends
(the rest, in equal parts), each by optimised unary encoding. From unbiased counts, negative ones taken for
nothing, comes a Markov model, and from it made-up walks. For experiments alone: it protects nobody's day.

Unlike LDPTrace, staying in a cell is a move as any other, since a day is made of visits, not of positions.
Like it, as many vectors are told as a day has moves: whoever receives them sees the number, which a survey
hides. And how many cells are told at most is given, from the truth: LDPTrace asks for it, and with few people
errs widely. That is steadier, not always better: a limit too low by chance leaves more of ε for each move.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from elsewhere.arrays import Bools, Counts, Floats, Indices
from elsewhere.randomness import Generator

_FOR_LENGTH = 0.1
# A walk that has just begun hardly ends: so much of the chance to end counts, and so much more for each cell.
_EARLY, _LATER = 0.3, 0.2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WalkModel:
    """All that is told of walks."""

    lengths: Floats
    """How likely 1, 2, … cells are."""
    starts: Floats
    """How likely each cell is the first."""
    moves: Floats
    """From cell × to cell, and to the end in the last column; rows add up to 1."""


def told_counts(true: Counts, tellings: int, epsilon: float, generator: Generator) -> Floats:
    """Unbiased counts of what ``tellings`` bit vectors tell, at most one bit of each being true.

    Optimised unary encoding: a true bit is told with a chance of ½, another with 1 / (e^ε + 1), each by
    itself. So the number told of each bit is the sum of two binomial ones.
    """
    other = 1 / (math.exp(epsilon) + 1)
    told = generator.binomial(true, 0.5) + generator.binomial(tellings - true, other)
    return np.asarray((told - tellings * other) / (0.5 - other))


def next_to(boxes: dict[str, list[Any]]) -> Bools:
    """Which cells of a grid are the same or touch, by the boxes that they are."""
    sides = [np.array(boxes[name]) for name in ("south", "west", "north", "east")]
    south, west, north, east = sides
    slack = 1e-6
    tall, wide = slack * (north - south).max(), slack * (east - west).max()
    touches = (south[:, None] <= north[None, :] + tall) & (south[None, :] <= north[:, None] + tall)
    touches &= (west[:, None] <= east[None, :] + wide) & (west[None, :] <= east[:, None] + wide)
    return np.asarray(touches)


def told_model(
    walks: Indices, reachable: Bools, most: int, epsilon: float, generator: Generator
) -> WalkModel:
    """The model that people tell who walk like this: a row of cells each, filled up with −1.

    Of longer days the first ``most`` cells are told. Moves that are not ``reachable`` are not told: vectors
    have no bit for them.
    """
    people, cells = len(walks), len(reachable)
    sizes = np.clip((walks >= 0).sum(axis=1), 1, most)
    counted = np.bincount(sizes - 1, minlength=most)
    lengths = _shares(told_counts(counted, people, _FOR_LENGTH * epsilon, generator))
    part = (1 - _FOR_LENGTH) * epsilon / (most + 1)
    short = walks[:, :most]
    firsts, lasts = _ends(short)
    starts = told_counts(_counted(firsts, cells), people, part, generator)
    ends = told_counts(_counted(lasts, cells), people, part, generator)
    before, after = short[:, :-1], short[:, 1:]
    is_move = (before >= 0) & (after >= 0)
    pairs = np.bincount(before[is_move] * cells + after[is_move], minlength=cells**2).reshape(cells, cells)
    told = told_counts(np.where(reachable, pairs, 0), int(is_move.sum()), part, generator)
    moves = np.append(np.where(reachable, told, 0.0), ends[:, None], axis=1)
    rows = [_shares(row, np.append(may, True)) for row, may in zip(moves, reachable, strict=True)]
    return WalkModel(lengths=lengths, starts=_shares(starts), moves=np.stack(rows))


def _ends(walks: Indices) -> tuple[Indices, Indices]:
    """First and last cell of each walk; −1 if it has none."""
    last = np.maximum((walks >= 0).sum(axis=1) - 1, 0)
    return walks[:, 0], walks[np.arange(len(walks)), last]


def _counted(cells: Indices, count: int) -> Counts:
    return np.bincount(cells[cells >= 0], minlength=count)


def _shares(counts: Floats, possible: Bools | None = None) -> Floats:
    """Counts as chances, negative ones as nothing; all that is possible alike if nothing is left."""
    positive = np.maximum(counts, 0.0)
    if not positive.sum() > 0:
        positive = np.ones(len(counts)) if possible is None else possible.astype(np.float64)
    return np.asarray(positive / positive.sum())


def walks_of(model: WalkModel, count: int, generator: Generator) -> Indices:
    """Made-up walks: a length, a start, then move by move until the length or the end is reached."""
    lengths = 1 + _drawn(np.tile(model.lengths, (count, 1)), generator)
    cells = len(model.starts)
    walks = np.full((count, int(lengths.max())), -1, dtype=np.int32)
    walks[:, 0] = _drawn(np.tile(model.starts, (count, 1)), generator)
    for step in range(1, walks.shape[1]):
        going = np.flatnonzero((lengths > step) & (walks[:, step - 1] >= 0))
        chances = model.moves[walks[going, step - 1]].copy()
        chances[:, cells] *= min(1.0, _EARLY + _LATER * (step - 1))
        found = _drawn(chances, generator)
        walks[going, step] = np.where(found == cells, -1, found)
    return walks


def _drawn(chances: Floats, generator: Generator) -> Indices:
    """One column of each row, by its chance; rows need not add up to 1."""
    sums = np.cumsum(chances, axis=1)
    marks = generator.random(len(chances)) * sums[:, -1]
    return np.asarray((marks[:, None] >= sums).sum(axis=1), dtype=np.int32)
