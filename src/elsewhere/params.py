"""Settings of a world, as `world.toml` states them: frozen, checked once, the paper's defaults."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

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

from elsewhere.knowledge.categories import DEFAULT_EDGE_WEIGHTS, DEFAULT_UNRELATED, edge_weights
from elsewhere.knowledge.clock import LONG_WEEKDAYS, MINUTES_PER_DAY, WEEKDAYS, date_of
from elsewhere.knowledge.prior import DECAY_KM, LENGTHS, MEAN_GAP_MINUTES, START_BY_HOUR

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Dimension = Literal["space", "time", "category"]


class Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def _speed(value: Any) -> float | list[float]:
    """A speed above 0, or one for each hour of the day."""
    speeds = value if isinstance(value, list) else [value]
    is_numeric = all(isinstance(speed, int | float) and not isinstance(speed, bool) for speed in speeds)
    if not is_numeric or not all(speed > 0 for speed in speeds) or len(speeds) not in {1, 24}:
        raise ValueError("must be a speed above 0, or a list of 24 (one for each hour)" + _count_of(value))
    return [float(speed) for speed in speeds] if isinstance(value, list) else float(value)


def _count_of(value: Any) -> str:
    return f", found {len(value)}" if isinstance(value, list) and len(value) != 24 else ""


Speed = Annotated[float | list[float], BeforeValidator(_speed)]


class SpeedTravel(Table):
    """Straight lines at a speed; infinite for no limit."""

    kind: Literal["speed"] = "speed"
    speed_kmh: Speed = 8.0


class MatrixTravel(Table):
    """A table of travel times: from_id, to_id, minutes and, if they differ, hour."""

    kind: Literal["matrix"]
    file: Path


MODE_KMH = {"walk": 5.0, "bike": 15.0, "drive": 30.0}


class RoadTravel(Table):
    """Shortest paths over roads: an OpenStreetMap extract, or nodes and directed edges.

    Nodes have node_id, lat, lng; edges from_node, to_node, km. From an extract come the roads for a mode;
    cars go as fast as each road's limit, unless ``limits`` is false.
    """

    kind: Literal["roads"]
    nodes: Path | None = None
    edges: Path | None = None
    file: Path | None = None
    mode: Literal["walk", "bike", "drive"] | None = None
    limits: StrictBool = True
    speed_kmh: Speed = 8.0

    @model_validator(mode="before")
    @classmethod
    def _one_source(cls, values: Any) -> Any:
        if isinstance(values, dict):
            is_extract = "file" in values
            if is_extract == ("nodes" in values and "edges" in values):
                raise ValueError("needs either file (an OpenStreetMap extract), or nodes and edges")
            if is_extract:
                mode = values.get("mode", "drive")
                return {"mode": mode, "speed_kmh": MODE_KMH.get(mode, 8.0), **values}
            if "mode" in values or "limits" in values:
                raise ValueError("mode and limits are for an OpenStreetMap extract, not for nodes and edges")
        return values

    @field_validator("speed_kmh")
    @classmethod
    def _finite(cls, speed: float | list[float]) -> float | list[float]:
        if any(math.isinf(value) for value in (speed if isinstance(speed, list) else [speed])):
            raise ValueError("must be finite on roads")
        return speed


class TimetableTravel(Table):
    """What runs on the world's day by a GTFS feed, and walking."""

    kind: Literal["timetable"]
    file: Path
    speed_kmh: Positive = 5.0
    walk_km: Positive = 1.5
    change_minutes: Annotated[float, Field(ge=0, le=60)] = 2.0


class GridSpace(Table):
    """A uniform grid over the places, or over fixed bounds (south, west, north, east)."""

    kind: Literal["grid"] = "grid"
    cells: Annotated[int, Field(ge=1, le=1024)] = 4
    bounds: tuple[float, float, float, float] | None = None

    @field_validator("bounds", mode="before")
    @classmethod
    def _bounds_in_order(cls, bounds: Any) -> Any:
        if bounds is not None:
            numbers = (
                [b for b in bounds if isinstance(b, int | float)] if isinstance(bounds, list | tuple) else []
            )
            south, west, north, east = numbers if len(numbers) == 4 else (0, 0, 0, 0)
            if not (-90 <= south < north <= 90 and -180 <= west < east <= 360):
                raise ValueError(
                    "must be [south, west, north, east] in degrees, south < north and west < east"
                )
        return bounds


class ClusterSpace(Table):
    """Nested k-means: how many clusters at each level, finest first."""

    kind: Literal["clusters"]
    counts: Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=1)] = [16, 4]
    seed: Annotated[int, Field(ge=0)] = 0

    @field_validator("counts")
    @classmethod
    def _counts_fall(cls, counts: list[int]) -> list[int]:
        if any(coarse >= fine for fine, coarse in pairwise(counts)):
            raise ValueError("must fall from the finest level to the coarsest, such as [16, 4]")
        return counts


class PolygonSpace(Table):
    """Polygons of a GeoJSON file: a property that names each one, and one that names its parent."""

    kind: Literal["polygons"]
    file: Path
    id: str = "id"
    parent: str | None = None


class H3Space(Table):
    """H3 cells, finest resolution first."""

    kind: Literal["h3"]
    resolutions: Annotated[list[Annotated[int, Field(ge=0, le=15)]], Field(min_length=1)] = [8, 7, 6]

    @field_validator("resolutions")
    @classmethod
    def _resolutions_fall(cls, resolutions: list[int]) -> list[int]:
        if any(coarse >= fine for fine, coarse in pairwise(resolutions)):
            raise ValueError("must fall from the finest to the coarsest, such as [8, 7, 6]")
        return resolutions


class Kappa(Table):
    """What every region needs: at least ``least`` places, or as much of a numeric column of the places."""

    least: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 10
    weight: str = "count"
    """"count", "popularity", or the name of a numeric column in the table of places."""


class PriorSettings(Table):
    """Days that people might well have: what `codebook` draws its candidates from (`knowledge.prior`)."""

    start_by_hour: tuple[NotNegative, ...] = START_BY_HOUR
    """How likely a day is to begin in each hour, in any unit."""
    lengths: Annotated[tuple[NotNegative, ...], Field(min_length=1, max_length=64)] = LENGTHS
    """How likely a day is to have 1, 2, ... visits, in any unit; as many numbers as the most visits."""
    mean_gap_minutes: Positive = MEAN_GAP_MINUTES
    decay_km: Positive = DECAY_KM
    """Places this much farther are e times less likely to be next."""

    @field_validator("start_by_hour")
    @classmethod
    def _each_hour(cls, weights: tuple[float, ...]) -> tuple[float, ...]:
        if len(weights) != 24:
            raise ValueError(f"must be a list of 24 numbers, one for each hour, found {len(weights)}")
        return weights

    @field_validator("start_by_hour", "lengths")
    @classmethod
    def _not_all_zero(cls, weights: tuple[float, ...]) -> tuple[float, ...]:
        if not any(weights) or not math.isfinite(sum(weights)):
            raise ValueError("must hold a number above 0")
        return weights


TravelSettings = Annotated[SpeedTravel | MatrixTravel | RoadTravel | TimetableTravel, Discriminator("kind")]
SpaceSettings = Annotated[GridSpace | ClusterSpace | PolygonSpace | H3Space, Discriminator("kind")]


class WorldSettings(Table):
    """All choices that shape a world, without the tables they are applied to.

    Paper: section 6.2 (ss:expt-setup) for the defaults.
    """

    timestep_minutes: Annotated[int, Field(ge=1, le=1440)] = 10
    interval_minutes: Annotated[int, Field(ge=1, le=1440)] = 60
    day: str = "Wed"
    timezone: str = "UTC"
    travel: TravelSettings = SpeedTravel()
    space: SpaceSettings = GridSpace()
    kappa: Kappa = Kappa()
    merge_order: tuple[Dimension, ...] = ("space", "time", "category")
    category_levels: Annotated[int, Field(ge=1)] = 3
    category_weights: tuple[Positive, ...] = DEFAULT_EDGE_WEIGHTS
    unrelated_category_distance: Positive = DEFAULT_UNRELATED
    time_cap_hours: Positive = 12.0
    circular_time: StrictBool = False
    prior: PriorSettings = PriorSettings()

    @field_validator("timezone")
    @classmethod
    def _known_timezone(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError(f"found {name!r}, must be an IANA name such as 'America/New_York'") from None
        return name

    @field_validator("day", mode="before")
    @classmethod
    def _known_day(cls, value: Any) -> str:
        day = str(value)
        names = dict(zip(LONG_WEEKDAYS, WEEKDAYS, strict=True))
        day = names.get(day.lower(), day.title() if day.title() in WEEKDAYS else day)
        try:
            is_near = 1900 <= date_of(day).year <= 2200
        except ValueError:
            is_near = False
        if not is_near:
            raise ValueError(
                f"found {day!r}, must be one of {', '.join(WEEKDAYS)} or a date such as 2025-09-17"
            )
        return day

    @field_validator("merge_order")
    @classmethod
    def _each_dimension_once(cls, order: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(order)) < len(order):
            raise ValueError("must name each of space, time, category at most once")
        return order

    @model_validator(mode="after")
    def _unrelated_is_farthest(self) -> Self:
        farthest = 2 * sum(edge_weights(self.category_levels, self.category_weights))
        if self.unrelated_category_distance < farthest:
            raise ValueError(
                f"unrelated_category_distance: found {self.unrelated_category_distance:g}, must be at least "
                f"{farthest:g}, the farthest that related categories can be"
            )
        return self

    @model_validator(mode="after")
    def _whole_timesteps(self) -> Self:
        if MINUTES_PER_DAY % self.timestep_minutes:
            raise ValueError(
                f"timestep_minutes: {self.timestep_minutes} does not divide the day's 1440 minutes"
            )
        if "interval_minutes" in self.model_fields_set and self.interval_minutes < self.timestep_minutes:
            raise ValueError(f"interval_minutes: found {self.interval_minutes}, must be a timestep or longer")
        longest = max(self.timestep_minutes, self.interval_minutes)
        if MINUTES_PER_DAY % longest or longest % self.timestep_minutes:
            raise ValueError(
                f"interval_minutes: {longest} minutes must divide the day and hold whole timesteps "
                f"of {self.timestep_minutes} minutes"
            )
        return self


class WorldConfig(Table):
    """A whole `world.toml`: two tables and the settings."""

    places: Path
    categories: Path
    settings: WorldSettings = WorldSettings()

    def input_files(self) -> list[Path]:
        """Every file that the world is built from."""
        travel, space = self.settings.travel, self.settings.space
        files = [getattr(travel, name, None) for name in ("file", "nodes", "edges")]
        found = [self.places, self.categories, *files, getattr(space, "file", None)]
        return [path for path in found if path is not None]


def restored_settings(plain: dict[str, Any]) -> WorldSettings:
    """Settings from the JSON that a world keeps; its paths are gone, what the files held is in the world."""
    travel, space = dict(plain["travel"]), dict(plain["space"])
    gone = Path()
    plain = {**plain, "interval_minutes": max(plain["interval_minutes"], plain["timestep_minutes"])}
    if travel["kind"] in {"matrix", "timetable"} or travel.get("mode"):
        travel["file"] = gone
    elif travel["kind"] == "roads":
        travel = {"kind": "roads", "speed_kmh": travel["speed_kmh"], "nodes": gone, "edges": gone}
    if space["kind"] == "polygons":
        space["file"] = gone
    return WorldSettings.model_validate({**plain, "travel": travel, "space": space})
