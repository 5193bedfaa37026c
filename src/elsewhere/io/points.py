"""Points of trajectories in files: CSV, Parquet and GeoJSON, in the column names that others use."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

import polars as pl

from elsewhere.errors import Fault, InputError
from elsewhere.knowledge.clock import Clock

# scikit-mobility's names first, then those of trackintel and movingpandas.
ALIASES = {
    "uid": ("uid", "user_id", "user"),
    "tid": ("tid", "trip_id", "traj_id", "trajectory_id", "tripleg_id"),
    "datetime": ("datetime", "timestamp", "t", "time", "started_at", "tracked_at"),
    "lat": ("lat", "latitude", "y"),
    "lng": ("lng", "lon", "long", "longitude", "x"),
    "place_id": ("place_id", "location_id", "poi_id"),
}
_ROWS_AT_ONCE = 200_000


class Point(NamedTuple):
    """One row of a file: whose it is, which local day and minute, and where."""

    uid: str
    tid: str
    moment: dt.datetime
    """Local wall-clock time."""
    latitude: float
    longitude: float
    place_id: str

    def __repr__(self) -> str:
        return "<private Point>"


def read_points(path: Path, clock: Clock) -> Iterator[Point]:
    """Points in the order of the file, a part of it in memory at a time (GeoJSON: all of it).

    Without a ``tid`` it is blank, and a trajectory is one person's local day. Faults name rows and
    columns, never values: they are private (R10).
    """
    row = 1
    for frame in _frames(path):
        columns = _columns(frame, path)
        faults: list[Fault] = []
        points = []
        for values in zip(*columns, strict=True):
            row += 1
            points.append(_point(values, row, clock, faults))
        if faults:
            raise InputError(str(path), faults)
        yield from (point for point in points if point is not None)


def _point(values: tuple[str, ...], row: int, clock: Clock, faults: list[Fault]) -> Point | None:
    uid, tid, moment, lat, lng, place_id = values
    try:
        local = _local(moment, clock.timezone)
    except (ValueError, OverflowError):
        faults.append(Fault(row=row, column="datetime", problem="must be a time such as 2025-09-17T10:30:00"))
        return None
    latitude, longitude = _position(lat, lng)
    if not place_id and not math.isfinite(latitude):
        faults.append(Fault(row=row, column="lat", problem="needs lat and lng in degrees, or a place_id"))
        return None
    return Point(uid, tid, local, latitude, longitude, place_id)


def _position(lat: str, lng: str) -> tuple[float, float]:
    """Degrees, or not-a-number where there are none or they make no sense."""
    try:
        latitude, longitude = float(lat), float(lng)
    except ValueError:
        return math.nan, math.nan
    is_on_earth = -90 <= latitude <= 90 and -180 <= longitude <= 180
    return (latitude, longitude) if is_on_earth else (math.nan, math.nan)


def _local(moment: str, timezone: str) -> dt.datetime:
    """Local wall-clock time; times without a zone are local already."""
    parsed = dt.datetime.fromisoformat(moment)
    if parsed.tzinfo is not None:
        parsed = parsed.astimezone(ZoneInfo(timezone)).replace(tzinfo=None)
    return parsed


def _frames(path: Path) -> Iterator[pl.DataFrame]:
    try:
        match path.suffix.lower():
            case ".csv":
                yield from pl.scan_csv(path, infer_schema=False).collect_batches(chunk_size=_ROWS_AT_ONCE)
            case ".parquet":
                text = pl.scan_parquet(path).with_columns(pl.all().cast(pl.String, strict=False))
                yield from text.collect_batches(chunk_size=_ROWS_AT_ONCE)
            case ".geojson" | ".json":
                yield _geojson_frame(path)
            case _:
                raise InputError(str(path), "must end in .csv, .parquet or .geojson")
    except FileNotFoundError:
        raise InputError(str(path), "no such file") from None
    except pl.exceptions.NoDataError:
        raise InputError(str(path), "the file is empty") from None
    except (OSError, pl.exceptions.PolarsError):
        # The library's own words may quote what is private.
        expected = "UTF-8 text with commas and quotes in pairs, every row as long as the header"
        raise InputError(str(path), f"cannot be read as a table: must be {expected}") from None


def _geojson_frame(path: Path) -> pl.DataFrame:
    try:
        features = json.loads(path.read_text(encoding="utf-8"))["features"]
        rows = [
            {
                **{key: "" if value is None else str(value) for key, value in feature["properties"].items()},
                "lng": str(feature["geometry"]["coordinates"][0]),
                "lat": str(feature["geometry"]["coordinates"][1]),
            }
            for feature in features
        ]
    except (UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError, IndexError, AttributeError):
        raise InputError(str(path), "not a GeoJSON FeatureCollection of points") from None
    return pl.DataFrame(rows, infer_schema_length=None)


def _columns(frame: pl.DataFrame, path: Path) -> list[list[str]]:
    """The six columns as text, under whichever name the file has them."""
    found: dict[str, list[str]] = {}
    for name, aliases in ALIASES.items():
        present = [alias for alias in aliases if alias in frame.columns]
        if present:
            found[name] = frame[present[0]].cast(pl.String).fill_null("").str.strip_chars().to_list()
    missing = [name for name in ("uid", "datetime") if name not in found]
    if "place_id" not in found and not {"lat", "lng"} <= set(found):
        missing.append("place_id (or lat and lng)")
    if missing:
        names = ", ".join(
            f"{name} ({' or '.join(ALIASES[name][1:])})" if name in ALIASES else name for name in missing
        )
        # A file without a header has a private row in its place: columns that we do not know stay unnamed.
        known = ", ".join(sorted(found)) or "none that is known"
        raise InputError(str(path), f"column {names} missing; the file has {known}")
    blank = [""] * frame.height
    return [found.get(name, blank) for name in ALIASES]
