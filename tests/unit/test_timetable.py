"""Timetables: feeds as agencies write them, and the connection scan against a slow search."""

from __future__ import annotations

import zipfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elsewhere.errors import InputError
from elsewhere.inputs.gtfs import _footpaths, read_timetable
from elsewhere.knowledge.clock import Clock
from elsewhere.knowledge.sphere import unit_vectors
from elsewhere.knowledge.timetable import (
    Hops,
    Timetable,
    earliest_arrivals,
    timetable_milliseconds,
)
from examples import examples

NEVER = 1 << 30
FEED = {
    "stops.txt": "stop_id,stop_name,stop_lat,stop_lon,parent_station\n"
    "A,Ash,50.0,10.0,\nA1,Ash 1,50.0,10.0,A\nB,Birch,50.0,10.1,\n"
    "C,Cedar,50.1,10.1,\nC2,Cedar 2,50.1,10.1,C\n",
    "trips.txt": "route_id,service_id,trip_id\n1,week,t1\n1,week,t2\n1,night,t3\n1,sunday,t4\n2,week,f\n",
    "stop_times.txt": "trip_id,arrival_time,departure_time,stop_id,stop_sequence\n"
    "t1,08:00:00,08:00:00,A1,1\nt1,,,B,2\nt1,08:20:00,08:20:00,C,3\n"
    "t2,08:30:00,08:30:00,A1,1\nt2,08:40:00,08:41:00,B,2\nt2,08:50:00,08:50:00,C2,3\n"
    "t3,24:10:00,24:10:00,A,1\nt3,24:20:00,24:20:00,B,2\n"
    "t4,09:00:00,09:00:00,A,1\nt4,09:05:00,09:05:00,B,2\n"
    "f,00:00:00,00:00:00,C,1\nf,00:07:00,00:07:00,A,2\n",
    "calendar.txt": "service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,"
    "start_date,end_date\n"
    "week,1,1,1,1,1,0,0,20250101,20250131\nnight,0,1,0,0,0,0,0,20250101,20250131\n"
    "sunday,0,0,0,0,0,0,1,20250101,20250131\n",
    "calendar_dates.txt": "service_id,date,exception_type\nweek,20250101,2\nsunday,20250101,1\n",
    "frequencies.txt": "trip_id,start_time,end_time,headway_secs\nf,10:00:00,10:30:00,600\n",
    "transfers.txt": "from_stop_id,to_stop_id,transfer_type,min_transfer_time\nB,B,2,300\nA,C,3,\n",
}


def _feed(folder: Path, **changes: str | None) -> Path:
    """A feed as a zip; ``changes`` replace files (None: leaves one out)."""
    path = folder / "feed.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in FEED.items():
            changed = changes.get(name.removesuffix(".txt"), text)
            if changed is not None:
                archive.writestr(f"feed/{name}", changed)
    return path


def _read(path: Path, day: str = "Wed") -> Timetable:
    return read_timetable(path, Clock(day=day), change_minutes=2, speed_kmh=5)


def _hops(timetable: Timetable) -> list[tuple[int, int, str, str]]:
    names = "ABC"
    hops = timetable.hops
    return [
        (int(dep) // 60, int(arr) // 60, names[a], names[b])
        for dep, arr, a, b in zip(
            hops.departures, hops.arrivals, hops.origins, hops.destinations, strict=True
        )
    ]


def test_a_weekday_is_the_busiest_of_its_kind_and_last_night_goes_on(tmp_path: Path) -> None:
    """1 January 2025, a Wednesday, has Sunday service: other Wednesdays stand for Wednesday."""
    timetable = _read(_feed(tmp_path))
    assert _hops(timetable) == [
        (10, 20, "A", "B"),  # Tuesday's last trip, after midnight
        (480, 490, "A", "B"),  # the time at B is put between those around it
        (490, 500, "B", "C"),
        (510, 520, "A", "B"),
        (521, 530, "B", "C"),
        (600, 607, "C", "A"),
        (610, 617, "C", "A"),
        (620, 627, "C", "A"),
    ]
    assert timetable.change_seconds.tolist() == [120, 300, 120]


def test_a_date_has_its_own_services(tmp_path: Path) -> None:
    path = _feed(tmp_path)
    assert _hops(_read(path, "2025-01-01")) == [(540, 545, "A", "B")]
    assert (10, 20, "A", "B") not in _hops(_read(path, "2025-01-09"))
    with pytest.raises(InputError, match="nothing runs on 2025-03-05"):
        _read(path, "2025-03-05")
    with pytest.raises(InputError, match="nothing runs on Sat"):
        _read(path, "Sat")


def test_feeds_may_be_folders_and_have_only_dates(tmp_path: Path) -> None:
    for name, text in FEED.items():
        if name not in {"calendar.txt", "frequencies.txt", "transfers.txt"}:
            (tmp_path / name).write_text(text)
    assert _hops(_read(tmp_path)) == [(540, 545, "A", "B")]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stops": None}, "has no stops.txt"),
        ({"trips": "trip_id\nt1\n"}, "trips.txt: column service_id is missing"),
        ({"stop_times": FEED["stop_times.txt"].replace("08:20:00", "8h20")}, "row 4, column arrival_time"),
        ({"stop_times": FEED["stop_times.txt"].replace("A1,1\nt1", "Z9,1\nt1")}, "'Z9' is not in stops.txt"),
        ({"stop_times": FEED["stop_times.txt"].replace("08:40:00", "08:10:00")}, "arrives before it departs"),
        ({"stops": FEED["stops.txt"].replace("B,Birch,50.0", "B,Birch,")}, "stop 'B' has no position"),
        ({"calendar": None, "calendar_dates": None}, "neither calendar.txt nor"),
        ({"calendar_dates": "service_id,date,exception_type\nweek,1/1/25,2\n"}, "must be YYYYMMDD"),
    ],
)
def test_faults_of_feeds_are_named(tmp_path: Path, changes: dict[str, str | None], message: str) -> None:
    with pytest.raises(InputError, match=message):
        _read(_feed(tmp_path, **changes))


def test_what_is_no_feed_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "feed.zip").write_text("no zip")
    with pytest.raises(InputError, match="cannot be read"):
        _read(tmp_path / "feed.zip")
    with pytest.raises(InputError, match="no such file"):
        _read(tmp_path / "nowhere.zip")


def test_door_to_door_is_the_best_of_walking_and_riding(tmp_path: Path) -> None:
    """From Ash to Cedar at 8: ten minutes' wait at most, 20 on the train; back there is only walking."""
    timetable = _read(_feed(tmp_path))
    places = unit_vectors(np.array([50.0, 50.1]), np.array([10.0, 10.1]))
    hours = list(timetable_milliseconds(timetable, places, Clock(), speed_kmh=5, walk_km=0.5))
    assert len(hours) == 24
    minutes = [hour / 60_000 for hour in hours]
    assert minutes[8][0, 1] == 20
    assert minutes[7][0, 1] == 30  # leaving at 7:50
    assert minutes[10][1, 0] == 7
    on_foot = minutes[15]
    assert on_foot[0, 1] == on_foot[1, 0] == pytest.approx(158, abs=2)
    assert minutes[8][1, 0] == 77  # leaving at 8:50 for the trip at 10:00
    far = unit_vectors(np.array([60.0, 60.1]), np.array([10.0, 10.1]))
    with pytest.raises(InputError, match="no station lies within"):
        list(timetable_milliseconds(timetable, far, Clock(), speed_kmh=5, walk_km=1.5))


def _slow(timetable: Timetable, source: int, start: int) -> list[int]:
    """Every hop and every walk again and again until nothing gets earlier."""
    hops, paths = timetable.hops, timetable.footpaths
    got_off = [NEVER] * len(timetable.change_seconds)
    ready, arrivals = list(got_off), list(got_off)
    got_off[source] = ready[source] = start
    caught: set[int] = set()
    for _ in range(100):
        before = list(got_off), list(ready), set(caught)
        for hop, trip in enumerate(hops.trips.tolist()):
            is_on = any(hops.trips[earlier] == trip and earlier < hop for earlier in caught)
            if is_on or ready[int(hops.origins[hop])] <= hops.departures[hop]:
                caught.add(hop)
                there, then = int(hops.destinations[hop]), int(hops.arrivals[hop])
                got_off[there] = min(got_off[there], then)
                ready[there] = min(ready[there], then + int(timetable.change_seconds[there]))
        arrivals = list(got_off)
        for here, then in enumerate(got_off):
            for i in range(paths.offsets[here], paths.offsets[here + 1] if then < NEVER else 0):
                there = int(paths.destinations[i])
                arrivals[there] = min(arrivals[there], then + int(paths.seconds[i]))
                ready[there] = min(ready[there], then + int(paths.seconds[i]))
        if before == (got_off, ready, caught):
            break
    return arrivals


@given(st.data())
@examples(max_examples=150)
def test_the_scan_finds_what_a_slow_search_finds(data: st.DataObject) -> None:
    stations = data.draw(st.integers(2, 5))
    rows = []
    for trip in range(data.draw(st.integers(1, 5))):
        time = data.draw(st.integers(0, 40))
        stops = data.draw(st.lists(st.integers(0, stations - 1), min_size=2, max_size=4))
        for a, b in pairwise(stops):
            ride = data.draw(st.integers(1, 9))
            rows.append((time, time + ride, a, b, trip))
            time += ride + data.draw(st.integers(0, 3))
    rows.sort()
    pairs = st.tuples(st.integers(0, stations - 1), st.integers(0, stations - 1))
    walks = data.draw(st.dictionaries(pairs, st.integers(0, 9), max_size=4))
    departures, arrivals, origins, destinations, trips = np.array(rows, dtype=np.int32).T.copy()
    everything = np.ones(len(rows), dtype=np.bool_)
    timetable = Timetable(
        station_vectors=np.zeros((stations, 3)),
        change_seconds=np.array([data.draw(st.integers(0, 4)) for _ in range(stations)], dtype=np.int32),
        hops=Hops(departures, arrivals, origins, destinations, trips, everything, everything),
        footpaths=_footpaths(walks, stations),
    )
    start = data.draw(st.integers(0, 50))
    boarded = np.full(int(timetable.hops.trips.max()) + 1, -1, dtype=np.int32)
    found = earliest_arrivals(
        timetable.hops, timetable.footpaths, timetable.change_seconds, 0, start, 0, boarded
    )
    assert found.tolist() == _slow(timetable, 0, start)
