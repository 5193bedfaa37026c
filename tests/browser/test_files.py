"""A person's own files in the browser: the days and visits that Python finds in them, or a sentence."""

from __future__ import annotations

import base64
import datetime as dt
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elsewhere.device.personal import DayMaker, read_own
from elsewhere.mechanism.secret import NumberedVisits
from elsewhere.pages.browser_survey import browser_survey
from elsewhere.survey.survey import Survey
from made_surveys import survey_of
from own_files import (
    PLAIN_TABLES,
    android,
    berlin,
    geojson,
    gpx,
    ios,
    owntracks,
    points_csv,
    records,
    takeout,
    write_json,
)
from scripts_of_pages import HERE, SCRIPTS
from worlds import build, place

EPOCH = dt.date(1970, 1, 1)
READERS = ("device", "things", "moments", "tables", "files", "visits")
Days = Callable[[bytes], Any]


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Survey:
    rows = [*berlin(), place("kiosk", 52.5310, 13.4070, hours="06:00-22:00")]
    world = build(tmp_path_factory.mktemp("world"), rows, {"kappa": 1, "timezone": "Europe/Berlin"})
    return survey_of(world, ("visits", "1", {}))


@pytest.fixture
def in_page(browser: Any, survey: Survey) -> Days:
    page = browser.new_page()
    for script in [*(SCRIPTS / f"{name}.js" for name in READERS), HERE / "files_of_people.js"]:
        page.add_script_tag(path=str(script))
    plain = browser_survey(survey)
    call = "([plain, file]) => daysOfFile(plain, file)"
    return lambda file: page.evaluate(call, [plain, base64.b64encode(file).decode()])


def _as_python(path: Path, survey: Survey) -> dict[str, list[int]]:
    world = survey.world
    maker, secret = DayMaker(world), NumberedVisits(world)
    days = read_own([path], world).spots(world.clock.timestep_minutes)
    return {str((date - EPOCH).days): list(secret(maker.day(spots))) for date, spots in days.items()}


@pytest.mark.parametrize(
    "write", [android, ios, takeout, records, gpx, owntracks, points_csv, geojson], ids=lambda w: w.__name__
)
def test_every_format_gives_the_days_that_python_finds(
    tmp_path: Path, survey: Survey, in_page: Days, write: Callable[[Path], Path]
) -> None:
    path = write(tmp_path)
    wanted = _as_python(path, survey)
    assert wanted == {"19789": [place * 144 + step for place, step in ((1, 60), (3, 72))]}
    assert in_page(path.read_bytes()) == wanted


def test_the_oldest_takeout_has_milliseconds(tmp_path: Path, survey: Survey, in_page: Days) -> None:
    path = takeout(tmp_path, milliseconds=True)
    assert in_page(path.read_bytes()) == _as_python(path, survey) != {}


@pytest.mark.parametrize(
    "text",
    [
        *PLAIN_TABLES,
        'name,lat,lng,time\n"a ""b""\n",52.52,13.405,2024-03-07 10:00 PM\n\n,52.53,13.405,2024-03-08 1:00\n',
        "\ufefflat,lng,datetime\r\n52.52,13.405,13/03/2024 9:00 AM\r\n52.52,13.405,01/04/2024 24:00\r\n",
        "lat,lng,datetime\n52.52,13.405,20240307100000\n",
        "lat,lng,datetime\n52.52,13.405,2024-03-07T10:00:00.123456+05:30\n",
        "lat,lng,datetime\n",
    ],
)
def test_tables_are_read_however_separated_and_called(
    tmp_path: Path, survey: Survey, in_page: Days, text: str
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text, newline="")
    assert in_page(path.read_bytes()) == _as_python(path, survey)


def test_a_year_of_somebody_is_the_same_in_both(tmp_path: Path, survey: Survey, in_page: Days) -> None:
    """Nights, changes of the clock, days far away, days of fixes without a stay."""
    generator = np.random.default_rng(7)
    start = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
    segments, fixes, minute = [], [], 0.0
    while minute < 366 * 1440:
        lat = 52.52 + float(generator.choice([0, 0.01, 0.011, 0.5, -0.0021]))
        lng = 13.405 + float(generator.choice([0, 0.0005, 0.002, 3]))
        stays = float(generator.choice([20, 45, 300, 900, 3000]))
        begin, end = (start + dt.timedelta(minutes=m) for m in (minute, minute + stays))
        visit = {"topCandidate": {"placeLocation": {"latLng": f"{lat:.7f}°, {lng:.7f}°"}}}
        segments.append({"startTime": begin.isoformat(), "endTime": end.isoformat(), "visit": visit})
        fixes += [
            (begin + dt.timedelta(minutes=m), lat + 0.0002 * generator.normal(), lng) for m in range(0, 40, 4)
        ]
        minute += stays + float(generator.choice([5, 60, 4000]))
    timeline = write_json(tmp_path / "a.json", {"semanticSegments": segments})
    wanted = _as_python(timeline, survey)
    assert len(wanted) > 200
    assert in_page(timeline.read_bytes()) == wanted
    table = tmp_path / "b.csv"
    rows = [f"{lat},{lng},{moment.isoformat()}\n" for moment, lat, lng in fixes]
    table.write_text("lat,lng,datetime\n" + "".join(rows))
    wanted = _as_python(table, survey)
    assert len(wanted) > 100
    assert in_page(gzip.compress(table.read_bytes())) == wanted


def test_a_day_that_says_nothing_is_a_visit_to_a_place_nobody_knows(survey: Survey, browser: Any) -> None:
    page = browser.new_page()
    for name in READERS:
        page.add_script_tag(path=str(SCRIPTS / f"{name}.js"))
    found = page.evaluate("(plain) => dayVisits(openPlaces(plain), [])", browser_survey(survey))
    assert found == [4 * 144 + 72]


BAD = [
    (b"", "file_empty"),
    (b" \n ", "file_empty"),
    (b"hello", "file_unknown"),
    (b"%PDF-1.7", "file_foreign"),
    (b"\x89PNG\r\n\x1a\n", "file_foreign"),
    (bytes(range(256)) * 40, "file_foreign"),
    (b"PK\x03\x04 zip", "file_packed"),
    (b"\x1f\x8b\x08 not gzip", "file_damaged"),
    (gzip.compress(b"lat,lng,datetime\n" * 99, mtime=0)[:40], "file_damaged"),
    (b"\xff\xfel\x00a\x00t\x00", "file_utf16"),
    (b'{"semanticSegments": ', "file_not_json"),
    (b'{"semanticSegments": 5}', "file_no_list"),
    (b'{"semanticSegments": [{"visit": {}}]}', "file_thing"),
    (b'{"semanticSegments": [null]}', "file_thing"),
    (b'{"something": 1}', "file_other_json"),
    (b'{"locations": [{"latitudeE7": 5, "longitudeE7": 1, "timestamp": "2024-03-07"}]}', "file_zone"),
    (b'{"locations": [{"latitudeE7": 5, "longitudeE7": 1, "timestampMs": "soon"}]}', "file_thing"),
    (b'{"timelineObjects": [{"placeVisit": {"duration": {}}}]}', "file_thing"),
    (b'{"type": "FeatureCollection", "features": []}', "file_no_times"),
    (b"<gpx><trk><trkseg><trkpt lat='52.52'", "file_not_xml"),
    (b"<gpx><trkpt lat='52.5' lon='13'/></gpx>", "file_no_times"),
    (b"<gpx><trkpt lat='52.5' lon='1'><time>2024-03-07T10:00</time></trkpt></gpx>", "file_zone"),
    (b"<gpx><trkpt lat='152.5' lon='1'><time>2024-03-07T10:00Z</time></trkpt></gpx>", "file_thing"),
    (b"<!DOCTYPE gpx [<!ENTITY a 'aaaa'>]><gpx>&a;</gpx>", "file_other_xml"),
    (b"<recipe/>", "file_other_xml"),
    (b"<!doctype html><html><body>1<br></body></html>", "file_web_page"),
    (b"lat,lng\n52.52,13.405\n", "file_column"),
    (b"lat,lng,lat,datetime\n1,1,1,1\n", "file_twice"),
    (b"lat,lng,datetime\n52.52,13.405,noon\n", "file_no_time"),
    (b"lat,lng,datetime\n52.52,13.405,2024-02-31T10:00\n", "file_no_time"),
    (b"lat,lng,datetime\n52.52,13.405,2024-03-07\n", "file_date_alone"),
    (b"lat,lng,datetime\n52.52,13.405,07/03/2024 10:00\n", "file_unclear_date"),
    (b"lat,lng,datetime\n152.52,13.405,2024-03-07T10:00\n", "file_degrees"),
    (b"lat,lng,datetime\n52.52,13.405\n", "file_row"),
    (b"lat,lng,datetime\n52.5,13.4,2024-03-07T10:00\n52.5,13.4,2024-03-07T10:00Z\n", "file_zones"),
    (b'2024-03-07T10:00:00Z\t*\t{"_type":"location"}\n', "file_thing"),
    (b'2024-03-07T10:00:00Z\t*\t{"_type":\n', "file_thing"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "problem"), BAD)
def test_wrong_files_are_a_sentence_and_never_a_crash(in_page: Days, file: bytes, problem: str) -> None:
    found = in_page(file)
    assert found["problem"] == problem
    assert not set(json.dumps(found["values"]).split()) & {"52.52", "13.405", "noon"}  # nothing private


def test_damaged_files_never_crash(tmp_path: Path, in_page: Days) -> None:
    """Every format cut short and with bytes changed: days, or a sentence."""
    generator = np.random.default_rng(3)
    for write in (android, takeout, records, gpx, owntracks, geojson):
        whole = write(tmp_path).read_bytes()
        for _ in range(12):
            file = bytearray(whole[: int(generator.integers(1, len(whole)))])
            for at in generator.integers(0, len(file), 3).tolist():
                file[at] = int(generator.integers(256))
            found = in_page(bytes(file))  # an error of any other kind would be raised here
            assert isinstance(found, dict)


def test_a_huge_file_is_refused_before_it_is_read(browser: Any) -> None:
    page = browser.new_page()
    for name in READERS:
        page.add_script_tag(path=str(SCRIPTS / f"{name}.js"))
    call = "() => readOwnFile({ size: 3e9 }, Number, {}).catch((error) => error.key)"
    assert page.evaluate(call) == "file_huge"
