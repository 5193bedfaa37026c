"""How far one day is from each of many public ones: `alignment`, for all of them at once.

Candidates lie column by column, those with as many visits together, so that compiled loops run along them as
vector instructions. d of a visit to each place, and to each timestep, is looked up, not worked out again for
every candidate. The sums are those of `alignment.least_sum`, in the same order, bit for bit.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Counts, Floats, Indices, frozen
from elsewhere.compiled import compiled, patient
from elsewhere.days.visits import Days, VisitDistances, place_parts, time_distance
from elsewhere.knowledge.sphere import chords_squared, great_circle_km_squares, near_km_squared
from elsewhere.world.distances import all_capped_hours
from elsewhere.world.measure import Measure, all_of_squares, put_together

_BLOCK = 256
"""So many candidates at a time: what is known of them so far stays in the fastest memory."""


class DayColumns(NamedTuple):
    """Days in groups of one length: all first visits of a group, then all second ones, and so on."""

    rows: Counts
    """Which day each one in this order is."""
    lengths: Counts
    """Visits of the days of each group."""
    starts: Counts
    """Where each group begins in ``rows``, and where the last one ends."""
    offsets: Counts
    """Where each group begins in ``places`` and ``times``."""
    places: NDArray[np.uint32]
    """Of each visit, the number of its place among ``visited``."""
    times: NDArray[np.uint32]
    visited: Indices
    """Places that any of the days visits: of a metropolis a few."""
    timesteps: int
    """Beyond the latest of ``times``."""
    most_visits: int
    """For how many visits the days have room, whether any has as many or not."""


def day_columns(days: Days) -> DayColumns:
    """Days, column by column."""
    lengths, counts = np.unique(days.lengths, return_counts=True)
    groups = [np.flatnonzero(days.lengths == length) for length in lengths]
    places, times = (
        np.concatenate(
            [column[rows, :length].T.ravel() for rows, length in zip(groups, lengths, strict=True)]
        )
        for column in (days.places, days.times)
    )
    visited = np.unique(places).astype(np.int32)
    return DayColumns(
        rows=frozen(np.concatenate(groups).astype(np.int64)),
        lengths=frozen(lengths.astype(np.int64)),
        starts=frozen(np.append(0, np.cumsum(counts)).astype(np.int64)),
        offsets=frozen((np.cumsum(counts * lengths) - counts * lengths).astype(np.int64)),
        places=frozen(np.searchsorted(visited, places).astype(np.uint32)),
        times=frozen(times.astype(np.uint32)),
        visited=frozen(visited),
        timesteps=int(times.max()) + 1,
        most_visits=days.places.shape[1],
    )


class _Parts(NamedTuple):
    """d from each visit of a day to every place that others visit, and every timestep."""

    squares: Floats
    """d_s², or d_s² + d_c² where d is plain."""
    categories: Floats
    """d_c; empty where d is plain."""
    hours: Floats
    """d_t, or d_t² where d is plain."""


@compiled
def _parts_of_day(days: DayColumns, distances: VisitDistances, places: Indices, times: Indices) -> _Parts:
    length, known, is_plain = len(places), len(distances.kinds), distances.measure.is_plain
    visited = days.visited
    squares, hours = np.empty((length, len(visited))), np.empty((length, days.timesteps))
    categories = np.empty((0 if is_plain else length, len(visited)))
    axes = np.ascontiguousarray(distances.vectors[visited].T)
    kinds = distances.kinds[visited]
    for i in range(length):
        # A place nobody knows differs from none, after as much work as any other.
        place, weight = min(places[i], known - 1), 1.0 if places[i] < known else 0.0
        if is_plain and distances.all_near:
            _near_squares(distances, axes, kinds, place, weight, squares[i])
        else:
            for other in range(len(visited)):
                square, category = place_parts(distances, place, visited[other])
                squares[i, other] = weight * (category * category + square if is_plain else square)
                if not is_plain:
                    categories[i, other] = weight * category
        for timestep in range(days.timesteps):
            gap = time_distance(distances, times[i], timestep)
            hours[i, timestep] = gap * gap if is_plain else gap
    return _Parts(squares, categories, hours)


@compiled
def _near_squares(
    distances: VisitDistances, axes: Floats, kinds: Indices, place: int, weight: float, squares: Floats
) -> None:
    """d_s² + d_c² from one place to some, where all are near."""
    xs, ys, zs = axes
    x, y, z = distances.vectors[place]
    for other in range(len(squares)):
        dx, dy, dz = x - xs[other], y - ys[other], z - zs[other]
        squares[other] = near_km_squared(dx * dx + dy * dy + dz * dz)
    row = distances.category_table[distances.kinds[place]]
    category_squares = row * row
    for other in range(len(squares)):
        squares[other] = weight * (category_squares[kinds[other]] + squares[other])


@compiled
def _extend(
    days: DayColumns,
    measure: Measure,
    parts: _Parts,
    mine: int,
    column: int,
    k: int,
    best: Floats,
    count: int,
) -> None:
    """One step of `alignment.least_sum` for ``count`` days at once, whose visits begin at ``column``.

    ``best[k]`` is the least sum so far of each, with up to k visits passed over; d to visit ``mine`` is added
    to it. The last row of ``best`` is room to work in.
    """
    places, times = days.places[column : column + count], days.times[column : column + count]
    squares, hours, here, least = parts.squares[mine], parts.hours[mine], best[-1], best[k]
    if measure.is_plain:
        # Loop by loop: each of them is one that compilers make vector instructions of.
        for r in range(count):
            here[r] = squares[places[r]] + hours[times[r]]
        for r in range(count):
            here[r] = math.sqrt(here[r])
    else:
        categories = parts.categories[mine]
        for r in range(count):
            place = places[r]
            here[r] = put_together(measure, squares[place], hours[times[r]], categories[place])
    for r in range(count):
        least[r] += here[r]
    if k:
        fewer = best[k - 1]
        for r in range(count):
            least[r] = min(fewer[r], least[r])


@compiled
def compiled_day_costs(
    days: DayColumns, distances: VisitDistances, unmatched: float, places: Indices, times: Indices
) -> Floats:
    """Distance of a day to each other: Σ d of visits matched in order, more for those left over."""
    parts, length = _parts_of_day(days, distances, places, times), len(places)
    costs, best = np.empty(len(days.rows)), np.empty((max(length, days.lengths[-1]) + 1, _BLOCK))
    for group in range(len(days.lengths)):
        other, first, end = days.lengths[group], days.starts[group], days.starts[group + 1]
        rows, spare = min(length, other), abs(length - other)
        for start in range(first, end, _BLOCK):
            count, column = min(_BLOCK, end - start), days.offsets[group] + start - first
            best[: spare + 1] = 0.0
            for i in range(rows):
                # k visits of the longer day are passed over before the partner of visit i of the shorter one.
                for k in range(spare + 1):
                    mine, theirs = (i, i + k) if rows == length else (i + k, i)
                    at = column + theirs * (end - first)
                    _extend(days, distances.measure, parts, mine, at, k, best, count)
            for r in range(count):
                costs[days.rows[start + r]] = best[spare, r] + spare * unmatched
    return costs


@compiled
def compiled_prefix_costs(
    days: DayColumns, distances: VisitDistances, unmatched: float, places: Indices, times: Indices
) -> Floats:
    """The same for the first visit of a day, for its first two, and so on: a row for each number of visits.

    What is known of a few visits is known of more, so all of it takes hardly longer than two comparisons.
    """
    parts, most = _parts_of_day(days, distances, places, times), len(places)
    costs = np.empty((most, len(days.rows)))
    best = np.empty((max(most, days.lengths[-1]) + 1, _BLOCK))
    for group in range(len(days.lengths)):
        other, first, end = days.lengths[group], days.starts[group], days.starts[group + 1]
        for start in range(first, end, _BLOCK):
            count, column = min(_BLOCK, end - start), days.offsets[group] + start - first
            chosen = days.rows[start : start + count]
            best[:other] = 0.0
            for i in range(min(most, other)):  # of which each is the last of a prefix that is not longer
                spare = other - i - 1
                for k in range(spare + 1):
                    at = column + (i + k) * (end - first)
                    _extend(days, distances.measure, parts, i, at, k, best, count)
                for r in range(count):
                    costs[i, chosen[r]] = best[spare, r] + spare * unmatched
            best[: max(0, most - other) + 1] = 0.0
            for i in range(other if other < most else 0):  # prefixes that are longer, all at once
                for k in range(most - other + 1):
                    at = column + i * (end - first)
                    _extend(days, distances.measure, parts, i + k, at, k, best, count)
            for spare in range(1, most - other + 1):
                for r in range(count):
                    costs[other + spare - 1, chosen[r]] = best[spare, r] + spare * unmatched
    return costs


def plain_day_costs(
    days: DayColumns, distances: VisitDistances, unmatched: float, places: Indices, times: Indices
) -> Floats:
    """The plain twin of `compiled_day_costs`, bit for bit: a group of days at a time."""
    length, known = len(places), len(distances.kinds)
    squares, categories = (np.zeros((length, len(days.visited))) for _ in range(2))
    for i in range(length):
        # A place nobody knows differs from none, after as much work as any other.
        place = min(int(places[i]), known - 1)
        row = _squares_from(distances, place, days.visited)
        kinds = _categories_from(distances, place, days.visited)
        if distances.measure.is_plain:
            row = kinds * kinds + row
        squares[i], categories[i] = (row, kinds) if places[i] < known else (0.0, 0.0)
    costs = np.empty(len(days.rows))
    for group in range(len(days.lengths)):
        rows = days.rows[days.starts[group] : days.starts[group + 1]]
        costs[rows] = _least_sums(days, distances, group, (squares, categories), times)
        costs[rows] += abs(length - int(days.lengths[group])) * unmatched
    return costs


def plain_prefix_costs(
    days: DayColumns, distances: VisitDistances, unmatched: float, places: Indices, times: Indices
) -> Floats:
    """The plain twin of `compiled_prefix_costs`: one number of visits after the other."""
    lengths = range(1, len(places) + 1)
    return np.stack(
        [plain_day_costs(days, distances, unmatched, places[:length], times[:length]) for length in lengths]
    )


def _squares_from(distances: VisitDistances, place: int, others: Indices) -> Floats:
    """d_s² from one place to some."""
    if len(distances.table):
        km = distances.table[place, others].astype(np.float64)
        squares = km * km
    else:
        chords = chords_squared(distances.vectors[place], distances.vectors[others])
        squares = great_circle_km_squares(chords, all_near=distances.all_near)
    return np.where(distances.is_anywhere[others] | distances.is_anywhere[place], 0.0, squares)


def _categories_from(distances: VisitDistances, place: int, others: Indices) -> Floats:
    """d_c from one place to some."""
    return np.asarray(distances.category_table[distances.kinds[place], distances.kinds[others]])


def _least_sums(
    days: DayColumns, distances: VisitDistances, group: int, parts: tuple[Floats, Floats], times: Indices
) -> Floats:
    """`alignment.least_sum` for a group of days."""
    length, (squares, categories), measure = len(times), parts, distances.measure
    other, width = int(days.lengths[group]), int(days.starts[group + 1] - days.starts[group])
    columns = slice(days.offsets[group], days.offsets[group] + other * width)
    their_places = days.places[columns].reshape(other, width)
    their_times = days.times[columns].reshape(other, width).astype(np.int64)
    count, spare = min(length, other), abs(length - other)
    best: list[Floats] = []
    for i in range(count):
        before, best = best, []
        for k in range(spare + 1):
            mine, theirs = (i, i + k) if count == length else (i + k, i)
            gaps = np.abs(int(times[mine]) - their_times[theirs]) * distances.hours_per_step
            hours = all_capped_hours(gaps, distances.time_cap_hours, distances.turn)
            chosen = their_places[theirs]
            if measure.is_plain:
                here = np.sqrt(squares[mine, chosen] + hours * hours)
            else:
                here = all_of_squares(measure, squares[mine, chosen], hours, categories[mine, chosen])
            here = here + before[k] if i else here
            best.append(np.minimum(best[k - 1], here) if k else here)
    return best[spare]


day_costs = patient(compiled_day_costs, plain_day_costs, calls=600)
"""Distance of one day to each of many: numpy on a device that has not compiled anything yet."""
prefix_costs = patient(compiled_prefix_costs, plain_prefix_costs, calls=60)
"""The same for each number of its first visits."""
