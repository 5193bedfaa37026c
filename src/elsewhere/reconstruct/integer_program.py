"""The paper's integer program for region reconstruction, constraint by constraint, on HiGHS.

It is here as the oracle that the exact shortest path is tested against, and as the baseline that it
is measured against; nothing is shared through it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array, vstack

from elsewhere.arrays import Floats, Indices

Pairs = NDArray[np.int32]


def solve_integer_program(node_errors: Floats, bigrams: Pairs) -> tuple[Indices, float] | None:
    """Regions of the best chain and its total bigram error, or None if there is no chain.

    ``node_errors[i, r]`` is e(r, i); ``bigrams`` are the rows (r_a, r_b) of 𝒲². At least two positions.

    Paper: eq:objective-function to eq:each-has-1.
    """
    steps, count = len(node_errors) - 1, len(bigrams)
    firsts, seconds = bigrams[:, 0], bigrams[:, 1]
    costs = np.concatenate(
        [node_errors[i, firsts] + node_errors[i + 1, seconds] for i in range(steps)]  # eq:bigram-error
    )
    constraints = [_one_bigram_each(steps, count)]
    if steps > 1:
        constraints.append(_continuity(steps, firsts, seconds, node_errors.shape[1]))
    solution = milp(
        costs,
        constraints=constraints,
        integrality=np.ones(len(costs), dtype=np.int64),
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": 0.0},  # HiGHS would stop at a ten-thousandth
    )
    if solution.x is None:
        return None
    chosen = solution.x.reshape(steps, count).argmax(axis=1)
    regions = np.append(firsts[chosen], seconds[chosen[-1]]).astype(np.int32)
    # The error of the bigrams themselves, free of the solver's tolerances.
    return regions, float(sum(costs[i * count + bigram] for i, bigram in enumerate(chosen.tolist())))


def _one_bigram_each(steps: int, count: int) -> LinearConstraint:
    """Σ_w x_i^w = 1 for each i (eq:each-has-1); together they give eq:total-bigrams."""
    rows = np.repeat(np.arange(steps), count)
    matrix = coo_array(
        (np.ones(steps * count), (rows, np.arange(steps * count))), shape=(steps, steps * count)
    )
    return LinearConstraint(matrix.tocsr(), 1, 1)


def _continuity(steps: int, firsts: Indices, seconds: Indices, regions: int) -> LinearConstraint:
    """The bigram at i ends in the region in which that at i + 1 begins (eq:continuity-1, eq:continuity-2)."""
    count = len(firsts)
    blocks = []
    for i in range(steps - 1):
        columns = np.concatenate([i * count + np.arange(count), (i + 1) * count + np.arange(count)])
        values = np.concatenate([np.ones(count), -np.ones(count)])
        rows = np.concatenate([seconds, firsts])
        blocks.append(coo_array((values, (rows, columns)), shape=(regions, steps * count)))
    return LinearConstraint(vstack(blocks).tocsr(), 0, 0)
