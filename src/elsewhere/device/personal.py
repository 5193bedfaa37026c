"""From a person's own files to trajectories on a world: stays, matched to places that are open then."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from elsewhere.arrays import Bools, Floats
from elsewhere.device.exports import read_export
from elsewhere.device.fixes import Fix, Stay
from elsewhere.device.other_city import FAR_SHARE, OTHER_CITY, share_far_from
from elsewhere.errors import InputError
from elsewhere.knowledge.clock import Clock
from elsewhere.knowledge.sphere import chord_squared_of_km, chords_squared, unit_vectors
from elsewhere.progress import Progress, no_progress
from elsewhere.trajectories import Trajectory
from elsewhere.world.world import World

STAY_KM = 0.1
STAY_MINUTES = 10
MATCH_KM = 0.25
_DAY = dt.timedelta(days=1)
# So many other days tell whether a file belongs to a city; fewer might tell of the day itself.
_ENOUGH_DAYS = 3
_FAR = f"visits farther than {MATCH_KM:g} km from any open place"
_CLOSE = "visits that begin in the timestep of another"
_FAR_DAYS = "days far from every open place, moved to the nearest"


class Spot(NamedTuple):
    """Where somebody was at a timestep of a day."""

    timestep: int
    latitude: float
    longitude: float

    @property
    def vector(self) -> Floats:
        return np.asarray(unit_vectors(np.array(self.latitude), np.array(self.longitude)))

    def __repr__(self) -> str:
        return "<private Spot>"


def find_stays(
    fixes: Iterable[Fix], *, radius_km: float = STAY_KM, minutes: float = STAY_MINUTES
) -> list[Stay]:
    """Stretches of fixes within ``radius_km`` of their first one that last ``minutes`` or more.

    As in Li et al., "Mining user similarity based on location history" (2008). A stay is at the mean of its
    fixes, and lasts from the first of them to the last. A day without a fix ends it: nobody knows.
    """
    ordered = sorted(fixes, key=lambda fix: fix.moment)
    if not ordered:
        return []
    latitudes, longitudes = (
        np.array([getattr(fix, name) for fix in ordered]) for name in ("latitude", "longitude")
    )
    # Plain numbers: years of fixes are compared one by one, and numpy is slow at that.
    vectors = list(map(tuple, unit_vectors(latitudes, longitudes).tolist()))
    limit = chord_squared_of_km(radius_km)
    stays, first = [], 0
    while first < len(ordered):
        last = first
        while (
            last + 1 < len(ordered)
            and _chord(vectors[first], vectors[last + 1]) <= limit
            and ordered[last + 1].moment - ordered[last].moment < _DAY
        ):
            last += 1
        if (ordered[last].moment - ordered[first].moment).total_seconds() >= 60 * minutes:
            middle = [float(column[first : last + 1].mean()) for column in (latitudes, longitudes)]
            stays.append(Stay(ordered[first].moment, ordered[last].moment, middle[0], middle[1]))
            first = last + 1
        else:
            first += 1
    return stays


def _chord(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    """As `chords_squared` has it."""
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2


@dataclass(frozen=True, slots=True, repr=False)
class OwnRecords:
    """All that a person's files say of where they were. PRIVATE."""

    stays: list[Stay]
    fixes: list[Fix]

    @property
    def span(self) -> tuple[dt.date, dt.date] | None:
        """The first day that they cover, and the last; None if they hold nothing."""
        if not self.stays and not self.fixes:
            return None
        firsts = [stay.arrival for stay in self.stays] + [fix.moment for fix in self.fixes]
        lasts = [stay.departure for stay in self.stays] + [fix.moment for fix in self.fixes]
        return min(firsts).date(), max(lasts).date()

    def reaches(self, date: dt.date) -> bool:
        """Whether a day lies between the first and the last that they cover."""
        span = self.span
        return span is not None and span[0] <= date <= span[1]

    def spots(self, minutes: int) -> dict[dt.date, list[Spot]]:
        """Where somebody was on each day that says anything: stays, or where a day has none its fixes."""
        found: dict[dt.date, list[Spot]] = {}
        for stay in sorted(self.stays, key=lambda stay: stay.arrival):
            for date, timestep in begins_of(stay, minutes):
                found.setdefault(date, []).append(Spot(timestep, stay.latitude, stay.longitude))
        days_with_stays = set(found)
        for fix in sorted(self.fixes, key=lambda fix: fix.moment):
            if (date := fix.moment.date()) not in days_with_stays:
                timestep = (fix.moment.hour * 60 + fix.moment.minute) // minutes
                found.setdefault(date, []).append(Spot(timestep, fix.latitude, fix.longitude))
        return dict(sorted(found.items()))

    def stays_by_date(self, minutes: int) -> dict[dt.date, int]:
        """How many stays each day has; none where there are only fixes."""
        found = dict.fromkeys(self.spots(minutes), 0)
        for stay in self.stays:
            for date, _ in begins_of(stay, minutes):
                found[date] += 1
        return found


def read_own(paths: Sequence[Path], world: World, progress: Progress = no_progress) -> OwnRecords:
    """What files hold, in the world's local time: their own stays, or those found in their fixes."""
    records = OwnRecords([], [])
    for number, path in enumerate(paths, start=1):
        export = read_export(path, world.clock.timezone)
        records.stays.extend(export.stays or find_stays(export.fixes))
        records.fixes.extend(export.fixes)
        progress(number, len(paths))
    return records


def refuse_other_city(records: OwnRecords, world: World, day: str, source: str) -> None:
    """Refuse files that are nearly all far from a world; by their other days, never by the one asked for.

    With few other days nothing is refused: no report must be an answer about a day (R10).
    """
    if is_of_another_city(records, world, day):
        raise InputError(source, OTHER_CITY)


def is_of_another_city(records: OwnRecords, world: World, day: str) -> bool:
    """Whether all days but one are nearly all far from a world."""
    days = records.spots(world.clock.timestep_minutes)
    others = [spots for date, spots in days.items() if date.isoformat() != day]
    if len(others) < _ENOUGH_DAYS:
        return False
    spots = [spot for other in others for spot in other]
    where = np.array([(spot.latitude, spot.longitude) for spot in spots])
    return share_far_from(world.places, where[:, 0], where[:, 1]) > FAR_SHARE


def day_without_a_visit(clock: Clock) -> Trajectory:
    """What is perturbed on a day of which a person's file says nothing: one visit to a place nobody knows.

    Not sharing such a day would tell that nobody went anywhere. A place nobody knows is one of the inputs of
    every method (`mechanism.secret`), so such a day is as well protected as any other.
    """
    return Trajectory([("", clock.timesteps // 2)])


class DayMaker:
    """Days of a person on a world, each by rules that never fail; counts what they had to do."""

    def __init__(self, world: World, match_km: float = MATCH_KM) -> None:
        self.world = world
        self._limit = chord_squared_of_km(match_km)
        self.counts = {"visits": 0, _FAR: 0, _CLOSE: 0, _FAR_DAYS: 0}

    def day(self, spots: Sequence[Spot]) -> Trajectory:
        """A trajectory of where somebody was on a day, which may be nowhere.

        Each spot goes to the nearest open place within reach; others are left out. If none has any, all go
        to the nearest open place however far, or the nearest if all are closed: nobody is refused (R10).
        """
        if not spots:
            return day_without_a_visit(self.world.clock)
        self.counts["visits"] += len(spots)
        places = [self._open_within_reach(spot) for spot in spots]
        if all(place is None for place in places):
            self.counts[_FAR_DAYS] += 1
            places = [self._nearest(spot) for spot in spots]
        visits: dict[int, str] = {}
        for spot, place in zip(spots, places, strict=True):
            if place is None:
                self.counts[_FAR] += 1
            elif spot.timestep in visits:
                self.counts[_CLOSE] += 1
            else:
                visits[spot.timestep] = self.world.places.ids[place]
        return Trajectory((place_id, timestep) for timestep, place_id in _without_repeats(visits))

    def _open_within_reach(self, spot: Spot) -> int | None:
        is_open = self.world.is_open[:, spot.timestep]
        chords = self._chords(spot, is_open)
        place = int(np.argmin(chords))
        return place if is_open[place] and chords[place] <= self._limit else None

    def _nearest(self, spot: Spot) -> int:
        is_open = self.world.is_open[:, spot.timestep]
        return int(np.argmin(self._chords(spot, is_open if is_open.any() else np.ones_like(is_open))))

    def _chords(self, spot: Spot, is_open: Bools) -> Floats:
        """How far each place is, as chords, squared; places that are not open are endlessly far."""
        chords = chords_squared(spot.vector, self.world.places.vectors)
        return np.where(is_open, chords, np.inf)


def begins_of(stay: Stay, minutes: int) -> Iterator[tuple[dt.date, int]]:
    """When a stay begins, on each day it touches: on the first at its arrival, later ones at midnight."""
    date = stay.arrival.date()
    yield date, (stay.arrival.hour * 60 + stay.arrival.minute) // minutes
    while date < stay.departure.date():
        date += dt.timedelta(days=1)
        if stay.departure > dt.datetime.combine(date, dt.time()):
            yield date, 0


def _without_repeats(by_time: dict[int, str]) -> Iterator[tuple[int, str]]:
    before = ""
    for timestep, place_id in sorted(by_time.items()):
        if place_id != before:
            yield timestep, place_id
            before = place_id


def checked_day(day: str, today: dt.date) -> dt.date:
    """A day that is over or has begun, whatever anybody's files say of it."""
    try:
        date = dt.date.fromisoformat(day)
    except ValueError:
        raise InputError("--day", f"found {day!r}, must be a date such as 2024-03-07") from None
    if date > today:
        raise InputError("--day", f"found {day}, must not be later than today, {today}")
    return date


def personal_day(records: OwnRecords, world: World, date: dt.date) -> Trajectory:
    """The trajectory of one day, whatever the files say of it: a day without any record has no visit."""
    return DayMaker(world).day(records.spots(world.clock.timestep_minutes).get(date, []))
