"""What analysts make of many trajectories: densities, trip lengths, flows."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import rel_entr

from elsewhere.arrays import Floats, Indices
from elsewhere.evaluate.hotspots import HOURS, group_hours, groupings
from elsewhere.evaluate.pairs import Columns, Pairs
from elsewhere.knowledge.sphere import chords_squared, great_circle_km
from elsewhere.world.world import World

_TRIP_BINS_KM = np.concatenate([[0], np.geomspace(0.1, 100, 30), [np.inf]])


def jensen_shannon(first: Floats, second: Floats) -> float:
    """Jensen–Shannon divergence of two histograms in bits: 0 for the same shape, 1 for nothing in common."""
    p, q = (counts.ravel() / max(float(counts.sum()), 1e-300) for counts in (first, second))
    middle = (p + q) / 2
    known = middle > 0
    parts = [float(rel_entr(side[known], middle[known]).sum()) for side in (p, q)]
    return max(0.0, sum(parts) / 2 / math.log(2))


def density_errors(pairs: Pairs) -> dict[str, float]:
    """Jensen–Shannon divergence, true against shared: cell × hour, category × hour, trip lengths, flows."""
    world = pairs.world
    groups = groupings(world)
    cells, categories = groups["4 × 4 grid"], groups["category level 1"]
    sides = (pairs.real, pairs.shared)
    return {
        "density_cell_hour": jensen_shannon(*(_by_hour(world, side, cells) for side in sides)),
        "density_category_hour": jensen_shannon(*(_by_hour(world, side, categories) for side in sides)),
        "trip_length": jensen_shannon(*(_trip_lengths(world, side) for side in sides)),
        "flows": jensen_shannon(*(_flows(side, cells) for side in sides)),
    }


def _by_hour(world: World, columns: Columns, group_of: Indices) -> Floats:
    cells = (int(group_of.max()) + 1) * HOURS
    return np.bincount(group_hours(world, columns, group_of), minlength=cells).astype(np.float64)


def _steps(columns: Columns) -> tuple[Indices, Indices]:
    """Places from and to, for each step within a day."""
    within = columns.owners[1:] == columns.owners[:-1]
    return columns.places[:-1][within], columns.places[1:][within]


def _trip_lengths(world: World, columns: Columns) -> Floats:
    origins, destinations = _steps(columns)
    km = great_circle_km(chords_squared(world.places.vectors[origins], world.places.vectors[destinations]))
    return np.histogram(km, bins=_TRIP_BINS_KM)[0].astype(np.float64)


def _flows(columns: Columns, group_of: Indices) -> Floats:
    """Origin × destination between cells of the 4 × 4 grid."""
    origins, destinations = _steps(columns)
    count = int(group_of.max()) + 1
    cells = group_of[origins].astype(np.int64) * count + group_of[destinations]
    return np.bincount(cells, minlength=count * count).astype(np.float64)
