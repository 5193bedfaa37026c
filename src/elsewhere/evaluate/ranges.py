"""Preservation range queries: how often a shared visit is within δ of the true one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from elsewhere.arrays import Floats
from elsewhere.evaluate.pairs import Pairs

# δ of each dimension, as far as the paper's figure goes and a little beyond.
SPACE_KM = (0.05, 0.1, 0.25, 0.5, 1, 2, 3, 4, 5, 7.5, 10)
TIME_HOURS = (0, 0.5, 1, 2, 3, 4, 5, 6, 8, 10, 12)
CATEGORY = (0, 1.5, 3, 3.5, 5, 7, 10)
DELTAS: dict[str, Sequence[float]] = {"space_km": SPACE_KM, "time_hours": TIME_HOURS, "category": CATEGORY}


def preservation(pairs: Pairs, deltas: Mapping[str, Sequence[float]] | None = None) -> dict[str, Floats]:
    """PR_χ(δ) in per cent, for each dimension and each δ.

    Paper: section 6.3 (ss:utility), preservation range queries.
    """
    counts = np.bincount(pairs.real.owners, minlength=pairs.real.days)
    weights = 1 / counts[pairs.real.owners] / pairs.real.days
    found = pairs.distances()
    return {
        dimension: np.array(
            [100 * float(weights[found[dimension] <= delta + 1e-9].sum()) for delta in values]
        )
        for dimension, values in (deltas or DELTAS).items()
    }
