"""Which visit of one day stands for which of another, when one has more of them.

Every visit of the shorter day has a partner in the longer one, in order, such that Σ d is least; visits of
the longer day that are left over count `UNMATCHED` each. Days of the same length are compared visit by visit.
"""

from __future__ import annotations

import math

import numpy as np

from elsewhere.arrays import Counts, Floats, Indices
from elsewhere.compiled import compiled, patient
from elsewhere.days.visits import Days, VisitDistances, place_parts, time_distance, visit_distance
from elsewhere.knowledge.sphere import NEAR_CHORD_SQUARED, chords_squared, great_circle_km_squares
from elsewhere.world.distances import all_capped_hours
from elsewhere.world.measure import all_of_squares, put_together

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


@compiled
def compiled_day_costs(
    candidates: Days, distances: VisitDistances, unmatched: float, places: Indices, times: Indices
) -> Floats:
    """Distance of a day to each candidate: Σ d of visits matched in order, more for those left over."""
    book_places, book_times, lengths = candidates.places, candidates.times, candidates.lengths
    length, known, most = len(places), len(distances.kinds), max(len(places), book_places.shape[1])
    measure = distances.measure
    squares, categories = np.zeros((length, known)), np.zeros((length, known))
    for i in range(length):
        # A place nobody knows differs from none, after as much work as any other.
        weight = 1.0 if places[i] < known else 0.0
        for place in range(known):
            square, category = place_parts(distances, min(places[i], known - 1), place)
            squares[i, place] = weight * (category * category + square if measure.is_plain else square)
            categories[i, place] = weight * category
    band, best, costs = np.empty((most, most)), np.empty((most, most)), np.empty(len(lengths))
    for row in range(len(lengths)):
        rows = min(length, lengths[row])
        spare = max(length, lengths[row]) - rows
        # k visits of the longer day are passed over before the partner of visit i of the shorter one.
        for i in range(rows):
            for k in range(spare + 1):
                mine, theirs = (i, i + k) if rows == length else (i + k, i)
                hours = time_distance(distances, times[mine], book_times[row, theirs])
                place = book_places[row, theirs]
                if measure.is_plain:
                    band[i, k] = math.sqrt(squares[mine, place] + hours * hours)
                else:
                    band[i, k] = put_together(measure, squares[mine, place], hours, categories[mine, place])
        costs[row] = least_sum(band, rows, spare, best) + spare * unmatched
    return costs


def plain_day_costs(
    candidates: Days, distances: VisitDistances, unmatched: float, places: Indices, times: Indices
) -> Floats:
    """The plain twin of `compiled_day_costs`, bit for bit: all candidates of one length at a time."""
    length, known = len(places), len(distances.kinds)
    squares, categories = np.zeros((length, known)), np.zeros((length, known))
    spread = distances.vectors.max(axis=0) - distances.vectors.min(axis=0)
    all_near = bool((spread**2).sum() < NEAR_CHORD_SQUARED)  # of the world, so it tells nothing of the day
    for i in range(length):
        # A place nobody knows differs from none, after as much work as any other.
        place = min(int(places[i]), known - 1)
        row, kinds = _squares_from(distances, place, all_near=all_near), _categories_from(distances, place)
        if distances.measure.is_plain:
            row = kinds * kinds + row
        squares[i], categories[i] = (row, kinds) if places[i] < known else (0.0, 0.0)
    costs = np.empty(len(candidates.lengths))
    for other in np.unique(candidates.lengths).tolist():
        rows = np.flatnonzero(candidates.lengths == other)
        costs[rows] = _least_sums(candidates, distances, rows, (squares, categories), times, other)
        costs[rows] += abs(length - other) * unmatched
    return costs


def _squares_from(distances: VisitDistances, place: int, *, all_near: bool) -> Floats:
    """d_s² from one place to all."""
    if len(distances.table):
        km = distances.table[place].astype(np.float64)
        squares = km * km
    else:
        chords = chords_squared(distances.vectors[place], distances.vectors)
        squares = great_circle_km_squares(chords, all_near=all_near)
    return np.where(distances.is_anywhere | distances.is_anywhere[place], 0.0, squares)


def _categories_from(distances: VisitDistances, place: int) -> Floats:
    """d_c from one place to all."""
    return np.asarray(distances.category_table[distances.kinds[place], distances.kinds])


def _least_sums(
    candidates: Days,
    distances: VisitDistances,
    rows: Counts,
    parts: tuple[Floats, Floats],
    times: Indices,
    other: int,
) -> Floats:
    """`least_sum` for candidates of ``other`` visits each."""
    length, (squares, categories), measure = len(times), parts, distances.measure
    count, spare = min(length, other), abs(length - other)
    best: list[Floats] = []
    for i in range(count):
        before, best = best, []
        for k in range(spare + 1):
            mine, theirs = (i, i + k) if count == length else (i + k, i)
            steps = np.abs(int(times[mine]) - candidates.times[rows, theirs])
            gaps = steps * distances.hours_per_step
            hours = all_capped_hours(gaps, distances.time_cap_hours, distances.turn)
            chosen = candidates.places[rows, theirs]
            if measure.is_plain:
                here = np.sqrt(squares[mine, chosen] + hours * hours)
            else:
                here = all_of_squares(measure, squares[mine, chosen], hours, categories[mine, chosen])
            here = here + before[k] if i else here
            best.append(np.minimum(best[k - 1], here) if k else here)
    return best[spare]


day_costs = patient(compiled_day_costs, plain_day_costs, calls=600)
"""Distance of one day to each of many: numpy on a device that has not compiled anything yet."""
