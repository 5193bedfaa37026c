"""How close shares of things are to what is so."""

from __future__ import annotations

import numpy as np

from elsewhere.arrays import Bools, Floats, Indices
from elsewhere.estimates.tables import EstimateTable
from elsewhere.evaluate.density import jensen_shannon

_BUSIEST = 20
_BUSY = 40
_BUSY_SHARE = 0.1
_MANY = 0.01


def closeness(shares: Floats, truth: Floats) -> dict[str, float]:
    """JS, L1, error of the busiest twenty, F1 of the busy ones, in two ways.

    js, l1: of shares that add up to 1; js in bits, 0 to 1; l1 is 0 to 2.
    top20: mean error of the twenty that most people have, relative to the truth, as it is per person; of
    fewer where nobody has the others.
    f1: busy are the tenth of all things that most people have, of the truth and of the estimate.
    f1_many: busy are things that at least one person in a hundred has.
    """
    found, true = np.maximum(shares, 0.0), np.asarray(truth)
    busiest = _most(true, min(_BUSIEST, int((true > 0).sum())))
    tenth = max(1, round(_BUSY_SHARE * len(true)))
    both = len(set(_most(true, tenth).tolist()) & set(_most(found, tenth).tolist()))
    return {
        "js": jensen_shannon(_normal(found), _normal(true)),
        "l1": float(np.abs(_normal(found) - _normal(true)).sum()),
        "top20": float((np.abs(found - true)[busiest] / true[busiest]).mean()),
        "f1": both / tenth,
        "f1_many": _f1(found >= _MANY, true >= _MANY),
    }


def _f1(found: Bools, true: Bools) -> float:
    """Harmonic mean of precision and recall; 1 if there is nothing to find and nothing was found."""
    either = int(found.sum() + true.sum())
    return 2 * int((found & true).sum()) / either if either else 1.0


def cover(table: EstimateTable, truth: Floats) -> dict[str, float]:
    """The share of things whose interval holds the truth, of all and of the forty that most people have.

    width: how wide the intervals of those forty are, relative to the truth.
    """
    holds = table.holds(truth)
    busy = _most(truth, _BUSY)
    width = (table.high - table.low)[busy].mean() / max(truth[busy].mean(), 1e-12)
    return {"cover": float(holds.mean()), "cover_busy": float(holds[busy].mean()), "width": float(width)}


def _normal(shares: Floats) -> Floats:
    total = shares.sum()
    return np.asarray(shares / total if total > 0 else np.full(len(shares), 1 / len(shares)))


def _most(shares: Floats, count: int) -> Indices:
    """Where the largest are; of equal ones the first."""
    return np.argsort(-shares, kind="stable")[:count].astype(np.int32)
