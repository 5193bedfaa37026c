"""Settings of a world, as `world.toml` states them: frozen, checked once, the paper's defaults."""

from __future__ import annotations

import math
import tomllib
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
    ValidationError,
    field_validator,
    model_validator,
)

from elsewhere.errors import Fault, InputError
from elsewhere.knowledge.categories import DEFAULT_EDGE_WEIGHTS, DEFAULT_UNRELATED
from elsewhere.knowledge.clock import MINUTES_PER_DAY, WEEKDAYS, date_of

Positive = Annotated[float, Field(gt=0)]
Dimension = Literal["space", "time", "category"]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def _speed(value: Any) -> float | list[float]:
    """A speed above 0, or one for each hour of the day."""
    speeds = value if isinstance(value, list) else [value]
    is_numeric = all(isinstance(speed, int | float) and not isinstance(speed, bool) for speed in speeds)
    if not is_numeric or not all(speed > 0 for speed in speeds) or len(speeds) not in {1, 24}:
        raise ValueError("must be a speed above 0, or a list of 24 (one for each hour)")
    return [float(speed) for speed in speeds] if isinstance(value, list) else float(value)


Speed = Annotated[float | list[float], BeforeValidator(_speed)]


class SpeedTravel(_Table):
    """Straight lines at a speed; infinite for no limit."""

    kind: Literal["speed"] = "speed"
    speed_kmh: Speed = 8.0


class MatrixTravel(_Table):
    """A table of travel times: from_id, to_id, minutes and, if they differ, hour."""

    kind: Literal["matrix"]
    file: Path


class RoadTravel(_Table):
    """Shortest paths over nodes (node_id, lat, lng) and directed edges (from_node, to_node, km)."""

    kind: Literal["roads"]
    nodes: Path
    edges: Path
    speed_kmh: Speed = 8.0

    @field_validator("speed_kmh")
    @classmethod
    def _finite(cls, speed: float | list[float]) -> float | list[float]:
        if any(math.isinf(value) for value in (speed if isinstance(speed, list) else [speed])):
            raise ValueError("must be finite on roads")
        return speed


class GridSpace(_Table):
    """A uniform grid over the places, or over fixed bounds (south, west, north, east)."""

    kind: Literal["grid"] = "grid"
    cells: Annotated[int, Field(ge=1, le=1024)] = 4
    bounds: tuple[float, float, float, float] | None = None

    @field_validator("bounds")
    @classmethod
    def _bounds_in_order(cls, bounds: tuple[float, ...] | None) -> tuple[float, ...] | None:
        if bounds is not None and not (
            -90 <= bounds[0] < bounds[2] <= 90 and -180 <= bounds[1] < bounds[3] <= 360
        ):
            raise ValueError("must be [south, west, north, east] in degrees, south < north and west < east")
        return bounds


class ClusterSpace(_Table):
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


class PolygonSpace(_Table):
    """Polygons of a GeoJSON file: a property that names each one, and one that names its parent."""

    kind: Literal["polygons"]
    file: Path
    id: str = "id"
    parent: str | None = None


class H3Space(_Table):
    """H3 cells, finest resolution first."""

    kind: Literal["h3"]
    resolutions: Annotated[list[Annotated[int, Field(ge=0, le=15)]], Field(min_length=1)] = [8, 7, 6]

    @field_validator("resolutions")
    @classmethod
    def _resolutions_fall(cls, resolutions: list[int]) -> list[int]:
        if any(coarse >= fine for fine, coarse in pairwise(resolutions)):
            raise ValueError("must fall from the finest to the coarsest, such as [8, 7, 6]")
        return resolutions


class Kappa(_Table):
    """What every region needs: at least ``least`` places, or as much of a numeric column of the places."""

    least: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 10
    weight: str = "count"
    """"count", "popularity", or the name of a numeric column in the table of places."""


TravelSettings = Annotated[SpeedTravel | MatrixTravel | RoadTravel, Discriminator("kind")]
SpaceSettings = Annotated[GridSpace | ClusterSpace | PolygonSpace | H3Space, Discriminator("kind")]


class WorldSettings(_Table):
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
    circular_time: bool = False

    @field_validator("timezone")
    @classmethod
    def _known_timezone(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError(f"found {name!r}, must be an IANA name such as 'America/New_York'") from None
        return name

    @field_validator("day")
    @classmethod
    def _known_day(cls, day: str) -> str:
        try:
            date_of(day)
        except ValueError:
            raise ValueError(
                f"found {day!r}, must be one of {', '.join(WEEKDAYS)} or a date such as 2025-09-17"
            ) from None
        return day

    @field_validator("merge_order")
    @classmethod
    def _each_dimension_once(cls, order: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(order)) < len(order):
            raise ValueError("must name each of space, time, category at most once")
        return order

    @model_validator(mode="after")
    def _whole_timesteps(self) -> Self:
        if MINUTES_PER_DAY % self.timestep_minutes:
            raise ValueError(
                f"timestep_minutes: {self.timestep_minutes} does not divide the day's 1440 minutes"
            )
        longest = max(self.timestep_minutes, self.interval_minutes)
        if MINUTES_PER_DAY % longest or longest % self.timestep_minutes:
            raise ValueError(
                f"interval_minutes: {longest} minutes must divide the day and hold whole timesteps "
                f"of {self.timestep_minutes} minutes"
            )
        return self


class WorldConfig(_Table):
    """A whole `world.toml`: two tables and the settings."""

    places: Path
    categories: Path
    settings: WorldSettings = WorldSettings()


_SHORT_KEYS = {"speed_kmh": "travel.speed_kmh", "grid": "space.cells", "kappa": "kappa.least"}


def parse_config(values: dict[str, Any], *, folder: Path, source: str) -> WorldConfig:
    """Settings from the keys of a `world.toml`; relative paths start at ``folder``.

    ``speed_kmh`` and ``grid`` are short for a [travel] and a [space] table, and a plain number for
    ``kappa`` is short for its ``least``.
    """
    values = dict(values)
    faults = [
        Fault(problem=f"{short} and [{table}] say the same thing: give one of them")
        for short, table in (("speed_kmh", "travel"), ("grid", "space"))
        if short in values and table in values
    ]
    if faults:
        raise InputError(source, faults)
    short_keys = {long: short for short, long in _SHORT_KEYS.items() if short in values}
    if "speed_kmh" in values:
        values["travel"] = {"kind": "speed", "speed_kmh": values.pop("speed_kmh")}
    if "grid" in values:
        values["space"] = {"kind": "grid", "cells": values.pop("grid")}
    if isinstance(values.get("kappa"), int | float):
        values["kappa"] = {"least": values["kappa"]}
    tables = {key: values.pop(key) for key in ("places", "categories") if key in values}
    try:
        config = WorldConfig.model_validate({**tables, "settings": values})
    except ValidationError as error:
        raise InputError(source, _faults_of(error, short_keys)) from None
    return _with_paths_from(config, folder)


def restored_settings(plain: dict[str, Any]) -> WorldSettings:
    """Settings from the JSON that a world keeps; its paths are gone, what the files held is in the world."""
    travel, space = dict(plain["travel"]), dict(plain["space"])
    gone = Path()
    if travel["kind"] == "matrix":
        travel["file"] = gone
    elif travel["kind"] == "roads":
        travel |= {"nodes": gone, "edges": gone}
    if space["kind"] == "polygons":
        space["file"] = gone
    return WorldSettings.model_validate({**plain, "travel": travel, "space": space})


def read_config(path: str | Path, overrides: dict[str, Any] | None = None) -> WorldConfig:
    """Read a `world.toml`; ``overrides`` replace its keys (their paths start at the current folder)."""
    path = Path(path)
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(str(path), "no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(str(path), f"cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(str(path), f"not valid TOML: {error}") from None
    overrides = dict(overrides or {})
    for short, table in (("speed_kmh", "travel"), ("grid", "space")):
        if short in overrides:
            values.pop(table, None)
    for key in ("places", "categories"):
        if key in overrides:
            overrides[key] = str(Path(overrides[key]).absolute())
    return parse_config({**values, **overrides}, folder=path.parent, source=str(path))


def _with_paths_from(config: WorldConfig, folder: Path) -> WorldConfig:
    def resolved(table: _Table, *names: str) -> dict[str, Path]:
        return {name: folder / getattr(table, name) for name in names}

    settings = config.settings
    travel, space = settings.travel, settings.space
    if isinstance(travel, MatrixTravel):
        travel = travel.model_copy(update=resolved(travel, "file"))
    elif isinstance(travel, RoadTravel):
        travel = travel.model_copy(update=resolved(travel, "nodes", "edges"))
    if isinstance(space, PolygonSpace):
        space = space.model_copy(update=resolved(space, "file"))
    settings = settings.model_copy(update={"travel": travel, "space": space})
    return config.model_copy(update={**resolved(config, "places", "categories"), "settings": settings})


def _faults_of(error: ValidationError, short_keys: dict[str, str]) -> list[Fault]:
    faults = []
    for entry in error.errors(include_url=False):
        # Union members ("float", "list[...]") and tags of [travel] and [space] are not keys of the file.
        keys = [str(part) for part in entry["loc"] if part != "settings" and not _is_type_name(str(part))]
        key = ".".join(keys)
        key = short_keys.get(key, key)
        problem = entry["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
        found = entry["input"]
        if entry["type"] == "extra_forbidden":
            problem = (
                f"unknown key, allowed are {', '.join(_allowed_keys())}" if len(keys) == 1 else "unknown key"
            )
        elif entry["type"] == "missing":
            problem = "missing"
        elif isinstance(found, int | float | str) and "found" not in problem:
            shown = "nan" if isinstance(found, float) and math.isnan(found) else repr(found)
            problem = f"found {shown}, {problem}"
        fault = Fault(problem=f"{key}: {problem}" if key else problem)
        if fault not in faults:
            faults.append(fault)
    return faults


def _is_type_name(part: str) -> bool:
    tags = {"speed", "matrix", "roads", "grid", "clusters", "polygons", "h3"}
    return part in tags or "[" in part or part in {"float", "int"}


def _allowed_keys() -> list[str]:
    return ["places", "categories", "speed_kmh", "grid", *WorldSettings.model_fields]
