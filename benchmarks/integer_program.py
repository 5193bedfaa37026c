"""The paper's integer program for region reconstruction, constraint by constraint, on HiGHS.

It is here as the oracle that the exact shortest path is tested against, and as the baseline that it
is measured against; nothing is shared through it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array, vstack

from elsewhere.arrays import Floats, Indices

Pairs = NDArray[np.int32]


def solve_integer_program(node_errors: Floats, bigrams: Sequence[Pairs]) -> tuple[Indices, float] | None:
    """Nodes of the best chain and its total bigram error, or None if there is no chain.

    ``node_errors[i, r]`` is e(r, i); ``bigrams[i]`` are the rows (r_a, r_b) of 𝒲² that may stand at i: the
    same everywhere for regions, others from gap to gap for places. At least two positions.

    Paper: eq:objective-function to eq:each-has-1.
    """
    if not all(len(pairs) for pairs in bigrams):
        return None
    costs = [
        node_errors[i, pairs[:, 0]] + node_errors[i + 1, pairs[:, 1]]  # eq:bigram-error
        for i, pairs in enumerate(bigrams)
    ]
    constraints = [_one_bigram_each(bigrams)]
    if len(bigrams) > 1:
        constraints.append(_continuity(bigrams, node_errors.shape[1]))
    variables = np.concatenate(costs)
    solution = milp(
        variables,
        constraints=constraints,
        integrality=np.ones(len(variables), dtype=np.int64),
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": 0.0},  # HiGHS would stop at a ten-thousandth
    )
    if solution.x is None:
        return None
    parts = np.split(solution.x, np.cumsum([len(pairs) for pairs in bigrams])[:-1])
    chosen = [int(part.argmax()) for part in parts]
    nodes = [int(pairs[one, 0]) for pairs, one in zip(bigrams, chosen, strict=True)]
    nodes.append(int(bigrams[-1][chosen[-1], 1]))
    # The error of the bigrams themselves, free of the solver's tolerances.
    return np.array(nodes, dtype=np.int32), float(
        sum(cost[one] for cost, one in zip(costs, chosen, strict=True))
    )


def _one_bigram_each(bigrams: Sequence[Pairs]) -> LinearConstraint:
    """Σ_w x_i^w = 1 for each i (eq:each-has-1); together they give eq:total-bigrams."""
    sizes = [len(pairs) for pairs in bigrams]
    count = sum(sizes)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    matrix = coo_array((np.ones(count), (rows, np.arange(count))), shape=(len(sizes), count))
    return LinearConstraint(matrix.tocsr(), 1, 1)


def _continuity(bigrams: Sequence[Pairs], nodes: int) -> LinearConstraint:
    """The bigram at i ends in the node in which that at i + 1 begins (eq:continuity-1, eq:continuity-2)."""
    starts = np.concatenate([[0], np.cumsum([len(pairs) for pairs in bigrams])])
    blocks = []
    for i in range(len(bigrams) - 1):
        here, after = bigrams[i], bigrams[i + 1]
        values = np.concatenate([np.ones(len(here)), -np.ones(len(after))])
        rows = np.concatenate([here[:, 1], after[:, 0]])
        columns = np.arange(starts[i], starts[i + 2])
        blocks.append(coo_array((values, (rows, columns)), shape=(nodes, starts[-1])))
    return LinearConstraint(vstack(blocks).tocsr(), 0, 0)
