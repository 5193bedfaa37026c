"""From points to trajectories: match to places, sort, and clean as the paper's data section does."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from elsewhere.arrays import Words
from elsewhere.device.other_city import FAR_KM
from elsewhere.device.owner import NO_OWNER, NOT_SAID_WHOSE
from elsewhere.device.points import Point
from elsewhere.device.tally import DaysOfPeople
from elsewhere.errors import InputError
from elsewhere.knowledge.clock import Clock
from elsewhere.knowledge.places import Places
from elsewhere.knowledge.sphere import chord_squared_of_km, unit_vectors
from elsewhere.randomness import FreshRandomness, next_below
from elsewhere.trajectories import Trajectory, Visit

MATCH_KM = 0.1


class Chosen(NamedTuple):
    """An ε as a file has it, and the first row of the day that says so."""

    epsilon: str
    row: int


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Person:
    """A trajectory and whose it is."""

    uid: str
    tid: str
    date: dt.date
    trajectory: Trajectory
    epsilons: tuple[Chosen, ...] = ()
    """What the rows of the day say of the ε that the person chose: one, if they agree."""


TRIP_GAP = dt.timedelta(hours=12)
DAY_IS_APART = "rows of one person's day are apart: sort the file by uid and time"
TRIP_IS_LONG = (
    "column tid: a trip goes on into a third day, but must belong to one: leave the column out, then each "
    "date is a day"
)


class Matcher:
    """Turns the points of one trajectory into visits; keeps count of what it had to do.

    A point without a known place goes to the nearest one within 100 m; farther ones are left out,
    as in the paper, unless nothing would remain: nobody is dropped (R10).

    Paper: section 6.1.1 (sss:real-data).
    """

    def __init__(self, places: Places, clock: Clock, randomness: FreshRandomness) -> None:
        self._places = places
        self._clock = clock
        self._known = set(places.ids)
        self._tree = cKDTree(places.vectors)
        self._state: Words = randomness.words(1).copy()
        self.counts: Counter[str] = Counter()
        self.points = 0
        self.far_points = 0
        """Of all points those more than 50 km from every place."""

    def trajectory(self, points: Sequence[Point]) -> Trajectory:
        """Visits with strictly increasing timesteps within the day of the first point, at least one."""
        ordered = sorted(points, key=lambda point: point.moment)
        self.counts["trajectories not in order of time"] += ordered != list(points)
        visits = self._matched(ordered)
        kept = [visits[0]] + [b for a, b in pairwise(visits) if a.place_id != b.place_id]
        self.counts["repeats removed"] += len(visits) - len(kept)
        thinned = [self._one_of(list(group)) for _, group in groupby(kept, key=lambda visit: visit.timestep)]
        self.counts["points within one timestep removed"] += len(kept) - len(thinned)
        return Trajectory(thinned)

    def _matched(self, points: list[Point]) -> list[Visit]:
        self.points += len(points)
        if all(point.place_id in self._known for point in points):
            return [Visit(point.place_id, self._timestep(point.moment, points[0].moment)) for point in points]
        chords, nearest = self._nearest(points)
        limit, far = (chord_squared_of_km(km) ** 0.5 for km in (MATCH_KM, FAR_KM))
        visits = []
        for point, chord, row in zip(points, chords, nearest, strict=True):
            place_id = point.place_id
            if place_id not in self._known and np.isfinite(chord):
                self.far_points += chord > far
                place_id = self._places.ids[row] if chord <= limit else ""
                self.counts[
                    "points matched to a place" if place_id else "points farther than 100 m from any place"
                ] += 1
            visits.append(Visit(place_id, self._timestep(point.moment, points[0].moment)))
        if any(visit.place_id for visit in visits):
            return [visit for visit in visits if visit.place_id]
        self.counts["trajectories with no point near a place"] += 1
        return [
            Visit(self._places.ids[row], visit.timestep) for row, visit in zip(nearest, visits, strict=True)
        ]

    def _nearest(self, points: list[Point]) -> tuple[list[float], list[int]]:
        """Chord to the nearest place and its row, infinite where a point has no position."""
        latitudes = np.array([point.latitude for point in points])
        longitudes = np.array([point.longitude for point in points])
        is_there = np.isfinite(latitudes) & np.isfinite(longitudes)
        chords, rows = np.full(len(points), np.inf), np.zeros(len(points), dtype=np.int64)
        if is_there.any():
            found = self._tree.query(unit_vectors(latitudes[is_there], longitudes[is_there]))
            chords[is_there], rows[is_there] = found
        return chords.tolist(), rows.tolist()

    def _timestep(self, moment: dt.datetime, first: dt.datetime) -> int:
        """Timestep of the first point's day; what comes after midnight counts as the day's last."""
        midnight = dt.datetime.combine(first.date(), dt.time())
        step = int((moment - midnight).total_seconds() // 60 // self._clock.timestep_minutes)
        self.counts["points after midnight"] += step >= self._clock.timesteps
        return min(step, self._clock.timesteps - 1)

    def _one_of(self, visits: list[Visit]) -> Visit:
        """All but one of the points within a timestep go, at random."""
        return visits[0] if len(visits) == 1 else visits[next_below(self._state, len(visits))]


def people_of(
    points: Iterable[Point], matcher: Matcher, path: Path, days: DaysOfPeople | None = None
) -> Iterator[Person]:
    """A trajectory for each person's day, in the order of the file; its rows must stand together.

    All trips of one local day are one trajectory, since ε is for a person's day, not for a row of a table.
    A trip belongs to the day of its first point, also if it ends after midnight. ``days`` keeps count.
    """
    days = DaysOfPeople() if days is None else days
    for (uid, date), trips in groupby(_trips(points), key=lambda trip: (trip.uid, trip.date)):
        if uid == NO_OWNER:
            raise InputError(str(path), NOT_SAID_WHOSE)
        if not days.add(uid, date):
            raise InputError(str(path), DAY_IS_APART)
        own = list(trips)
        rows = [point for trip in own for point in trip.points]
        if max(point.moment for point in rows).date() > date + dt.timedelta(days=1):
            raise InputError(str(path), TRIP_IS_LONG)
        yield Person(
            uid=uid,
            tid=own[0].tid or date.isoformat(),
            date=date,
            trajectory=matcher.trajectory(rows),
            epsilons=_chosen(rows),
        )


def _chosen(rows: Sequence[Point]) -> tuple[Chosen, ...]:
    first = {point.epsilon: point.row for point in reversed(rows)}
    return tuple(sorted(map(Chosen._make, first.items()), key=lambda chosen: chosen.row))


class _Trip(NamedTuple):
    uid: str
    tid: str
    date: dt.date
    points: list[Point]


def _trips(points: Iterable[Point]) -> Iterator[_Trip]:
    """Rows of one trip that stand together; without trips, of one person's local day.

    Ids of trips may be counted anew every day: a trip ends where nothing comes for half a day.
    """

    def key(point: Point) -> tuple[str, str, dt.date | None]:
        return point.uid, point.tid, None if point.tid else point.moment.date()

    for (uid, tid, _), group in groupby(points, key=key):
        same = list(group)
        cuts = [row for row, (a, b) in enumerate(pairwise(same), start=1) if b.moment - a.moment >= TRIP_GAP]
        for first, last in pairwise([0, *cuts, len(same)]):
            own = same[first:last]
            yield _Trip(uid, tid, min(point.moment for point in own).date(), own)
