"""The distance d = √(d_s² + d_t² + d_c²): its parts, d between regions, and the largest one in the world.

d between visits is made of the same parts (`days.visits`). Each part stands here once for compiled loops,
with a plain twin for arrays beside it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from elsewhere.arrays import Floats, Indices
from elsewhere.compiled import compiled
from elsewhere.knowledge.sphere import chord_squared, chords_squared, great_circle_km, great_circle_km_squared


def turn_of(is_circular: bool) -> float:
    """Hours after which a clock is round again; infinite where it does not go round."""
    return 24.0 if is_circular else math.inf


def turns_of(ends: Indices, timesteps: int, *, is_circular: bool) -> Floats:
    """The turn of each region: d_t goes round the clock for all, or for those that pass midnight."""
    return np.where(ends > timesteps, turn_of(True), turn_of(is_circular))


@compiled
def capped_hours(gap: float, time_cap_hours: float, turn: float) -> float:
    """d_t in hours of two times that are ``gap`` hours apart: capped, and round the clock if that turns."""
    return min(gap, turn - gap, time_cap_hours)


def all_capped_hours(gaps: Floats, time_cap_hours: float, turns: Floats | float) -> Floats:
    """The plain twin of `capped_hours`, for arrays."""
    return np.asarray(np.minimum(np.minimum(gaps, turns - gaps), time_cap_hours))


@compiled
def place_square(vectors: Floats, kinds: Indices, category_table: Floats, p: int, q: int) -> float:
    """d_s² + d_c² between two places, with their categories' rows in ``category_table``."""
    category = category_table[kinds[p], kinds[q]]
    return float(category * category + great_circle_km_squared(chord_squared(vectors, p, vectors, q)))


class RegionDistances(NamedTuple):
    """d = √(d_s² + d_t² + d_c²) from what each region carries; no matrix over regions is kept.

    Paper: section 5.10 (ss:distance-function).
    """

    vectors: Floats
    mid_hours: Floats
    kinds: Indices
    """Row of each region's category in ``category_table``."""
    category_table: Floats
    time_cap_hours: float
    turns: Floats
    """24 for regions whose d_t goes round the clock, else infinite; of two regions the less counts."""

    def space_km(self, first: ArrayLike, second: ArrayLike) -> Floats:
        """d_s: great circle between centroids."""
        a, b = np.asarray(first), np.asarray(second)
        return great_circle_km(chords_squared(self.vectors[a], self.vectors[b]))

    def time_hours(self, first: ArrayLike, second: ArrayLike) -> Floats:
        """d_t: between the middles of the intervals, capped; round the clock if one passes midnight."""
        a, b = np.asarray(first), np.asarray(second)
        gaps = np.abs(self.mid_hours[a] - self.mid_hours[b])
        return all_capped_hours(gaps, self.time_cap_hours, np.minimum(self.turns[a], self.turns[b]))

    def category(self, first: ArrayLike, second: ArrayLike) -> Floats:
        """d_c on the category tree."""
        return np.asarray(self.category_table[self.kinds[np.asarray(first)], self.kinds[np.asarray(second)]])

    def combined(self, first: ArrayLike, second: ArrayLike) -> Floats:
        """d, the three together."""
        squares = (
            self.space_km(first, second) ** 2
            + self.time_hours(first, second) ** 2
            + self.category(first, second) ** 2
        )
        return np.asarray(np.sqrt(squares))


@compiled
def region_distance(distances: RegionDistances, a: int, b: int) -> float:
    """The distance d between two regions, for compiled loops."""
    gap = abs(distances.mid_hours[a] - distances.mid_hours[b])
    turn = min(distances.turns[a], distances.turns[b])
    hours = capped_hours(gap, distances.time_cap_hours, turn)
    km_squared = great_circle_km_squared(chord_squared(distances.vectors, a, distances.vectors, b))
    category = distances.category_table[distances.kinds[a], distances.kinds[b]]
    return math.sqrt(km_squared + hours * hours + category * category)


def largest_distance(distances: RegionDistances) -> float:
    """Largest d between any two regions, by the same formula as `region_distance`."""
    everything = np.arange(len(distances.kinds), dtype=np.int32)
    round_the_clock = np.flatnonzero(np.isfinite(distances.turns)).astype(np.int32)
    ends = _extremes(distances)
    largest = _largest_between(distances, ends, ends)
    return float(max(largest, _largest_between(distances, round_the_clock, everything)))


def _extremes(distances: RegionDistances) -> Indices:
    """The earliest and the latest region of each category and centroid.

    A capped |t_a − t_b| grows towards both ends, so no region in between can be in the farthest pair, unless
    d_t goes round the clock.
    """
    order = np.lexsort((distances.mid_hours, *distances.vectors.T, distances.kinds))
    columns = np.column_stack([distances.kinds, distances.vectors])[order]
    changes = np.any(columns[1:] != columns[:-1], axis=1)
    is_first = np.append(True, changes)
    is_last = np.append(changes, True)
    return np.asarray(order[is_first | is_last], dtype=np.int32)


@compiled
def _largest_between(distances: RegionDistances, first: Indices, second: Indices) -> float:
    largest = 0.0
    for a in first:
        for b in second:
            largest = max(largest, region_distance(distances, a, b))
    return largest
