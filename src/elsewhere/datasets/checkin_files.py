"""Files of check-ins as rows: who, which venue, of which kind, where and when, whatever their columns."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from elsewhere.datasets.timezones import city_zone
from elsewhere.errors import Fault, InputError
from elsewhere.inputs.delimited import (
    Layout,
    Record,
    Timestamps,
    delimited_records,
    layout_of,
    problem_with,
    require,
)
from elsewhere.inputs.moments import DateOrder, MomentError
from elsewhere.inputs.raw_text import degrees, parts_of_files
from elsewhere.progress import Progress, no_progress

_VENUE = ("lat", "lng", "name", "category", "category_id")


def _everybody(_uid: str) -> bool:
    return True


class CheckinRow(NamedTuple):
    """A check-in: who, when in local time, and what is said of the venue; blank where nothing is."""

    user: str
    venue: str
    moment: dt.datetime
    category_id: str
    category: str
    lat: str
    lng: str
    name: str

    def __repr__(self) -> str:
        return "<private CheckinRow>"


class CheckinFiles:
    """One or more files of check-ins and, if there are any, tables of their venues."""

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        given: Mapping[str, str] | None = None,
        order: DateOrder | None = None,
    ) -> None:
        self._order = order
        self._timezone, self._has_zone = "UTC", False
        self._counts: Callable[[str], bool] = _everybody
        self.nameless = 0
        """Rows without a person or a venue, which are left out."""
        self.elsewhere = 0
        """Venues in another time zone than most."""
        layouts = {path: layout_of(path, given) for path in paths}
        tables = [path for path, layout in layouts.items() if _is_venue_table(layout)]
        self._venues = {key: venue for path in tables for key, venue in _venues_of(path, layouts[path])}
        self._layouts = {path: layout for path, layout in layouts.items() if path not in tables}
        if not self._layouts:
            require(layouts[tables[0]], tables[0], ("uid", "datetime"))
        needed = ("uid", "datetime", "place_id") + (() if self._venues else ("lat", "lng"))
        for path, layout in self._layouts.items():
            require(layout, path, needed)
        if all(next(delimited_records(*each), None) is None for each in self._layouts.items()):
            raise InputError(str(next(iter(self._layouts))), "holds no row")

    def find_zone(
        self,
        given: str | None,
        counts: Callable[[str], bool] = _everybody,
        public: Sequence[tuple[float, float]] = (),
    ) -> str:
        """The time zone that rows are read by: the one given, or that of most venues.

        ``counts`` says whose rows may tell zone and order of dates, since these become public as settings and
        hours. Where it is nobody's, positions of ``public`` venues tell the zone, and ``--dates`` the order.
        """
        self._has_zone, self._counts = given is not None, counts
        positions = {str(number): position for number, position in enumerate(public)}
        if given is None and not positions:
            for _, record in self._records(no_progress):
                if record["place_id"] not in positions and self._counts(record["uid"]):
                    about = self._about(record)
                    position = degrees(about.get("lat", ""), about.get("lng", ""))
                    if position is not None:
                        positions[record["place_id"]] = position
            if not positions:
                raise InputError(*self._no_position())
        others: dict[str, int] = {}
        self._timezone = city_zone(given, positions.values(), others)
        self.elsewhere = sum(others.values())
        if given is None and self._timezone.startswith("Antarctica/"):
            raise InputError(
                "--raw", "most positions lie in Antarctica: are lat and lng swapped? If not, give --timezone"
            )
        return self._timezone

    def _no_position(self) -> tuple[str, str]:
        """Which source, and why it cannot tell the time zone."""
        people = set()
        for (path, row), record in self._records(no_progress):
            about = self._about(record)
            lat, lng = about.get("lat", ""), about.get("lng", "")
            if degrees(lat, lng) is not None:
                people.add(record["uid"])
            elif degrees(lng, lat) is not None:
                return str(path), f"row {row}: no lat and lng are on the globe; are lat and lng swapped?"
        if people:
            among = f"none of the {len(people):,} people is of the half that makes places popular"
            return "--popularity", f"{among}: more people are needed, or --popularity public:FILE"
        return "--timezone", "is needed: there is no position to tell the time zone from"

    def rows(self, progress: Progress = no_progress) -> Iterator[CheckinRow]:
        """All check-ins, in the order of the files, with what a table of venues says put in.

        Local time goes by each row's offset from UTC, or by the zone if it has none or one was given.
        """
        stamps = {
            path: Timestamps(
                path,
                layout,
                self._timezone,
                order=self._order,
                has_zone=self._has_zone,
                counts=self._counts,
            )
            for path, layout in self._layouts.items()
        }
        for (path, row), record in self._records(progress):
            try:
                moment = stamps[path].local(record["datetime"], record.get("offset", ""))
            except MomentError as error:
                problem = problem_with(error, "--dates day-first or --dates month-first")
                raise InputError(str(path), [Fault(row=row, column="datetime", problem=problem)]) from None
            about = self._about(record)
            venue = (about.get(key, "") for key in ("category_id", "category", "lat", "lng", "name"))
            yield CheckinRow(record["uid"], record["place_id"], moment, *venue)

    def _about(self, record: Record) -> Record:
        known = self._venues.get(record["place_id"])
        return record if known is None else known | {key: value for key, value in record.items() if value}

    def _records(self, progress: Progress) -> Iterator[tuple[tuple[Path, int], Record]]:
        self.nameless = 0
        for path, part in parts_of_files(self._layouts, progress):
            for row, record in delimited_records(path, self._layouts[path], part):
                if record["uid"] and record["place_id"]:
                    yield (path, row), record
                else:
                    self.nameless += 1


def _is_venue_table(layout: Layout) -> bool:
    """Where there are people, a time is only called something else."""
    return not ({"uid", "datetime"} & layout.columns.where.keys()) and all(
        key in layout for key in ("place_id", "lat", "lng")
    )


def _venues_of(path: Path, layout: Layout) -> Iterator[tuple[str, Record]]:
    for _, record in delimited_records(path, layout):
        yield record["place_id"], {key: record[key] for key in _VENUE if record.get(key)}
