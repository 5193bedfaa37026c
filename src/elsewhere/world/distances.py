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


@compiled
def capped_hours(gap: float, time_cap_hours: float, is_circular: bool) -> float:
    """d_t in hours of two times that are ``gap`` hours apart: capped, and around the clock if so set."""
    if is_circular:
        gap = min(gap, 24 - gap)
    return min(gap, time_cap_hours)


def all_capped_hours(gaps: Floats, time_cap_hours: float, *, is_circular: bool) -> Floats:
    """The plain twin of `capped_hours`, for arrays.

    Deviation: time-cap — 12 hours are the most, not half of a clock's round; that is a setting.
    """
    hours = np.minimum(gaps, 24 - gaps) if is_circular else gaps
    return np.asarray(np.minimum(hours, time_cap_hours))


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
    is_circular: bool

    def space_km(self, first: ArrayLike, second: ArrayLike) -> Floats:
        """d_s: great circle between centroids."""
        a, b = np.asarray(first), np.asarray(second)
        return great_circle_km(chords_squared(self.vectors[a], self.vectors[b]))

    def time_hours(self, first: ArrayLike, second: ArrayLike) -> Floats:
        """d_t: between the middles of the intervals, capped; around the clock if so set."""
        gaps = np.abs(self.mid_hours[np.asarray(first)] - self.mid_hours[np.asarray(second)])
        return all_capped_hours(gaps, self.time_cap_hours, is_circular=self.is_circular)

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
    hours = capped_hours(gap, distances.time_cap_hours, distances.is_circular)
    km_squared = great_circle_km_squared(chord_squared(distances.vectors, a, distances.vectors, b))
    category = distances.category_table[distances.kinds[a], distances.kinds[b]]
    return math.sqrt(km_squared + hours * hours + category * category)


def largest_distance(distances: RegionDistances) -> float:
    """Largest d between any two regions, by the same formula as `region_distance`."""
    rows = np.arange(len(distances.kinds)) if distances.is_circular else _extremes(distances)
    chosen = distances._replace(
        vectors=distances.vectors[rows], mid_hours=distances.mid_hours[rows], kinds=distances.kinds[rows]
    )
    return float(_largest_distance(chosen))


def _extremes(distances: RegionDistances) -> Indices:
    """The earliest and the latest region of each category and centroid.

    A capped |t_a − t_b| grows towards both ends, so no region in between can be in the farthest pair.
    """
    order = np.lexsort((distances.mid_hours, *distances.vectors.T, distances.kinds))
    columns = np.column_stack([distances.kinds, distances.vectors])[order]
    changes = np.any(columns[1:] != columns[:-1], axis=1)
    is_first = np.append(True, changes)
    is_last = np.append(changes, True)
    return np.asarray(order[is_first | is_last], dtype=np.int32)


@compiled
def _largest_distance(distances: RegionDistances) -> float:
    largest = 0.0
    for a in range(len(distances.kinds)):
        for b in range(a + 1, len(distances.kinds)):
            largest = max(largest, region_distance(distances, a, b))
    return largest
