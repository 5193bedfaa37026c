"""Files of check-ins as rows: who, which venue, of which kind, where and when, whatever their columns."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

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
from elsewhere.inputs.raw_text import parts_of_files
from elsewhere.progress import Progress, no_progress

_VENUE = ("lat", "lng", "name", "category", "category_id")


class CheckinRow(NamedTuple):
    """A check-in as it stands in a file; blank where the file does not say."""

    user: str
    venue: str
    category_id: str
    category: str
    lat: str
    lng: str
    name: str

    def __repr__(self) -> str:
        return "<private CheckinRow>"


class Checkin(NamedTuple):
    """Who, where, and when in local time."""

    user: str
    venue: str
    moment: dt.datetime

    def __repr__(self) -> str:
        return "<private Checkin>"


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
        self.nameless = 0
        """Rows without a person or a venue, which are left out."""
        layouts = {path: layout_of(path, given) for path in paths}
        tables = [path for path, layout in layouts.items() if _is_venue_table(layout)]
        self._venues = {key: venue for path in tables for key, venue in _venues_of(path, layouts[path])}
        self._layouts = {path: layout for path, layout in layouts.items() if path not in tables}
        if not self._layouts:
            raise InputError("--raw", "needs a file of check-ins, with people and times")
        needed = ("uid", "datetime", "place_id") + (() if self._venues else ("lat", "lng"))
        for path, layout in self._layouts.items():
            require(layout, path, needed)

    def rows(self, progress: Progress = no_progress) -> Iterator[CheckinRow]:
        """All check-ins, in the order of the files; what a table of venues says is put in."""
        for _, record in self._records(progress):
            about = self._venues.get(record["place_id"], {}) | {k: v for k, v in record.items() if v}
            yield CheckinRow(
                record["uid"],
                record["place_id"],
                about.get("category_id", ""),
                about.get("category", ""),
                about.get("lat", ""),
                about.get("lng", ""),
                about.get("name", ""),
            )

    def checkins(
        self, timezone: str, progress: Progress = no_progress, *, has_zone: bool = False
    ) -> Iterator[Checkin]:
        """The same in local time: by each row's offset from UTC, or by ``timezone`` if there is none.

        ``has_zone``: the zone was asked for, so that offsets do not count.
        """
        stamps = {
            path: Timestamps(path, layout, timezone, order=self._order, has_zone=has_zone)
            for path, layout in self._layouts.items()
        }
        for (path, row), record in self._records(progress):
            try:
                moment = stamps[path].local(record["datetime"], record.get("offset", ""))
            except MomentError as error:
                problem = problem_with(error, "--dates day-first or --dates month-first")
                raise InputError(str(path), [Fault(row=row, column="datetime", problem=problem)]) from None
            yield Checkin(record["uid"], record["place_id"], moment)

    def _records(self, progress: Progress) -> Iterator[tuple[tuple[Path, int], Record]]:
        self.nameless = 0
        for path, part in parts_of_files(self._layouts, progress):
            for row, record in delimited_records(path, self._layouts[path], part):
                if record["uid"] and record["place_id"]:
                    yield (path, row), record
                else:
                    self.nameless += 1


def _is_venue_table(layout: Layout) -> bool:
    return "datetime" not in layout and all(key in layout for key in ("place_id", "lat", "lng"))


def _venues_of(path: Path, layout: Layout) -> Iterator[tuple[str, Record]]:
    for _, record in delimited_records(path, layout):
        yield record["place_id"], {key: record[key] for key in _VENUE if record.get(key)}
