"""Fixes and stays of anybody, on given places: stays found, cabs' passengers, nights, faults named."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from elsewhere.datasets.bundle import write_dataset
from elsewhere.datasets.fixes import read_fixes, read_stays
from elsewhere.errors import InputError
from raw import real
from worlds import build, place

PLACES = """venue_id;venue;category;latitude;longitude
pier;Pier 39;Pier;37.80;-122.41
bank;A bank;Bank;37.79;-122.40
"""
NEAR = {"pier": "37.8001 -122.41", "bank": "37.7901 -122.40", "far": "37.70 -122.40"}


def _places(folder: Path) -> Path:
    path = folder / "places.csv"
    path.write_text(PLACES)
    return path


def _visits(folder: Path) -> list[tuple[str, str, str]]:
    with (folder / "trajectories.csv").open() as file:
        return [(row["uid"], row["datetime"], row["place_id"]) for row in csv.DictReader(file)]


def _cabs(folder: Path) -> Path:
    """Two cabs of San Francisco, newest first as in the original, which has a list of cabs beside them."""
    cabs = folder / "cabs"
    cabs.mkdir()
    start = 1213113600  # 2008-06-10 09:00 in San Francisco
    rows = [("bank", 0, 7200), ("far", 1, 5400), ("far", 0, 3700), ("pier", 1, 3600), ("pier", 0, 0)]
    text = "".join(f"{NEAR[where]} {occupied} {start + after}\n" for where, occupied, after in rows)
    (cabs / "new_abboip.txt").write_text(text)
    (cabs / "new_oyoag.txt").write_text(text)
    (cabs / "_cabs.txt").write_text('<cab id="abboip" updates="5"/>\n')
    return cabs


def test_cabs_are_where_passengers_get_in_and_out(tmp_path: Path) -> None:
    dataset = read_fixes([_cabs(tmp_path)], places=_places(tmp_path))
    write_dataset(tmp_path / "out", dataset)
    mine = [("2008-06-10T10:00:00", "pier"), ("2008-06-10T11:00:00", "bank")]
    assert _visits(tmp_path / "out") == [
        (cab, moment, where) for cab in ("new_abboip", "new_oyoag") for moment, where in mine
    ]
    assert dataset.clock.timezone == "America/Los_Angeles"
    assert dataset.places[0].category_ids == ("Transport > Air and sea > Pier",)


def _fixes(folder: Path) -> Path:
    lines = ["User,T,Lat,Lon"]
    for hour, where in ((9, "pier"), (12, "far"), (15, "bank")):
        lat, lng = NEAR[where].split()
        lines += [f"ann,2008-06-10 {hour:02d}:{minute:02d}:00,{lat},{lng}" for minute in range(0, 30, 3)]
    lines.append("ann,2008-06-10 20:00:00,0,0")
    path = folder / "fixes.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_stays_are_found_in_fixes_and_matched_within_100_m(tmp_path: Path) -> None:
    dataset = read_fixes([_fixes(tmp_path)], places=_places(tmp_path))
    write_dataset(tmp_path / "out", dataset)
    assert _visits(tmp_path / "out") == [
        ("ann", "2008-06-10T09:00:00", "pier"),
        ("ann", "2008-06-10T15:00:00", "bank"),
    ]
    assert dataset.steps["rows without a position"] == 1
    assert dataset.steps["stays farther than 100 m from any place"] == 1


def test_a_world_gives_places_and_clock(tmp_path: Path) -> None:
    rows = [place("pier", 37.80, -122.41), place("bank", 37.79, -122.40)]
    world = build(tmp_path, rows, {"kappa": 1, "timezone": "UTC", "timestep_minutes": 30})
    dataset = read_fixes([_cabs(tmp_path)], world=world)
    assert (dataset.clock.timezone, dataset.clock.timestep_minutes) == ("UTC", 30)
    assert len(list(dataset.days)) == 2
    override = read_fixes([tmp_path / "cabs"], world=world, timezone="America/Los_Angeles")
    assert override.clock.timezone == "America/Los_Angeles"


def test_whose_visits_made_places_popular_is_not_forgotten(tmp_path: Path) -> None:
    places = _places(tmp_path)
    assert "popularity_from" not in read_fixes([_cabs(tmp_path)], places=places).settings
    (tmp_path / "world.toml").write_text('popularity_from = "the same people"\n')
    dataset = read_fixes([tmp_path / "cabs"], places=places)
    assert dataset.settings["popularity_from"] == "the same people"


def test_a_stay_over_night_is_in_both_days(tmp_path: Path) -> None:
    (tmp_path / "stays.csv").write_text(
        "user_id,started_at,finished_at,latitude,longitude\n"
        "ann,2008-06-10 20:00:00,2008-06-11 08:00:00,37.80,-122.41\n"
        "ann,2008-06-11 09:00:00,2008-06-11 10:00:00,37.79,-122.40\n"
    )
    write_dataset(tmp_path / "out", read_stays([tmp_path / "stays.csv"], places=_places(tmp_path), least=1))
    assert _visits(tmp_path / "out") == [
        ("ann", "2008-06-10T20:00:00", "pier"),
        ("ann", "2008-06-11T00:00:00", "pier"),
        ("ann", "2008-06-11T09:00:00", "bank"),
    ]


def test_a_stay_that_ends_before_it_begins_is_counted_and_left_out(tmp_path: Path) -> None:
    (tmp_path / "stays.csv").write_text(
        "user_id,started_at,finished_at,latitude,longitude\n"
        "ann,2008-06-11 20:00:00,2008-06-11 08:00:00,37.80,-122.41\n"
        "ann,2008-06-11 09:00:00,2008-06-11 10:00:00,37.79,-122.40\n"
    )
    dataset = read_stays([tmp_path / "stays.csv"], places=_places(tmp_path), least=1)
    write_dataset(tmp_path / "out", dataset)
    assert _visits(tmp_path / "out") == [("ann", "2008-06-11T09:00:00", "bank")]
    assert dataset.steps["stays that end before they begin, left out"] == 1


def test_faults_say_what_is_needed_and_quote_nothing(tmp_path: Path) -> None:
    path = _fixes(tmp_path)
    with pytest.raises(InputError, match=r"--places: or -w WORLD is needed"):
        read_fixes([path])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"is a folder without a file that ends in \.csv"):
        read_fixes([tmp_path / "empty"], places=_places(tmp_path))
    path.write_text(path.read_text().replace("2008-06-10 12:00:00", "2008-06-10"))
    with pytest.raises(InputError, match=r"row 12, column datetime: is a date without a time") as caught:
        list(read_fixes([path], places=_places(tmp_path)).days)
    assert "2008" not in str(caught.value)
    (tmp_path / "p.csv").write_text("place_id,lat,lng\na,0,0\na,1,1\na,1,1\n")
    with pytest.raises(
        InputError, match=r"2 faults\n  row 2, column lat: needs degrees.*\n  row 4, column place_id"
    ):
        read_fixes([path], places=tmp_path / "p.csv")


def test_real_fixes_of_geolife(tmp_path: Path) -> None:
    path = real("personal_exports/geolife_sample.txt.gz")
    (tmp_path / "p.csv").write_text("place_id,lat,lng\na,39.9842,116.3192\nb,40.0,116.327\n")
    dataset = read_fixes([path], places=tmp_path / "p.csv", least=1)
    assert dataset.clock.timezone == "Asia/Shanghai"
    assert list(dataset.days)
    assert dataset.steps["people"] == 2
