"""Places of Overture Maps and Foursquare Open Source Places, from Parquet with their published columns."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import polars as pl
import shapely

from elsewhere.datasets.osm_tags import Found
from elsewhere.errors import InputError
from elsewhere.inputs.raw_text import degrees, records_of

_LEVELS = 3
_OTHER = "Services and offices"


def parquet_places(path: Path, steps: dict[str, int]) -> Iterator[Found]:
    """Places with a name, a position and a category; those that are closed for good are left out."""
    try:
        names = pl.read_parquet_schema(path)
    except FileNotFoundError:
        raise InputError(str(path), "no such file") from None
    except (pl.exceptions.PolarsError, OSError):
        raise InputError(str(path), "not a Parquet file, or a damaged one") from None
    if "fsq_place_id" in names:
        rows = _foursquare_rows(path, "date_closed" in names)
    elif {"id", "names", "categories", "geometry"} <= set(names):
        rows = _overture_rows(path, "taxonomy" in names)
    else:
        raise InputError(
            str(path),
            "has neither Foursquare's columns (fsq_place_id, name, latitude, longitude, fsq_category_labels) "
            "nor Overture's (id, names, categories, geometry)",
        )
    steps |= {"places in the table": 0, "closed, or without a name, position or category": 0}
    for place_id, name, position, labels in rows:
        steps["places in the table"] += 1
        path_of = tuple(label for label in labels if label)[:_LEVELS]
        if not (place_id and name and position and path_of):
            steps["closed, or without a name, position or category"] += 1
            continue
        group = _groups().get(path_of[0], _OTHER)
        yield Found(place_id, name, *position, path_of, group, 1.0, "")


Row = tuple[str, str, tuple[float, float] | None, list[str]]


def _foursquare_rows(path: Path, has_closed: bool) -> Iterator[Row]:
    """Labels are such as "Dining and Drinking > Restaurant > Pizzeria"; the first of several counts."""
    columns = ["fsq_place_id", "name", "latitude", "longitude", "fsq_category_labels"]
    frame = pl.scan_parquet(path).select([*columns, *(["date_closed"] if has_closed else [])]).collect()
    for row in frame.iter_rows(named=True):
        labels = row["fsq_category_labels"]
        first = (labels[0] if isinstance(labels, list) and labels else labels) or ""
        position = None if row.get("date_closed") else degrees(str(row["latitude"]), str(row["longitude"]))
        yield row["fsq_place_id"], row["name"], position, [part.strip() for part in str(first).split(">")]


def _overture_rows(path: Path, has_taxonomy: bool) -> Iterator[Row]:
    """Categories are one word, or, in newer releases, a taxonomy from the root on."""
    columns = ["id", "names", "categories", "geometry", *(["taxonomy"] if has_taxonomy else [])]
    frame = pl.scan_parquet(path).select(columns).collect()
    for row in frame.iter_rows(named=True):
        name = (row["names"] or {}).get("primary") or ""
        hierarchy = (row.get("taxonomy") or {}).get("hierarchy") or []
        primary = (row["categories"] or {}).get("primary") or ""
        yield row["id"], name, _point(row["geometry"]), list(hierarchy) or [primary]


def _point(wkb: Any) -> tuple[float, float] | None:
    try:
        point = shapely.from_wkb(wkb)
        return (point.y, point.x) if isinstance(point, shapely.Point) and not point.is_empty else None
    except (shapely.errors.GEOSException, TypeError):
        return None


@cache
def _groups() -> dict[str, str]:
    with as_file(files("elsewhere.datasets") / "tables/place_roots.csv") as path:
        return {row["root"]: row["group"] for _, row in records_of(path, ("root", "group"))}
