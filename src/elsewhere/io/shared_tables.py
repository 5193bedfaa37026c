"""Shared trajectories in files: CSV, Parquet or GeoJSON, with what is promised of them beside or inside."""

from __future__ import annotations

import datetime as dt
import json
import struct
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import polars as pl

from elsewhere.errors import InputError
from elsewhere.io.files import whole_file, write_text
from elsewhere.io.matching import Person
from elsewhere.knowledge.clock import Clock
from elsewhere.knowledge.places import Places
from elsewhere.trajectories import SharedTrajectory

# GeoParquet 1.1: longitude and latitude on WGS 84, which is its default.
_GEO = {
    "version": "1.1.0",
    "primary_column": "geometry",
    "columns": {"geometry": {"encoding": "WKB", "geometry_types": ["Point"]}},
}
SUFFIXES = (".csv", ".parquet", ".geoparquet", ".geojson")


def check_suffix(path: Path) -> None:
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(str(path), "must end in .csv, .parquet, .geoparquet or .geojson")


class Owner(NamedTuple):
    """Under what a shared day is filed."""

    uid: str
    tid: str
    date: dt.date


def shared_frame(
    people: Sequence[Person | Owner], shared: Sequence[SharedTrajectory], places: Places, clock: Clock
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


def write_shared(path: Path, parts: Sequence[Path], metadata: dict[str, Any]) -> None:
    """Put parts (Parquet) together into one file, a part in memory at a time.

    A CSV has no room for metadata: it goes into a file of the same name with .meta.json added.
    """
    match path.suffix.lower():
        case ".csv":
            write_text(Path(f"{path}.meta.json"), json.dumps(metadata, indent=2, ensure_ascii=False) + "\n")
            with whole_file(path) as file:
                for number, part in enumerate(parts):
                    pl.read_parquet(part).write_csv(file, include_header=number == 0)
        case ".parquet":
            with whole_file(path) as file:
                plan = pl.scan_parquet(list(parts))
                plan.sink_parquet(file, metadata={"elsewhere": json.dumps(metadata, ensure_ascii=False)})
        case ".geoparquet":
            with whole_file(path) as file:
                plan = pl.scan_parquet(list(parts)).with_columns(_points())
                plan.sink_parquet(
                    file,
                    metadata={
                        "elsewhere": json.dumps(metadata, ensure_ascii=False),
                        "geo": json.dumps(_GEO),
                    },
                )
        case _:
            with whole_file(path) as file:
                _write_geojson(file, parts, metadata)


def _points() -> pl.Expr:
    """Points as well-known binary: byte order, type 1, longitude, latitude."""

    def packed(row: dict[str, float]) -> bytes:
        return struct.pack("<BIdd", 1, 1, row["lng"], row["lat"])

    return pl.struct("lng", "lat").map_elements(packed, return_dtype=pl.Binary).alias("geometry")


def write_one_day(
    path: Path, owner: Owner, shared: SharedTrajectory, places: Places, clock: Clock, metadata: dict[str, Any]
) -> None:
    """One shared day as a file of its own."""
    frame = shared_frame([owner], [shared], places, clock)
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder) / "part.parquet"
        frame.write_parquet(part)
        write_shared(path, [part], metadata)


def _write_geojson(file: BinaryIO, parts: Sequence[Path], metadata: dict[str, Any]) -> None:
    head = json.dumps(metadata, ensure_ascii=False)
    file.write(f'{{"type":"FeatureCollection","elsewhere":{head},"features":[\n'.encode())
    separator = ""
    for part in parts:
        for row in pl.read_parquet(part).iter_rows(named=True):
            feature = {
                "type": "Feature",
                "properties": {key: row[key] for key in ("uid", "tid", "datetime", "place_id")},
                "geometry": {"type": "Point", "coordinates": [row["lng"], row["lat"]]},
            }
            file.write((separator + json.dumps(feature, ensure_ascii=False)).encode())
            separator = ",\n"
    file.write(b"\n]}\n")
