"""A person's own files: every format, stays, matching, one day shared; nothing private in any message."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elsewhere.datasets.bundle import write_dataset
from elsewhere.datasets.personal import read_personal
from elsewhere.device.exports import Fix, Stay, read_export
from elsewhere.device.personal import DayMaker, find_stays, personal_day, stays_of
from elsewhere.errors import InputError
from elsewhere.world.world import World
from raw import gzipped, real
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


def _android(folder: Path) -> Path:
    segments = [
        {
            "startTime": "2024-03-07T08:00:00+01:00",
            "endTime": "2024-03-07T10:00:00+01:00",
            "timelinePath": [],
        },
        _visit("2024-03-07T10:05:00+01:00", "2024-03-07T11:00:00+01:00", {"latLng": "52.5200°, 13.4050°"}),
        _visit("2024-03-07T12:00:00+01:00", "2024-03-07T13:00:00+01:00", {"latLng": "52.5300°, 13.4050°"}),
    ]
    return _json(folder / "android.json", {"semanticSegments": segments, "rawSignals": []})


def _ios(folder: Path) -> Path:
    return _json(
        folder / "ios.json",
        [
            _visit("2024-03-07T10:05:00+01:00", "2024-03-07T11:00:00+01:00", "geo:52.5200,13.4050"),
            {
                "startTime": "2024-03-07T11:00:00+01:00",
                "endTime": "2024-03-07T12:00:00+01:00",
                "activity": {},
            },
            _visit("2024-03-07T12:00:00+01:00", "2024-03-07T13:00:00+01:00", "geo:52.5300,13.4050"),
        ],
    )


def _visit(start: str, end: str, where: Any) -> dict[str, Any]:
    visit = {"hierarchyLevel": "0", "topCandidate": {"placeLocation": where}}
    return {"startTime": start, "endTime": end, "visit": visit}


def _takeout(folder: Path, *, milliseconds: bool = False) -> Path:
    def visit(start: str, end: str, lat: float) -> dict[str, Any]:
        keys = {"startTimestamp": start, "endTimestamp": end}
        if milliseconds:
            keys = {
                f"{name}Ms": str(int(dt.datetime.fromisoformat(text).timestamp() * 1000))
                for name, text in keys.items()
            }
        where = {"latitudeE7": round(lat * 1e7), "longitudeE7": 134050000}
        return {"placeVisit": {"location": where, "duration": keys}}

    objects = [
        visit("2024-03-07T09:05:00Z", "2024-03-07T10:00:00Z", 52.52),
        {"activitySegment": {}},
        visit("2024-03-07T11:00:00Z", "2024-03-07T12:00:00Z", 52.53),
    ]
    return _json(folder / "takeout.json", {"timelineObjects": objects})


def _fixes() -> list[tuple[str, float, float]]:
    """Every minute: at the café from 10:05, under way, in the shop from 12:00 (local)."""
    rows = [(f"2024-03-07T09:{minute:02d}:00Z", 52.52, 13.405) for minute in range(5, 30)]
    rows += [(f"2024-03-07T10:{30 + minute:02d}:00Z", 52.521 + minute / 1000, 13.405) for minute in range(8)]
    rows += [(f"2024-03-07T11:{minute:02d}:00Z", 52.53, 13.4051) for minute in range(25)]
    return rows


def _records(folder: Path) -> Path:
    locations = [
        {"latitudeE7": round(lat * 1e7), "longitudeE7": round(lng * 1e7), "timestamp": time}
        for time, lat, lng in _fixes()
    ]
    return _json(folder / "Records.json", {"locations": [*locations, {"timestamp": "2024-03-07T11:30:00Z"}]})


def _gpx(folder: Path) -> Path:
    points = "".join(
        f'<trkpt lat="{lat}" lon="{lng}"><ele>3</ele><time>{time}</time></trkpt>'
        for time, lat, lng in _fixes()
    )
    path = folder / "track.gpx"
    path.write_text(
        '<?xml version="1.0"?><gpx xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>'
        f"{points}</trkseg></trk></gpx>"
    )
    return path


def _owntracks(folder: Path) -> Path:
    lines = []
    for time, lat, lng in _fixes():
        tst = int(dt.datetime.fromisoformat(time).timestamp())
        message = {"_type": "location", "lat": lat, "lon": lng, "tst": tst}
        lines.append(f"{time}\t*                 \t{json.dumps(message)}")
    lines.append('2024-03-07T12:00:00Z\t*                 \t{"_type":"lwt","tst":1}')
    path = folder / "2024-03.rec"
    path.write_text("\n".join(lines) + "\n")
    return path


def _csv(folder: Path) -> Path:
    text = "lat,lng,datetime\n" + "".join(f"{lat},{lng},{time}\n" for time, lat, lng in _fixes())
    return gzipped(folder / "points.csv.gz", text)


def _json(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content, ensure_ascii=False))
    return path


@pytest.mark.parametrize("write", [_android, _ios, _takeout, _records, _gpx, _owntracks, _csv])
def test_every_format_gives_the_same_day(tmp_path: Path, world: World, write: Any) -> None:
    """10:05 in the café (the bar nearby is closed), 12:00 in the shop."""
    day = personal_day(write(tmp_path), world, "2024-03-07")
    assert list(day) == [("cafe", 60), ("shop", 72)]


def test_the_oldest_takeout_has_milliseconds(tmp_path: Path, world: World) -> None:
    day = personal_day(_takeout(tmp_path, milliseconds=True), world, "2024-03-07")
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
    assert find_stays(reversed(fixes)) == [stay]


def test_a_night_belongs_to_both_days(world: World) -> None:
    moments = [dt.datetime(2024, 3, day, hour) for day, hour in ((7, 23), (8, 9))]  # noqa: DTZ001 - local
    days = DayMaker(world).days([Stay(moments[0], moments[1], 52.53, 13.405)])
    assert {str(date): list(day) for date, day in days.items()} == {
        "2024-03-07": [("shop", 138)],
        "2024-03-08": [("shop", 0)],
    }


def test_stays_out_of_the_world_are_left_out(tmp_path: Path, world: World) -> None:
    moments = [dt.datetime(2024, 3, 7, hour) for hour in (9, 10)]  # noqa: DTZ001 - local
    maker = DayMaker(world)
    assert maker.days([Stay(moments[0], moments[1], 48.0, 13.405)]) == {}
    assert list(maker.counts.values()) == [1, 1, 0]
    with pytest.raises(InputError, match=r"no stay near an open place .* 2024-03-09; 1 days from 2024-03-07"):
        personal_day(_android(tmp_path), world, "2024-03-09")
    with pytest.raises(InputError, match="must be a date"):
        personal_day(_android(tmp_path), world, "tomorrow")


def test_a_data_set_of_ones_own(tmp_path: Path, world: World) -> None:
    facts = write_dataset(tmp_path / "mine", read_personal([_android(tmp_path), _csv(tmp_path)], world=world))
    assert facts["trajectories"] == 1
    assert "PRIVATE" in (tmp_path / "mine/SOURCE.md").read_text()


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
        ("a.csv", "lat,lng,datetime\n52.52,13.405,noon\n", "row 2: needs degrees under lat"),
        ("a.csv", "lat,lng,datetime\n152.52,13.405,2024-03-07T10:00\n", "row 2: needs degrees"),
        (
            "a.csv",
            "lat,lng,datetime\n52.52,13.405,2024-03-07T10:00\n52.52,13.405,2024-03-07T10:00Z\n",
            "row 3, column datetime: some times have a zone",
        ),
        ("a.bin", "hello", "is none of: Google Timeline"),
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


def test_nothing_private_is_in_a_repr(tmp_path: Path) -> None:
    export = read_export(_records(tmp_path), ZONE)
    assert "52" not in repr(export)
    assert "52" not in repr(export.fixes)
    assert "52" not in repr(find_stays(export.fixes))


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
    days = DayMaker(world).days(stays_of(path, world))
    assert len(days) >= 5
    assert {stay.arrival.date() for stay in stays} <= set(days)
