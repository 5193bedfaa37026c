"""A person's own files in lines of text: OwnTracks' recorder, plain tables."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from pathlib import Path
from zoneinfo import ZoneInfo

from elsewhere.device.fixes import Fix, Raw, each, from_seconds, on_the_globe
from elsewhere.errors import Fault, InputError
from elsewhere.inputs.column_names import columns_in_words
from elsewhere.inputs.delimited import Record, Timestamps, delimited_records, layout_of
from elsewhere.inputs.moments import MomentError, local_moment
from elsewhere.inputs.raw_text import lines_of


def read_owntracks(raw: Raw, zone: ZoneInfo) -> Iterator[Fix]:
    """Lines of a recorder's .rec file: a time, a mark, and JSON."""

    def read(line: str) -> Fix | None:
        parts = line.split("\t", 2)
        if len(parts) < 3:
            return None
        message = json.loads(parts[2])
        if message.get("_type") != "location":
            return None
        return Fix(from_seconds(message["tst"], zone), *on_the_globe(message["lat"], message["lon"]))

    yield from each(raw, (line for line in lines_of(raw.path) if line.strip()), "line", read)


def read_csv(raw: Raw, zone: ZoneInfo) -> Iterator[Fix]:
    """Latitude, longitude and time, however separated and called; times without a zone are local."""
    path = raw.path
    layout = layout_of(path)
    missing = [key for key in ("datetime", "lat", "lng") if key not in layout]
    if missing:
        found = columns_in_words(layout.names)
        raise InputError(str(path), f"column {missing[0]} is missing: needs lat, lng and datetime; {found}")
    stamps, has_zone = Timestamps(path, layout, zone.key), None
    for row, record in delimited_records(path, layout):
        moment, *position = _stamped(path, row, record, stamps)
        if has_zone is not None and has_zone != (moment.tzinfo is not None):
            problem = "some times have a zone and some have none: give all of them one, or none"
            raise InputError(str(path), [Fault(row=row, column="datetime", problem=problem)])
        has_zone = moment.tzinfo is not None
        yield Fix(local_moment(moment, zone.key), *position)


def _stamped(path: Path, row: int, record: Record, stamps: Timestamps) -> tuple[dt.datetime, float, float]:
    """Time and position of a row; what is wrong is told by its number, never by what it holds."""
    try:
        moment = stamps.moment(record["datetime"])
    except MomentError as error:
        raise InputError(str(path), [Fault(row=row, column="datetime", problem=str(error))]) from None
    try:
        return moment, *on_the_globe(float(record["lat"]), float(record["lng"]))
    except (ValueError, OverflowError):
        problem = "needs degrees under lat and lng"
        raise InputError(str(path), [Fault(row=row, problem=problem)]) from None
