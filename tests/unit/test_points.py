"""True trajectories are read as people have them; what is wrong is said without quoting anything."""

from __future__ import annotations

import datetime as dt
import gzip
import zipfile
from pathlib import Path

import polars as pl
import pytest

from elsewhere.device.points import Point, read_points
from elsewhere.errors import InputError
from elsewhere.knowledge.clock import Clock

CLOCK = Clock(timezone="Europe/Berlin")
NOON = dt.datetime(2024, 3, 7, 12, 0)  # noqa: DTZ001 - local time
PLAIN = "uid,tid,datetime,lat,lng,place_id\nann,1,2024-03-07T12:00:00,50.5,10.5,p1\n"


def _point(path: Path) -> Point:
    [point] = read_points(path, CLOCK)
    return point


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        PLAIN.replace(",", "\t"),
        PLAIN.replace(",", ";"),
        PLAIN.replace("uid,tid,datetime,lat,lng,place_id", "UID,TID,DateTime,Latitude,LON,Place ID"),
        PLAIN + "\n\n",
        PLAIN.replace("2024-03-07T12:00:00", "1709809200"),
        PLAIN.replace("2024-03-07T12:00:00", "2024-03-07 11:00:00 UTC"),
        PLAIN.replace("datetime", "utc_time").replace("T12", "T11"),
        PLAIN.replace("datetime", "time,date").replace("2024-03-07T12:00:00", "12:00,2024-03-07"),
    ],
)
def test_tables_are_read_whatever_their_case_separator_and_time_format(tmp_path: Path, text: str) -> None:
    expected = ("ann", "1", NOON, 50.5, 10.5, "p1", "", 2)
    (tmp_path / "days.csv").write_text(text)
    assert _point(tmp_path / "days.csv") == expected
    (tmp_path / "days.csv.gz").write_bytes(gzip.compress(text.encode()))
    assert _point(tmp_path / "days.csv.gz") == expected
    with zipfile.ZipFile(tmp_path / "days.tsv.zip", "w") as archive:
        archive.writestr("days.tsv", text)
    assert _point(tmp_path / "days.tsv.zip") == expected


def test_names_in_parquet_may_have_any_case(tmp_path: Path) -> None:
    frame = pl.DataFrame({"User": ["ann"], "TIMESTAMP": [NOON], "Lat": [50.5], "Lng": [10.5]})
    frame.write_parquet(tmp_path / "days.parquet")
    assert _point(tmp_path / "days.parquet") == ("ann", "", NOON, 50.5, 10.5, "", "", 2)


def test_midnight_at_the_end_of_a_day_is_understood(tmp_path: Path) -> None:
    (tmp_path / "days.csv").write_text(PLAIN.replace("T12:00:00", "T24:00"))
    assert _point(tmp_path / "days.csv")[2] == dt.datetime(2024, 3, 8)  # noqa: DTZ001 - local time


def test_day_and_month_are_told_by_the_whole_file(tmp_path: Path) -> None:
    unclear = PLAIN.replace("2024-03-07T12:00:00", "07/03/2024 12:00")
    (tmp_path / "days.csv").write_text(unclear + "ann,1,31/03/2024 12:00,50.5,10.5,p1\n")
    assert next(iter(read_points(tmp_path / "days.csv", CLOCK))).moment == NOON
    (tmp_path / "days.csv").write_text(unclear)
    with pytest.raises(InputError, match="row 2, column datetime: day and month cannot be told apart"):
        list(read_points(tmp_path / "days.csv", CLOCK))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            PLAIN.replace("T12:00:00", ""),
            "row 2, column datetime: is a date without a time: a time is needed",
        ),
        (PLAIN.replace("T12", "T25"), "row 2, column datetime: must be a time"),
        (PLAIN.replace("tid", "Lat"), "column lat is there twice"),
        (PLAIN.replace("uid", "who"), r"column uid \(user_id or user .*the file has who, tid, datetime"),
        (PLAIN.partition("\n")[2], "its first row looks like data, not like the names of its 6 columns"),
    ],
)
def test_faults_are_named_and_private_values_are_not(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "days.csv").write_text(text)
    with pytest.raises(InputError, match=said) as caught:
        list(read_points(tmp_path / "days.csv", CLOCK))
    assert not any(value in str(caught.value) for value in ("ann", "2024", "50.5", "10.5", "p1"))
