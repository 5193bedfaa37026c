"""Preservation range queries: how often a shared visit is within δ of the true one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from elsewhere.arrays import Floats
from elsewhere.evaluate.pairs import Pairs, sum_per_day

# δ of each dimension, as far as the paper's figure goes and a little beyond.
SPACE_KM = (0.05, 0.1, 0.25, 0.5, 1, 2, 3, 4, 5, 7.5, 10)
TIME_HOURS = (0, 0.5, 1, 2, 3, 4, 5, 6, 8, 10, 12)
CATEGORY = (0, 1.5, 3, 3.5, 5, 7, 10)
DELTAS: dict[str, Sequence[float]] = {"space_km": SPACE_KM, "time_hours": TIME_HOURS, "category": CATEGORY}


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
        for dimension, values in (deltas or DELTAS).items()
    }  # fmt: skip
