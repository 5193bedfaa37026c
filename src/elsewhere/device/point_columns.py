"""Points of a file in columns: the fast way for tables that are written plainly, as nearly all are.

Whatever is not plain (times with zones or slashes, letters beyond ASCII, blank rows, faults) is read row by
row (`points`), which also finds the words for what is wrong. Both ways give the same points: a test says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from elsewhere.arrays import Counts, Floats
from elsewhere.device.points import Point, Table, date_order, points_of_table, tables_of, text_columns
from elsewhere.inputs.moments import DateOrder
from elsewhere.knowledge.clock import Clock

_PLAIN_TIME = r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?$"
_TO_SECONDS = len("2025-09-17T08:00:00")
_FORMATS = {
    ("T", _TO_SECONDS): "%Y-%m-%dT%H:%M:%S", (" ", _TO_SECONDS): "%Y-%m-%d %H:%M:%S",
    ("T", 16): "%Y-%m-%dT%H:%M", (" ", 16): "%Y-%m-%d %H:%M",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PointColumns:
    """Rows of a file. PRIVATE."""

    uids: pl.Series
    tids: pl.Series
    moments: Counts
    """Local wall-clock time in microseconds since 1970."""
    latitudes: Floats
    longitudes: Floats
    """Not-a-number where there is no position."""
    place_ids: pl.Series
    epsilons: pl.Series

    def __len__(self) -> int:
        return len(self.uids)


def read_point_columns(path: Path, clock: Clock) -> Iterator[PointColumns]:
    """Points in the order of the file, a part of it in memory at a time; see `points.read_points`."""
    order = date_order(path)
    row = 1
    for table in tables_of(path):
        yield columns_of_table(table, clock, str(path), before=row, order=order)
        row += table.height


def columns_of_table(
    table: Table, clock: Clock, source: str, *, before: int = 1, order: DateOrder | None = None
) -> PointColumns:
    """Points of columns of text; ``before`` so many rows came before them."""
    columns, is_utc = text_columns(table, source)
    plain = None if is_utc else plain_columns(columns)
    if plain is not None:
        return plain
    return columns_of_points(points_of_table(table, clock, source, before=before, order=order))


def plain_columns(columns: Sequence[pl.Series]) -> PointColumns | None:
    """Points of plain text: uid, tid, datetime, lat, lng, place_id, epsilon; None if some is not plain."""
    uids, tids, times, lat, lng, place_ids, epsilons = columns
    if not (_is_ascii(uids) and (uids.str.len_bytes() > 0).all()):
        return None
    moments = _moments(times)
    latitudes, longitudes = _numbers(lat), _numbers(lng)
    if moments is None or latitudes is None or longitudes is None:
        return None
    with np.errstate(invalid="ignore"):
        is_there = (np.abs(latitudes) <= 90) & (np.abs(longitudes) <= 180)
    if not (is_there | (place_ids.str.len_bytes() > 0).to_numpy()).all():
        return None
    return PointColumns(
        uids=uids,
        tids=tids,
        moments=moments,
        latitudes=np.where(is_there, latitudes, np.nan),
        longitudes=np.where(is_there, longitudes, np.nan),
        place_ids=place_ids,
        epsilons=epsilons,
    )


def columns_of_points(points: Sequence[Point]) -> PointColumns:
    """Points that were read row by row."""
    columns = list(zip(*points, strict=True)) if points else [()] * len(Point._fields)
    uids, tids, moments, latitudes, longitudes, place_ids, epsilons, _ = columns
    return PointColumns(
        uids=pl.Series(uids, dtype=pl.String),
        tids=pl.Series(tids, dtype=pl.String),
        moments=np.array(moments, dtype="datetime64[us]").astype(np.int64),
        latitudes=np.array(latitudes, dtype=np.float64),
        longitudes=np.array(longitudes, dtype=np.float64),
        place_ids=pl.Series(place_ids, dtype=pl.String),
        epsilons=pl.Series(epsilons, dtype=pl.String),
    )


def joined_points(parts: Sequence[PointColumns]) -> PointColumns:
    """All points of several parts, in order."""
    return PointColumns(
        uids=pl.concat([part.uids for part in parts]),
        tids=pl.concat([part.tids for part in parts]),
        moments=np.concatenate([part.moments for part in parts]),
        latitudes=np.concatenate([part.latitudes for part in parts]),
        longitudes=np.concatenate([part.longitudes for part in parts]),
        place_ids=pl.concat([part.place_ids for part in parts]),
        epsilons=pl.concat([part.epsilons for part in parts]),
    )


def some_points(points: PointColumns, rows: slice) -> PointColumns:
    """Points of some rows in a row."""
    return PointColumns(
        uids=points.uids[rows],
        tids=points.tids[rows],
        moments=points.moments[rows],
        latitudes=points.latitudes[rows],
        longitudes=points.longitudes[rows],
        place_ids=points.place_ids[rows],
        epsilons=points.epsilons[rows],
    )


def _is_ascii(text: pl.Series) -> bool:
    return bool((text.str.len_bytes() == text.str.len_chars()).all())


def _moments(times: pl.Series) -> Counts | None:
    if times.is_empty() or not times.str.contains(_PLAIN_TIME).all():
        return None
    whole = times.str.head(_TO_SECONDS)
    first = whole[0]
    # All are written like the first, or this is not plain.
    parsed = whole.str.to_datetime(_FORMATS[first[10], len(first)], strict=False, time_unit="us")
    if parsed.has_nulls():
        return None
    # Timestamps of Parquet come as text with a fraction: what is finer than a microsecond is dropped.
    micros = times.str.slice(_TO_SECONDS + 1, 6).str.pad_end(6, "0").cast(pl.Int64)
    return (parsed.to_physical() + micros).to_numpy()


def _numbers(text: pl.Series) -> Floats | None:
    """Numbers, not-a-number for blanks; None if anything else is there."""
    numbers = text.cast(pl.Float64, strict=False)
    is_lost = numbers.is_null() & (text.str.len_bytes() > 0)
    return None if is_lost.any() else numbers.fill_null(float("nan")).to_numpy()
