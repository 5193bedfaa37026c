"""How well any ε'-LDP channel can tell the hour at all: the best there is, by linear programming.

If even the best channel errs by so many hours, a table that reports less at this ε' reports something else.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

from elsewhere.arrays import Floats
from elsewhere.errors import InputError


def least_time_error(epsilon: float, prior: Floats, cap_hours: float = 12.0) -> float:
    """Least expected |t − t̂| in hours over all ε-LDP channels from hours to hours, for a ``prior`` of hours.

    Minimise Σ π(x) P(y|x) d(x, y) with Σ_y P(y|x) = 1 and P(y|x) ≤ e^ε P(y|x') for all x, x', y.
    """
    count = len(prior)
    if epsilon < 0 or count < 2 or not prior.sum() > 0:
        raise InputError("time bound", "needs ε of 0 or more and a prior over at least two hours")
    weights = np.asarray(prior, dtype=np.float64) / prior.sum()
    hours = np.arange(count) * (24 / count)
    distances = np.minimum(np.abs(hours[:, None] - hours[None, :]), cap_hours)
    costs = (weights[:, None] * distances).ravel()
    first, second, output = (axis.ravel() for axis in np.meshgrid(*[np.arange(count)] * 3, indexing="ij"))
    differ = first != second
    first, second, output = first[differ], second[differ], output[differ]
    rows = np.arange(len(first))
    ratio = coo_array(
        (
            np.concatenate([np.ones(len(rows)), np.full(len(rows), -math.exp(epsilon))]),
            (np.concatenate([rows, rows]), np.concatenate([first * count + output, second * count + output])),
        ),
        shape=(len(rows), count * count),
    )
    sums = coo_array(
        (np.ones(count * count), (np.repeat(np.arange(count), count), np.arange(count * count))),
        shape=(count, count * count),
    )
    found = linprog(  # type: ignore[call-overload]  # the stubs do not know of sparse matrices
        costs,
        A_ub=ratio.tocsr(),
        b_ub=np.zeros(len(rows)),
        A_eq=sums.tocsr(),
        b_eq=np.ones(count),
        bounds=(0, 1),
        method="highs",
    )
    if not found.success:
        raise InputError("time bound", f"the program was not solved: {found.message}")
    return float(found.fun)
