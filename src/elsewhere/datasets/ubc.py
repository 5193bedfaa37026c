"""Buildings of the University of British Columbia, from its open geodata (CSV or GeoJSON, gzipped or not)."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from pathlib import Path
from typing import Any

import shapely

from elsewhere.errors import Fault, InputError
from elsewhere.knowledge.places import Place

# The file's twelve usages in the campus recipe's nine categories.
CATEGORY_OF_USAGE = {
    "Academic": "academic",
    "Research": "research",
    "Administrative": "administrative",
    "StudentHousing": "student-residence",
    "Housing": "housing",
    "Athletics": "athletics",
    "Commons": "commons",
    "Commercial": "commons",
    "Services": "services",
    "Operations": "services",
    "Parking": "parking",
    "Other": "parking",
}
_COLUMNS = ("BLDG_UID", "NAME", "BLDG_USAGE", "CONSTR_STATUS")


def read_ubc_buildings(path: Path) -> tuple[list[Place], str, str]:
    """Finished buildings, and the ids of those that play Residence A and Stadium A in the paper's events.

    Residence A is the student residence with the most floor space, Stadium A the one called so.

    Deviation: campus-buildings — the file of today has 431 finished buildings, the paper 262.
    """
    records = _records(path)
    faults: list[Fault] = []
    rows: list[Place] = []
    floor_space: dict[str, float] = {}
    for number, record in enumerate(records, start=2):
        if record["CONSTR_STATUS"] != "Complete":
            continue
        usage = record["BLDG_USAGE"] or ""
        if usage not in CATEGORY_OF_USAGE:
            allowed = ", ".join(CATEGORY_OF_USAGE)
            problem = f"found {usage!r}, must be one of {allowed}"
            faults.append(Fault(row=number, column="BLDG_USAGE", problem=problem))
            continue
        try:
            latitude, longitude = _position(record)
        except ValueError as error:
            faults.append(Fault(row=number, column="LAT", problem=str(error)))
            continue
        if record["BLDG_UID"] in floor_space:
            faults.append(Fault(row=number, column="BLDG_UID", problem="found again, must be unique"))
        floor_space[record["BLDG_UID"]] = _number(record.get("GBA"))
        rows.append(
            Place(
                place_id=record["BLDG_UID"],
                name=record["NAME"] or record["BLDG_UID"],
                latitude=latitude,
                longitude=longitude,
                category_ids=(CATEGORY_OF_USAGE[usage],),
            )
        )
    if faults:
        raise InputError(str(path), faults)
    return rows, *_event_places(rows, floor_space, path)


def _event_places(rows: list[Place], floor_space: dict[str, float], path: Path) -> tuple[str, str]:
    residences = [row for row in rows if row.category_ids == ("student-residence",)]
    athletics = [row for row in rows if row.category_ids == ("athletics",)]
    if not residences or not athletics or not any(row.category_ids == ("academic",) for row in rows):
        raise InputError(
            str(path), "needs finished buildings of usage StudentHousing, Athletics and Academic"
        )
    residence = max(residences, key=lambda row: (floor_space[row.place_id], row.place_id))
    stadium = max(
        athletics, key=lambda row: ("stadium" in row.name.lower(), floor_space[row.place_id], row.place_id)
    )
    return residence.place_id, stadium.place_id


def _records(path: Path) -> list[dict[str, Any]]:
    text = _text(path)
    if text.lstrip().startswith("{"):
        try:
            features = json.loads(text)["features"]
            records = [{**feature["properties"], "geometry": feature["geometry"]} for feature in features]
        except (ValueError, KeyError, TypeError):
            raise InputError(str(path), "not a GeoJSON FeatureCollection of buildings") from None
    else:
        records = list(csv.DictReader(io.StringIO(text)))
    missing = [name for name in _COLUMNS if not records or name not in records[0]]
    if missing:
        raise InputError(str(path), f"column {', '.join(missing)} missing; is this UBC's table of buildings?")
    return records


def _text(path: Path) -> str:
    try:
        raw = path.read_bytes()
        return (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8-sig")
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror or error}") from None
    except (EOFError, zlib.error):
        raise InputError(str(path), "the gzip file is truncated or corrupted") from None
    except UnicodeDecodeError:
        raise InputError(str(path), "not UTF-8 text") from None


def _position(record: dict[str, Any]) -> tuple[float, float]:
    """Latitude and longitude; in the published CSV the columns LAT and LONG are swapped."""
    if "geometry" in record:
        try:
            middle = shapely.from_geojson(json.dumps(record["geometry"])).centroid
            return round(middle.y, 6), round(middle.x, 6)
        except (shapely.errors.GEOSException, AttributeError):
            raise ValueError("found a geometry that is none, must be a polygon") from None
    latitude, longitude = _number(record.get("LAT")), _number(record.get("LONG"))
    if abs(latitude) > 90 and abs(longitude) <= 90:
        latitude, longitude = longitude, latitude
    if not (0 < abs(latitude) <= 90 and 0 < abs(longitude) <= 180):
        raise ValueError(f"found LAT {record.get('LAT')!r}, LONG {record.get('LONG')!r}, must be degrees")
    return round(latitude, 6), round(longitude, 6)


def _number(text: object) -> float:
    try:
        return float(str(text))
    except ValueError:
        return 0.0
