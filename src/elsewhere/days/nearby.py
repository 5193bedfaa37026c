"""Who is near a place, without a look at all places: of a metropolis a person reaches but a few at once."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from elsewhere.arrays import Bools, Counts, Floats, Indices, frozen
from elsewhere.compiled import compiled
from elsewhere.world.place_world import PlaceWorld

_IN_A_CELL = 8
_MOST_CELLS = 512
# Rounding must never leave out somebody: a little farther is looked at, and the travel time decides.
_A_LITTLE_MORE = 1 + 1e-9


class Nearby(NamedTuple):
    """Places in square cells, over the two axes of the globe along which they lie widest apart."""

    points: Floats
    """Place × the two axes."""
    corner: Floats
    side: float
    """Of a cell; infinite if all places are in one."""
    columns: int
    starts: Counts
    """Where the members of each cell begin, row by row of cells; at the end how many there are."""
    members: Indices
    anywhere: Indices
    """Places without a position: near everybody, and in no cell."""


def nearby_places(vectors: Floats, is_anywhere: Bools) -> Nearby:
    """Places of a world in cells, some eight in each."""
    placed = np.flatnonzero(~is_anywhere)
    known = vectors[placed] if len(placed) else np.zeros((1, 3))
    axes = np.sort(np.argsort(-np.ptp(known, axis=0), kind="stable")[:2])
    corner, extent = known[:, axes].min(axis=0), float(np.ptp(known[:, axes], axis=0).max())
    cells = min(_MOST_CELLS, max(1, math.isqrt(len(placed) // _IN_A_CELL)))
    side = extent / cells if cells > 1 and extent > 0 else math.inf
    row, column = np.minimum(((vectors[placed][:, axes] - corner) / side).astype(np.int64), cells - 1).T
    order = np.argsort(row * cells + column, kind="stable")
    counts = np.bincount(row * cells + column, minlength=cells * cells)
    return Nearby(
        points=frozen(np.ascontiguousarray(vectors[:, axes])),
        corner=frozen(corner),
        side=side,
        columns=cells,
        starts=frozen(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)),
        members=frozen(placed[order].astype(np.int32)),
        anywhere=frozen(np.flatnonzero(is_anywhere).astype(np.int32)),
    )


@compiled
def farthest_chord(places: PlaceWorld, departure: int, gap: int) -> float:
    """The largest squared chord that is travelled in ``gap`` timesteps; infinite if only a table knows."""
    if len(places.table):
        return math.inf
    steps_at = places.steps_at[places.profile_of_timestep[departure]]
    rung = np.searchsorted(steps_at, gap, side="right") - 1
    if rung < 0:
        return -1.0
    return float(places.thresholds[rung]) if rung < len(places.thresholds) else math.inf


@compiled
def may_be_within(nearby: Nearby, is_anywhere: bool, place: int, chord_squared: float) -> Indices:
    """In order, all places within a squared chord of one, and some that are farther.

    Who ``is_anywhere`` is near everybody.
    """
    if is_anywhere or not chord_squared < math.inf or not nearby.side < math.inf:
        return np.arange(len(nearby.points)).astype(np.int32)
    reach = math.sqrt(max(chord_squared, 0.0)) * _A_LITTLE_MORE
    last = nearby.columns - 1
    low, high = np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64)
    for axis in range(2):
        at = nearby.points[place, axis] - nearby.corner[axis]
        low[axis] = min(max(math.floor((at - reach) / nearby.side), 0), last)
        high[axis] = min(max(math.floor((at + reach) / nearby.side), 0), last)
    found = len(nearby.anywhere)
    for row in range(low[0], high[0] + 1):
        first = row * nearby.columns
        found += nearby.starts[first + high[1] + 1] - nearby.starts[first + low[1]]
    near = np.empty(found, dtype=np.int32)
    near[: len(nearby.anywhere)] = nearby.anywhere
    found = len(nearby.anywhere)
    for row in range(low[0], high[0] + 1):
        first = row * nearby.columns
        start, end = nearby.starts[first + low[1]], nearby.starts[first + high[1] + 1]
        near[found : found + end - start] = nearby.members[start:end]
        found += end - start
    return np.sort(near)
