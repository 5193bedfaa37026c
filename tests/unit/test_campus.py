"""The campus recipe, generated and from UBC's own format."""

from __future__ import annotations

import csv
import gzip
import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from elsewhere.datasets.bundle import write_dataset
from elsewhere.datasets.campus import Campus, build_campus, campus_events, generated_buildings
from elsewhere.datasets.campus_files import read_campus
from elsewhere.datasets.ubc import read_ubc_buildings
from elsewhere.errors import InputError
from elsewhere.knowledge.hours import open_table
from elsewhere.knowledge.travel import is_reachable, straight_line
from elsewhere.world.build import build_world
from elsewhere.world.toml import read_config

RAW = Path(os.environ.get("ELSEWHERE_DATA", "../shared/data")) / "ubc_campus"


def _silent(_done: int, _total: int) -> None:
    pass


@pytest.fixture(scope="module")
def campus() -> Campus:
    buildings = generated_buildings(seed=1)
    events = campus_events(buildings, "student-residence-01", "athletics-01")
    return build_campus(buildings, events, people=5000, seed=1, progress=_silent)


def test_buildings_are_the_papers(campus: Campus) -> None:
    """The 262 campus buildings act as POIs, and nine POI categories exist."""
    assert len(campus.places) == 262
    assert len(set(campus.places.category_nodes.tolist())) == 9


def test_lengths_starts_and_gaps_are_the_papers(campus: Campus) -> None:
    """|τ| uniform with bounds (3,8), start uniform (6am, 10pm), gaps uniform (g_t, 120) minutes."""
    lengths = Counter(len(day) for day in campus.trajectories)
    assert set(lengths) == set(range(3, 9))
    assert min(lengths.values()) > 5000 / 6 * 0.8
    starts = [day.visits[0].timestep for day in campus.trajectories]
    assert min(starts) >= 36
    assert max(starts) < 132
    gaps = {
        b.timestep - a.timestep
        for day in campus.trajectories
        for a, b in zip(day.visits, day.visits[1:], strict=False)
    }
    assert gaps == set(range(1, 13))


def test_every_step_is_reachable_and_every_place_open(campus: Campus) -> None:
    """The POI is chosen from the set of reachable POIs based on the preceding POI, gap, and time of day."""
    travel = straight_line(campus.places, campus.clock, 4.0)
    is_open = open_table(campus.places.effective_hours(campus.tree), campus.clock)
    row_of = {place_id: row for row, place_id in enumerate(campus.places.ids)}
    for day in campus.trajectories[:500]:
        for visit in day:
            assert is_open[row_of[visit.place_id], visit.timestep]
        for a, b in zip(day.visits, day.visits[1:], strict=False):
            assert is_reachable(
                travel,
                campus.clock,
                origin=row_of[a.place_id],
                departure=a.timestep,
                destination=row_of[b.place_id],
                arrival=b.timestep,
            )


def _present(campus: Campus, is_there: Callable[[str], bool], start: int, end: int) -> int:
    return sum(
        any(is_there(v.place_id) and start <= v.timestep / 6 < end for v in day)
        for day in campus.trajectories
    )


def test_three_events_are_induced(campus: Campus) -> None:
    """500 people at Residence A at 8-10pm; 1000 at Stadium A at 2-4pm; 2000 in academic buildings 9-11am."""
    names = dict(zip(campus.places.ids, campus.places.names, strict=True))
    assert 500 <= _present(campus, lambda p: names[p] == "Residence A", 20, 22) < 560
    assert 1000 <= _present(campus, lambda p: names[p] == "Stadium A", 14, 16) < 1080
    assert 2000 <= _present(campus, lambda p: p.startswith("academic"), 9, 11) < 2600


def test_the_same_seed_gives_the_same_files(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        write_dataset(tmp_path / folder, read_campus(people=50, seed=3, progress=_silent))
    write_dataset(tmp_path / "c", read_campus(people=50, seed=4, progress=_silent))
    for name in ("places.csv", "categories.csv", "trajectories.csv", "world.toml", "SOURCE.md"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert (tmp_path / "a/trajectories.csv").read_bytes() != (tmp_path / "c/trajectories.csv").read_bytes()


def test_written_trajectories_have_the_standard_columns(tmp_path: Path) -> None:
    write_dataset(tmp_path, read_campus(people=20, seed=1, progress=_silent))
    with (tmp_path / "trajectories.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["uid", "tid", "datetime", "lat", "lng", "place_id"]
    assert len({row["uid"] for row in rows}) == 20
    assert all(row["datetime"].startswith("2025-09-17T") for row in rows)


UBC_HEADER = "BLDG_UID,NAME,CONSTR_STATUS,BLDG_USAGE,GBA,LAT,LONG\n"
UBC_ROWS = (
    "B1,Buchanan,Complete,Academic,100,-123.25,49.26\n"
    "B2,Small Residence,Complete,StudentHousing,100,-123.26,49.26\n"
    "B3,Big Residence,Complete,StudentHousing,900,-123.25,49.27\n"
    "B4,Gym,Complete,Athletics,900,-123.25,49.261\n"
    "B5,Thunderbird Stadium,Complete,Athletics,10,-123.24,49.26\n"
    "B6,Plan,PreConstruction,Academic,1,-123.24,49.26\n"
    "B7,Shop,Complete,Commercial,1,-123.245,49.26\n"
)


def test_ubc_csv_with_its_swapped_columns(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text(UBC_HEADER + UBC_ROWS)
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress((UBC_HEADER + UBC_ROWS).encode()))
    for name in ("b.csv", "b.csv.gz"):
        rows, residence, stadium = read_ubc_buildings(tmp_path / name)
        assert (residence, stadium) == ("B3", "B5")
        assert [row.place_id for row in rows] == ["B1", "B2", "B3", "B4", "B5", "B7"]
        assert (rows[0].latitude, rows[0].longitude) == (49.26, -123.25)
        assert rows[5].category_ids == ("commons",)


def test_ubc_geojson(tmp_path: Path) -> None:
    features = []
    for line in UBC_ROWS.splitlines():
        uid, name, status, usage, area, lng, lat = line.split(",")
        x, y = float(lng), float(lat)
        ring = [[x - 1e-4, y - 1e-4], [x + 1e-4, y - 1e-4], [x + 1e-4, y + 1e-4], [x - 1e-4, y + 1e-4]]
        features.append(
            {
                "type": "Feature",
                "properties": {
                    "BLDG_UID": uid,
                    "NAME": name,
                    "CONSTR_STATUS": status,
                    "BLDG_USAGE": usage,
                    "GBA": area,
                },
                "geometry": {"type": "Polygon", "coordinates": [[*ring, ring[0]]]},
            }
        )
    (tmp_path / "b.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    rows, residence, stadium = read_ubc_buildings(tmp_path / "b.geojson")
    assert (residence, stadium, len(rows)) == ("B3", "B5", 6)
    assert rows[0].latitude == pytest.approx(49.26)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a,b\n1,2\n", "column BLDG_UID, NAME, BLDG_USAGE, CONSTR_STATUS missing"),
        (
            (UBC_HEADER + "B1,X,Complete,Palace,1,-123,49\n").encode(),
            "row 2, column BLDG_USAGE: found 'Palace'",
        ),
        ((UBC_HEADER + "B1,X,Complete,Academic,1,,\n").encode(), "row 2, column LAT"),
        ((UBC_HEADER + "B1,X,Complete,Academic,1,-123,49\n").encode(), "needs finished buildings"),
        (gzip.compress(b"x" * 1000, mtime=0)[:-20], "truncated"),
        (b"\xff\xfe\x00", "UTF-8"),
        (b'{"type": "Feature"}', "FeatureCollection"),
        (b'{"features": [5]}', "FeatureCollection"),
        ((UBC_HEADER + UBC_ROWS + UBC_ROWS).encode(), "BLDG_UID: found again"),
    ],
    ids=["columns", "usage", "position", "too-few", "truncated", "encoding", "geojson", "features", "twice"],
)
def test_bad_ubc_files(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "raw").write_bytes(content)
    with pytest.raises(InputError, match=said):
        read_ubc_buildings(tmp_path / "raw")


@pytest.mark.skipif(not RAW.exists(), reason="the real UBC files are not here (set ELSEWHERE_DATA)")
@pytest.mark.parametrize("name", ["ubcv_buildings.csv.gz", "ubcv_buildings.geojson.gz"])
def test_real_ubc_buildings(tmp_path: Path, name: str) -> None:
    facts = write_dataset(tmp_path, read_campus([RAW / name], people=200, seed=1, progress=_silent))
    assert facts["places"] == 431
    world = build_world(read_config(tmp_path / "world.toml"))
    assert len(world.places) == 431
    assert "Thunderbird Stadium" in (tmp_path / "SOURCE.md").read_text()
