"""Made-up taxi trips, put through the steps of real ones: a city of drivers where trips are too few.

The public sample of real trips is one hour of a New Year's night, when most places are closed, and eleven
whole days. That leaves next to no feasible day; here there are as many as one asks for.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from elsewhere.arrays import Counts, Floats
from elsewhere.datasets.bundle import Dataset
from elsewhere.datasets.cleaning import LEAST_VISITS, Cleaner, Stamp
from elsewhere.datasets.feasible import only_feasible
from elsewhere.datasets.foursquare import Venues
from elsewhere.datasets.generated import generated_city
from elsewhere.datasets.nearest import NearestPlaces
from elsewhere.datasets.notes import note
from elsewhere.datasets.taxi import TIMEZONE, stops_of_taxis
from elsewhere.device.matching import Person
from elsewhere.knowledge.clock import MINUTES_PER_DAY, Clock
from elsewhere.knowledge.places import Place
from elsewhere.progress import Progress, no_progress
from elsewhere.randomness import seeded_generator
from elsewhere.world.settings import HELD_OUT

SPEED_KMH = 8.0
FARES = (1, 8)
"""Trips of a driver on a day, at least and at most."""
# Mean and deviation of logarithms, of the real sample: 584 trips of whole days, 10,004 of one night.
_TRIP_KM = (0.79, 0.84)
_TRIP_KMH = (2.6, 0.6)
_WAIT_MINUTES = (1.4, 1.4)
_WAIT_KM = (-0.3, 1.25)
# In straight lines, so well above what streets allow.
_FASTEST_KMH = 40.0
# So far from its place that about half of the points match none within 100 m, as in the real sample.
_BESIDE_KM = 0.11
_NEAR = 8
_DIRECTIONS = 4
_AROUND_KM = 1.0
_KM_PER_DEGREE = 111.195
_DRIVERS_AT_ONCE = 4000
_DRIVERS_FOR_A_DAY = 200


def read_made_taxi(
    raw: Sequence[Path] = (),
    *,
    limit: int | None = 2000,
    people: int = 5000,
    seed: int = 1,
    progress: Progress = no_progress,
) -> Dataset:
    """Days of made-up drivers on Foursquare's places, or without raw files on those of a made-up city.

    Paper: section 6.1.1 (sss:real-data).
    Deviation: taxi-sample — real trips are too few here; the steps from trips to days are the same.
    """
    if raw:
        venues = stops_of_taxis(raw, limit=limit)
    else:
        city = generated_city("foursquare", limit=limit or 2000, people=0, seed=seed)
        venues = Venues(city.places, city.tree, {})
    places = "the places are the most popular ones of Foursquare" if raw else "so are the places"
    title, what, terms = note("taxi-made", places=places, seed=seed, least=FARES[0], most=FARES[1])
    dataset = Dataset(
        title=title,
        what=what,
        terms=terms,
        places=venues.places,
        tree=venues.tree,
        days=[],
        clock=Clock(timezone=TIMEZONE),
        settings={"speed_kmh": SPEED_KMH} | ({"popularity_from": HELD_OUT} if raw else {}),
        steps=venues.steps,
    )
    dataset.days = _feasible_days(dataset, people, seed, progress)
    return dataset


def _feasible_days(dataset: Dataset, people: int, seed: int, progress: Progress) -> Iterator[Person]:
    """So many days that are feasible at the speed that the data set has when they are read."""
    drivers = _driver_days(dataset, people * _DRIVERS_FOR_A_DAY, seed)
    # Closed once there are enough, so that what was counted adds up: days are short, not feasible, or kept.
    with closing(only_feasible(replace(dataset, days=drivers), "made up")) as feasible:
        for number, person in enumerate(islice(feasible, people), start=1):
            yield person
            progress(number, people)


class _Points(NamedTuple):
    """Pick-ups and drop-offs of many drivers, in order of time for each."""

    drivers: Counts
    minutes: Floats
    positions: Floats


def _driver_days(dataset: Dataset, drivers: int, seed: int) -> Iterator[Person]:
    """Cleaned as the days of real drivers are."""
    fleet = _Fleet(dataset.places, seed)
    nearest = NearestPlaces(dataset.places)
    steps, clock = dataset.steps, dataset.clock
    steps |= {"points": 0, "points farther than 100 m from any place": 0}
    cleaner = Cleaner(clock, seeded_generator(seed), steps, LEAST_VISITS)
    midnight = dt.datetime.combine(clock.date, dt.time())
    for first in range(0, drivers, _DRIVERS_AT_ONCE):
        count = min(_DRIVERS_AT_ONCE, drivers - first)
        points = fleet.trips(count)
        where = [(float(lat), float(lng)) for lat, lng in points.positions]
        stamps: list[list[Stamp]] = [[] for _ in range(count)]
        matched = nearest.ids(where)
        all_points, far_points = [0] * count, [0] * count
        for driver, minute, position, place_id in zip(
            points.drivers.tolist(), points.minutes.tolist(), where, matched, strict=True
        ):
            all_points[driver] += 1
            if place_id is None:
                far_points[driver] += 1
            else:
                moment = midnight + dt.timedelta(minutes=int(minute))
                stamps[driver].append(Stamp(moment, place_id, position))
        for driver in range(count):
            # Of this driver, not of all that were made up at once: nobody may ask for the others.
            steps["points"] += all_points[driver]
            steps["points farther than 100 m from any place"] += far_points[driver]
            person = cleaner.day(f"d{first + driver + 1:07d}", clock.date, stamps[driver], by_gap=True)
            if person is not None:
                yield person


class _Fleet:
    """Drivers who pick people up where it is popular at the hour, and look for others near by.

    Taxis gather where places stand close together: half of the real points are within 2 km of midtown, of the
    places' popularity within 5 km. So starts and ends of trips are drawn by how many places are around, too.
    """

    def __init__(self, places: Sequence[Place], seed: int) -> None:
        self._generator = seeded_generator(seed)
        self._spots = np.array([(place.latitude, place.longitude) for place in places])
        popularity = np.array([place.popularity for place in places], dtype=np.float64)
        self._popularity = np.broadcast_to(popularity, (len(places), 24)) + 1e-9
        self._narrowing = float(np.cos(np.radians(self._spots[:, 0].mean())))
        self._tree = cKDTree(self._plane(self._spots))
        around = self._tree.query_ball_point(self._plane(self._spots), _AROUND_KM, return_length=True)
        self._density = np.asarray(around, dtype=np.float64)

    def trips(self, drivers: int) -> _Points:
        """Days of so many drivers; what comes after midnight is left out."""
        generator = self._generator
        fares = generator.integers(*FARES, size=drivers, endpoint=True)
        by_hour = self._popularity.sum(axis=0)
        hours = generator.choice(24, size=drivers, p=by_hour / by_hour.sum())
        minutes = 60.0 * hours + generator.uniform(0, 60, size=drivers)
        stops = self._first(hours)
        found = []
        for fare in range(FARES[1]):
            for mean, is_fare in ((_TRIP_KM, True), (_WAIT_KM, False)):
                driving = np.flatnonzero((fares > fare) & (minutes < MINUTES_PER_DAY))
                found.append((driving, minutes[driving], self._beside(stops[driving])))
                kilometres = generator.lognormal(*mean, size=drivers)
                if is_fare:
                    pace = np.minimum(generator.lognormal(*_TRIP_KMH, size=drivers), _FASTEST_KMH)
                    minutes = minutes + 60 * kilometres / pace
                else:
                    waits = generator.lognormal(*_WAIT_MINUTES, size=drivers)
                    minutes = minutes + waits
                    kilometres = np.minimum(kilometres, _FASTEST_KMH * waits / 60)
                stops = self._near(stops, kilometres, minutes)
        owners, times, positions = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return _Points(owners, times, positions)

    def _plane(self, positions: Floats) -> Floats:
        """Kilometres north and east, near enough for a city."""
        return np.asarray(positions * _KM_PER_DEGREE * [1.0, self._narrowing])

    def _first(self, hours: Counts) -> Counts:
        """A popular place of the hour for each driver."""
        ends = np.cumsum(self._popularity * self._density[:, None], axis=0)
        draws = self._generator.random(len(hours)) * ends[-1, hours]
        found = [np.searchsorted(ends[:, hour], draw) for hour, draw in zip(hours, draws, strict=True)]
        return np.minimum(np.array(found, dtype=np.int64), len(ends) - 1)

    def _near(self, stops: Counts, kilometres: Floats, minutes: Floats) -> Counts:
        """Stops so far off in some direction: of the few places nearest to there one that is popular then."""
        turn = self._generator.uniform(0, 2 * np.pi, size=(len(stops), _DIRECTIONS))
        here = self._plane(self._spots[stops])[:, None, :]
        targets = here + kilometres[:, None, None] * np.stack([np.sin(turn), np.cos(turn)], axis=2)
        found = self._tree.query(targets, k=range(1, min(_NEAR, len(self._spots)) + 1))
        far, nearest = np.asarray(found[0]), np.asarray(found[1])
        # Where no place is near, nobody wants to go.
        appeal = self._density[nearest[..., 0]] * np.exp(-far[..., 0] / _BESIDE_KM) + 1e-9
        options = nearest[np.arange(len(stops)), self._one_of_each(appeal)]
        hours = (minutes // 60).astype(np.int64) % 24
        picks = self._one_of_each(self._popularity[options, hours[:, None]])
        return np.asarray(options[np.arange(len(stops)), picks])

    def _one_of_each(self, weights: Floats) -> Counts:
        """A column of each row, by weight."""
        ends = np.cumsum(weights, axis=1)
        draws = self._generator.random(len(ends)) * ends[:, -1]
        return np.asarray(np.minimum((ends < draws[:, None]).sum(axis=1), ends.shape[1] - 1))

    def _beside(self, stops: Counts) -> Floats:
        """Positions beside stops, as meters of taxis have them."""
        offset = self._generator.normal(0, _BESIDE_KM, size=(len(stops), 2))
        return np.asarray(self._spots[stops] + offset / (_KM_PER_DEGREE * np.array([1.0, self._narrowing])))
