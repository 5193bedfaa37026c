"""From a person's own files to trajectories on a world: stays, matched to places that are open then."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from elsewhere.device.exports import Fix, Stay, read_export
from elsewhere.errors import InputError
from elsewhere.knowledge.sphere import chord_squared_of_km, chords_squared, great_circle_km, unit_vectors
from elsewhere.trajectories import Trajectory
from elsewhere.world.world import World

STAY_KM = 0.1
STAY_MINUTES = 10
MATCH_KM = 0.25


def find_stays(
    fixes: Iterable[Fix], *, radius_km: float = STAY_KM, minutes: float = STAY_MINUTES
) -> list[Stay]:
    """Stretches of fixes within ``radius_km`` of their first one that last ``minutes`` or more.

    As in Li et al., "Mining user similarity based on location history" (2008). A stay is at the mean of its
    fixes, and lasts from the first of them to the last.
    """
    ordered = sorted(fixes, key=lambda fix: fix.moment)
    if not ordered:
        return []
    latitudes, longitudes = (
        np.array([getattr(fix, name) for fix in ordered]) for name in ("latitude", "longitude")
    )
    vectors = unit_vectors(latitudes, longitudes)
    limit = chord_squared_of_km(radius_km)
    stays, first = [], 0
    while first < len(ordered):
        last = first
        while last + 1 < len(ordered) and _chord(vectors, first, last + 1) <= limit:
            last += 1
        if (ordered[last].moment - ordered[first].moment).total_seconds() >= 60 * minutes:
            middle = [float(column[first : last + 1].mean()) for column in (latitudes, longitudes)]
            stays.append(Stay(ordered[first].moment, ordered[last].moment, middle[0], middle[1]))
            first = last + 1
        else:
            first += 1
    return stays


def _chord(vectors: np.ndarray, a: int, b: int) -> float:
    return float(chords_squared(vectors[a], vectors[b]))


@dataclass(slots=True)
class DayMaker:
    """Stays of a person as days on a world; counts what it could not use."""

    world: World
    match_km: float = MATCH_KM
    counts: dict[str, int] = field(
        default_factory=lambda: {
            "stays": 0,
            f"stays farther than {MATCH_KM:g} km from any open place": 0,
            "stays that begin in the timestep of another": 0,
        }
    )

    def days(self, stays: Sequence[Stay]) -> dict[dt.date, Trajectory]:
        """A trajectory for each local day with at least one stay that matches."""
        tree = cKDTree(self.world.places.vectors)
        visits: dict[dt.date, dict[int, str]] = {}
        _, far, close = self.counts
        for stay in sorted(stays, key=lambda stay: stay.arrival):
            self.counts["stays"] += 1
            for date, timestep in begins_of(stay, self.world.clock.timestep_minutes):
                place = self._place_open(tree, stay, timestep)
                if place is None:
                    self.counts[far] += 1
                elif timestep in visits.setdefault(date, {}):
                    self.counts[close] += 1
                else:
                    visits[date][timestep] = self.world.places.ids[place]
        return {
            date: Trajectory((place_id, timestep) for timestep, place_id in _without_repeats(by_time))
            for date, by_time in sorted(visits.items())
            if by_time
        }

    def _place_open(self, tree: cKDTree, stay: Stay, timestep: int) -> int | None:
        """The nearest place within reach that is open then."""
        vector = unit_vectors(np.array([stay.latitude]), np.array([stay.longitude]))[0]
        near = tree.query_ball_point(vector, chord_squared_of_km(self.match_km) ** 0.5)
        is_open = [place for place in near if self.world.is_open[place, timestep]]
        if not is_open:
            return None
        km = great_circle_km(chords_squared(vector, self.world.places.vectors[is_open]))
        return int(is_open[int(np.argmin(km))])


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


def stays_of(path: Path, world: World) -> list[Stay]:
    """The stays of a file in the world's local time: its own, or those found in its fixes."""
    export = read_export(path, world.clock.timezone)
    return export.stays or find_stays(export.fixes)


def personal_day(path: Path, world: World, day: str) -> Trajectory:
    """The trajectory of one day; says which days there are if there is none."""
    try:
        date = dt.date.fromisoformat(day)
    except ValueError:
        raise InputError("--day", f"found {day!r}, must be a date such as 2024-03-07") from None
    stays = stays_of(path, world)
    if not stays:
        raise InputError(str(path), "has no stay at all: nowhere for ten minutes within 100 m")
    days = DayMaker(world).days(stays)
    if date not in days:
        between = (
            f"{len(days)} days from {min(days)} to {max(days)} have one" if days else "nor has any other day"
        )
        raise InputError(str(path), f"has no stay near an open place of this world on {day}; {between}")
    return days[date]
