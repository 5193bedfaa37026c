"""A day at a café and in a shop, written as every kind of file that people have of themselves."""

from __future__ import annotations

import datetime as dt
import json
import zipfile
from pathlib import Path
from typing import Any

from elsewhere.knowledge.places import Place
from raw import gzipped
from worlds import place


def android(folder: Path) -> Path:
    segments = [
        {
            "startTime": "2024-03-07T08:00:00+01:00",
            "endTime": "2024-03-07T10:00:00+01:00",
            "timelinePath": [],
        },
        _visit("2024-03-07T10:05:00+01:00", "2024-03-07T11:00:00+01:00", {"latLng": "52.5200°, 13.4050°"}),
        _visit("2024-03-07T12:00:00+01:00", "2024-03-07T13:00:00+01:00", {"latLng": "52.5300°, 13.4050°"}),
    ]
    return write_json(folder / "android.json", {"semanticSegments": segments, "rawSignals": []})


def ios(folder: Path) -> Path:
    return write_json(
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


def takeout(folder: Path, *, milliseconds: bool = False) -> Path:
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
    return write_json(folder / "takeout.json", {"timelineObjects": objects})


def _fixes() -> list[tuple[str, float, float]]:
    """Every minute: at the café from 10:05, under way, in the shop from 12:00 (local)."""
    rows = [(f"2024-03-07T09:{minute:02d}:00Z", 52.52, 13.405) for minute in range(5, 30)]
    rows += [(f"2024-03-07T10:{30 + minute:02d}:00Z", 52.521 + minute / 1000, 13.405) for minute in range(8)]
    rows += [(f"2024-03-07T11:{minute:02d}:00Z", 52.53, 13.4051) for minute in range(25)]
    return rows


def records(folder: Path) -> Path:
    locations = [
        {"latitudeE7": round(lat * 1e7), "longitudeE7": round(lng * 1e7), "timestamp": time}
        for time, lat, lng in _fixes()
    ]
    nowhere = {"timestamp": "2024-03-07T11:30:00Z"}
    return write_json(folder / "Records.json", {"locations": [*locations, nowhere]})


def gpx(folder: Path) -> Path:
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


def owntracks(folder: Path) -> Path:
    lines = []
    for time, lat, lng in _fixes():
        tst = int(dt.datetime.fromisoformat(time).timestamp())
        message = {"_type": "location", "lat": lat, "lon": lng, "tst": tst}
        lines.append(f"{time}\t*                 \t{json.dumps(message)}")
    lines.append('2024-03-07T12:00:00Z\t*                 \t{"_type":"lwt","tst":1}')
    path = folder / "2024-03.rec"
    path.write_text("\n".join(lines) + "\n")
    return path


def points_csv(folder: Path) -> Path:
    text = "lat,lng,datetime\n" + "".join(f"{lat},{lng},{time}\n" for time, lat, lng in _fixes())
    return gzipped(folder / "points.csv.gz", text)


def write_json(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content, ensure_ascii=False))
    return path


def geojson(folder: Path) -> Path:
    features: list[dict[str, Any]] = [
        {
            "type": "Feature",
            "properties": {"timestamp": int(dt.datetime.fromisoformat(time).timestamp() * 1000)},
            "geometry": {"type": "Point", "coordinates": [lng, lat, 3]},
        }
        for time, lat, lng in _fixes()
    ]
    features[0]["properties"] = {"time": _fixes()[0][0]}
    features.append(
        {"type": "Feature", "properties": {}, "geometry": {"type": "Point", "coordinates": [0, 0]}}
    )
    return write_json(folder / "points.geojson", {"type": "FeatureCollection", "features": features})


_KML = '<kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="g"><Document>{}</Document></kml>'


def kml_track(folder: Path) -> Path:
    whens = "".join(f"<when>{time}</when>" for time, _, _ in _fixes())
    coords = "".join(f"<gx:coord>{lng} {lat} 0</gx:coord>" for _, lat, lng in _fixes())
    path = folder / "track.kml"
    path.write_text(_KML.format(f"<Placemark><gx:Track>{whens}{coords}</gx:Track></Placemark>"))
    return path


def kml_spans(folder: Path) -> Path:
    def mark(begin: str, end: str, shape: str) -> str:
        begin, end = (f"2024-03-07T{time}:00Z" for time in (begin, end))
        span = f"<TimeSpan><begin>{begin}</begin><end>{end}</end></TimeSpan>"
        return f"<Placemark><name>secret</name>{span}{shape}</Placemark>"

    marks = [
        mark("09:05", "10:00", "<Point><coordinates>13.405,52.52,0</coordinates></Point>"),
        mark("10:00", "11:00", "<LineString><coordinates>13,52 13,53</coordinates></LineString>"),
        mark("11:00", "12:00", "<Point><coordinates>13.405,52.53,0</coordinates></Point>"),
    ]  # fmt: skip
    path = folder / "history.kml"
    path.write_text(_KML.format("".join(marks)))
    return path


def kmz(folder: Path) -> Path:
    with zipfile.ZipFile(folder / "track.kmz", "w") as archive:
        archive.write(kml_track(folder), "doc.kml")
        archive.writestr("images/icon.png", b"\x89PNG")
    return folder / "track.kmz"


def tcx(folder: Path) -> Path:
    points = "".join(
        f"<Trackpoint><Time>{time}</Time><Position><LatitudeDegrees>{lat}</LatitudeDegrees>"
        f"<LongitudeDegrees>{lng}</LongitudeDegrees></Position></Trackpoint>"
        for time, lat, lng in _fixes()
    )
    path = folder / "run.tcx"
    path.write_text(f"<TrainingCenterDatabase xmlns='t'><Track>{points}</Track></TrainingCenterDatabase>")
    return path


def takeout_zip(folder: Path) -> Path:
    """A whole Takeout: two months of visits, records, and what has nothing to do with places."""
    month = json.loads(takeout(folder).read_text())
    halves = [{"timelineObjects": month["timelineObjects"][part]} for part in (slice(0, 1), slice(1, 3))]
    with zipfile.ZipFile(folder / "takeout.zip", "w") as archive:
        for number, half in enumerate(halves):
            archive.writestr(f"Takeout/Location History/Semantic/2024_{number}.json", json.dumps(half))
        archive.write(records(folder), "Takeout/Location History/Records.json")
        archive.writestr("Takeout/Location History/Settings.json", '{"settings": [1]}')
        archive.writestr("Takeout/Chrome/History.json", '{"Browser History": []}')
        archive.writestr("Takeout/archive_browser.html", "<html></html>")
    return folder / "takeout.zip"


PLAIN_TABLES = [
    "lat,lng,datetime\n52.52,13.405,2024-03-07T10:00:00\n",
    "Latitude;Longitude;Timestamp\n52,52;13,405;07.03.2024 10:00\n",
    "LON\tLAT\tTIME\n13.405\t52.52\t2024-03-07 10:00:00\n",
    "date,time,lat,lon\n2024-03-07,10:00,52.52,13.405\n",
    "utc_time,lat,lng\n2024-03-07 09:00:00,52.52,13.405\n",
    "epoch,lat,lng\n1709802000,52.52,13.405\n",
]
"""Ten o'clock at the café, written in six ways."""


def berlin() -> list[Place]:
    """Where these files are about."""
    return [
        place("cafe", 52.5200, 13.4050, hours="08:00-20:00"),
        place("bar", 52.5201, 13.4051, "bar", hours="18:00-26:00"),
        place("shop", 52.5300, 13.4050, "shoes", hours="24/7"),
    ]
