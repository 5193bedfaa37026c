"""Preservation range queries: how often a shared visit is within δ of the true one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from elsewhere.arrays import Floats
from elsewhere.days.visits import visit_distances
from elsewhere.evaluate.pairs import Pairs, sum_per_day
from elsewhere.world.world import World

# δ of each dimension, as far as the paper's figure goes and a little beyond. Those of categories are beside
# the steps that the world's own d_c makes (`deltas_of`).
SPACE_KM = (0.05, 0.1, 0.25, 0.5, 1, 2, 3, 4, 5, 7.5, 10)
TIME_HOURS = (0, 0.5, 1, 2, 3, 4, 5, 6, 8, 10, 12)
CATEGORY = (0, 1, 2, 3, 3.5, 4, 5, 6, 8, 10)


def deltas_of(world: World) -> dict[str, list[float]]:
    """The δ of each dimension; for categories also every value that d_c takes between places."""
    steps = np.unique(visit_distances(world).category_table.round(9))  # one step, whatever its last bits
    return {
        "space_km": list(SPACE_KM),
        "time_hours": list(TIME_HOURS),
        "category": np.union1d(CATEGORY, steps).tolist(),
    }


def day_preservation(pairs: Pairs, deltas: Mapping[str, Sequence[float]] | None = None) -> dict[str, Floats]:
    """For each dimension, days × δ: per cent of a day's true visits whose partner is within δ.

    A true visit without a partner is not within any.

    Paper: section 6.3 (ss:utility), preservation range queries: PR_χ(δ) is the mean over days.
    """
    found, owners, lengths = pairs.distances(), pairs.owners, pairs.real.lengths
    return {
        dimension: np.column_stack(
            [
                100 * sum_per_day(owners, (found[dimension] <= delta + 1e-9).astype(np.float64), len(lengths))
                / lengths
                for delta in values
            ]
        )
        for dimension, values in (deltas or deltas_of(pairs.world)).items()
    }  # fmt: skip
