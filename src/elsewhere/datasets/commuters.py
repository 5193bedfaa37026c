"""Cities of commuters, whose days are not what a public prior thinks of: for experiments.

The recipe is public and simple. A day is a list of errands, each with a chance, an hour and a spread; those
that come about are sorted by time. Where to: a place of the errand's kind, by popularity and by how near it
is to the visit before. Days peak at 8 h and from 18 to 19 h, and hardly anybody is about from 2 to 5 h.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from elsewhere.arrays import Floats
from elsewhere.datasets.bundle import Dataset
from elsewhere.datasets.checkins import read_checkins
from elsewhere.datasets.osm import read_osm
from elsewhere.device.matching import Person
from elsewhere.files import make_folder
from elsewhere.inputs.tables import write_csv
from elsewhere.knowledge.clock import Clock
from elsewhere.knowledge.sphere import plane_km
from elsewhere.randomness import Generator, seeded_generator
from elsewhere.trajectories import Trajectory


class Errand(NamedTuple):
    """What a commuter may do on a day: how likely, around which hour, give or take how many."""

    kind: str
    chance: float
    hour: float
    spread: float


ERRANDS = (
    Errand("station", 0.9, 8.4, 0.6),
    Errand("work", 0.6, 9.0, 0.5),
    Errand("food", 0.35, 12.4, 0.5),
    Errand("shop", 0.2, 15.0, 1.5),
    Errand("station", 0.85, 18.7, 0.8),
    Errand("food", 0.3, 19.6, 0.8),
    Errand("shop", 0.2, 20.2, 0.8),
    Errand("night", 0.1, 21.5, 1.2),
)
_HELSINKI = "OpenStreetMap Helsinki, made-up commuters"
_TOKYO_LIKE = "made-up check-ins of a commuter city like Tokyo"
_WHAT = "Days are made up: errands of commuters (`datasets/commuters.py`). They are nobody's real movements."
_LEAST_VISITS = 3
_NEAR_KM = 1.0
_FIRST_MINUTE, _MINUTES = 5 * 60, 24 * 60
_KINDS_OF_OSM = {
    "Stations": "station", "Offices": "work", "Public services": "work", "Higher education": "work",
    "Eating out": "food", "Cafés": "food", "Food shops": "shop", "Clothes": "shop",
    "Department stores and malls": "shop", "Bars and clubs": "night",
}  # fmt: skip
"""Errands by the subgroup of a place."""
_CHECKED_IN = {
    "station": ("Train Station", 1), "work": ("Office", 3), "food": ("Ramen Restaurant", 3),
    "shop": ("Convenience Store", 3), "night": ("Bar", 1),
}  # fmt: skip
"""Category of each errand's venues, and how many there are around a station."""
_AROUND_A_STATION = sum(count for _, count in _CHECKED_IN.values())
_TOKYO = (35.68, 139.75)
_STATION_SPREAD, _VENUE_SPREAD = 0.04, 0.004
_FIRST_DAY = dt.date(2025, 3, 10)
_DAYS_OF_A_PERSON = 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CommuterVenues:
    """Places as commuters know them."""

    kinds: Sequence[str]
    """The errand that each is for; blank: none."""
    latitudes: Floats
    longitudes: Floats
    weights: Floats
    """How popular each is among those of its kind."""


class Commuters:
    """Days of people who go to work by train."""

    def __init__(self, venues: CommuterVenues, clock: Clock, generator: Generator) -> None:
        kinds = np.array(venues.kinds)
        self._rows = {kind: np.flatnonzero(kinds == kind) for kind in set(venues.kinds)}
        self._weights = venues.weights
        self._km = plane_km(venues.latitudes, venues.longitudes)
        self._minutes = clock.timestep_minutes
        self._generator = generator

    def day(self) -> list[tuple[int, int]]:
        """Row of the venue and minute of each visit: three or more, never two in one timestep."""
        while True:
            errands = [
                one for one in ERRANDS if self._generator.random() < one.chance and one.kind in self._rows
            ]
            minutes = [int(60 * self._generator.normal(one.hour, one.spread)) for one in errands]
            steps = {minute // self._minutes for minute in minutes}
            in_day = all(_FIRST_MINUTE <= minute < _MINUTES for minute in minutes)
            if in_day and len(steps) == len(minutes) >= _LEAST_VISITS:
                order = np.argsort(minutes)
                return self._somewhere([(errands[at].kind, minutes[at]) for at in order])

    def _somewhere(self, errands: Sequence[tuple[str, int]]) -> list[tuple[int, int]]:
        visits: list[tuple[int, int]] = []
        for kind, minute in errands:
            rows = self._rows[kind]
            weights = self._weights[rows]
            if visits:
                away = np.linalg.norm(self._km[rows] - self._km[visits[-1][0]], axis=1)
                weights = weights * np.exp(-away / _NEAR_KM) + 1e-12
            visits.append((int(self._generator.choice(rows, p=weights / weights.sum())), minute))
        return visits


def commuting_helsinki(folder: Path, *, limit: int, people: int, seed: int = 1) -> Dataset:
    """Central Helsinki as OpenStreetMap has it, its public prior, and days of commuters."""
    del folder
    dataset = read_osm(limit=limit, people=1, seed=seed)
    places = dataset.places
    venues = CommuterVenues(
        kinds=[_KINDS_OF_OSM.get(place.category_ids[0].split(" > ")[1], "") for place in places],
        latitudes=np.array([place.latitude for place in places]),
        longitudes=np.array([place.longitude for place in places]),
        weights=np.array([sum(place.popularity) for place in places]),
    )
    commuters = Commuters(venues, dataset.clock, seeded_generator(seed))
    ids = [place.place_id for place in places]
    return replace(
        dataset,
        title=_HELSINKI,
        what=_WHAT,
        days=_people(commuters, ids, dataset.clock, people),
    )


def _people(commuters: Commuters, ids: Sequence[str], clock: Clock, people: int) -> Iterator[Person]:
    for number in range(people):
        visits = [(ids[row], minute // clock.timestep_minutes) for row, minute in commuters.day()]
        uid = f"u{number:06d}"
        yield Person(uid=uid, tid=uid, date=clock.date, trajectory=Trajectory(visits))


def tokyo_like(folder: Path, *, limit: int, people: int, seed: int = 1) -> Dataset:
    """A city of railway stations, as check-ins: popularity from one half of people, days of the other.

    The file of check-ins, written to ``folder``, is what `elsewhere dataset checkins` reads.
    """
    generator = seeded_generator(seed)
    venues = _around_stations(max(4, limit // _AROUND_A_STATION), generator)
    commuters = Commuters(venues, Clock(timezone="Asia/Tokyo"), generator)
    rows = []
    # Half of the people only make places popular.
    for person in range(2 * people // _DAYS_OF_A_PERSON):
        for day in range(_DAYS_OF_A_PERSON):
            midnight = dt.datetime.combine(_FIRST_DAY + dt.timedelta(days=day), dt.time())
            for row, minute in commuters.day():
                when = (midnight + dt.timedelta(minutes=minute)).isoformat()
                category, _ = _CHECKED_IN[venues.kinds[row]]
                place = (round(venues.latitudes[row], 6), round(venues.longitudes[row], 6))
                rows.append((f"u{person:06d}", f"v{row:05d}", category, *place, f"{when}+09:00"))
    columns = ["user", "venue", "category", "lat", "lng", "time"]
    make_folder(folder)
    file = folder / "checkins.csv"
    write_csv(file, pl.DataFrame(rows, schema=columns, orient="row"))
    return replace(
        read_checkins([file], limit=limit, timezone="Asia/Tokyo"),
        title=_TOKYO_LIKE,
        what=_WHAT,
    )


def _around_stations(stations: int, generator: Generator) -> CommuterVenues:
    """Stations around a centre, each with its offices, noodles, shops and bars; some are far busier."""
    middles = generator.normal(_TOKYO, _STATION_SPREAD, size=(stations, 2))
    busy = generator.permutation(1 / np.arange(1, stations + 1) ** 0.7)
    kinds = [kind for kind, (_, count) in _CHECKED_IN.items() for _ in range(count)]
    spots = np.repeat(middles, len(kinds), axis=0)
    is_station = np.tile([kind == "station" for kind in kinds], stations)
    spots[~is_station] += generator.normal(0, _VENUE_SPREAD, size=(int((~is_station).sum()), 2))
    weights = np.repeat(busy, len(kinds)) * generator.uniform(0.5, 1.5, size=len(spots))
    return CommuterVenues(
        kinds=kinds * stations, latitudes=spots[:, 0], longitudes=spots[:, 1], weights=weights
    )


class CommuterCity(NamedTuple):
    """What experiments ask about a city of commuters."""

    make: Callable[..., Dataset]
    """``make(folder, limit=..., people=...)``; raw files, if it needs any, go to the folder."""
    label: str
    speed_kmh: float


COMMUTER_CITIES = {
    "helsinki": CommuterCity(commuting_helsinki, _HELSINKI, 5.0),
    "tokyo-like": CommuterCity(tokyo_like, _TOKYO_LIKE, 8.0),
}
