"""New York taxi trips of 2013 on Foursquare's places: a driver's day is pick-ups and drop-offs in order.

Files of a whole year do not fit into memory. Points are matched to places as they are read, and those that
match go to one of many small files by driver; each of these is small enough to be sorted by itself.
"""

from __future__ import annotations

import csv
import datetime as dt
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from elsewhere.datasets.bundle import Dataset
from elsewhere.datasets.cleaning import Cleaner, Stamp
from elsewhere.datasets.foursquare import (
    Venues,
    is_category_tree,
    is_checkins,
    pick_foursquare,
    read_venues,
    told_apart,
)
from elsewhere.datasets.nearest import NearestPlaces
from elsewhere.datasets.notes import note
from elsewhere.datasets.popularity import PopularitySource
from elsewhere.device.matching import Person
from elsewhere.errors import Fault, InputError
from elsewhere.inputs.moments import moment_of
from elsewhere.inputs.raw_text import degrees, first_line, parts_of_files, rows_of
from elsewhere.knowledge.clock import Clock
from elsewhere.knowledge.places import Place
from elsewhere.progress import Progress, no_progress
from elsewhere.randomness import seeded_generator
from elsewhere.world.settings import HELD_OUT

TIMEZONE = "America/New_York"
FEWEST_POINTS = 2
"""Visits of a driver's day, at least: the paper names no least number."""
_BUCKETS = 128
_POINTS_AT_ONCE = 50_000


class Form(NamedTuple):
    """Where a kind of file has what, by position."""

    driver: int
    pickup: tuple[int, int, int]
    """Time, longitude, latitude."""
    dropoff: tuple[int, int, int]
    columns: int
    has_header: bool
    moment: Callable[[str], dt.datetime]


class _Point(NamedTuple):
    driver: str
    day: str
    moment: dt.datetime
    latitude: float
    longitude: float

    def __repr__(self) -> str:
        return "<private point>"


def _american(text: str) -> dt.datetime:
    """``4/17/13 0:19``."""
    return moment_of(text, "month-first")


_DEBS_COLUMNS = 17


def form_of(path: Path) -> Form:
    """Which of the three forms in circulation a file has: TLC, DEBS 2015, or whole days by medallion."""
    names = [name.strip() for name in first_line(path).split(",")]
    place = {name: index for index, name in enumerate(names)}
    if "pickup_datetime" in place and "hack_license" in place:
        pickup = (place["pickup_datetime"], place["pickup_longitude"], place["pickup_latitude"])
        dropoff = (place["dropoff_datetime"], place["dropoff_longitude"], place["dropoff_latitude"])
        return Form(place["hack_license"], pickup, dropoff, len(names), True, moment_of)
    if "pickuptime" in place and "medallion" in place:
        pickup = (place["pickuptime"], place["pickupx"], place["pickupy"])
        dropoff = (place["dropofftime"], place["dropoffx"], place["dropoffy"])
        return Form(place["medallion"], pickup, dropoff, len(names), True, _american)
    if len(names) == _DEBS_COLUMNS and names[2][:2] == "20":
        return Form(1, (2, 6, 7), (3, 8, 9), _DEBS_COLUMNS, False, moment_of)
    raise InputError(
        str(path),
        "is no known file of taxi trips: TLC's has hack_license and pickup_datetime in its header, "
        "DEBS 2015 has 17 columns and no header, whole days by taxi have medallion and pickuptime",
    )


def is_trips(path: Path) -> bool:
    try:
        form_of(path)
    except InputError:
        return False
    return True


def read_taxi(
    raw: Sequence[Path],
    *,
    limit: int | None = 2000,
    has_homes: bool = False,
    least: int = FEWEST_POINTS,
    hours: Path | None = None,
    progress: Progress = no_progress,
) -> Dataset:
    """Files of trips, Foursquare's check-ins and its category tree, in any order."""
    others = [path for path in raw if not is_trips(path) and (is_category_tree(path) or is_checkins(path))]
    trips = [path for path in raw if path not in others]
    if not trips:
        raise InputError(
            "--raw", "needs at least one file of taxi trips beside Foursquare's check-ins and categories"
        )
    for path in trips:
        form_of(path)
    venues = stops_of_taxis(others, limit=limit, has_homes=has_homes, hours=hours)
    steps = venues.steps
    clock = Clock(timezone=TIMEZONE)
    title, what, terms = note("taxi")
    return Dataset(
        title=title,
        what=what,
        terms=terms,
        places=venues.places,
        tree=venues.tree,
        days=_driver_days(trips, venues.places, clock, steps, least, progress),
        clock=clock,
        settings={"speed_kmh": 8, "popularity_from": HELD_OUT},
        steps=steps,
    )


def stops_of_taxis(
    raw: Sequence[Path], *, limit: int | None, has_homes: bool = False, hours: Path | None = None
) -> Venues:
    """Foursquare's most popular places of New York, from its check-ins and category tree."""
    # Those who checked in are not those who drive: all of them may be counted.
    others_visits = PopularitySource(kind=HELD_OUT, counts_all=True)
    checkins, categories = told_apart(raw)
    checkins.find_zone(TIMEZONE)
    venues = read_venues(
        checkins, categories, limit=limit, has_homes=has_homes, hours=hours, popularity=others_visits
    )
    steps = {f"Foursquare: {name}": count for name, count in venues.steps.items()}
    return Venues(venues.places, venues.tree, steps)


def _driver_days(
    trips: Sequence[Path],
    places: Sequence[Place],
    clock: Clock,
    steps: dict[str, int],
    least: int,
    progress: Progress,
) -> Iterator[Person]:
    cleaner_names = (
        "trips",
        "points",
        "points without a position",
        "points farther than 100 m from any place",
    )
    steps |= dict.fromkeys(cleaner_names, 0)
    with tempfile.TemporaryDirectory() as folder:
        buckets = [Path(folder) / f"{number}.csv" for number in range(_BUCKETS)]
        with ExitStack() as stack:
            writers = [csv.writer(stack.enter_context(path.open("w", newline=""))) for path in buckets]
            for path, part in parts_of_files(trips, progress):
                _distribute(path, places, writers, steps, part)
        cleaner = Cleaner(clock, seeded_generator(1), steps, least)
        for path in buckets:
            yield from _days_of(path, cleaner)


def _distribute(
    path: Path,
    places: Sequence[Place],
    writers: Sequence[Any],
    steps: dict[str, int],
    progress: Progress,
) -> None:
    """Match the points of a file to places and put each to the others of its driver."""
    nearest = NearestPlaces(places)
    points = _points(path, steps, progress)
    while some := list(islice(points, _POINTS_AT_ONCE)):
        ids = nearest.ids([(point.latitude, point.longitude) for point in some])
        for point, place_id in zip(some, ids, strict=True):
            if place_id is None:
                steps["points farther than 100 m from any place"] += 1
                continue
            writers[crc32(point.driver.encode()) % _BUCKETS].writerow(
                (
                    point.driver,
                    point.day,
                    point.moment.isoformat(),
                    point.latitude,
                    point.longitude,
                    place_id,
                )
            )


def _points(path: Path, steps: dict[str, int], progress: Progress) -> Iterator[_Point]:
    """Pick-ups and drop-offs, as the file has them; both belong to the day of the pick-up."""
    form = form_of(path)
    rows = rows_of(path, progress=progress)
    if form.has_header:
        next(rows)
    for number, fields in rows:
        if len(fields) != form.columns:
            problem = f"has {len(fields)} fields, must have {form.columns}"
            raise InputError(str(path), [Fault(row=number, problem=problem)])
        steps["trips"] += 1
        try:
            moments = [form.moment(fields[end[0]]) for end in (form.pickup, form.dropoff)]
        except ValueError:
            problem = "has no time where the pick-up or drop-off should have one"
            raise InputError(str(path), [Fault(row=number, problem=problem)]) from None
        for moment, (_, lng, lat) in zip(moments, (form.pickup, form.dropoff), strict=True):
            steps["points"] += 1
            position = degrees(fields[lat], fields[lng])
            if position is None:
                steps["points without a position"] += 1
            else:
                yield _Point(fields[form.driver], moments[0].date().isoformat(), moment, *position)


def _days_of(path: Path, cleaner: Cleaner) -> Iterator[Person]:
    """Days of the drivers in one bucket.

    Deviation: midnight — a day ends there, also in the middle of a shift; a point after it is left out.
    """
    days: dict[tuple[str, str], list[Stamp]] = {}
    with path.open(newline="") as file:
        for driver, day, moment, lat, lng, place_id in csv.reader(file):
            stamp = Stamp(dt.datetime.fromisoformat(moment), place_id, (float(lat), float(lng)))
            if stamp.moment.date().isoformat() == day:
                days.setdefault((driver, day), []).append(stamp)
    for driver, day in sorted(days):
        person = cleaner.day(driver, dt.date.fromisoformat(day), days[driver, day], by_gap=True)
        if person is not None:
            yield person


def pick_taxi(files: Sequence[Path]) -> tuple[Path, ...]:
    """Trips, check-ins and the category tree, if there are some of each among ``files``."""
    trips = tuple(file for file in files if is_trips(file))
    places = pick_foursquare([file for file in files if file not in trips])
    return (*trips, *places) if trips and places else ()
