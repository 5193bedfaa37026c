"""A person's own files: Google Timeline and Takeout, GPX, OwnTracks, plain CSV. Messages never quote them."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET
from zoneinfo import ZoneInfo

from elsewhere.errors import Fault, InputError
from elsewhere.inputs.column_names import ALIASES
from elsewhere.inputs.raw_text import first_line, json_of, lines_of, opened, records_of

_E7 = 1e7


class Fix(NamedTuple):
    """Where somebody was, and when, in local time."""

    moment: dt.datetime
    latitude: float
    longitude: float

    def __repr__(self) -> str:
        return "<private Fix>"


class Stay(NamedTuple):
    """Where somebody stayed from when to when, in local time."""

    arrival: dt.datetime
    departure: dt.datetime
    latitude: float
    longitude: float

    def __repr__(self) -> str:
        return "<private Stay>"


class Export(NamedTuple):
    """What a file holds: stays, or fixes that stays have yet to be found in."""

    kind: str
    stays: list[Stay]
    fixes: list[Fix]

    def __repr__(self) -> str:
        return f"<private Export of {self.kind}>"


def read_export(path: Path, timezone: str) -> Export:
    """A file told apart by its content; times become local to ``timezone``."""
    zone = ZoneInfo(timezone)
    start = first_line(path).lstrip()
    if start[:1] in {"{", "["}:
        return _json_export(path, zone)
    if start.startswith("<"):
        return Export("GPX", [], list(_gpx(path, zone)))
    if "\t" in start and "_type" in start:
        return Export("OwnTracks", [], list(_owntracks(path, zone)))
    if "," in start:
        return Export("CSV", [], list(_csv(path, zone)))
    raise InputError(
        str(path),
        "is none of: Google Timeline (JSON of Android or iOS), Takeout (timelineObjects, Records.json), GPX, "
        "OwnTracks .rec, CSV with lat, lng and datetime",
    )


def _json_export(path: Path, zone: ZoneInfo) -> Export:
    with opened(path) as file:
        beginning = file.read(4096).decode("utf-8", "replace")
    if re.search(r'"locations"\s*:', beginning):
        return Export("Takeout records", [], list(_records(path, zone)))
    content = json_of(path)
    if isinstance(content, list):
        return Export("Timeline of iOS", list(_segments(path, content, zone)), [])
    if isinstance(content, dict) and "semanticSegments" in content:
        return Export("Timeline of Android", list(_segments(path, content["semanticSegments"], zone)), [])
    if isinstance(content, dict) and "timelineObjects" in content:
        return Export("Takeout timeline", list(_place_visits(path, content["timelineObjects"], zone)), [])
    raise InputError(
        str(path), "is JSON, but has none of semanticSegments, timelineObjects, locations, and is no list"
    )


def _each(path: Path, things: Any, what: str, read: Callable[[Any], Any]) -> Iterator[Any]:
    """What ``read`` makes of each thing; a thing that makes no sense is named by its number alone."""
    if not isinstance(things, Iterable):
        raise InputError(str(path), f"has no list of {what}s")
    for number, thing in enumerate(things, start=1):
        try:
            found = read(thing)
        except _NoZoneError:
            raise InputError(
                str(path), f"{what} {number:,}: its time has no zone, must end in Z or +02:00"
            ) from None
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            raise InputError(
                str(path), f"{what} {number:,} is not as it should be: a time or a place lacks"
            ) from None
        if found is not None:
            yield found


class _NoZoneError(ValueError):
    """A time that could be anywhere's."""


def _local(text: str, zone: ZoneInfo) -> dt.datetime:
    moment = dt.datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise _NoZoneError
    return moment.astimezone(zone).replace(tzinfo=None)


def _from_seconds(seconds: float, zone: ZoneInfo) -> dt.datetime:
    return dt.datetime.fromtimestamp(seconds, tz=zone).replace(tzinfo=None)


def _checked(latitude: float, longitude: float) -> tuple[float, float]:
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
        raise ValueError("not on the globe")
    return latitude, longitude


def _segments(path: Path, segments: Any, zone: ZoneInfo) -> Iterator[Stay]:
    """Visits of the Timeline as phones export it; journeys between them are not needed."""

    def read(segment: dict[str, Any]) -> Stay | None:
        visit = segment.get("visit")
        if visit is None or int(visit.get("hierarchyLevel", 0)) > 0:  # a place within a place
            return None
        where = visit["topCandidate"]["placeLocation"]
        text = where["latLng"] if isinstance(where, dict) else where
        latitude, longitude = (float(part) for part in re.findall(r"-?\d+(?:\.\d+)?", text)[:2])
        arrival, departure = (_local(segment[name], zone) for name in ("startTime", "endTime"))
        return Stay(arrival, departure, *_checked(latitude, longitude))

    yield from _each(path, segments, "segment", read)


def _place_visits(path: Path, objects: Any, zone: ZoneInfo) -> Iterator[Stay]:
    """Visits of an older Takeout; times are text, or milliseconds in the oldest."""

    def moment(duration: dict[str, str], name: str) -> dt.datetime:
        if name in duration:
            return _local(duration[name], zone)
        return _from_seconds(int(duration[f"{name}Ms"]) / 1000, zone)

    def read(thing: dict[str, Any]) -> Stay | None:
        visit = thing.get("placeVisit")
        if visit is None:
            return None
        where = visit["location"]
        position = _checked(where["latitudeE7"] / _E7, where["longitudeE7"] / _E7)
        arrival, departure = (moment(visit["duration"], name) for name in ("startTimestamp", "endTimestamp"))
        return Stay(arrival, departure, *position)

    yield from _each(path, objects, "object", read)


def _records(path: Path, zone: ZoneInfo) -> Iterator[Fix]:
    """Every fix a phone ever took: files of gigabytes, so one at a time."""
    import ijson  # noqa: PLC0415 - only for this

    def read(record: dict[str, Any]) -> Fix | None:
        if "latitudeE7" not in record:
            return None
        position = _checked(float(record["latitudeE7"]) / _E7, float(record["longitudeE7"]) / _E7)
        if "timestamp" in record:
            return Fix(_local(record["timestamp"], zone), *position)
        return Fix(_from_seconds(int(record["timestampMs"]) / 1000, zone), *position)

    try:
        with opened(path) as file:
            yield from _each(path, ijson.items(file, "locations.item"), "record", read)
    except ijson.JSONError:
        raise InputError(str(path), "is truncated or damaged JSON") from None


def _gpx(path: Path, zone: ZoneInfo) -> Iterator[Fix]:
    """Track points with a time."""

    def points() -> Iterator[tuple[str | None, str | None, str | None]]:
        with opened(path) as file:
            for _, element in ET.iterparse(file):  # noqa: S314 - the owner's own file
                if element.tag.rpartition("}")[2] == "trkpt":
                    times = [child.text for child in element if child.tag.rpartition("}")[2] == "time"]
                    yield element.get("lat"), element.get("lon"), times[0] if times else None
                    element.clear()

    def read(point: tuple[str | None, str | None, str | None]) -> Fix | None:
        lat, lng, time = point
        if time is None or lat is None or lng is None:
            return None
        return Fix(_local(time, zone), *_checked(float(lat), float(lng)))

    try:
        yield from _each(path, points(), "track point", read)
    except ET.ParseError as error:
        raise InputError(str(path), f"is no XML from line {error.position[0]} on") from None


def _owntracks(path: Path, zone: ZoneInfo) -> Iterator[Fix]:
    """Lines of a recorder's .rec file: a time, a mark, and JSON."""

    def read(line: str) -> Fix | None:
        parts = line.split("\t", 2)
        if len(parts) < 3:
            return None
        message = json.loads(parts[2])
        if message.get("_type") != "location":
            return None
        return Fix(_from_seconds(message["tst"], zone), *_checked(message["lat"], message["lon"]))

    yield from _each(path, (line for line in lines_of(path) if line.strip()), "line", read)


def _csv(path: Path, zone: ZoneInfo) -> Iterator[Fix]:
    """Latitude, longitude and time under any of their usual names; times without a zone are local."""
    names = [name.strip().strip('"') for name in first_line(path).split(",")]
    columns = {key: next((n for n in ALIASES[key] if n in names), None) for key in ("datetime", "lat", "lng")}
    missing = [key for key, name in columns.items() if name is None]
    if missing:
        raise InputError(str(path), f"column {missing[0]} is missing: needs lat, lng and datetime")
    has_zone: bool | None = None
    for row, record in records_of(path, ()):
        try:
            moment = dt.datetime.fromisoformat(record[str(columns["datetime"])])
            position = _checked(float(record[str(columns["lat"])]), float(record[str(columns["lng"])]))
        except (ValueError, OverflowError):
            problem = "needs degrees under lat and lng and a time such as 2024-03-07T10:30:00 under datetime"
            raise InputError(str(path), [Fault(row=row, problem=problem)]) from None
        if has_zone is not None and has_zone != (moment.tzinfo is not None):
            problem = "some times have a zone and some have none: give all of them one, or none"
            raise InputError(str(path), [Fault(row=row, column="datetime", problem=problem)])
        has_zone = moment.tzinfo is not None
        yield Fix(moment.astimezone(zone).replace(tzinfo=None) if has_zone else moment, *position)
