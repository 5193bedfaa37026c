"""What analysts make of many trajectories: densities, trip lengths, flows."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import rel_entr

from elsewhere.arrays import Floats, Indices
from elsewhere.evaluate.hotspots import HOURS, group_hours, groupings
from elsewhere.evaluate.intervals import Estimate, estimates
from elsewhere.evaluate.pairs import Pairs, VisitColumns
from elsewhere.knowledge.sphere import chords_squared, great_circle_km
from elsewhere.world.world import World

_TRIP_BINS_KM = np.geomspace(0.1, 100, 30)


def jensen_shannon(first: Floats, second: Floats) -> float:
    """Jensen–Shannon divergence of two histograms in bits: 0 for the same shape, 1 for nothing in common.

    NaN if one of them is empty.
    """
    if not first.any() or not second.any():
        return math.nan
    p, q = (counts / counts.sum() for counts in (first, second))
    middle = (p + q) / 2
    known = middle > 0
    parts = [float(rel_entr(side[known], middle[known]).sum()) for side in (p, q)]
    return max(0.0, sum(parts) / 2 / math.log(2))


class Histogram(NamedTuple):
    """The day and the bin of each thing that is counted."""

    owners: NDArray[np.int64]
    bins: NDArray[np.int64]
    size: int

    def counts(self, weights: Floats) -> Floats:
        """How many are in each bin, each day as often as its weight says."""
        return np.asarray(
            np.bincount(self.bins, weights=weights[self.owners], minlength=self.size), dtype=np.float64
        )


def density_estimates(pairs: Pairs) -> dict[str, Estimate | None]:
    """Jensen–Shannon divergence, true against shared: cell × hour, category × hour, trip lengths, flows.

    None where there is nothing to compare: no trip on one of the sides.
    """
    real, shared = (_histograms(pairs.world, side) for side in (pairs.real, pairs.shared))

    def divergences(weights: Floats) -> Floats:
        return np.array(
            [jensen_shannon(real[name].counts(weights), shared[name].counts(weights)) for name in real]
        )

    return dict(zip(real, estimates(divergences, pairs.real.days), strict=True))


def _histograms(world: World, columns: VisitColumns) -> dict[str, Histogram]:
    groups = groupings(world)
    cells, categories = groups["4 × 4 grid"], groups["category level 1"]
    return {
        "density_cell_hour": _by_hour(world, columns, cells),
        "density_category_hour": _by_hour(world, columns, categories),
        "trip_length": _trip_lengths(world, columns),
        "flows": _flows(columns, cells),
    }


def _by_hour(world: World, columns: VisitColumns, group_of: Indices) -> Histogram:
    return Histogram(
        owners=columns.owners,
        bins=group_hours(world, columns, group_of),
        size=(int(group_of.max()) + 1) * HOURS,
    )


def _steps(columns: VisitColumns) -> tuple[NDArray[np.int64], Indices, Indices]:
    """For each step within a day: the day, places from and to."""
    within = columns.owners[1:] == columns.owners[:-1]
    return columns.owners[1:][within], columns.places[:-1][within], columns.places[1:][within]


def _trip_lengths(world: World, columns: VisitColumns) -> Histogram:
    owners, origins, destinations = _steps(columns)
    km = great_circle_km(chords_squared(world.places.vectors[origins], world.places.vectors[destinations]))
    return Histogram(owners=owners, bins=np.digitize(km, _TRIP_BINS_KM), size=len(_TRIP_BINS_KM) + 1)


def _flows(columns: VisitColumns, group_of: Indices) -> Histogram:
    """Origin × destination between cells of the 4 × 4 grid."""
    owners, origins, destinations = _steps(columns)
    count = int(group_of.max()) + 1
    cells = group_of[origins].astype(np.int64) * count + group_of[destinations]
    return Histogram(owners=owners, bins=cells, size=count * count)
