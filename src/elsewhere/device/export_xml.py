"""A person's own files in XML: GPX, KML (also Google's tracks), TCX. With the standard library alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from xml.etree import ElementTree as ET
from zoneinfo import ZoneInfo

from elsewhere.device.fixes import Export, Fix, Raw, Stay, each, local, on_the_globe
from elsewhere.errors import InputError

Found = Fix | Stay


def read_xml(raw: Raw, zone: ZoneInfo) -> Export:
    """An XML file told apart by its first element; one without a time is named as such."""
    start = raw.start(1 << 16)
    if b"<!ENTITY" in start:  # none of these formats has any, and some grow without end
        raise InputError(raw.name, "is XML with entities of its own, which none of GPX, KML and TCX has")
    kind = _root(raw)
    readers: dict[str, tuple[str, set[str], Callable[[ET.Element, ZoneInfo], list[Found]]]] = {
        "gpx": ("GPX", {"trkpt", "wpt", "rtept"}, _gpx_point),
        "kml": ("KML", {"Placemark"}, _placemark),
        "TrainingCenterDatabase": ("TCX", {"Trackpoint"}, _trackpoint),
    }
    if kind == "html":
        raise InputError(
            raw.name, "is a web page, must be a file of places and times: export JSON, GPX or KML"
        )
    if kind not in readers:
        raise InputError(raw.name, "is XML of another kind, must be GPX, KML or TCX")
    name, tags, read = readers[kind]
    elements = 0

    def counted() -> Iterator[ET.Element]:
        nonlocal elements
        for element in _elements(raw, tags):
            elements += 1
            yield element

    found = [one for some in each(raw, counted(), "point", lambda e: read(e, zone)) for one in some]
    # Without any point it is a record of nothing, as of a day at home: a refusal would tell of it.
    if not found and elements:
        raise InputError(
            raw.name, f"is {name} without times: its {elements:,} points have none. A day needs to know when"
        )
    return Export(
        name, [one for one in found if isinstance(one, Stay)], [one for one in found if isinstance(one, Fix)]
    )


def _tag(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


def _root(raw: Raw) -> str:
    try:
        with raw.open() as file:
            for _, element in ET.iterparse(file, events=("start",)):  # noqa: S314 - the owner's own file
                return _tag(element)
    except ET.ParseError as error:
        if b"<html" in raw.start().lower():
            return "html"  # web pages are seldom XML
        raise _no_xml(raw, error) from None
    return ""


def _elements(raw: Raw, tags: set[str]) -> Iterator[ET.Element]:
    """Elements of some kinds as they end, forgotten afterwards."""
    try:
        with raw.open() as file:
            for _, element in ET.iterparse(file):  # noqa: S314 - the owner's own file
                if _tag(element) in tags:
                    yield element
                    element.clear()
    except ET.ParseError as error:
        raise _no_xml(raw, error) from None


def _no_xml(raw: Raw, error: ET.ParseError) -> InputError:
    return InputError(raw.name, f"is no XML from line {error.position[0]} on")


def _texts(element: ET.Element, tag: str) -> list[str]:
    """What stands in the elements of a name, at any depth."""
    return [(child.text or "").strip() for child in element.iter() if _tag(child) == tag]


def _gpx_point(point: ET.Element, zone: ZoneInfo) -> list[Found]:
    times = _texts(point, "time")
    lat, lng = point.get("lat"), point.get("lon")
    if not times or lat is None or lng is None:
        return []
    return [Fix(local(times[0], zone), *on_the_globe(float(lat), float(lng)))]


def _trackpoint(point: ET.Element, zone: ZoneInfo) -> list[Found]:
    times = _texts(point, "Time")
    lats, lngs = _texts(point, "LatitudeDegrees"), _texts(point, "LongitudeDegrees")
    if not times or not lats or not lngs:  # indoors, a watch has times but no position
        return []
    return [Fix(local(times[0], zone), *on_the_globe(float(lats[0]), float(lngs[0])))]


def _placemark(mark: ET.Element, zone: ZoneInfo) -> list[Found]:
    """A track of Google's, a point with a time, or a point with a span of time; lines are journeys."""
    times, places = _texts(mark, "when"), _texts(mark, "coord")
    if places:
        return [
            Fix(local(when, zone), *_position(place, None))
            for when, place in zip(times, places, strict=True)
            if when and place
        ]
    points = [child for child in mark.iter() if _tag(child) == "Point"]
    if not points:
        return []
    position = _position(_texts(points[0], "coordinates")[0], ",")
    begins, ends = _texts(mark, "begin"), _texts(mark, "end")
    if begins and ends:
        return [Stay(local(begins[0], zone), local(ends[0], zone), *position)]
    return [Fix(local(times[0], zone), *position)] if times else []


def _position(text: str, separator: str | None) -> tuple[float, float]:
    """Longitude comes first in KML."""
    longitude, latitude = (float(part) for part in text.split(separator)[:2])
    return on_the_globe(latitude, longitude)
