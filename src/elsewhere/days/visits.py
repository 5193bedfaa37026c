"""Visits as numbers, days as rows of them, and the distance d between two visits.

A visit is one number everywhere: place · |T| + timestep. A place nobody knows is one past the last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from elsewhere.arrays import Bools, Counts, Floats, Indices, frozen
from elsewhere.compiled import compiled
from elsewhere.errors import InputError
from elsewhere.trajectories import SharedTrajectory
from elsewhere.world.distances import RegionDistances, all_capped_hours, capped_hours, turn_of
from elsewhere.world.ground import SpaceTable, all_km, all_near, km_squared
from elsewhere.world.kinds import kind_distances, place_kinds
from elsewhere.world.measure import REGISTERED, Measure, all_together, put_together
from elsewhere.world.world import World

_LARGEST_NUMBER = 2**31 - 1


@compiled
def visit_number(place: int, timestep: int, timesteps: int) -> int:
    """A visit to ``place`` at ``timestep`` as one number; a day has so many ``timesteps``."""
    return place * timesteps + timestep


@compiled
def visit_parts(visit: int, timesteps: int) -> tuple[int, int]:
    """Place and timestep of a numbered visit."""
    return visit // timesteps, visit % timesteps


def numbers_of(places: Indices, times: Indices, timesteps: int) -> Indices:
    """The plain twin of `visit_number`, for arrays."""
    return np.asarray(places * timesteps + times, dtype=np.int32)


def parts_of(visits: Indices, timesteps: int) -> tuple[Indices, Indices]:
    """The plain twin of `visit_parts`, for arrays."""
    return np.divmod(visits, np.int32(timesteps))


def check_numbers(world: World) -> None:
    """Refuse a world with more visits than there are numbers.

    One message for everybody: a number too large for some days alone would tell which.
    """
    if (len(world.places) + 1) * world.clock.timesteps > _LARGEST_NUMBER:
        raise InputError("world", f"more than {_LARGEST_NUMBER:,} (place, timestep) pairs are too many")


def check_length(world: World, length: int) -> None:
    """Refuse days with more visits than timesteps."""
    most = world.clock.timesteps
    if length > most:
        raise InputError("trajectory", f"a day has {most} timesteps, so at most {most} visits")


class Days(NamedTuple):
    """Days a row each, as places and timesteps; rows of fewer visits are filled up with −1."""

    places: Indices
    times: Indices
    lengths: Indices

    def rows(self) -> Iterator[tuple[list[int], list[int]]]:
        """Places and timesteps of each day, without what fills up its row."""
        for places, times, length in zip(*(column.tolist() for column in self), strict=True):
            yield places[:length], times[:length]


def days_of_one_length(places: Indices, times: Indices) -> Days:
    """Days that fill their rows."""
    return Days(places, times, np.full(len(places), places.shape[1], dtype=np.int32))


def joined_days(*parts: Days) -> Days:
    """All days of several lists, rows filled up with −1 to the widest of them."""
    width = max(part.places.shape[1] for part in parts)
    places, times = (
        np.concatenate(
            [np.pad(rows, ((0, 0), (0, width - rows.shape[1])), constant_values=-1) for rows in columns]
        )
        for columns in ([part.places for part in parts], [part.times for part in parts])
    )
    return Days(places, times, np.concatenate([part.lengths for part in parts]))


def days_in_order(parts: Sequence[Days], numbers: Sequence[Counts]) -> Days:
    """Days of all parts, each at its number."""
    if not parts:
        nothing = np.zeros((0, 1), dtype=np.int32)
        return Days(nothing, nothing, nothing[:, 0])
    joined, order = joined_days(*parts), np.argsort(np.concatenate(numbers))
    return Days(joined.places[order], joined.times[order], joined.lengths[order])


def shared_days(world: World, days: Days) -> list[SharedTrajectory]:
    """Rows of places and timesteps as shared trajectories."""
    ids = world.places.ids
    return [
        SharedTrajectory(zip([ids[place] for place in places], times, strict=True))
        for places, times in days.rows()
    ]


class VisitDistances(NamedTuple):
    """d between visits; a place nobody knows differs from others in time alone."""

    vectors: Floats
    kinds: Indices
    """Row of each place's kind (`world.kinds`) in ``category_table``."""
    category_table: Floats
    hours_per_step: float
    time_cap_hours: float
    turn: float
    """24 hours where d_t goes round the clock, else infinite."""
    is_anywhere: Bools
    spots: Indices
    """Each place stands for itself in ``table``."""
    table: SpaceTable
    """d_s between places; empty where it is the great circle."""
    measure: Measure
    all_near: bool
    """d_s² is a short series for all places (`world.ground`)."""


def visit_distances(world: World, *, has_categories: bool = True) -> VisitDistances:
    """Distances between visits of a world; without categories d is about space and time alone."""
    kinds = place_kinds(world.places, world.tree, world.settings.category_levels)
    table = kind_distances(world.tree, world.settings, kinds.nodes, kinds.nodes)
    return VisitDistances(
        vectors=frozen(world.places.vectors),
        kinds=frozen(kinds.of_place),
        category_table=frozen(table if has_categories else np.zeros_like(table)),
        hours_per_step=world.clock.timestep_minutes / 60,
        time_cap_hours=world.distances.time_cap_hours,
        turn=turn_of(world.settings.circular_time),
        is_anywhere=frozen(world.places.is_anywhere),
        spots=frozen(np.arange(len(world.places), dtype=np.int32)),
        table=world.distances.table,
        measure=world.distances.measure,
        all_near=all_near(world.places.vectors, world.places.is_anywhere, world.distances.table),
    )


def place_distances(distances: VisitDistances) -> RegionDistances:
    """D between places, without d_t: as if they were regions without a time."""
    return RegionDistances(
        vectors=distances.vectors,
        mid_hours=frozen(np.zeros(len(distances.kinds))),
        kinds=distances.kinds,
        category_table=distances.category_table,
        time_cap_hours=distances.time_cap_hours,
        turns=frozen(np.full(len(distances.kinds), turn_of(False))),
        is_anywhere=distances.is_anywhere,
        spots=distances.spots,
        table=distances.table,
        measure=distances.measure,
    )


@compiled
def place_parts(distances: VisitDistances, p: int, q: int) -> tuple[float, float]:
    """d_s² and d_c between two places, both 0 if nobody knows one of them."""
    if p >= len(distances.kinds) or q >= len(distances.kinds):
        return 0.0, 0.0
    category = distances.category_table[distances.kinds[p], distances.kinds[q]]
    return km_squared(distances, p, q), float(category)


@compiled
def place_distance(distances: VisitDistances, p: int, q: int) -> float:
    """The distance d between two places, without d_t."""
    square, category = place_parts(distances, p, q)
    return put_together(distances.measure, square, 0.0, category)


@compiled
def time_distance(distances: VisitDistances, t: int, u: int) -> float:
    """d_t in hours between two timesteps."""
    return capped_hours(abs(t - u) * distances.hours_per_step, distances.time_cap_hours, distances.turn)


@compiled
def visit_distance(distances: VisitDistances, p: int, t: int, q: int, u: int) -> float:
    """The distance d between a visit to p at t and one to q at u."""
    square, category = place_parts(distances, p, q)
    return put_together(distances.measure, square, time_distance(distances, t, u), category)


def visit_errors(
    distances: VisitDistances, p: Indices, t: Indices, q: Indices, u: Indices
) -> dict[str, Floats]:
    """The plain twin of `visit_distance`: d_s, d_t, d_c and d between visits (p, t) and (q, u) of arrays."""
    km = all_km(distances, p, q)
    gaps = np.abs(t.astype(np.int64) - u) * distances.hours_per_step
    hours = all_capped_hours(gaps, distances.time_cap_hours, distances.turn)
    category = distances.category_table[distances.kinds[p], distances.kinds[q]]
    return {
        "space_km": km,
        "time_hours": hours,
        "category": category,
        "combined": all_together(distances.measure, km, hours, category),
    }


def largest_place_distance(distances: VisitDistances) -> float:
    """Largest d between two places, without d_t."""
    return _largest_at(distances, np.zeros(1))


@compiled
def _largest_at(distances: VisitDistances, hours: Floats) -> float:
    """Largest d between two places, the same one or others, that are some of the ``hours`` apart."""
    largest = 0.0
    for p in range(len(distances.kinds)):
        for q in range(p, len(distances.kinds)):
            square, category = place_parts(distances, p, q)
            for gap in hours:
                largest = max(largest, put_together(distances.measure, square, gap, category))
    return largest


def largest_time_distance(distances: VisitDistances, timesteps: int) -> float:
    """Largest d_t between two timesteps of a day."""
    return max(time_distance(distances, 0, step) for step in range(timesteps))


def largest_visit_distance(distances: VisitDistances, timesteps: int) -> float:
    """Largest d between two visits: the farthest places at the farthest times.

    A function of one's own need not grow with d_t: all gaps are looked at then.
    """
    if distances.measure.way != REGISTERED:
        return _largest_at(distances, np.array([largest_time_distance(distances, timesteps)]))
    gaps = [time_distance(distances, 0, step) for step in range(timesteps)]
    return _largest_at(distances, np.unique(np.array(gaps)))
