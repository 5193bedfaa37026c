"""Travel by timetable: the quickest way on foot and by what runs, by hour of departure.

Earliest arrivals come from the Connection Scan Algorithm (Dibbelt, Pajor, Strasser, Wagner 2013): all
hops between two stops, in order of departure, are looked at once. Whoever leaves at a timestep waits for
what comes; of the timesteps of an hour the quickest journey counts, since reachability asks what can be
done at best.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from elsewhere.arrays import Bools, Floats, Indices
from elsewhere.compiled import compiled
from elsewhere.errors import InputError
from elsewhere.knowledge.clock import Clock
from elsewhere.knowledge.sphere import chord_squared_of_km, chords_squared, great_circle_km

Seconds = NDArray[np.int32]

_NEVER = np.int32(1 << 30)
_LONGEST_RIDE = 6 * 3600
_MOST_STATIONS = 8
_HOURS = 24


class Hops(NamedTuple):
    """Rides from one stop of a trip to the next, in order of departure; seconds after midnight."""

    departures: Seconds
    arrivals: Seconds
    origins: Indices
    destinations: Indices
    trips: Indices
    can_board: Bools
    can_alight: Bools


class Footpaths(NamedTuple):
    """Walks between stations; those of station s are ``offsets[s]`` to ``offsets[s + 1]``."""

    offsets: Indices
    destinations: Indices
    seconds: Seconds


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Timetable:
    """What runs on one day between stations on the globe."""

    station_vectors: Floats
    change_seconds: Seconds
    """What it takes to change at each station."""
    hops: Hops
    footpaths: Footpaths


def timetable_milliseconds(
    timetable: Timetable, places: Floats, clock: Clock, *, speed_kmh: float, walk_km: float
) -> Iterator[Floats]:
    """For each hour of departure the travel times between all places (unit vectors).

    Stations within ``walk_km`` can be walked to and from, the nearest few of them; walking all the way is
    always possible.
    """
    near, walks = _stations_nearby(timetable.station_vectors, places, speed_kmh, walk_km)
    used = np.unique(near[near >= 0])
    if not len(used):
        raise InputError(
            "timetable", f"no station lies within {walk_km:g} km of any place: is it of this city?"
        )
    rides = _rides_by_hour(timetable, used.astype(np.int32), clock)
    column_of = np.full(len(timetable.station_vectors) + 1, -1, dtype=np.int32)
    column_of[used] = np.arange(len(used))
    columns = column_of[near]
    for hour in range(_HOURS):
        on_foot = _seconds_on_foot(places, speed_kmh)
        _shorten(on_foot, columns, walks, rides[hour])
        yield on_foot * 1000.0


def _seconds_on_foot(places: Floats, speed_kmh: float) -> Floats:
    seconds = np.empty((len(places), len(places)))
    for row, vector in enumerate(places):
        seconds[row] = np.ceil(great_circle_km(chords_squared(vector[None, :], places)) / speed_kmh * 3600)
    return seconds


def _stations_nearby(
    stations: Floats, places: Floats, speed_kmh: float, walk_km: float
) -> tuple[Indices, Seconds]:
    """For each place its nearest stations (−1: no more) and the seconds to walk there."""
    reach = np.sqrt(chord_squared_of_km(walk_km))
    count = min(_MOST_STATIONS, len(stations))
    chords, found = cKDTree(stations).query(places, k=[*range(1, count + 1)], distance_upper_bound=reach)
    is_near = np.isfinite(chords)
    km = great_circle_km(np.where(is_near, chords, 0.0) ** 2)
    seconds = np.ceil(km / speed_kmh * 3600).astype(np.int32)
    return np.where(is_near, found, -1).astype(np.int32), seconds


def _rides_by_hour(timetable: Timetable, used: Indices, clock: Clock) -> Seconds:
    """Hour × station × station: least seconds between the ``used`` stations, waiting included."""
    rides = np.full((_HOURS, len(used), len(used)), _NEVER, dtype=np.int32)
    starts, hours = departures_of(clock)
    pieces = np.array_split(np.arange(len(used)), max(1, len(used) // 8))

    def ride(piece: NDArray[np.intp]) -> None:
        for row in piece.tolist():
            _rides_from(
                timetable.hops,
                timetable.footpaths,
                timetable.change_seconds,
                int(used[row]),
                starts,
                hours,
                used,
                rides[:, row],
            )

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(ride, pieces))
    return rides


def departures_of(clock: Clock) -> tuple[Seconds, Indices]:
    """When one may leave, in seconds after midnight, and the hour each belongs to: every timestep.

    Where timesteps are longer than an hour, every hour.
    """
    minutes = min(60, clock.timestep_minutes)
    starts = np.arange(0, 1440, minutes)
    return (starts * 60).astype(np.int32), (starts // 60).astype(np.int32)


@compiled
def _rides_from(
    hops: Hops,
    footpaths: Footpaths,
    change_seconds: Seconds,
    source: int,
    starts: Seconds,
    hours: Indices,
    used: Indices,
    rides: Seconds,
) -> None:
    """Fill in the quickest rides of each hour from one station to the ``used`` ones."""
    boarded = np.full(hops.trips.max() + 1 if len(hops.trips) else 0, -1, dtype=np.int32)
    for number in range(len(starts)):
        arrivals = earliest_arrivals(hops, footpaths, change_seconds, source, starts[number], number, boarded)
        hour = hours[number]
        for column in range(len(used)):
            seconds = arrivals[used[column]] - starts[number]
            rides[hour, column] = min(rides[hour, column], seconds)


@compiled
def earliest_arrivals(
    hops: Hops,
    footpaths: Footpaths,
    change_seconds: Seconds,
    source: int,
    start: int,
    number: int,
    boarded: Indices,
) -> Seconds:
    """Earliest arrival at each station for who stands at ``source`` at ``start``.

    ``boarded[trip]`` is ``number`` once the trip is caught; any other number means not yet.
    """
    departures, ends, froms, tos = hops.departures, hops.arrivals, hops.origins, hops.destinations
    arrivals = np.full(len(change_seconds), _NEVER, dtype=np.int32)
    got_off = arrivals.copy()
    ready = arrivals.copy()  # when one can board there
    arrivals[source] = got_off[source] = ready[source] = start
    _walk_on(footpaths, source, start, arrivals, ready)
    for hop in range(np.searchsorted(departures, start), len(departures)):
        if departures[hop] > start + _LONGEST_RIDE:
            break
        trip = hops.trips[hop]
        if boarded[trip] != number:
            if not hops.can_board[hop] or ready[froms[hop]] > departures[hop]:
                continue
            boarded[trip] = number
        there = tos[hop]
        if hops.can_alight[hop] and ends[hop] < got_off[there]:
            got_off[there] = ends[hop]
            arrivals[there] = min(arrivals[there], ends[hop])
            ready[there] = min(ready[there], ends[hop] + change_seconds[there])
            _walk_on(footpaths, there, ends[hop], arrivals, ready)
    return arrivals


@compiled
def _walk_on(footpaths: Footpaths, station: int, time: int, arrivals: Seconds, ready: Seconds) -> None:
    """Stations that can be walked to from one where one gets off at ``time``; one walk, never two."""
    for i in range(footpaths.offsets[station], footpaths.offsets[station + 1]):
        there, then = footpaths.destinations[i], time + footpaths.seconds[i]
        arrivals[there] = min(arrivals[there], then)
        ready[there] = min(ready[there], then)


@compiled
def _shorten(seconds: Floats, columns: Indices, walks: Seconds, rides: Seconds) -> None:
    """Put in what is quicker by walking to a station, riding, and walking from another."""
    stations = len(rides)
    for p in range(len(seconds)):
        via = np.full(stations, np.inf)
        for i in range(columns.shape[1]):
            if columns[p, i] >= 0:
                for station in range(stations):
                    if rides[columns[p, i], station] < _NEVER // 2:
                        via[station] = min(via[station], walks[p, i] + rides[columns[p, i], station])
        for q in range(len(seconds)):
            for i in range(columns.shape[1]):
                if columns[q, i] >= 0:
                    seconds[p, q] = min(seconds[p, q], via[columns[q, i]] + walks[q, i])
