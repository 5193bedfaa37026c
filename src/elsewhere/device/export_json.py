"""A person's own files in JSON: Google Timeline of phones, Takeout of earlier years, GeoJSON."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterator
from typing import Any
from zoneinfo import ZoneInfo

import ijson

from elsewhere.device.fixes import (
    Export,
    Fix,
    Raw,
    Stay,
    each,
    from_seconds,
    local,
    on_the_globe,
)
from elsewhere.errors import InputError
from elsewhere.inputs.column_names import ALIASES
from elsewhere.inputs.moments import local_moment

_E7 = 1e7
_MILLISECONDS = 1e11
"""Seconds since 1970 get this large in the year 5138: larger numbers are milliseconds."""
_KNOWN = re.compile(
    rb'"(locations|timelineObjects|semanticSegments|FeatureCollection)"|^\s*\[.*"startTime"', re.DOTALL
)


def is_known_json(start: bytes) -> bool:
    """Whether the beginning of a file looks like one of these, and not like the many others of a Takeout."""
    return _KNOWN.search(start) is not None


def read_json(raw: Raw, zone: ZoneInfo) -> Export:
    """A JSON file told apart by its content."""
    if re.search(rb'"locations"\s*:', raw.start()):
        return Export("Takeout records", [], list(_records(raw, zone)))
    content = _content(raw)
    if isinstance(content, list):
        return Export("Timeline of iOS", list(_segments(raw, content, zone)), [])
    if isinstance(content, dict):
        if "semanticSegments" in content:
            return Export("Timeline of Android", list(_segments(raw, content["semanticSegments"], zone)), [])
        if "timelineObjects" in content:
            return Export("Takeout timeline", list(_place_visits(raw, content["timelineObjects"], zone)), [])
        if content.get("type") in {"FeatureCollection", "Feature"}:
            features = content.get("features", [content])
            return Export("GeoJSON", [], list(_features(raw, features, zone)))
    raise InputError(
        raw.name,
        "is JSON, but has none of semanticSegments, timelineObjects, locations, GeoJSON features, "
        "and is no list",
    )


def _content(raw: Raw) -> Any:
    with raw.open() as file:
        content = file.read()
    try:
        return json.loads(content.decode("utf-8-sig"))
    except ValueError as error:
        where = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise InputError(raw.name, f"is not JSON{where}") from None


def _segments(raw: Raw, segments: Any, zone: ZoneInfo) -> Iterator[Stay]:
    """Visits of the Timeline as phones export it; journeys between them are not needed."""

    def read(segment: dict[str, Any]) -> Stay | None:
        visit = segment.get("visit")
        if visit is None or int(visit.get("hierarchyLevel", 0)) > 0:  # a place within a place
            return None
        where = visit["topCandidate"]["placeLocation"]
        text = where["latLng"] if isinstance(where, dict) else where
        latitude, longitude = (float(part) for part in re.findall(r"-?\d+(?:\.\d+)?", text)[:2])
        arrival, departure = (local(segment[name], zone) for name in ("startTime", "endTime"))
        return Stay(arrival, departure, *on_the_globe(latitude, longitude))

    yield from each(raw, segments, "segment", read)


def _place_visits(raw: Raw, objects: Any, zone: ZoneInfo) -> Iterator[Stay]:
    """Visits of an older Takeout; times are text, or milliseconds in the oldest."""

    def moment(duration: dict[str, str], name: str) -> dt.datetime:
        if name in duration:
            return local(duration[name], zone)
        return from_seconds(int(duration[f"{name}Ms"]) / 1000, zone)

    def read(thing: dict[str, Any]) -> Stay | None:
        visit = thing.get("placeVisit")
        if visit is None:
            return None
        where = visit["location"]
        position = on_the_globe(where["latitudeE7"] / _E7, where["longitudeE7"] / _E7)
        arrival, departure = (moment(visit["duration"], name) for name in ("startTimestamp", "endTimestamp"))
        return Stay(arrival, departure, *position)

    yield from each(raw, objects, "object", read)


def _records(raw: Raw, zone: ZoneInfo) -> Iterator[Fix]:
    """Every fix a phone ever took: files of gigabytes, so one at a time."""

    def read(record: dict[str, Any]) -> Fix | None:
        if "latitudeE7" not in record:
            return None
        position = on_the_globe(float(record["latitudeE7"]) / _E7, float(record["longitudeE7"]) / _E7)
        if "timestamp" in record:
            return Fix(local(record["timestamp"], zone), *position)
        return Fix(from_seconds(int(record["timestampMs"]) / 1000, zone), *position)

    try:
        with raw.open() as file:
            yield from each(raw, ijson.items(file, "locations.item"), "record", read)
    except ijson.JSONError:
        raise InputError(raw.name, "is truncated or damaged JSON") from None


def _features(raw: Raw, features: Any, zone: ZoneInfo) -> Iterator[Fix]:
    """Points of a GeoJSON file with a time among their properties, as text or seconds since 1970."""

    def moment(found: Any) -> dt.datetime:
        if isinstance(found, str) and not found.strip().isdigit():
            return local_moment(dt.datetime.fromisoformat(found.strip()), zone.key)
        seconds = float(found)
        return from_seconds(seconds / 1000 if seconds > _MILLISECONDS else seconds, zone)

    def read(feature: dict[str, Any]) -> Fix | None:
        geometry, properties = feature.get("geometry") or {}, feature.get("properties") or {}
        found = next((properties[name] for name in ALIASES["datetime"] if properties.get(name)), None)
        if geometry.get("type") != "Point" or found is None:
            return None
        longitude, latitude = geometry["coordinates"][:2]
        return Fix(moment(found), *on_the_globe(float(latitude), float(longitude)))

    yield from each(raw, features, "feature", read)
