"""Shared trajectories in files: CSV, Parquet or GeoJSON, with what is promised of them beside or inside."""

from __future__ import annotations

import datetime as dt
import io
import json
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import polars as pl

from elsewhere.days.visits import Days
from elsewhere.device.day_columns import PeopleColumns
from elsewhere.device.shared_metadata import SharedMetadata, metadata_file, write_beside
from elsewhere.errors import InputError
from elsewhere.files import whole_file
from elsewhere.inputs.tables import write_parquet
from elsewhere.knowledge.clock import MINUTES_PER_DAY, Clock
from elsewhere.knowledge.places import Places
from elsewhere.trajectories import SharedTrajectory

# GeoParquet 1.1: longitude and latitude on WGS 84, which is its default.
_GEO = {
    "version": "1.1.0",
    "primary_column": "geometry",
    "columns": {"geometry": {"encoding": "WKB", "geometry_types": ["Point"]}},
}
SUFFIXES = (".csv", ".parquet", ".geoparquet", ".geojson")


def world_named_beside(path: Path) -> str | None:
    """The hash of the world that a shared CSV was made with, if its metadata is beside it."""
    try:
        found = json.loads(metadata_file(path).read_text(encoding="utf-8"))["world"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if isinstance(found, str) else None


def check_suffix(path: Path) -> None:
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(str(path), "must end in .csv, .parquet, .geoparquet or .geojson")


Part = Path | io.BytesIO
"""Shared days as Parquet, in a file or in memory."""


class Owner(NamedTuple):
    """Under what a shared day is filed."""

    uid: str
    tid: str
    date: dt.date


def shared_frame(
    people: Sequence[Owner],
    shared: Sequence[SharedTrajectory],
    places: Places,
    clock: Clock,
) -> pl.DataFrame:
    """``uid, tid, datetime, lat, lng, place_id`` of shared trajectories, on the days they are about."""
    row_of = {place_id: row for row, place_id in enumerate(places.ids)}
    owners = [person for person, trajectory in zip(people, shared, strict=True) for _ in trajectory]
    visits = [visit for trajectory in shared for visit in trajectory]
    rows = [row_of[visit.place_id] for visit in visits]
    step = dt.timedelta(minutes=clock.timestep_minutes)
    moments = [
        dt.datetime.combine(owner.date, dt.time()) + visit.timestep * step
        for owner, visit in zip(owners, visits, strict=True)
    ]
    return pl.DataFrame(
        {
            "uid": [owner.uid for owner in owners],
            "tid": [owner.tid for owner in owners],
            "datetime": [moment.isoformat() for moment in moments],
            "lat": places.latitudes[rows],
            "lng": places.longitudes[rows],
            "place_id": [visit.place_id for visit in visits],
        }
    )


def days_frame(
    people: PeopleColumns,
    shared: Days,
    places: Places,
    clock: Clock,
    epsilons: Sequence[Fraction] | None = None,
) -> pl.DataFrame:
    """The same of many people; where they have an ε of their own, ``epsilon`` is one more column."""
    owners = np.repeat(np.arange(len(shared.lengths)), shared.lengths)
    is_visit = np.arange(shared.places.shape[1]) < shared.lengths[:, None]
    rows, steps = shared.places[is_visit], shared.times[is_visit]
    minutes = people.dates[owners] * MINUTES_PER_DAY + steps.astype(np.int64) * clock.timestep_minutes
    moments = pl.Series(minutes * 60_000_000).cast(pl.Datetime("us"))
    columns = {
        "uid": people.uids.gather(owners),
        "tid": people.tids.gather(owners),
        "datetime": moments.dt.strftime("%Y-%m-%dT%H:%M:%S"),
        "lat": places.latitudes[rows],
        "lng": places.longitudes[rows],
        "place_id": pl.Series(places.ids, dtype=pl.String).gather(rows),
    }
    if epsilons is not None:
        columns["epsilon"] = pl.Series(list(map(str, epsilons)), dtype=pl.String).gather(owners)
    return pl.DataFrame(columns)


def write_part(path: Path, frame: pl.DataFrame) -> None:
    """Keep some shared days on the device until all are there; what stands beside them may be private."""
    write_parquet(path, frame, is_private=True)


def write_shared(path: Path, parts: Sequence[Part], metadata: SharedMetadata) -> None:
    """Put parts (Parquet) together into one file, a part in memory at a time.

    A CSV has no room for metadata: it goes into a file of the same name with .meta.json added.
    """
    about = json.dumps(metadata.as_json(), ensure_ascii=False)
    with whole_file(path) as file, _faults_of_parts(path, parts):
        match path.suffix.lower():
            case ".csv":
                for number, part in enumerate(parts):
                    pl.read_parquet(part).write_csv(file, include_header=number == 0)
                write_beside(path, file, metadata.as_json())
            case ".parquet":
                plan = _plan(parts)
                plan.sink_parquet(file, metadata={"elsewhere": about})
            case ".geoparquet":
                plan = _plan(parts).with_columns(_points())
                plan.sink_parquet(file, metadata={"elsewhere": about, "geo": json.dumps(_GEO)})
            case _:
                _write_geojson(file, parts, about)


@contextmanager
def _faults_of_parts(path: Path, parts: Sequence[Part]) -> Iterator[None]:
    """A part that cannot be read, or a disk that takes no more, as one message."""
    try:
        yield
    except pl.exceptions.PolarsError as error:
        if "os error" in str(error):
            raise InputError(str(path), "cannot be written: the disk did not take all of it") from None
        raise InputError(
            str(next((part.parent for part in parts if isinstance(part, Path)), path)),
            "is damaged, a part of what was shared cannot be read: remove it to start again, "
            "which spends ε again",
        ) from None


def _plan(parts: Sequence[Part]) -> pl.LazyFrame:
    files = [part for part in parts if isinstance(part, Path)]
    return pl.scan_parquet(files) if files else pl.scan_parquet(parts[0])


def _points() -> pl.Expr:
    """Points as well-known binary: byte order, type 1, longitude, latitude."""

    def packed(row: dict[str, float]) -> bytes:
        return struct.pack("<BIdd", 1, 1, row["lng"], row["lat"])

    return pl.struct("lng", "lat").map_elements(packed, return_dtype=pl.Binary).alias("geometry")


def write_days(
    path: Path,
    owners: Sequence[Owner],
    shared: Sequence[SharedTrajectory],
    places: Places,
    clock: Clock,
    metadata: SharedMetadata,
) -> None:
    """Shared days of one person, few enough for memory, as a file of their own."""
    packed = io.BytesIO()
    shared_frame(owners, shared, places, clock).write_parquet(packed)
    packed.seek(0)
    write_shared(path, [packed], metadata)


def _write_geojson(file: BinaryIO, parts: Sequence[Part], about: str) -> None:
    file.write(f'{{"type":"FeatureCollection","elsewhere":{about},"features":[\n'.encode())
    separator = ""
    for part in parts:
        for row in pl.read_parquet(part).iter_rows(named=True):
            feature = {
                "type": "Feature",
                "properties": {key: value for key, value in row.items() if key not in {"lat", "lng"}},
                "geometry": {"type": "Point", "coordinates": [row["lng"], row["lat"]]},
            }
            file.write((separator + json.dumps(feature, ensure_ascii=False)).encode())
            separator = ",\n"
    file.write(b"\n]}\n")
