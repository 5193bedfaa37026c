"""The [travel] table of a `world.toml`, and what all its tables have in common."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StrictBool,
    field_validator,
    model_validator,
)

from elsewhere.world import settings as records

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def _speed(value: Any) -> float | tuple[float, ...]:
    """A speed above 0, or one for each hour of the day."""
    speeds = value if isinstance(value, list | tuple) else [value]
    is_numeric = all(isinstance(speed, int | float) and not isinstance(speed, bool) for speed in speeds)
    if not is_numeric or not all(speed > 0 for speed in speeds) or len(speeds) not in {1, 24}:
        raise ValueError("must be a speed above 0, or a list of 24 (one for each hour)" + _count_of(value))
    return tuple(float(speed) for speed in speeds) if isinstance(value, list | tuple) else float(value)


def _count_of(value: Any) -> str:
    return f", found {len(value)}" if isinstance(value, list | tuple) and len(value) != 24 else ""


Speed = Annotated[float | tuple[float, ...], BeforeValidator(_speed)]


class SpeedTravelTable(Table):
    """Straight lines at a speed; infinite for no limit."""

    kind: Literal["speed"] = "speed"
    speed_kmh: Speed = records.SpeedTravel.speed_kmh


class MatrixTravelTable(Table):
    """A table of travel times: from_id, to_id, minutes and, if they differ, hour."""

    kind: Literal["matrix"]
    file: Path


class RoadTravelTable(Table):
    """Shortest paths over roads: an OpenStreetMap extract, or nodes and directed edges.

    Nodes have node_id, lat, lng; edges from_node, to_node, km. From an extract come the roads for a mode;
    cars go as fast as each road's limit, unless ``limits`` is false.
    """

    kind: Literal["roads"]
    nodes: Path | None = None
    edges: Path | None = None
    file: Path | None = None
    mode: records.Mode | None = None
    limits: StrictBool = records.RoadTravel.limits
    speed_kmh: Speed = records.RoadTravel.speed_kmh

    @model_validator(mode="before")
    @classmethod
    def _one_source(cls, values: Any) -> Any:
        if isinstance(values, dict):
            is_extract = "file" in values
            if is_extract == ("nodes" in values and "edges" in values):
                raise ValueError("needs either file (an OpenStreetMap extract), or nodes and edges")
            if is_extract:
                mode = values.get("mode", "drive")
                return {"mode": mode, "speed_kmh": records.MODE_KMH.get(mode, 8.0), **values}
            if "mode" in values or "limits" in values:
                raise ValueError("mode and limits are for an OpenStreetMap extract, not for nodes and edges")
        return values

    @field_validator("speed_kmh")
    @classmethod
    def _finite(cls, speed: float | tuple[float, ...]) -> float | tuple[float, ...]:
        if any(math.isinf(value) for value in (speed if isinstance(speed, tuple) else [speed])):
            raise ValueError("must be finite on roads")
        return speed


class TimetableTravelTable(Table):
    """What runs on the world's day by a GTFS feed, and walking."""

    kind: Literal["timetable"]
    file: Path
    speed_kmh: Positive = records.TimetableTravel.speed_kmh
    walk_km: Positive = records.TimetableTravel.walk_km
    change_minutes: Annotated[float, Field(ge=0, le=60)] = records.TimetableTravel.change_minutes


TravelTable = Annotated[
    SpeedTravelTable | MatrixTravelTable | RoadTravelTable | TimetableTravelTable, Discriminator("kind")
]
