"""Anybody's GPS fixes or stays, on the places of a table or a world: people's local days."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from elsewhere.datasets.bundle import Dataset
from elsewhere.datasets.cleaning import Cleaner, Stamp
from elsewhere.datasets.given_places import GivenPlaces, places_given
from elsewhere.datasets.nearest import NearestPlaces
from elsewhere.datasets.notes import note
from elsewhere.device.fixes import Fix, Stay
from elsewhere.device.matching import Person
from elsewhere.device.personal import begins_of, find_stays
from elsewhere.errors import Fault, InputError
from elsewhere.inputs.column_names import parse_given
from elsewhere.inputs.delimited import (
    KEYS,
    Layout,
    Timestamps,
    delimited_records,
    layout_of,
    problem_with,
    require,
)
from elsewhere.inputs.moments import DateOrder, MomentError
from elsewhere.inputs.raw_text import degrees, parts_of_files, raw_files
from elsewhere.progress import Progress, no_progress
from elsewhere.randomness import seeded_generator
from elsewhere.world.world import World

_LEAST = 2
_BACKWARDS = "stays that end before they begin, left out"
_FAR = "stays farther than 100 m from any place"


class TrackRow(NamedTuple):
    """A row of a file: a fix, when a stay there ended, whether a cab had a passenger."""

    fix: Fix
    end: dt.datetime | None
    occupied: str

    def __repr__(self) -> str:
        return "<private TrackRow>"


def _visits_of_fixes(rows: list[TrackRow]) -> list[Stay]:
    """Stays found in fixes, or for cabs where passengers get in and out."""
    if not any(row.occupied for row in rows):
        return find_stays(row.fix for row in rows)
    ordered = sorted(rows, key=lambda row: row.fix.moment)
    turned = [after.fix for before, after in pairwise(ordered) if before.occupied != after.occupied]
    return [Stay(fix.moment, fix.moment, fix.latitude, fix.longitude) for fix in turned]


def _visits_of_stays(rows: list[TrackRow]) -> list[Stay]:
    """Stays with when they began and, if it is known, ended."""
    return [Stay(row.fix.moment, row.end or row.fix.moment, *row.fix[1:]) for row in rows]


def _read_tracks(
    source: str,
    visits_of: Callable[[list[TrackRow]], list[Stay]],
    raw: Sequence[Path],
    *,
    world: World | None = None,
    places: Path | None = None,
    columns: str | None = None,
    dates: DateOrder | None = None,
    timezone: str | None = None,
    least: int = _LEAST,
    progress: Progress = no_progress,
) -> Dataset:
    """Rows of many people, whose visits ``visits_of`` finds; ``source`` is that of the note for SOURCE.md."""
    files, given = _TrackFiles(raw, columns, dates), places_given(world, places, timezone)
    title, what, terms = note(source)
    steps: dict[str, int] = {}
    return Dataset(
        title=title,
        what=what,
        terms=terms,
        places=given.places,
        tree=given.tree,
        days=_days(files, given, visits_of, steps, least, progress),
        clock=given.clock,
        settings=given.settings,
        steps=steps,
    )


read_fixes = partial(_read_tracks, "fixes", _visits_of_fixes)
read_stays = partial(_read_tracks, "stays", _visits_of_stays)


def _days(
    files: _TrackFiles,
    given: GivenPlaces,
    visits_of: Callable[[list[TrackRow]], list[Stay]],
    steps: dict[str, int],
    least: int,
    progress: Progress,
) -> Iterator[Person]:
    """Local days of each person: stays at the nearest place, cleaned."""
    steps |= {"rows": 0, "rows without a position": 0, "people": 0, "stays": 0, _FAR: 0}
    nearest = NearestPlaces(given.places)
    cleaner = Cleaner(given.clock, seeded_generator(1), steps, least)
    minutes = given.clock.timestep_minutes
    for uid, rows in files.people(given.clock.timezone, steps, progress):
        steps["people"] += 1
        stays = visits_of(rows)
        positions = [(stay.latitude, stay.longitude) for stay in stays]
        days: dict[dt.date, list[Stamp]] = {}
        for stay, position, place_id in zip(stays, positions, nearest.ids(positions), strict=True):
            steps["stays"] += 1
            if place_id is None:
                steps[_FAR] += 1
                continue
            for date, step in begins_of(stay, minutes):
                begin = dt.datetime.combine(date, dt.time()) + dt.timedelta(minutes=step * minutes)
                moment = max(stay.arrival, begin)
                days.setdefault(date, []).append(Stamp(moment, place_id, position))
        for date in sorted(days):
            person = cleaner.day(uid, date, days[date], by_gap=False)
            if person is not None:
                yield person


class _TrackFiles:
    """Files of fixes or stays; a file without a column for people is one person's, named as the file."""

    def __init__(self, raw: Sequence[Path], columns: str | None, order: DateOrder | None) -> None:
        given: Mapping[str, str] = parse_given(columns, KEYS)
        self._order = order
        self._layouts: dict[Path, Layout] = {}
        for path in raw_files(raw):
            self._layouts[path] = layout_of(path, given)
            require(self._layouts[path], path, ("datetime", "lat", "lng"))

    def people(
        self, timezone: str, steps: dict[str, int], progress: Progress
    ) -> Iterator[tuple[str, list[TrackRow]]]:
        """Each person's rows; those of files with many people after all files are read."""
        found: dict[str, list[TrackRow]] = {}
        for path, part in parts_of_files(self._layouts, progress):
            is_one = "uid" not in self._layouts[path]
            for uid, row in self._rows(path, timezone, steps, part):
                found.setdefault(uid, []).append(row)
            if is_one:
                name = _name_of(path)
                yield name, found.pop(name, [])
        yield from sorted(found.items())

    def _rows(
        self, path: Path, timezone: str, steps: dict[str, int], progress: Progress
    ) -> Iterator[tuple[str, TrackRow]]:
        layout = self._layouts[path]
        stamps = Timestamps(path, layout, timezone, order=self._order)
        name = _name_of(path)
        for number, record in delimited_records(path, layout, progress):
            steps["rows"] += 1
            position = degrees(record["lat"], record["lng"])
            if position is None:
                steps["rows without a position"] += 1
                continue
            try:
                moment = stamps.local(record["datetime"], record.get("offset", ""))
                end = stamps.local(record["end"], record.get("offset", "")) if record.get("end") else None
            except MomentError as error:
                problem = problem_with(error, "--dates day-first or --dates month-first")
                raise InputError(str(path), [Fault(row=number, column="datetime", problem=problem)]) from None
            if end is not None and end < moment:
                steps[_BACKWARDS] = steps.get(_BACKWARDS, 0) + 1
                continue
            yield record.get("uid") or name, TrackRow(Fix(moment, *position), end, record.get("occupied", ""))


def _name_of(path: Path) -> str:
    """The file's name without its endings."""
    return path.name.split(".")[0] or path.name
