"""A person's own files: every format, stays, matching, one day shared; nothing private in any message."""

from __future__ import annotations

import csv
import datetime as dt
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elsewhere.datasets.bundle import write_dataset
from elsewhere.datasets.personal import read_personal
from elsewhere.device.exports import read_export
from elsewhere.device.fixes import Fix, Stay
from elsewhere.device.ledger_file import owner_of
from elsewhere.device.personal import (
    DayMaker,
    OwnRecords,
    checked_day,
    find_stays,
    personal_day,
    read_own,
    refuse_other_city,
)
from elsewhere.errors import InputError
from elsewhere.trajectories import Trajectory
from elsewhere.world.world import World
from own_files import (
    PLAIN_TABLES,
    android,
    geojson,
    gpx,
    ios,
    kml_spans,
    kml_track,
    kmz,
    owntracks,
    points_csv,
    records,
    takeout,
    takeout_zip,
    tcx,
)
from raw import real
from worlds import build, place

ZONE = "Europe/Berlin"
AT = (52.5200, 13.4050)


@pytest.fixture
def world(tmp_path: Path) -> World:
    rows = [
        place("cafe", 52.5200, 13.4050, hours="08:00-20:00"),
        place("bar", 52.5201, 13.4051, "bar", hours="18:00-26:00"),
        place("shop", 52.5300, 13.4050, "shoes", hours="24/7"),
    ]
    return build(tmp_path / "world", rows, {"kappa": 1, "timezone": ZONE})


def _day(path: Path, world: World, day: str = "2024-03-07") -> Trajectory:
    return personal_day(read_own([path], world), world, dt.date.fromisoformat(day))


def _days(records: OwnRecords, world: World) -> dict[str, list[tuple[str, int]]]:
    maker = DayMaker(world)
    return {str(date): list(maker.day(spots)) for date, spots in records.spots(10).items()}


_NO_LONGITUDE = (
    "<Placemark><when>2024-03-07T10:00:00Z</when><Point><coordinates>52.5</coordinates></Point></Placemark>"
)
_NO_LATITUDE = (
    '{"type": "Feature", "geometry": {"type": "Point", "coordinates": [13.4]}, '
    '"properties": {"time": "2024-03-07T10:00:00Z"}}'
)


@pytest.mark.parametrize(
    "write",
    [
        android, ios, takeout, records, gpx, owntracks, points_csv,
        geojson, kml_track, kml_spans, kmz, tcx, takeout_zip,
    ],
)  # fmt: skip
def test_every_format_gives_the_same_day(tmp_path: Path, world: World, write: Any) -> None:
    """10:05 in the café (the bar nearby is closed), 12:00 in the shop."""
    day = _day(write(tmp_path), world)
    assert list(day) == [("cafe", 60), ("shop", 72)]


def test_the_oldest_takeout_has_milliseconds(tmp_path: Path, world: World) -> None:
    day = _day(takeout(tmp_path, milliseconds=True), world)
    assert list(day) == [("cafe", 60), ("shop", 72)]


def test_stays_last_and_keep_together() -> None:
    start = dt.datetime(2024, 3, 7, 10)  # noqa: DTZ001 - local

    def at(minute: float, north_m: float) -> Fix:  # fmt: skip
        return Fix(start + dt.timedelta(minutes=minute), 52.52 + north_m / 111_195, 13.4)

    fixes = [at(0, 0), at(5, 50), at(9, 99), at(10, 500), at(15, 500), at(30, 520), at(31, 900)]
    (stay,) = find_stays(fixes)
    assert (stay.arrival, stay.departure) == (at(10, 0).moment, at(30, 0).moment)
    assert stay.latitude == pytest.approx(np.mean([fix.latitude for fix in fixes[3:6]]))
    assert len(find_stays(fixes, minutes=9)) == 2
    assert find_stays([]) == []
    assert len(find_stays([at(0, 0), at(20, 0), at(1439, 0)])) == 1
    assert (
        len(find_stays([at(0, 0), at(20, 0), at(1460, 0), at(1480, 0)])) == 2
    )  # a day of which nobody knows
    assert find_stays(reversed(fixes)) == [stay]


def test_a_night_belongs_to_both_days(world: World) -> None:
    moments = [dt.datetime(2024, 3, day, hour) for day, hour in ((7, 23), (8, 9))]  # noqa: DTZ001 - local
    days = _days(OwnRecords([Stay(moments[0], moments[1], 52.53, 13.405)], []), world)
    assert days == {
        "2024-03-07": [("shop", 138)],
        "2024-03-08": [("shop", 0)],
    }


def _at(hour: float, lat: float, lng: float = 13.405, day: int = 7) -> Stay:
    start = dt.datetime(2024, 3, day) + dt.timedelta(hours=hour)  # noqa: DTZ001 - local
    return Stay(start, start + dt.timedelta(hours=1), lat, lng)


def test_no_day_is_refused_for_what_is_true(world: World) -> None:
    """Far from every place, or nearest to one that is closed: moved to the nearest open one."""
    far = OwnRecords([_at(9, 48.0), _at(19, 52.5201, 13.4051)], [])
    assert _days(far, world) == {"2024-03-07": [("bar", 114)]}  # another stay of that day matches
    assert _days(OwnRecords([_at(9, 48.0)], []), world) == {"2024-03-07": [("cafe", 54)]}
    assert _days(OwnRecords([_at(3, 48.0)], []), world) == {"2024-03-07": [("shop", 18)]}  # alone open


def test_where_nothing_is_open_the_nearest_place_will_do(tmp_path: Path) -> None:
    rows = [place("a", 52.52, 13.405, hours="08:00-20:00"), place("b", 52.6, 13.405, hours="08:00-20:00")]
    world = build(tmp_path, rows, {"kappa": 1, "timezone": ZONE})
    assert _days(OwnRecords([_at(3, 53.0)], []), world) == {"2024-03-07": [("b", 18)]}


def test_a_day_with_fixes_but_no_stay_goes_by_its_fixes(world: World) -> None:
    """One for each timestep, repeats removed."""
    start = dt.datetime(2024, 3, 7, 12)  # noqa: DTZ001 - local
    rows = [(0, 52.52), (5, 52.53), (12, 52.52), (24, 52.53), (33, 52.53)]
    fixes = [Fix(start + dt.timedelta(minutes=minute), lat, 13.405) for minute, lat in rows]
    assert find_stays(fixes) == []
    assert _days(OwnRecords([], fixes), world) == {"2024-03-07": [("cafe", 72), ("shop", 74)]}


def test_a_day_without_a_visit_is_a_day_too(world: World) -> None:
    records = OwnRecords([_at(9, 52.52), _at(9, 52.52, day=9)], [])
    for day in (6, 8, 10):  # before, between and after what was recorded
        assert list(personal_day(records, world, dt.date(2024, 3, day))) == [("", 72)]
    nothing = OwnRecords([], [])
    assert nothing.span is None
    assert list(personal_day(nothing, world, dt.date(2024, 3, 8))) == [("", 72)]


def test_only_days_to_come_are_refused() -> None:
    today = dt.date(2024, 3, 8)
    assert checked_day("2024-03-08", today) == today
    for day, said in (("2024-03-09", "must not be later than today"), ("tomorrow", "must be a date")):
        with pytest.raises(InputError, match=said):
            checked_day(day, today)


def test_a_file_of_one_day_without_a_record_is_read(tmp_path: Path, world: World) -> None:
    """A daily export of somebody who stayed at home: no error may tell."""
    (tmp_path / "day.csv").write_text("lat,lng,datetime\n")
    assert read_own([tmp_path / "day.csv"], world).span is None


def test_another_city_is_noticed_by_all_days_never_by_one(world: World) -> None:
    near = [_at(9, 52.52, day=day) for day in range(8, 10)]
    far = [_at(9, 49.2, -123.1, day=day) for day in range(7, 12)]
    refuse_other_city(OwnRecords([far[0], *near], []), world, "2024-03-07", "file")
    refuse_other_city(OwnRecords(far[:3], []), world, "2024-03-07", "file")  # too few others to tell
    with pytest.raises(InputError, match=r"file: more than 90% .* 50 km .* --anyway") as caught:
        refuse_other_city(OwnRecords(far, []), world, "2024-03-07", "file")
    assert "49" not in str(caught.value)
    assert "123" not in str(caught.value)


def test_a_data_set_of_ones_own_is_private(tmp_path: Path, world: World, own_data_folder: Path) -> None:
    folder = tmp_path / "mine"
    facts = write_dataset(folder, read_personal([android(tmp_path), points_csv(tmp_path)], world=world))
    assert facts["trajectories"] == 1
    assert "PRIVATE" in (folder / "SOURCE.md").read_text().splitlines()[0]
    assert folder.stat().st_mode & 0o777 == 0o700
    for name in ("trajectories.PRIVATE.csv", "SOURCE.md"):
        assert (folder / name).stat().st_mode & 0o777 == 0o600
    assert not (folder / "trajectories.csv").exists()
    with (folder / "trajectories.PRIVATE.csv").open() as file:
        uids = {row["uid"] for row in csv.DictReader(file)}
    assert uids == {f"me-{owner_of(own_data_folder / 'elsewhere.ledger')}"}
    assert own_data_folder.stat().st_mode & 0o777 == 0o700
    other = read_personal([android(tmp_path)], world=world, ledger=tmp_path / "other.ledger")
    assert {person.uid for person in other.days}.isdisjoint(uids)


@pytest.mark.parametrize(
    "text",
    PLAIN_TABLES,
)
def test_own_tables_are_read_however_separated_and_called(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.csv").write_text(text)
    [fix] = read_export(tmp_path / "a.csv", "Europe/Berlin").fixes
    assert tuple(fix)[:3] == (dt.datetime(2024, 3, 7, 10), 52.52, 13.405)  # noqa: DTZ001 - local time


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", '{"semanticSegments": [{"visit": {}}]}', "segment 1 is not as it should be"),
        ("a.json", '{"something": 1}', "has none of semanticSegments"),
        ("a.json", '{"semanticSegments": ', "is not JSON at line 1"),
        ("a.json", '{"locations": [{"latitudeE7": 525200000, "longitudeE7": 1,', "truncated or damaged"),
        ("a.json", '{"locations": [{"latitudeE7": 5, "longitudeE7": 1, "timestamp": "2024-03-07"}]}', "zone"),
        ("a.gpx", "<gpx><trk><trkseg><trkpt lat='52.52'", "is no XML from line 1"),
        ("a.gpx", "<gpx><trkpt lat='52.5' lon='1'><time>2024-03-07T10:00</time></trkpt></gpx>", "zone"),
        ("a.csv", "lat,lng\n52.52,13.405\n", "column datetime is missing"),
        ("a.csv", "lat,lng,datetime\n52.52,13.405,noon\n", "row 2, column datetime: must be a time such as"),
        ("a.csv", "lat,lng,datetime\n52.52,13.405,2024-03-07\n", "is a date without a time"),
        ("a.csv", "lat,lng,datetime\n52.52,13.405,07/03/2024 10:00\n", "day and month cannot be told apart"),
        ("a.csv", "lat;lng;when\n52.52;13.405;2024\n", "the file has lat, lng, when"),
        ("a.csv", "lat,lng,datetime\n152.52,13.405,2024-03-07T10:00\n", "row 2: needs degrees"),
        (
            "a.csv",
            "lat,lng,datetime\n52.52,13.405,2024-03-07T10:00\n52.52,13.405,2024-03-07T10:00Z\n",
            "row 3, column datetime: some times have a zone",
        ),
        ("a.bin", "hello", "is none of: Google Timeline"),
        ("a.bin", "", "is empty"),
        ("a.gpx", "<gpx><trkpt lat='52.5' lon='13.4'/></gpx>", "is GPX without times: its 1 points"),
        ("a.kml", "<kml><Placemark><Point><coordinates>13.4,52.5</coordinates></Point></Placemark></kml>",
         "is KML without times"),
        ("a.kml", f"<kml>{_NO_LONGITUDE}</kml>", "point 1 is not as it should be"),
        ("a.xml", "<recipe/>", "is XML of another kind"),
        ("a.gpx", "<!DOCTYPE gpx [<!ENTITY a 'aaaa'>]><gpx>&a;</gpx>", "entities of its own"),
        ("a.html", "<!doctype html><html><body>13.4<br></body></html>", "is a web page"),
        ("a.pdf", "%PDF-1.7 13.4", "is a PDF"),
        ("a.geojson", '{"type": "FeatureCollection", "features": []}', "is GeoJSON, but has no place"),
        ("a.geojson", _NO_LATITUDE, "feature 1 is not as it should be"),
    ],
)  # fmt: skip
def test_messages_say_what_is_wrong_and_quote_nothing(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read_export(tmp_path / name, ZONE)
    assert "52.5" not in str(caught.value)
    assert "13.4" not in str(caught.value)
    assert "noon" not in str(caught.value)


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (b"\x89PNG\r\n", "is an image"),
        (b"\xff\xd8\xff\xe0", "is an image"),
        (b"\x00\x00\x00\x18ftypheic", "is an image"),
        (b"SQLite format 3\x00", "is a database"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "spreadsheet"),
        (b"\x0e\x10\x00\x00\x00\x00\x00\x00.FIT", "is a FIT file of a watch: export GPX or TCX"),
        (b"PAR1\x00", "is a Parquet file"),
    ],
)
def test_wrong_files_are_named_as_what_they_are(tmp_path: Path, start: bytes, message: str) -> None:
    (tmp_path / "file").write_bytes(start + bytes(range(256)))
    with pytest.raises(InputError, match=f"{message}.*must be one of: Google Timeline"):
        read_export(tmp_path / "file", ZONE)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["[Content_Types].xml", "xl/workbook.xml"], "is a spreadsheet"),
        (["mimetype", "content.xml"], "OpenDocument"),
        (["photos/a.jpg", "Settings.json"], "is a zip of 2 files, none of which"),
    ],
)
def test_wrong_zips_are_named_as_what_they_are(tmp_path: Path, names: list[str], message: str) -> None:
    with zipfile.ZipFile(tmp_path / "file.zip", "w") as archive:
        for name in names:
            archive.writestr(name, "{}")
    with pytest.raises(InputError, match=message):
        read_export(tmp_path / "file.zip", ZONE)


def test_nothing_private_is_in_a_repr(tmp_path: Path) -> None:
    export = read_export(records(tmp_path), ZONE)
    own = OwnRecords([], export.fixes)
    for thing in (export, export.fixes, find_stays(export.fixes), own, own.spots(10)):
        assert "52" not in re.sub("0x[0-9a-f]+", "", repr(thing))  # addresses are nobody's


@pytest.mark.parametrize(
    ("name", "stays", "fixes"),
    [
        ("reitti_timeline_from_android_randomized.json", 1, 0),
        ("reitti_timeline_from_ios_randomized.json", 1, 0),
        ("reitti_Records.json", 0, 90),
        ("geolife_sample.txt.gz", 0, 217_653),
    ],
)
def test_the_real_exports(name: str, stays: int, fixes: int) -> None:
    export = read_export(real(f"personal_exports/{name}"), "UTC")
    assert len(export.stays) >= stays
    assert len(export.fixes) >= fixes
    if fixes:
        assert find_stays(export.fixes)


def test_a_real_day_on_a_world_around_it(tmp_path: Path) -> None:
    """Places put where the stays of a real export are: every day with a stay is found."""
    path = real("personal_exports/reitti_timeline_from_ios_randomized.json")
    stays = read_export(path, "UTC").stays
    spots = sorted({(round(stay.latitude, 4), round(stay.longitude, 4)) for stay in stays})
    rows = [place(f"s{i}", lat, lng, hours="24/7") for i, (lat, lng) in enumerate(spots)]
    world = build(tmp_path, rows, {"kappa": 1})
    days = _days(read_own([path], world), world)
    assert len(days) >= 5
    assert {str(stay.arrival.date()) for stay in stays} <= set(days)
