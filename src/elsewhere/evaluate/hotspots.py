"""Spatio-temporal hotspots: when more than η people are somewhere, and whether sharing keeps that."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Bools, Floats, Indices
from elsewhere.compiled import compiled
from elsewhere.days.hotspots import THRESHOLDS, Hotspots, find_hotspots
from elsewhere.evaluate.intervals import Estimate, estimates
from elsewhere.evaluate.pairs import Pairs, VisitColumns
from elsewhere.knowledge.places import Places
from elsewhere.world.kinds import first_categories
from elsewhere.world.settings import GridSpace
from elsewhere.world.space import divide_space
from elsewhere.world.world import World

HOURS = 24
TOGETHER = "all"
"""What all granularities together are called."""

MEASURES = ("ahd_hours", "acd", "real", "shared", "excluded", "precision", "recall", "f1")
"""Average hotspot distance and difference of counts; how many real and shared hotspots there are, and how
many shared ones the first two leave out, since there is no real one at their place (which hides failure); the
share of shared ones that overlap a real one at the same place, the other way round, and F1 of both."""


class Visitors(NamedTuple):
    """Each person once in each group and hour."""

    owners: NDArray[np.int64]
    cells: NDArray[np.int64]
    groups: int


def groupings(world: World) -> dict[str, Indices]:
    """For each granularity, the number of the group of each place.

    Paper: section 6.3 (ss:utility), hotspot preservation.
    """
    first = first_categories(world)
    levels = {
        f"category level {level}": np.asarray(world.tree.ancestors_at(level)[first], dtype=np.int32)
        for level in (1, 2, 3)
    }
    return {
        "place": np.arange(len(world.places), dtype=np.int32),
        "4 × 4 grid": _grid(world.places, 4),
        "2 × 2 grid": _grid(world.places, 2),
        **levels,
    }


def _grid(places: Places, cells: int) -> Indices:
    return np.asarray(divide_space(places, GridSpace(cells=cells), None).cells[0], dtype=np.int32)


def group_hours(world: World, columns: VisitColumns, group_of: Indices) -> NDArray[np.int64]:
    """Group and hour of each visit as one number."""
    hours = columns.times.astype(np.int64) * world.clock.timestep_minutes // 60
    return np.asarray(group_of[columns.places].astype(np.int64) * HOURS + hours)


def unique_visitors(world: World, columns: VisitColumns, group_of: Indices) -> Visitors:
    """Who was where in which hour.

    Deviation: hotspot-hour — people are counted by the hour; the paper does not say in which steps.
    """
    groups = int(group_of.max()) + 1
    once = np.unique(columns.owners * (groups * HOURS) + group_hours(world, columns, group_of))
    return Visitors(owners=once // (groups * HOURS), cells=once % (groups * HOURS), groups=groups)


def visitor_counts(visitors: Visitors, weights: Floats) -> NDArray[np.int64]:
    """Group × hour: how many different people, each as often as its weight says."""
    cells = visitors.groups * HOURS
    counts = np.bincount(visitors.cells, weights=weights[visitors.owners], minlength=cells)
    return counts.astype(np.int64).reshape(visitors.groups, HOURS)


def compare_hotspots(real: Hotspots, shared: Hotspots) -> Floats:
    """The numbers of `MEASURES`; NaN for one that there is not.

    Paper: eq:hotspots.
    Deviation: hotspot-place — the nearest real hotspot is one at the same place, cell or category.
    """
    apart, difference, hits = _nearest(real, shared)
    _, _, found = _nearest(shared, real)
    compared = apart >= 0
    precision = float(hits.mean()) if len(shared) else math.nan
    recall = float(found.mean()) if len(real) else math.nan
    if precision > 0 and recall > 0:
        f1 = 2 * precision * recall / (precision + recall)
    else:
        f1 = 0.0 if len(real) else math.nan
    return np.array(
        [
            apart[compared].mean() if compared.any() else math.nan,
            difference[compared].mean() if compared.any() else math.nan,
            len(real),
            len(shared),
            len(shared) - int(compared.sum()),
            precision,
            recall,
            f1,
        ]
    )


@compiled
def _nearest(options: Hotspots, spots: Hotspots) -> tuple[Hotspots, Hotspots, Bools]:
    """For each spot its hours to the nearest option at its place and the difference of their people.

    −1 where there is none; and whether any option there overlaps it.
    """
    apart = np.full(len(spots), -1, dtype=np.int64)
    difference = np.zeros(len(spots), dtype=np.int64)
    is_hit = np.zeros(len(spots), dtype=np.bool_)
    first = 0
    for row in range(len(spots)):
        where, start, end, peak = spots[row]
        while first < len(options) and options[first, 0] < where:
            first += 1
        other = first
        while other < len(options) and options[other, 0] == where:
            hours = abs(options[other, 1] - start) + abs(options[other, 2] - end)
            if apart[row] < 0 or hours < apart[row]:
                apart[row], difference[row] = hours, abs(options[other, 3] - peak)
            is_hit[row] |= options[other, 1] < end and start < options[other, 2]
            other += 1
    return apart, difference, is_hit


def hotspot_estimates(
    pairs: Pairs, thresholds: Mapping[str, int] = THRESHOLDS
) -> dict[str, dict[str, Estimate | None]]:
    """Each granularity, and all of them together; None for a number that there is not.

    Paper: section 7.3 (tab:hotspots).
    Deviation: pooled-hotspots — together, every hotspot counts once, whatever its granularity.
    """
    visitors = [
        (
            thresholds[name],
            unique_visitors(pairs.world, pairs.real, group_of),
            unique_visitors(pairs.world, pairs.shared, group_of),
        )
        for name, group_of in groupings(pairs.world).items()
    ]

    def scores(weights: Floats) -> Floats:
        found, everything, offset = [], [], 0
        for threshold, mine, theirs in visitors:
            both = [find_hotspots(visitor_counts(side, weights), threshold) for side in (mine, theirs)]
            found.append(compare_hotspots(*both))
            everything.append([spots + np.array([offset, 0, 0, 0]) for spots in both])
            offset += mine.groups
        together = [np.concatenate(side) for side in zip(*everything, strict=True)]
        return np.concatenate([*found, compare_hotspots(*together)])

    numbers = iter(estimates(scores, pairs.real.days))
    return {name: {measure: next(numbers) for measure in MEASURES} for name in (*thresholds, TOGETHER)}
