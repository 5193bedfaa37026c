"""Taxi trips: three forms, matched within 100 m, cleaned as the paper says."""

from __future__ import annotations

from pathlib import Path

import pytest

from elsewhere.datasets import taxi
from elsewhere.datasets.bundle import write_dataset
from elsewhere.datasets.taxi import form_of, read_taxi
from elsewhere.errors import InputError
from raw import gzipped, real, write_foursquare

# Beside v1 (40.70, −74.00), v2 (40.71, −74.00), v3 (40.70, −74.01): pick-up and drop-off, minutes of a day.
TRIPS = [
    ("d1", 0, (40.7001, -74.0), 20, (40.7101, -74.0)),
    ("d1", 21, (40.7101, -74.0), 40, (40.7, -74.0101)),  # the same place again; then a third
    ("d1", 45, (40.75, -74.0), 60, (40.7, -74.0)),  # the first too far from any place
    ("d2", 10, (0.0, 0.0), 30, (40.71, -74.0)),  # no position
    ("d1", 1435, (40.7, -74.0), 1445, (40.71, -74.0)),  # after midnight
]


_TLC = (
    "medallion, hack_license, vendor_id, pickup_datetime, dropoff_datetime, pickup_longitude, "
    "pickup_latitude, dropoff_longitude, dropoff_latitude"
)


def _time(minute: int) -> str:
    return f"2013-01-0{1 + minute // 1440} {minute // 60 % 24:02d}:{minute % 60:02d}:00"


def write_trips(folder: Path, form: str) -> Path:
    rows = []
    for driver, start, (lat, lng), end, (to_lat, to_lng) in TRIPS:
        if form == "debs":
            rows.append(
                f"m,{driver},{_time(start)},{_time(end)},0,0,{lng},{lat},{to_lng},{to_lat}" + ",x" * 7
            )
        elif form == "tlc":
            rows.append(f"m,{driver},V,{_time(start)},{_time(end)},{lng},{lat},{to_lng},{to_lat}")
        else:
            times = [f"1/{1 + m // 1440}/13 {m // 60 % 24}:{m % 60:02d}" for m in (start, end)]
            rows.append(f"{driver},{times[0]},{times[1]},1,{lng},{lat},{to_lng},{to_lat}")
    heads = {
        "debs": [],
        "tlc": [_TLC],
        "whole days": ["medallion,pickuptime,dropofftime,passengers,pickupx,pickupy,dropoffx,dropoffy"],
    }
    return gzipped(folder / f"{form}.csv.gz", "\n".join([*heads[form], *rows]) + "\n")


@pytest.mark.parametrize("form", ["debs", "tlc", "whole days"])
def test_a_drivers_day_in_every_form(tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(taxi, "_POINTS_AT_ONCE", 3)  # so that several blocks are read
    dataset = read_taxi([write_trips(tmp_path, form), *write_foursquare(tmp_path)], limit=None)
    people = list(dataset.days)
    assert [(person.uid, str(person.date)) for person in people] == [("d1", "2013-01-01")]
    assert list(people[0].trajectory) == [("v1", 0), ("v2", 2), ("v3", 4), ("v1", 6)]
    steps = dataset.steps
    assert steps["trips"] == 5
    assert steps["points"] == 10
    assert steps["points without a position"] == 1
    assert steps["points farther than 100 m from any place"] == 1
    assert steps["days"] == 2
    assert steps["days with fewer than 2 visits left"] == 1


def test_points_closer_than_a_timestep_are_thinned_at_random(tmp_path: Path) -> None:
    rows = [
        f"m,d{i},{_time(0)},{_time(9)},0,0,-74.0,40.70,-74.0,40.71" + ",x" * 7
        + f"\nm,d{i},{_time(30)},{_time(50)},0,0,-74.01,40.70,-74.0,40.70" + ",x" * 7
        for i in range(200)
    ]  # fmt: skip
    path = gzipped(tmp_path / "trips.csv.gz", "\n".join(rows) + "\n")
    people = list(read_taxi([path, *write_foursquare(tmp_path)], limit=None).days)
    firsts = [person.trajectory.visits[0].place_id for person in people]
    assert len(people) == 200
    assert 60 < firsts.count("v1") < 140
    assert set(firsts) == {"v1", "v2"}


def test_faults_name_file_and_row(tmp_path: Path) -> None:
    foursquare = write_foursquare(tmp_path)
    with pytest.raises(InputError, match="at least one file of taxi trips"):
        read_taxi(foursquare, limit=None)
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="no known file of taxi trips"):
        form_of(tmp_path / "other.csv")
    path = write_trips(tmp_path, "debs")
    bad = gzipped(tmp_path / "bad.csv.gz", "m,d,2013-01-01 00:00:00,soon" + ",0" * 13 + "\n")
    with pytest.raises(InputError, match=r"bad.csv.gz: row 1: has no time"):
        list(read_taxi([bad, *foursquare], limit=None).days)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(InputError, match="truncated or damaged"):
        write_dataset(tmp_path / "out", read_taxi([path, *foursquare], limit=None))
    assert not list((tmp_path / "out").glob("*"))


def test_the_real_hour_of_trips() -> None:
    raw = [
        real("nyc_taxi_2013/debs2015_sorted_data_first_hour.csv.gz"),
        real("foursquare_nyc/dataset_TSMC2014_NYC_popular.txt.gz"),
        real("foursquare_categories/foursquare_categories_v2_2021-03.json.gz"),
    ]
    dataset = read_taxi(raw, limit=2000)
    assert sum(1 for _ in dataset.days) >= 1300
    assert dataset.steps["trips"] == 10_004
    whole_days = read_taxi([real("nyc_taxi_2013/whong_100RandomTrips.csv.gz"), *raw[1:]], limit=2000)
    assert sum(1 for _ in whole_days.days) == 11
