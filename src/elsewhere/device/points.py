"""Points of trajectories in files: CSV, Parquet and GeoJSON, in the column names that others use."""

from __future__ import annotations

import csv
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
_ROWS_AT_ONCE = 50_000

Table = dict[str, list[str]]


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
    for table in _tables(path):
        points = points_of_table(table, clock, str(path), before=row)
        row += len(points)
        yield from points


def points_of_table(table: Table, clock: Clock, source: str, *, before: int = 1) -> list[Point]:
    """Points of columns of text; ``before`` so many rows came before them."""
    faults: list[Fault] = []
    points = [
        _point(values, row, clock, faults)
        for row, values in enumerate(zip(*_columns(table, source), strict=True), start=before + 1)
    ]
    if faults:
        raise InputError(source, faults)
    return [point for point in points if point is not None]


def _point(values: tuple[str, ...], row: int, clock: Clock, faults: list[Fault]) -> Point | None:
    uid, tid, moment, lat, lng, place_id = values
    try:
        local = _local(moment, clock.timezone)
    except (ValueError, OverflowError):
        faults.append(Fault(row=row, column="datetime", problem="must be a time such as 2025-09-17T10:30:00"))
        return None
    if not uid:
        faults.append(Fault(row=row, column="uid", problem="is empty, every row needs its person"))
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


def _tables(path: Path) -> Iterator[Table]:
    """A file in pieces, each a column of text per name."""
    if path.is_dir():
        raise InputError(str(path), "is a folder, not a file")
    try:
        match path.suffix.lower():
            case ".csv":
                yield from _csv_tables(path)
            case ".parquet" | ".geoparquet":
                yield from _parquet_tables(path)
            case ".geojson" | ".json":
                yield _geojson_table(path)
            case _:
                raise InputError(str(path), "must end in .csv, .parquet or .geojson")
    except FileNotFoundError:
        raise InputError(str(path), "no such file") from None
    except pl.exceptions.PolarsError:
        raise InputError(str(path), "not a Parquet file, or a damaged one") from None
    except (OSError, UnicodeDecodeError, csv.Error):
        # The library's own words may quote what is private.
        expected = "UTF-8 text with commas and quotes in pairs, every row as long as the header"
        raise InputError(str(path), f"cannot be read as a table: must be {expected}") from None


def _csv_tables(path: Path) -> Iterator[Table]:
    """Row by row with the standard library: no reader that runs ahead and fills the memory."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        header = [name.strip() for name in next(reader, [])]
        if not header:
            raise InputError(str(path), "the file is empty")
        rows: list[list[str]] = []
        for number, row in enumerate(reader, start=2):
            if len(row) != len(header) and row:
                problem = f"has {len(row)} fields, the header has {len(header)}"
                raise InputError(str(path), [Fault(row=number, problem=problem)])
            rows.append(row or [""] * len(header))
            if len(rows) == _ROWS_AT_ONCE:
                yield _by_name(header, rows)
                rows = []
        yield _by_name(header, rows)


def _by_name(header: list[str], rows: list[list[str]]) -> Table:
    columns = zip(*rows, strict=True) if rows else [()] * len(header)
    return {name: [value.strip() for value in column] for name, column in zip(header, columns, strict=True)}


def _parquet_tables(path: Path) -> Iterator[Table]:
    plan = pl.scan_parquet(path)
    known = {alias for aliases in ALIASES.values() for alias in aliases}
    plan = plan.select([name for name in plan.collect_schema().names() if name in known])
    total = plan.select(pl.len()).collect().item()
    for start in range(0, max(total, 1), _ROWS_AT_ONCE):
        frame = plan.slice(start, _ROWS_AT_ONCE).collect()
        text = frame.with_columns(pl.all().cast(pl.String, strict=False).fill_null("").str.strip_chars())
        yield text.to_dict(as_series=False)


def _geojson_table(path: Path) -> Table:
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
    names = {name for row in rows for name in row}
    return {name: [row.get(name, "").strip() for row in rows] for name in names}


def _columns(table: Table, source: str) -> list[list[str]]:
    """The six columns as text, under whichever name the file has them."""
    found: dict[str, list[str]] = {}
    for name, aliases in ALIASES.items():
        present = [alias for alias in aliases if alias in table]
        if present:
            found[name] = table[present[0]]
    missing = [name for name in ("uid", "datetime") if name not in found]
    if "place_id" not in found and not {"lat", "lng"} <= set(found):
        missing.append("place_id (or lat and lng)")
    if missing:
        names = ", ".join(
            f"{name} ({' or '.join(ALIASES[name][1:])})" if name in ALIASES else name for name in missing
        )
        # A file without a header has a private row in its place: columns that we do not know stay unnamed.
        known = ", ".join(sorted(found)) or "none that is known"
        raise InputError(source, f"column {names} missing; the file has {known}")
    height = max(map(len, table.values()))
    return [found.get(name, [""] * height) for name in ALIASES]
