"""Many days at once, in columns, are what one day at a time makes of them."""

from __future__ import annotations

import csv
import datetime as dt
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import elsewhere as ew
from elsewhere.device.day_columns import (
    DayMatcher,
    PeopleColumns,
    in_batches,
    joined_people,
    people_in_columns,
    some_people,
)
from elsewhere.device.job_counts import irregularities, irregularities_in
from elsewhere.device.matching import Matcher, Person, people_of
from elsewhere.device.point_columns import PointColumns, plain_columns, read_point_columns, some_points
from elsewhere.device.points import read_points, tables_of, text_columns
from elsewhere.mechanism.levels import COIN_BITS, Levels
from elsewhere.mechanism.secret import Nothing, NumberedVisits, RegionOfEachVisit
from elsewhere.randomness import SeededRandomness
from elsewhere.trajectories import Trajectories, in_columns, joined_trajectories
from elsewhere.world.world import World
from examples import examples
from worlds import build, place, world_inputs

HEADER = ["uid", "tid", "datetime", "lat", "lng", "place_id"]
LEVELS = [Fraction(0), Fraction(1, 2), Fraction(1), Fraction(9)]
WRITTEN = [
    "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S.%f",
    "%d.%m.%Y %H:%M", "%Y-%m-%dT%H:%M:%SZ",
]  # fmt: skip
_START = dt.datetime(2024, 3, 7)  # noqa: DTZ001 - local time


@st.composite
def _rows(draw: st.DrawFn, world: World) -> list[list[str]]:
    """Points of a few people, sorted by person; in order of time or not, plainly written or not."""
    ids = st.sampled_from([*world.places.ids, "nowhere", ""])
    written = draw(st.sampled_from(WRITTEN))
    rows = []
    for uid in draw(st.lists(st.sampled_from(["a", "bo", "ü", "c c"]), min_size=1, max_size=3, unique=True)):
        has_trips = draw(st.booleans())
        latest = draw(st.sampled_from([1800, 3 * 1440])) if has_trips else 3 * 1440
        moments = draw(st.lists(st.integers(0, latest), min_size=1, max_size=9))
        moments = sorted(moments) if draw(st.integers(0, 3)) or not has_trips else moments
        for number, minute in enumerate(moments):
            place = draw(ids)
            spot = ["", ""]
            if not place or draw(st.booleans()):
                spot = [str(50 + draw(st.integers(0, 7)) * 0.02), str(10 + draw(st.integers(0, 7)) * 0.03)]
            trip = f"t{number // 4}" if has_trips else ""
            moment = (_START + dt.timedelta(minutes=minute)).strftime(written)
            rows.append([uid, trip, moment, *spot, place])
    return rows


def _written(folder: Path, rows: list[list[str]]) -> Path:
    with (folder / "days.csv").open("w", newline="") as file:
        csv.writer(file).writerows([HEADER, *rows])
    return folder / "days.csv"


def _one_by_one(path: Path, world: World) -> tuple[list[Person], Matcher]:
    matcher = Matcher(world.places, world.clock, SeededRandomness(1))
    return list(people_of(read_points(path, world.clock), matcher, path)), matcher


def _together(path: Path, world: World, size: int = 50_000) -> tuple[PeopleColumns, DayMatcher]:
    matcher = DayMatcher(world)
    points = list(read_point_columns(path, world.clock))
    cut = [part for whole in points for part in _cut(whole, size)]
    people = people_in_columns(cut, matcher, str(path), lambda *_: SeededRandomness(1))
    return joined_people(list(people)), matcher


def _cut(points: PointColumns, size: int) -> list[PointColumns]:
    return [some_points(points, slice(at, at + size)) for at in range(0, len(points), size)]


@given(world_inputs(), st.data(), st.integers(1, 6))
@examples(max_examples=300)
def test_files_are_read_alike_day_by_day_and_in_columns(
    tmp_path: Path, inputs: tuple[Any, Any], data: st.DataObject, size: int
) -> None:
    """Persons, dates, visits, counts, however a file is cut; which point of a timestep stays is chance."""
    world = build(tmp_path, *inputs)
    path = _written(tmp_path, data.draw(_rows(world)))
    try:
        people, matcher = _one_by_one(path, world)
    except ew.InputError as error:
        with pytest.raises(ew.InputError) as same:
            _together(path, world, size)
        assert str(same.value) == str(error)  # noqa: PT017 - both must fail, and alike
        return
    columns, together = _together(path, world, size)
    assert columns.uids.to_list() == [person.uid for person in people]
    assert columns.tids.to_list() == [person.tid for person in people]
    assert columns.dates.tolist() == [(person.date - dt.date(1970, 1, 1)).days for person in people]
    expected = in_columns([person.trajectory for person in people], world.place_index)
    np.testing.assert_array_equal(columns.days.starts, expected.starts)
    np.testing.assert_array_equal(columns.days.times, expected.times)
    assert +together.counts == +matcher.counts
    assert (together.points, together.far_points) == (matcher.points, matcher.far_points)
    if not matcher.counts["points within one timestep removed"]:
        np.testing.assert_array_equal(columns.days.places, expected.places)


def test_plain_tables_are_read_the_fast_way_and_others_are_not(tmp_path: Path) -> None:
    plain = ["ann", "", "2024-03-07T12:00:00", "", "", "p1"]
    others = [
        ["ann", "", "2024-03-07T12:00:00Z", "", "", "p1"],
        ["änn", "", "2024-03-07T12:00:00", "", "", "p1"],
        ["ann", "", "2024-03-07T24:00:00", "", "", "p1"],
        ["ann", "", "2024-03-07T12:00", "", "", "p1"],
        ["ann", "", "2024-03-07T12:00:00.", "", "", "p1"],
        ["ann", "", "2024-03-07T12:00:00", "5o", "1", "p1"],
        ["ann", "", "2024-03-07T12:00:00", "91", "1", ""],
        ["", "", "2024-03-07T12:00:00", "", "", "p1"],
    ]

    def is_plain(rows: list[list[str]]) -> bool:
        [table] = tables_of(_written(tmp_path, rows))
        columns, _ = text_columns(table, "t")
        return plain_columns(columns) is not None

    assert is_plain([plain, plain])
    assert is_plain([plain, [*plain[:3], "91", "1", "p1"]])  # of no use, but there is a place
    assert is_plain([plain, ["ann", "", "2024-03-07T12:00:00.5", "", "", "p1"]])
    for other in others:
        assert not is_plain([plain, other])


def test_timestamps_of_parquet_are_read_the_fast_way_to_the_microsecond(tmp_path: Path) -> None:
    moments = [dt.datetime(2024, 3, 7, 12, 0, 59, micros) for micros in (0, 999_999, 10)]  # noqa: DTZ001
    for unit in ("ms", "us", "ns"):
        written = pl.Series(moments).cast(pl.Datetime(unit))
        frame = pl.DataFrame({"uid": ["ann"] * 3, "datetime": written, "place_id": ["p0"] * 3})
        frame.write_parquet(tmp_path / "days.parquet")
        [table] = tables_of(tmp_path / "days.parquet")
        points = plain_columns(text_columns(table, "t")[0])
        assert points is not None
        assert points.moments.tolist() == written.dt.timestamp("us").to_list()


def test_a_choice_among_points_of_a_timestep_is_even(tmp_path: Path) -> None:
    world = build(tmp_path, _two_places(), {"kappa": 1})
    rows = [[f"u{at:05}", "", f"2024-03-07T10:0{minute}:00", "", "", f"p{minute % 2}"]
            for at in range(4000) for minute in range(2)]  # fmt: skip
    people, _ = _together(_written(tmp_path, rows), world)
    assert people.days.lengths.tolist() == [1] * 4000
    assert abs(people.days.places.mean() - 0.5) < 5 * 0.5 / 4000**0.5


def _two_places() -> Any:
    return [place("p0", 50, 10, "cafe", hours="24/7"), place("p1", 50.01, 10, "cafe", hours="24/7")]


def test_people_come_in_batches_of_one_size(tmp_path: Path) -> None:
    world = build(tmp_path, _two_places(), {"kappa": 1})
    rows = [[f"u{at:03}", "", "2024-03-07T10:00:00", "", "", "p0"] for at in range(103)]
    people, _ = _together(_written(tmp_path, rows), world)
    parts = [some_people(people, first, min(first + 7, 103)) for first in range(0, 103, 7)]
    batches = list(in_batches(parts, 25))
    assert [len(batch) for batch in batches] == [25, 25, 25, 25, 3]
    assert joined_people(batches).uids.to_list() == people.uids.to_list()


@st.composite
def _days(draw: st.DrawFn, world: World) -> list[ew.Trajectory]:
    ids = st.sampled_from([*world.places.ids, "nowhere"])
    steps = st.lists(st.integers(0, world.clock.timesteps + 3), min_size=1, max_size=6, unique=True)
    return [
        ew.Trajectory([(draw(ids), step) for step in sorted(draw(steps))])
        for _ in range(draw(st.integers(1, 5)))
    ]


@given(world_inputs(), st.data())
@examples(max_examples=150)
def test_draws_see_the_same_of_days_in_columns(
    tmp_path: Path, inputs: tuple[Any, Any], data: st.DataObject
) -> None:
    world = build(tmp_path, *inputs)
    days = data.draw(_days(world))
    columns, length = in_columns(days, world.place_index), data.draw(st.integers(1, 8))
    for secret in (RegionOfEachVisit(world), NumberedVisits(world), Nothing()):
        rows = secret.rows(columns, length).tolist()
        assert [tuple(row) for row in rows] == [secret(day, length) for day in days]
    padded = NumberedVisits(world).padded(columns)
    assert [tuple(row[row >= 0]) for row in padded] == [NumberedVisits(world)(day) for day in days]
    every = sum((Counter(irregularities(day, world)) for day in days), Counter())
    assert +Counter(irregularities_in(columns, world)) == every


@given(world_inputs(), st.data())
@examples(max_examples=100)
def test_levels_move_days_in_columns_alike(
    tmp_path: Path, inputs: tuple[Any, Any], data: st.DataObject
) -> None:
    world = build(tmp_path, *inputs)
    if len(world.places) < 2:
        return
    ids, most = st.sampled_from(world.places.ids), len(world.places) - 1
    listed = data.draw(st.lists(ids, min_size=1, max_size=most, unique=True))
    levels = Levels(world, {place: data.draw(st.sampled_from(LEVELS)) for place in listed})
    days = data.draw(_days(world))
    columns, seed = in_columns(days, world.place_index), data.draw(st.integers(0, 2**32))
    epsilons = {length: Fraction(length + 1, 3) for length in range(1, 7)}
    moved = levels.draw_many(columns, epsilons.__getitem__, SeededRandomness(seed))
    coins = (SeededRandomness(seed).words(len(days)) >> np.uint64(64 - COIN_BITS)).tolist()
    one_by_one = [levels.seen(day, epsilons[len(day)], coin) for day, coin in zip(days, coins, strict=True)]
    np.testing.assert_array_equal(moved.places, in_columns(one_by_one, world.place_index).places)


def test_some_days_and_days_of_several_columns(tmp_path: Path) -> None:
    world = build(tmp_path, _two_places(), {"kappa": 1})
    days = [ew.Trajectory([("p0", at), ("p1", at + 1)][: 1 + at % 2]) for at in range(20)]
    columns, rows = in_columns(days, world.place_index), np.array([7, 0, 19, 2])
    some = in_columns([days[at] for at in rows], world.place_index)
    for found in (columns.some(rows), joined_trajectories([columns.some(rows[:1]), columns.some(rows[1:])])):
        _same(found, some)
    assert repr(columns) == "<private Trajectories of 20 days>"


def _same(one: Trajectories, other: Trajectories) -> None:
    for name in ("places", "times", "starts"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
