"""Points of trajectories in files: CSV, Parquet and GeoJSON, in the column names that others use."""

from __future__ import annotations

import csv
import datetime as dt
import json
import math
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import polars as pl

from elsewhere.device.csv_tables import ROWS_AT_ONCE, csv_tables
from elsewhere.errors import Fault, InputError
from elsewhere.inputs.column_names import (
    ALIASES,
    FoundColumns,
    columns_in_words,
    found_columns,
    joined_time,
    plain_name,
)
from elsewhere.inputs.moments import (
    EXAMPLE,
    DateOrder,
    MomentError,
    date_order_of,
    has_slashes,
    local_moment,
    moment_of,
)
from elsewhere.inputs.raw_text import opened
from elsewhere.knowledge.clock import Clock

# Date and time of day may stand in columns of their own.
_KEYS = ALIASES | {"epsilon": ("epsilon",), "date": ("date",)}
_FIELDS = (*ALIASES, "epsilon")
_PACKED = (".gz", ".zip")

Table = pl.DataFrame
"""Columns of text."""


class Point(NamedTuple):
    """One row of a file: whose it is, which local day and minute, and where."""

    uid: str
    tid: str
    moment: dt.datetime
    """Local wall-clock time."""
    latitude: float
    longitude: float
    place_id: str
    epsilon: str = ""
    """What the person chose, where a file says so."""
    row: int = 0
    """Where it stands in the file, as an editor counts; 0 if it is from none."""

    def __repr__(self) -> str:
        return "<private Point>"


def read_points(path: Path, clock: Clock) -> Iterator[Point]:
    """Points in the order of the file, a part of it in memory at a time (GeoJSON: all of it).

    Without a ``tid`` it is blank, and a trajectory is one person's local day. Faults name rows and
    columns, never values: they are private (R10).
    """
    order = date_order(path)
    row = 1
    for table in tables_of(path):
        yield from points_of_table(table, clock, str(path), before=row, order=order)
        row += table.height


def date_order(path: Path) -> DateOrder | None:
    """Whether day or month comes first; the whole file is asked only if it writes dates that way."""
    return _order_of(text for table in tables_of(path) for text in text_columns(table, str(path))[0][2])


def date_order_of_table(table: Table, source: str) -> DateOrder | None:
    """The same of a table that is all there is."""
    return _order_of(iter(text_columns(table, source)[0][2]))


def _order_of(texts: Iterator[str]) -> DateOrder | None:
    first = next(texts, "")
    return date_order_of(chain([first], texts)) if has_slashes(first) else None


def points_of_table(
    table: Table, clock: Clock, source: str, *, before: int = 1, order: DateOrder | None = None
) -> list[Point]:
    """Points of columns of text; ``before`` so many rows came before them. Blank rows are passed over.

    Whoever sees all rows says in which ``order`` dates are written: from a part of them, the same day could
    be read in two ways. Without it, a date that may be either is a fault.
    """
    columns, is_utc = text_columns(table, source)
    times = _Times(clock.timezone, order, is_utc)
    faults: list[Fault] = []
    rows = zip(*(column.to_list() for column in columns), strict=True)
    points = [
        _point(values, row, times, faults) for row, values in enumerate(rows, start=before + 1) if any(values)
    ]
    if faults:
        raise InputError(source, faults)
    return [point for point in points if point is not None]


class _Times(NamedTuple):
    """How the times of a file are read."""

    timezone: str
    order: DateOrder | None
    is_utc: bool

    def local(self, text: str) -> dt.datetime:
        """Local wall-clock time; times without a zone are local already, unless their column says UTC."""
        moment = moment_of(text, self.order)
        is_bare = moment.tzinfo is None and self.is_utc
        return local_moment(moment.replace(tzinfo=dt.UTC) if is_bare else moment, self.timezone)


def one_way_to_write(uid: str) -> str:
    """An id as Unicode composes it, without marks nobody sees: one person must not be two."""
    if uid.isascii():
        return uid
    composed = unicodedata.normalize("NFKC", uid)
    return "".join(letter for letter in composed if unicodedata.category(letter) != "Cf").strip()


def _point(values: tuple[str, ...], row: int, times: _Times, faults: list[Fault]) -> Point | None:
    uid, tid, moment, lat, lng, place_id, epsilon = values
    uid = one_way_to_write(uid)
    try:
        local = times.local(moment)
    except (ValueError, OverflowError) as error:
        problem = str(error) if isinstance(error, MomentError) else f"must be a time such as {EXAMPLE}"
        faults.append(Fault(row=row, column="datetime", problem=problem))
        return None
    if not uid:
        faults.append(Fault(row=row, column="uid", problem="is empty, every row needs its person"))
        return None
    latitude, longitude = _position(lat, lng)
    if not place_id and not math.isfinite(latitude):
        faults.append(Fault(row=row, column="lat", problem="needs lat and lng in degrees, or a place_id"))
        return None
    return Point(uid, tid, local, latitude, longitude, place_id, epsilon, row)


def _position(lat: str, lng: str) -> tuple[float, float]:
    """Degrees, or not-a-number where there are none or they make no sense."""
    try:
        latitude, longitude = float(lat), float(lng)
    except ValueError:
        return math.nan, math.nan
    is_on_earth = -90 <= latitude <= 90 and -180 <= longitude <= 180
    return (latitude, longitude) if is_on_earth else (math.nan, math.nan)


def tables_of(path: Path) -> Iterator[Table]:
    """A file in pieces, each a column of text per name."""
    if path.is_dir():
        raise InputError(str(path), "is a folder, not a file")
    endings = [ending for ending in map(str.lower, path.suffixes) if ending not in _PACKED]
    try:
        match endings[-1:] and endings[-1]:
            case ".csv" | ".tsv" | ".txt":
                yield from csv_tables(path, columns_of)
            case ".parquet" | ".geoparquet":
                yield from _parquet_tables(path)
            case ".geojson" | ".json":
                yield _geojson_table(path)
            case _:
                raise InputError(
                    str(path), "must end in .csv, .tsv or .txt (or .csv.gz, ...), .parquet or .geojson"
                )
    except FileNotFoundError:
        raise InputError(str(path), "no such file") from None
    except pl.exceptions.PolarsError:
        raise InputError(str(path), "not a Parquet file, or a damaged one") from None
    except (OSError, UnicodeDecodeError, csv.Error):
        # The library's own words may quote what is private.
        expected = "UTF-8 text with commas and quotes in pairs, every row as long as the header"
        raise InputError(str(path), f"cannot be read as a table: must be {expected}") from None


def _parquet_tables(path: Path) -> Iterator[Table]:
    plan = pl.scan_parquet(path)
    known = {plain_name(alias) for aliases in _KEYS.values() for alias in aliases}
    names = plan.collect_schema().names()
    columns_of(names, str(path))
    plan = plan.select([name for name in names if plain_name(name) in known])
    total = plan.select(pl.len()).collect().item()
    for start in range(0, max(total, 1), ROWS_AT_ONCE):
        frame = plan.slice(start, ROWS_AT_ONCE).collect()
        text = frame.with_columns(pl.all().cast(pl.String, strict=False).fill_null("").str.strip_chars())
        yield text


def _geojson_table(path: Path) -> Table:
    try:
        with opened(path) as file:
            features = json.loads(file.read().decode("utf-8-sig"))["features"]
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
    return table_of({name: [row.get(name, "").strip() for row in rows] for name in names})


def table_of(columns: Mapping[str, Sequence[str]]) -> Table:
    """Columns of text, one after the other."""
    return pl.DataFrame(dict(columns), schema=dict.fromkeys(columns, pl.String))


def text_columns(table: Table, source: str) -> tuple[list[pl.Series], bool]:
    """A point's columns as text, under whichever name the file has them, and whether bare times are UTC."""
    where, is_utc = columns_of(table.columns, source)
    found = {key: table.to_series(place) for key, place in where.items()}
    if where.get("date", where["datetime"]) != where["datetime"]:
        pairs = zip(found["date"], found["datetime"], strict=True)
        found["datetime"] = pl.Series([joined_time(*pair) for pair in pairs], dtype=pl.String)
    blank = pl.repeat("", table.height, dtype=pl.String, eager=True)
    return [found.get(name, blank) for name in _FIELDS], is_utc


def check_has_epsilons(path: Path) -> None:
    """An error if no column says which ε people chose."""
    for table in tables_of(path):
        if "epsilon" not in columns_of(table.columns, str(path)).where:
            raise InputError(str(path), f"column epsilon missing; {columns_in_words(table.columns)}")
        return


def columns_of(names: list[str], source: str) -> FoundColumns:
    """Where the columns are; an error if one that is needed is missing."""
    found = found_columns(names, source, keys=_KEYS)
    missing = [name for name in ("uid", "datetime") if name not in found.where]
    if "place_id" not in found.where and not {"lat", "lng"} <= set(found.where):
        missing.append("place_id (or lat and lng)")
    if missing:
        wanted = ", ".join(
            f"{name} ({' or '.join(ALIASES[name][1:4])})" if name in ALIASES else name for name in missing
        )
        # A file without a header has a private row in its place, which is never named.
        raise InputError(source, f"column {wanted} missing; {columns_in_words(names)}")
    return found
