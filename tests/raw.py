"""Tiny raw files in the formats of the real sources, and where the real ones are."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

DATA = Path(os.environ.get("ELSEWHERE_DATA", Path(__file__).parents[2] / "shared/data"))


def real(name: str) -> Path:
    """A real raw file; the test is skipped where it is absent."""
    path = DATA / name
    if not path.exists():
        pytest.skip(f"the real data is not there: {path.name}")
    return path


def gzipped(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(gzip.compress(text.encode(encoding)))
    return path


CATEGORIES: list[dict[str, Any]] = [
    {
        "id": "food",
        "name": "Food",
        "categories": [
            {"id": "cafe", "name": "Café", "categories": []},
            {"id": "pizza", "name": "Pizza Place", "categories": [{"id": "slice", "name": "Slice Shop"}]},
        ],
    },
    {"id": "home", "name": "Residence", "categories": [{"id": "private", "name": "Home (private)"}]},
]
# user, venue, category id, category name, lat, lng, offset, UTC time
CHECKINS = [
    ("7", "v1", "cafe", "Café", "40.70", "-74.00", "-240", "Tue Apr 03 18:00:09 +0000 2012"),
    ("7", "v1", "cafe", "Café", "40.70", "-74.00", "-240", "Tue Apr 03 18:05:00 +0000 2012"),  # repeat
    ("7", "v2", "pizza", "Pizza Place", "40.71", "-74.00", "-240", "Tue Apr 03 20:00:00 +0000 2012"),
    ("7", "v3", "slice", "Slice Shop", "40.70", "-74.01", "-240", "Tue Apr 03 20:04:00 +0000 2012"),  # close
    ("7", "v1", "cafe", "Café", "40.70", "-74.00", "-240", "Wed Apr 04 01:00:00 +0000 2012"),  # 9 pm
    ("7", "v2", "pizza", "Pizza Place", "40.71", "-74.00", "-240", "Wed Apr 04 05:00:00 +0000 2012"),  # 1 am
    ("8", "v1", "cafe", "Café", "40.70", "-74.00", "-240", "Tue Apr 03 18:00:09 +0000 2012"),
    ("8", "h1", "private", "Home (private)", "40.70", "-74.02", "-240", "Tue Apr 03 22:00:00 +0000 2012"),
    ("8", "x1", "ferry", "Ferry", "40.70", "-74.02", "-240", "Tue Apr 03 23:00:00 +0000 2012"),
    ("8", "z1", "cafe", "Café", "0", "0", "-240", "Tue Apr 03 23:30:00 +0000 2012"),
]


def write_foursquare(folder: Path, *, as_csv: bool = False) -> tuple[Path, Path]:
    """Check-ins and categories, gzipped as the original or as the CSV in circulation."""
    if as_csv:
        head = "userId,venueId,venueCategoryId,venueCategory,latitude,longitude,timezoneOffset,utcTimestamp"
        text = "\n".join([head, *(",".join(row) for row in CHECKINS)]) + "\n"
        checkins = folder / "checkins.csv"
        checkins.write_text(text)
    else:
        text = "\n".join("\t".join(row) for row in CHECKINS) + "\n"
        checkins = gzipped(folder / "checkins.txt.gz", text, "latin-1")
    categories = gzipped(folder / "categories.json.gz", json.dumps({"response": {"categories": CATEGORIES}}))
    return checkins, categories
