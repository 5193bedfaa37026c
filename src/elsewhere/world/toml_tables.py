"""What may stand in a `world.toml`, table by table: checked by pydantic, then turned into plain records.

A device loads worlds without pydantic, so the records (`world.settings`) know nothing of it.
"""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    Discriminator,
    Field,
    StrictBool,
    field_validator,
    model_validator,
)

from elsewhere.knowledge.categories import edge_weights
from elsewhere.knowledge.clock import LONG_WEEKDAYS, MINUTES_PER_DAY, WEEKDAYS, date_of
from elsewhere.world import settings as records
from elsewhere.world.measure import distance_names, is_known_distance
from elsewhere.world.toml_travel import NotNegative, Positive, SpeedTravelTable, Table, TravelTable


class GridSpaceTable(Table):
    """A uniform grid over the places, or over fixed bounds (south, west, north, east)."""

    kind: Literal["grid"] = "grid"
    cells: Annotated[int, Field(ge=1, le=1024)] = records.GridSpace.cells
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


class ClusterSpaceTable(Table):
    """Nested k-means: how many clusters at each level, finest first."""

    kind: Literal["clusters"]
    counts: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1)] = (
        records.ClusterSpace.counts
    )
    seed: Annotated[int, Field(ge=0)] = records.ClusterSpace.seed

    @field_validator("counts")
    @classmethod
    def _counts_fall(cls, counts: tuple[int, ...]) -> tuple[int, ...]:
        if any(coarse >= fine for fine, coarse in pairwise(counts)):
            raise ValueError("must fall from the finest level to the coarsest, such as [16, 4]")
        return counts


class PolygonSpaceTable(Table):
    """Polygons of a GeoJSON file: a property that names each one, and one that names its parent."""

    kind: Literal["polygons"]
    file: Path
    id: str = records.PolygonSpace.id
    parent: str | None = None


class H3SpaceTable(Table):
    """H3 cells, finest resolution first."""

    kind: Literal["h3"]
    resolutions: Annotated[tuple[Annotated[int, Field(ge=0, le=15)], ...], Field(min_length=1)] = (
        records.H3Space.resolutions
    )

    @field_validator("resolutions")
    @classmethod
    def _resolutions_fall(cls, resolutions: tuple[int, ...]) -> tuple[int, ...]:
        if any(coarse >= fine for fine, coarse in pairwise(resolutions)):
            raise ValueError("must fall from the finest to the coarsest, such as [8, 7, 6]")
        return resolutions


class KappaTable(Table):
    """What every region needs: at least ``least`` places, or as much of a numeric column of the places."""

    least: Annotated[float, Field(gt=0, allow_inf_nan=False)] = records.Kappa.least
    weight: str = records.Kappa.weight


class PriorTable(Table):
    """Days that people might well have: what `codebook` draws its candidates from (`knowledge.prior`)."""

    start_by_hour: tuple[NotNegative, ...] = records.PriorSettings.start_by_hour
    activity_by_hour: tuple[NotNegative, ...] = records.PriorSettings.activity_by_hour
    lengths: Annotated[tuple[NotNegative, ...], Field(min_length=1, max_length=64)] = (
        records.PriorSettings.lengths
    )
    mean_gap_minutes: Positive = records.PriorSettings.mean_gap_minutes
    decay_km: Positive = records.PriorSettings.decay_km

    @field_validator("start_by_hour", "activity_by_hour")
    @classmethod
    def _each_hour(cls, weights: tuple[float, ...]) -> tuple[float, ...]:
        if len(weights) != 24:
            raise ValueError(f"must be a list of 24 numbers, one for each hour, found {len(weights)}")
        return weights

    @field_validator("start_by_hour", "activity_by_hour", "lengths")
    @classmethod
    def _not_all_zero(cls, weights: tuple[float, ...]) -> tuple[float, ...]:
        if not any(weights) or not math.isfinite(sum(weights)):
            raise ValueError("must hold a number above 0")
        return weights


_Weight = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]


class WeightsTable(Table):
    """What each part of d counts."""

    space: _Weight = records.DistanceWeights.space
    time: _Weight = records.DistanceWeights.time
    category: _Weight = records.DistanceWeights.category

    @model_validator(mode="after")
    def _not_all_zero(self) -> Self:
        if not self.space + self.time + self.category > 0:
            raise ValueError("must not all be 0")
        return self


class DistanceTable(Table):
    """What d is made of: how d_s is measured, and how its three parts are put together."""

    space: records.SpaceMeasure = records.DistanceSettings.space
    kmh: Positive = records.DistanceSettings.kmh
    weights: WeightsTable = WeightsTable()
    combine: str = records.DistanceSettings.combine

    @field_validator("combine")
    @classmethod
    def _known_distance(cls, name: str) -> str:
        if not is_known_distance(name):
            raise ValueError(f"found {name!r}, must be one of {', '.join(distance_names())}, or registered")
        return name


SpaceTable = Annotated[
    GridSpaceTable | ClusterSpaceTable | PolygonSpaceTable | H3SpaceTable, Discriminator("kind")
]


class WorldTable(Table):
    """All choices that shape a world, without the tables they are applied to.

    Paper: section 6.2 (ss:expt-setup) for the defaults.
    """

    timestep_minutes: Annotated[int, Field(ge=1, le=1440)] = records.WorldSettings.timestep_minutes
    interval_minutes: Annotated[int, Field(ge=1, le=1440)] = records.WorldSettings.interval_minutes
    day: str = records.WorldSettings.day
    timezone: str = records.WorldSettings.timezone
    travel: TravelTable = SpeedTravelTable()
    space: SpaceTable = GridSpaceTable()
    kappa: KappaTable = KappaTable()
    merge_order: tuple[records.Dimension, ...] = records.WorldSettings.merge_order
    category_levels: Annotated[int, Field(ge=1)] = records.WorldSettings.category_levels
    category_weights: tuple[Positive, ...] = records.WorldSettings.category_weights
    unrelated_category_distance: Positive = records.WorldSettings.unrelated_category_distance
    time_cap_hours: Positive = records.WorldSettings.time_cap_hours
    circular_time: StrictBool = records.WorldSettings.circular_time
    graph: StrictBool = records.WorldSettings.graph
    distance: DistanceTable = DistanceTable()
    prior: PriorTable = PriorTable()
    popularity_from: records.PopularityFrom = records.WorldSettings.popularity_from

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
    def _distance_is_known(self) -> Self:
        kinds = {"travel-time": ("roads", "timetable", "matrix"), "travel-distance": ("roads",)}
        measure = self.distance.space
        if measure != "line" and self.travel.kind not in kinds[measure]:
            raise ValueError(
                f"distance.space: {measure!r} is known where travel is {' or '.join(kinds[measure])}, "
                f"found {self.travel.kind}"
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


class ConfigTable(Table):
    """A whole `world.toml`: two tables and the settings."""

    places: Path
    categories: Path
    settings: WorldTable = WorldTable()
    basemap: Path | None = None
