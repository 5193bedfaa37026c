"""Frames as scikit-mobility, trackintel and movingpandas have them, there and back."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any, get_args

import pytest

import elsewhere as ew
from elsewhere.device.frames import Tool
from elsewhere.world.world import World
from worlds import build, place

pd: Any = pytest.importorskip("pandas")


@pytest.fixture
def world(tmp_path: Path) -> World:
    rows = [place("a", 50.0, 10.0, hours="24/7"), place("b", 50.01, 10.0, hours="24/7")]
    return build(tmp_path, rows, {"kappa": 1, "timezone": "Europe/Berlin"})


DAYS = [ew.SharedTrajectory([("a", 60), ("b", 70)]), ew.SharedTrajectory([("b", 61)])]


@pytest.mark.parametrize("tool", get_args(Tool))
def test_there_and_back(world: World, tool: Tool) -> None:
    frame = ew.to_frame(DAYS, world=world, like=tool, uids=["u", "v"], date=dt.date(2024, 3, 7))
    assert len(frame) == 3
    back = ew.from_frame(frame, world=world)
    assert [list(day) for day in back] == [list(day) for day in DAYS]


def test_columns_are_the_tools_own(world: World) -> None:
    mobility = ew.to_frame(DAYS, world=world)
    assert list(mobility.columns) == ["uid", "tid", "datetime", "lat", "lng", "place_id"]
    assert mobility["datetime"].dtype.kind == "M"
    staypoints = ew.to_frame(DAYS, world=world, like="trackintel")
    assert {"user_id", "started_at", "finished_at", "geom"} <= set(staypoints.columns)
    assert str(staypoints["started_at"].dt.tz) == "Europe/Berlin"
    assert staypoints.index.name == "id"
    moving = ew.to_frame(DAYS, world=world, like="movingpandas")
    assert moving.index.name == "t"
    assert moving["geometry"].iloc[0].y == 50.0


def test_frames_without_places_are_matched(world: World) -> None:
    frame = pd.DataFrame(
        {"uid": ["u", "u"], "datetime": pd.to_datetime(["2024-03-07 10:00", "2024-03-07 12:00"]),
         "lat": [50.0002, 50.01], "lng": [10.0, 10.0]}
    )  # fmt: skip
    assert [list(day) for day in ew.from_frame(frame, world=world)] == [[("a", 60), ("b", 72)]]
    with pytest.raises(ew.InputError, match="datetime"):
        ew.from_frame(frame.drop(columns="datetime"), world=world)
    with pytest.raises(ew.InputError, match="as many as trajectories"):
        ew.to_frame(DAYS, world=world, uids=["u"])
    frame.loc[1, "datetime"] = None
    with pytest.raises(ew.InputError, match="row 3, column datetime"):
        ew.from_frame(frame, world=world)


def test_triplegs_of_a_day_are_one_trajectory(world: World) -> None:
    """As trackintel has them: a row for each point, a tripleg for each way; ε is for the person's day."""
    times = pd.to_datetime(["2024-03-07 10:00", "2024-03-07 11:00", "2024-03-07 12:00", "2024-03-08 09:00"])
    frame = pd.DataFrame(
        {"user_id": ["u"] * 4, "tripleg_id": [1, 1, 2, 3], "tracked_at": times,
         "latitude": [50.0, 50.01, 50.0, 50.0], "longitude": [10.0] * 4}
    )  # fmt: skip
    days = ew.from_frame(frame, world=world)
    assert [list(day) for day in days] == [[("a", 60), ("b", 66), ("a", 72)], [("a", 54)]]
    with pytest.raises(ew.InputError, match="sort the file by uid and time"):
        ew.from_frame(frame.iloc[[0, 3, 2]], world=world)
