"""Columns are found whatever they are called, separated or ordered; private rows are never quoted."""

from __future__ import annotations

from pathlib import Path

import pytest

from elsewhere.errors import InputError
from elsewhere.inputs.column_names import separator_of
from elsewhere.inputs.delimited import delimited_records, layout_of, require
from raw import gzipped

NEEDED = ("uid", "datetime", "lat", "lng")
ROW = {"uid": "ann", "datetime": "2012-07-07 15:32:00", "lat": "35.5", "lng": "139.5"}


def _read(path: Path, given: dict[str, str] | None = None) -> list[dict[str, str]]:
    layout = layout_of(path, given)
    require(layout, path, NEEDED)
    return [{key: record[key] for key in NEEDED} for _, record in delimited_records(path, layout)]


@pytest.mark.parametrize(
    "text",
    [
        "uid,datetime,lat,lng\nann,2012-07-07 15:32:00,35.5,139.5\n",
        "User ID,Timestamp,Latitude,LONGITUDE\nann,2012-07-07 15:32:00,35.5,139.5\n",
        "lng\tlat\ttime\tUSER\n139.5\t35.5\t2012-07-07 15:32:00\tann\n",
        "userId;utcTimestamp;latitude;longitude\nann;2012-07-07 15:32:00;35,5;139,5\n",
        '\n"user_id" "created_at" "y" "x"\nann "2012-07-07 15:32:00" 35.5  139.5\n',
        "user,date,time,lat,lon\nann,2012-07-07,15:32:00,35.5,139.5\n",
        "\ufeffuid,lat,lng,date\nann,35.5,139.5,2012-07-07 15:32:00\n",
    ],
)
def test_any_usual_header_and_separator_is_understood(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert _read(path) == [ROW]
    assert _read(gzipped(tmp_path / "t.csv.gz", text)) == [ROW]


def test_columns_can_be_named_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("who,seen,north,east\nann,2012-07-07 15:32:00,35.5,139.5\n")
    said = (
        r"column uid, datetime, lat, lng missing; the file has who, seen, north, east; .*--columns uid=NAME"
    )
    with pytest.raises(InputError, match=said):
        _read(path)
    assert _read(path, {"uid": "who", "datetime": "seen", "lat": "north", "lng": "EAST"}) == [ROW]
    with pytest.raises(InputError, match=r"--columns uid=whom: there is no such column; the file has who"):
        _read(path, {"uid": "whom"})


def test_a_file_without_header_is_never_quoted_and_columns_go_by_number(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("ann,2012-07-07 15:32:00,35.5,139.5\n")
    with pytest.raises(InputError, match=r"first row looks like data.* 4 columns.*--columns uid=1") as caught:
        _read(path)
    with pytest.raises(InputError, match="no such column") as again:
        _read(path, {"uid": "9"})
    for error in (caught, again):
        assert not any(value in str(error.value) for value in ("ann", "2012-07-07", "35.5", "139.5"))
    assert _read(path, {"uid": "1", "datetime": "2", "lat": "3", "lng": "4"}) == [ROW]


def test_a_column_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("uid,lat,Lat,lng,datetime\nann,1,2,3,2012-07-07 15:32:00\n")
    with pytest.raises(InputError, match="column lat is there twice"):
        _read(path)


def test_rows_of_another_length_are_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("uid,datetime,lat,lng\n\nann,2012-07-07 15:32:00,35.5\n")
    with pytest.raises(InputError, match="row 3: has 3 fields, the first row has 4"):
        _read(path)
    path.write_text("\n\n")
    with pytest.raises(InputError, match="the file is empty"):
        _read(path)
    path.write_bytes("uid,datetime,lat,lng\n".encode("utf-16"))
    with pytest.raises(InputError, match="is UTF-16 text: save it as UTF-8"):
        _read(path)


def test_separators_are_told_apart() -> None:
    assert [separator_of(line) for line in ("a,b", "a\tb,c", "a;b,c", "a b", "a", '"a;b",c')] == list(
        ",\t; ,,"
    )
