"""The distance d between regions, from its parts, and the largest one in the world.

d between visits is made of the same parts (`days.visits`): d_s comes from `world.ground`, d_c from
`world.kinds`, d_t from here, and `world.measure` puts them together.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from elsewhere.arrays import Bools, Floats, Indices
from elsewhere.compiled import compiled
from elsewhere.knowledge.clock import Clock
from elsewhere.knowledge.places import Places
from elsewhere.world.ground import SpaceTable, all_km, filled, km_squared, region_anywhere, region_spots
from elsewhere.world.measure import REGISTERED, Measure, all_together, put_together
from elsewhere.world.regions import Regions
from elsewhere.world.settings import WorldSettings


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
    """The plain twin of `capped_hours`, for arrays.

    Deviation: time-cap — 12 hours are the most, not half of a clock's round; that is a setting.
    """
    return np.asarray(np.minimum(np.minimum(gaps, turns - gaps), time_cap_hours))


class RegionDistances(NamedTuple):
    """d from what each region carries; no matrix over regions is kept.

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
    is_anywhere: Bools
    """Regions without a position: d_s to everything is 0."""
    spots: Indices
    """The place that stands for each region in ``table``."""
    table: SpaceTable
    """d_s between places; empty where it is the great circle."""
    measure: Measure

    def space_km(self, first: ArrayLike, second: ArrayLike) -> Floats:
        """d_s: great circle between centroids, or as ``table`` says."""
        return all_km(self, np.asarray(first), np.asarray(second))

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
        return all_together(
            self.measure,
            self.space_km(first, second),
            self.time_hours(first, second),
            self.category(first, second),
        )


def region_distances(
    regions: Regions,
    places: Places,
    settings: WorldSettings,
    clock: Clock,
    *,
    kinds: Indices,
    category_table: Floats,
    table: SpaceTable | None,
) -> RegionDistances:
    """Distances between the regions of a world; ``table`` is d_s between places, if it is no line."""
    return RegionDistances(
        vectors=regions.vectors,
        mid_hours=regions.mid_hours,
        kinds=kinds,
        category_table=category_table,
        time_cap_hours=settings.time_cap_hours,
        turns=turns_of(regions.ends, clock.timesteps, is_circular=settings.circular_time),
        is_anywhere=region_anywhere(regions, places),
        spots=region_spots(regions, places),
        table=filled(table),
        measure=settings.distance.measure(),
    )


@compiled
def region_distance(distances: RegionDistances, a: int, b: int) -> float:
    """The distance d between two regions, for compiled loops."""
    gap = abs(distances.mid_hours[a] - distances.mid_hours[b])
    turn = min(distances.turns[a], distances.turns[b])
    hours = capped_hours(gap, distances.time_cap_hours, turn)
    category = distances.category_table[distances.kinds[a], distances.kinds[b]]
    return put_together(distances.measure, km_squared(distances, a, b), hours, category)


def largest_distance(distances: RegionDistances) -> float:
    """Largest d between any two regions, by the same formula as `region_distance`."""
    everything = np.arange(len(distances.kinds), dtype=np.int32)
    round_the_clock = np.flatnonzero(np.isfinite(distances.turns)).astype(np.int32)
    # A function of one's own need not grow with d_t.
    ends = everything if distances.measure.way == REGISTERED else _extremes(distances)
    largest = _largest_between(distances, ends, ends)
    return float(max(largest, _largest_between(distances, round_the_clock, everything)))


def _extremes(distances: RegionDistances) -> Indices:
    """The earliest and the latest region of each category and position.

    A capped |t_a − t_b| grows towards both ends, so no region in between can be in the farthest pair, unless
    d_t goes round the clock.
    """
    where = (distances.kinds, distances.is_anywhere, distances.spots, *distances.vectors.T)
    order = np.lexsort((distances.mid_hours, *where))
    columns = np.column_stack(where)[order]
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
