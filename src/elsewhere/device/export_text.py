"""A person's own files in lines of text: OwnTracks' recorder, plain CSV."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from zoneinfo import ZoneInfo

from elsewhere.device.fixes import Fix, Raw, each, from_seconds, on_the_globe
from elsewhere.errors import Fault, InputError
from elsewhere.inputs.column_names import ALIASES
from elsewhere.inputs.raw_text import first_line, lines_of, records_of


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
    """Latitude, longitude and time under any of their usual names; times without a zone are local."""
    path = raw.path
    names = [name.strip().strip('"') for name in first_line(path).split(",")]
    columns = {key: next((n for n in ALIASES[key] if n in names), None) for key in ("datetime", "lat", "lng")}
    missing = [key for key, name in columns.items() if name is None]
    if missing:
        raise InputError(str(path), f"column {missing[0]} is missing: needs lat, lng and datetime")
    has_zone: bool | None = None
    for row, record in records_of(path, ()):
        try:
            moment = dt.datetime.fromisoformat(record[str(columns["datetime"])])
            position = on_the_globe(float(record[str(columns["lat"])]), float(record[str(columns["lng"])]))
        except (ValueError, OverflowError):
            problem = "needs degrees under lat and lng and a time such as 2024-03-07T10:30:00 under datetime"
            raise InputError(str(path), [Fault(row=row, problem=problem)]) from None
        if has_zone is not None and has_zone != (moment.tzinfo is not None):
            problem = "some times have a zone and some have none: give all of them one, or none"
            raise InputError(str(path), [Fault(row=row, column="datetime", problem=problem)])
        has_zone = moment.tzinfo is not None
        yield Fix(moment.astimezone(zone).replace(tzinfo=None) if has_zone else moment, *position)
