"""The base map beside a world or a survey: `city.pmtiles` beside `city.world`, for people to look at."""

from __future__ import annotations

import shutil
from pathlib import Path

from elsewhere.errors import InputError, needs_extra
from elsewhere.files import whole_file
from elsewhere.knowledge.places import Places

SUFFIX = ".pmtiles"
_MAGIC = b"PMTiles"
_EXTRACTS = (".pbf", ".osm", ".bz2")
_MOST_BYTES = 40_000_000

Box = tuple[float, float, float, float]
"""West, south, east, north."""


def basemap_path(file: Path) -> Path:
    """Where the base map of a world's or a survey's file is, if it has one."""
    return file.with_suffix(SUFFIX)


def basemap_beside(file: Path) -> bytes | None:
    """The base map of a world's or a survey's file, if it has one."""
    path = basemap_path(file)
    if not path.is_file():
        return None
    if path.stat().st_size > _MOST_BYTES:
        raise InputError(str(path), f"has more than {_MOST_BYTES // 1_000_000} MB: too large for a page")
    tiles = path.read_bytes()
    if not tiles.startswith(_MAGIC):
        raise InputError(str(path), "holds no map tiles (PMTiles)")
    return tiles


def keep_basemap(source: Path, places: Places, file: Path) -> None:
    """Put a base map beside ``file``: tiles as they are, an OpenStreetMap extract made into tiles."""
    target = file.with_suffix(SUFFIX)
    if source.suffix in _EXTRACTS:
        with needs_extra("a base map", "osm"):
            from elsewhere.inputs.osm_basemap import write_basemap  # noqa: PLC0415 - needs an extra
        write_basemap(source, box_of(places), target)
        return
    if source.suffix != SUFFIX:
        allowed = f"must be {SUFFIX}, or an OpenStreetMap extract (.osm.pbf, .osm)"
        raise InputError("basemap", f"found {source.name!r}, {allowed}")
    if basemap_beside(source) is None:
        raise InputError(str(source), "no such file")
    copy_basemap(source, file)


def copy_basemap(source: Path, file: Path) -> None:
    """The base map beside one file, also beside another; nothing, if there is none."""
    found, target = source.with_suffix(SUFFIX), file.with_suffix(SUFFIX)
    if found.is_file() and found.resolve() != target.resolve():
        with found.open("rb") as tiles, whole_file(target) as copied:
            shutil.copyfileobj(tiles, copied)


def box_of(places: Places) -> Box:
    """All that has a place in it."""
    latitudes, longitudes = places.latitudes, places.longitudes
    return (
        float(longitudes.min()),
        float(latitudes.min()),
        float(longitudes.max()),
        float(latitudes.max()),
    )
