"""Which visit of one day stands for which of another, when one has more of them.

Every visit of the shorter day has a partner in the longer one, in order, such that Σ d is least; visits of
the longer day that are left over count `UNMATCHED` each. Days of the same length are compared visit by visit.
"""

from __future__ import annotations

import numpy as np

from elsewhere.arrays import Counts, Floats, Indices
from elsewhere.compiled import compiled
from elsewhere.days.visits import VisitDistances, visit_distance

UNMATCHED = 10.0
"""What a visit without a partner counts, in d: about as much as one in a wrong part of a city."""


@compiled
def least_sum(band: Floats, rows: int, spare: int, best: Floats) -> float:
    """Least Σ d over the ways to match ``rows`` visits, in order, with ``rows + spare`` others.

    ``band[i, k]`` is d between visit i and the other day's visit i + k. Afterwards ``best[i, k]`` is the
    least for the visits up to i, none of them matched beyond the other day's visit i + k.
    """
    for i in range(rows):
        for k in range(spare + 1):
            here = band[i, k]
            if i:
                here += best[i - 1, k]
            best[i, k] = min(best[i, k - 1], here) if k else here
    return float(best[rows - 1, spare])


@compiled
def _partners(rows: int, spare: int, best: Floats) -> Counts:
    """For each visit of the shorter day the index of its partner, once `least_sum` has been there."""
    found = np.empty(rows, dtype=np.int64)
    k = spare
    for i in range(rows - 1, -1, -1):
        while k > 0 and best[i, k] == best[i, k - 1]:
            k -= 1
        found[i] = i + k
    return found


@compiled
def align(
    distances: VisitDistances, places: Indices, times: Indices, other_places: Indices, other_times: Indices
) -> tuple[Counts, Counts]:
    """Matched visits of two days: indices into the one, and into the other."""
    if len(places) > len(other_places):
        second, first = align(distances, other_places, other_times, places, times)
        return first, second
    rows, spare = len(places), len(other_places) - len(places)
    band, best = np.empty((rows, spare + 1)), np.empty((rows, spare + 1))
    for i in range(rows):
        for k in range(spare + 1):
            band[i, k] = visit_distance(
                distances, places[i], times[i], other_places[i + k], other_times[i + k]
            )
    least_sum(band, rows, spare, best)
    return np.arange(rows), _partners(rows, spare, best)


@compiled
def align_days(
    distances: VisitDistances,
    places: Indices,
    times: Indices,
    offsets: Counts,
    other_places: Indices,
    other_times: Indices,
    other_offsets: Counts,
) -> tuple[Counts, Counts]:
    """Matched visits of many days, one after the other; indices into all visits of each side."""
    most = min(len(places), len(other_places))
    first, second = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    done = 0
    for day in range(len(offsets) - 1):
        a, b = offsets[day], offsets[day + 1]
        c, d = other_offsets[day], other_offsets[day + 1]
        mine, theirs = align(distances, places[a:b], times[a:b], other_places[c:d], other_times[c:d])
        first[done : done + len(mine)] = a + mine
        second[done : done + len(mine)] = c + theirs
        done += len(mine)
    return first[:done], second[:done]
