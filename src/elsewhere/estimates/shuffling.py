"""What anonymity adds: the central (ε, δ) of local reports that are mixed before anyone looks.

Take a person and two days that may be theirs. Any other ε₀-LDP report is, with a chance of e^−ε₀, drawn as if
it were of one of these two, each as likely: a clone, among which the person hides. Feldman, McMillan and
Talwar, "Hiding Among the Clones" (FOCS 2021, Theorem 3.1), show that the mix of n reports tells the two days
apart no better than

    P = (A + Δ, C − A + 1 − Δ)  and  Q = (A + 1 − Δ, C − A + Δ)

with C ~ Bin(n − 1, e^−ε₀), A ~ Bin(C, 1/2) and Δ ~ Bernoulli(e^ε₀ / (e^ε₀ + 1)). All numbers here are upper
bounds: what is cut off is added, and what rounding may have taken is given back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.stats import binom

from elsewhere.arrays import Counts, Floats
from elsewhere.errors import InputError

_DEVIATIONS = 12
"""Numbers of clones farther than this from the mean (1e-30 together) count as δ = 1."""
_ROUNDING = 1e-10
"""Binomial chances are exact to twelve digits or more; so much of every term is added."""
_GROUPS = 1024
"""So many numbers of clones are looked at; those between count as the next smaller one, which is worse."""
_NEAR_ENOUGH = 1e-7
MOST_REPORTS = 10**10


@dataclass(frozen=True, slots=True, eq=False)
class _Clones:
    """How many clones there may be, with what chance, and the chance of all other numbers together."""

    counts: Counts
    chances: Floats
    rest: float


def shuffled_delta(epsilon_local: float | Fraction, epsilon: float | Fraction, reports: int) -> float:
    """The δ of a mix at ``epsilon``, at most: 0 from the local ε on.

    Parameters
    ----------
    epsilon_local
        ε₀ that each report keeps by itself.
    epsilon
        ε of the mix.
    reports
        How many honest people report, n.
    """
    local, central = _checked(epsilon_local, "epsilon_local"), float(epsilon)
    if not 0 <= central < math.inf:
        raise InputError("epsilon", f"found {epsilon}, must be a number, 0 or more")
    return _delta(_clones(local, _checked_reports(reports)), local, central)


def shuffled_epsilon(epsilon_local: float | Fraction, delta: float, reports: int) -> float:
    """The ε of a mix at ``delta``, at most, and never more than the local ε, which holds without any δ.

    Parameters
    ----------
    epsilon_local
        ε₀ that each report keeps by itself.
    delta
        δ of the mix, above 0 and below 1.
    reports
        How many honest people report, n.
    """
    local = _checked(epsilon_local, "epsilon_local")
    if not 0 < delta < 1:
        raise InputError("delta", f"found {delta}, must be above 0 and below 1")
    clones = _clones(local, _checked_reports(reports))
    low, high = 0.0, local
    if _delta(clones, local, low) <= delta:
        return low
    while high - low > _NEAR_ENOUGH * high:
        middle = (low + high) / 2
        if _delta(clones, local, middle) <= delta:
            high = middle
        else:
            low = middle
    return high  # where δ was seen to hold, never where it was not


def _checked(epsilon: float | Fraction, name: str) -> float:
    value = float(epsilon)
    if not 0 < value <= 700:
        raise InputError(name, f"found {epsilon}, must be a number above 0, 700 at most")
    return value


def _checked_reports(reports: int) -> int:
    if type(reports) is not int or not 1 <= reports <= MOST_REPORTS:
        raise InputError("reports", f"found {reports!r}, must be a whole number from 1 to {MOST_REPORTS:,}")
    return reports


def _clones(local: float, reports: int) -> _Clones:
    most = reports - 1
    others = binom(most, math.exp(-local))
    # Where clones are few their number has a longer tail than a normal one.
    reach = math.ceil(_DEVIATIONS * (float(others.std()) + 5))
    low, high = max(0, int(others.mean()) - reach), min(most, int(others.mean()) + reach)
    counts = np.arange(low, high + 1, dtype=np.int64)
    rest = float(others.cdf(low - 1) + others.sf(high))
    # With one clone more δ is never larger: whoever has the mix of fewer can add a clone of their own.
    starts = np.unique(np.linspace(0, len(counts), _GROUPS, endpoint=False).astype(np.int64))
    return _Clones(counts[starts], np.add.reduceat(others.pmf(counts), starts), rest)


def _delta(clones: _Clones, local: float, epsilon: float) -> float:
    """Σ over numbers of clones of the hockey-stick divergence of P from Q.

    P and Q mirror each other, so both directions are the same. Given C = c, P / Q grows with the first
    number, a. So it is above e^ε from some a on, and what is to be summed are tails of Bin(c, 1/2):
    with B its chances and S its tails, P − e^ε Q sums up to α B(a − 1) − (e^ε − 1) S(a).
    """
    if epsilon >= local:
        return 0.0
    counts = clones.counts
    alpha = -math.expm1(epsilon - local) / (1 + math.exp(-local))
    first = _first_above(counts, local, epsilon)
    gained = alpha * binom.pmf(first - 1, counts, 0.5)
    lost = math.expm1(epsilon) * binom.sf(first - 1, counts, 0.5)
    each = np.maximum(gained - lost, 0.0) + _ROUNDING * (gained + lost)
    total = (1 + _ROUNDING) * float(clones.chances @ each) + clones.rest
    return min(total, alpha)  # one report alone has α, and others cannot make it worse


def _first_above(counts: Counts, local: float, epsilon: float) -> Counts:
    """For each number of clones the least a with P(a) > e^ε Q(a).

    P(a) / Q(a) depends on B(a − 1) / B(a) = a / (c + 1 − a) alone. One too many or too few, by rounding,
    changes the sum by next to nothing: there P and e^ε Q are as good as equal.
    """
    share = (math.expm1(epsilon) - math.expm1(-local)) / (-math.expm1(-local) * (math.exp(epsilon) + 1))
    return np.asarray(np.floor(share * (counts + 1)) + 1, dtype=np.int64)
