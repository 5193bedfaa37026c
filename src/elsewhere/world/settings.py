"""Settings of a world: frozen records with the paper's defaults.

`world.toml` reads them and says what is wrong with a file; a `.world` file keeps them as plain JSON, without
paths: what the files held is in the world itself.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, TypeVar

from elsewhere.knowledge.categories import DEFAULT_EDGE_WEIGHTS, DEFAULT_UNRELATED
from elsewhere.world.measure import Measure, measure_of

Dimension = Literal["space", "time", "category"]
Mode = Literal["walk", "bike", "drive"]
SpaceMeasure = Literal["line", "travel-time", "travel-distance"]
Record = TypeVar("Record")
PopularityFrom = Literal["public", "held-out people", "the same people"]
Speed = float | tuple[float, ...]
"""km/h: one number, or one for each hour of the day; infinite for no limit."""

MODE_KMH: dict[Mode, float] = {"walk": 5.0, "bike": 15.0, "drive": 30.0}
SAME_PEOPLE: PopularityFrom = "the same people"
HELD_OUT: PopularityFrom = "held-out people"
_PATHS = frozenset({"file", "nodes", "edges"})


@dataclass(frozen=True, kw_only=True)
class SpeedTravel:
    """Straight lines at a speed; infinite for no limit."""

    kind: Literal["speed"] = "speed"
    speed_kmh: Speed = 8.0


@dataclass(frozen=True, kw_only=True)
class MatrixTravel:
    """A table of travel times: from_id, to_id, minutes and, if they differ, hour."""

    kind: Literal["matrix"] = "matrix"
    file: Path | None = None


@dataclass(frozen=True, kw_only=True)
class RoadTravel:
    """Shortest paths over roads: an OpenStreetMap extract, or nodes and directed edges.

    Nodes have node_id, lat, lng; edges from_node, to_node, km. From an extract come the roads for a mode;
    cars go as fast as each road's limit, unless ``limits`` is false.
    """

    kind: Literal["roads"] = "roads"
    nodes: Path | None = None
    edges: Path | None = None
    file: Path | None = None
    mode: Mode | None = None
    limits: bool = True
    speed_kmh: Speed = 8.0


@dataclass(frozen=True, kw_only=True)
class TimetableTravel:
    """What runs on the world's day by a GTFS feed, and walking."""

    kind: Literal["timetable"] = "timetable"
    file: Path | None = None
    speed_kmh: float = 5.0
    walk_km: float = 1.5
    change_minutes: float = 2.0


@dataclass(frozen=True, kw_only=True)
class GridSpace:
    """A uniform grid over the places, or over fixed bounds (south, west, north, east)."""

    kind: Literal["grid"] = "grid"
    cells: int = 4
    bounds: tuple[float, float, float, float] | None = None


@dataclass(frozen=True, kw_only=True)
class ClusterSpace:
    """Nested k-means: how many clusters at each level, finest first."""

    kind: Literal["clusters"] = "clusters"
    counts: tuple[int, ...] = (16, 4)
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class PolygonSpace:
    """Polygons of a GeoJSON file: a property that names each one, and one that names its parent."""

    kind: Literal["polygons"] = "polygons"
    file: Path | None = None
    id: str = "id"
    parent: str | None = None


@dataclass(frozen=True, kw_only=True)
class H3Space:
    """H3 cells, finest resolution first."""

    kind: Literal["h3"] = "h3"
    resolutions: tuple[int, ...] = (8, 7, 6)


@dataclass(frozen=True, kw_only=True)
class Kappa:
    """What every region needs: at least ``least`` places, or as much of a numeric column of the places."""

    least: float = 10.0
    weight: str = "count"
    """"count", "popularity", or the name of a numeric column in the table of places."""


@dataclass(frozen=True, kw_only=True)
class PriorSettings:
    """Days that people might well have: what `codebook` draws its candidates from (`days.prior`)."""

    # A time-use diary's first outing: a morning hump, a long tail.
    start_by_hour: tuple[float, ...] = (
        1.0, 1.0, 1.0, 1.0, 1.0, 3.0, 8.0, 14.0, 16.0, 14.0, 12.0, 10.0,
        9.0, 8.0, 6.0, 5.0, 5.0, 5.0, 4.0, 3.0, 2.0, 1.0, 1.0, 1.0,
    )  # fmt: skip
    """How likely a day is to begin in each hour, in any unit."""
    activity_by_hour: tuple[float, ...] = (
        2.0, 1.5, 1.0, 1.0, 1.0, 2.0, 4.0, 7.0, 8.0, 8.0, 8.0, 9.0,
        10.0, 9.0, 8.0, 8.0, 9.0, 10.0, 10.0, 9.0, 8.0, 6.0, 5.0, 3.0,
    )  # fmt: skip
    """How many visits begin in each hour, in any unit, where popularity does not say."""
    lengths: tuple[float, ...] = (2.0, 4.0, 8.0, 7.0, 5.0, 3.0, 2.0, 1.0)
    """How likely a day is to have 1, 2, ... visits, in any unit; as many numbers as the most visits."""
    mean_gap_minutes: float = 150.0
    decay_km: float = 3.0
    """Places this much farther are e times less likely to be next."""


@dataclass(frozen=True, kw_only=True)
class DistanceWeights:
    """What each part of d counts."""

    space: float = 1.0
    time: float = 1.0
    category: float = 1.0


@dataclass(frozen=True, kw_only=True)
class DistanceSettings:
    """What d is made of: how d_s is measured, and how its three parts are put together.

    Paper: section 5.10 (ss:distance-function), "any other distance function can be used".
    """

    space: SpaceMeasure = "line"
    kmh: float = 8.0
    """What an hour under way counts, where d_s is the time of travel."""
    weights: DistanceWeights = DistanceWeights()
    combine: str = "euclidean"
    """"euclidean", "sum", "largest", or the name of a registered function (`world.measure`)."""

    def measure(self) -> Measure:
        """As loops take it; raises KeyError for a function that nobody has registered."""
        weights = self.weights
        return measure_of(self.combine, (weights.space, weights.time, weights.category))


TravelSettings = SpeedTravel | MatrixTravel | RoadTravel | TimetableTravel
SpaceSettings = GridSpace | ClusterSpace | PolygonSpace | H3Space


@dataclass(frozen=True, kw_only=True)
class WorldSettings:
    """All choices that shape a world, without the tables they are applied to.

    Paper: section 6.2 (ss:expt-setup) for the defaults.
    """

    timestep_minutes: int = 10
    interval_minutes: int = 60
    day: str = "Wed"
    timezone: str = "UTC"
    travel: TravelSettings = SpeedTravel()
    space: SpaceSettings = GridSpace()
    kappa: Kappa = Kappa()
    merge_order: tuple[Dimension, ...] = ("space", "time", "category")
    category_levels: int = 3
    category_weights: tuple[float, ...] = DEFAULT_EDGE_WEIGHTS
    unrelated_category_distance: float = DEFAULT_UNRELATED
    time_cap_hours: float = 12.0
    circular_time: bool = False
    distance: DistanceSettings = DistanceSettings()
    prior: PriorSettings = PriorSettings()
    popularity_from: PopularityFrom = "public"
    """Whose visits the list of places and their popularity were counted from (R12).

    Counted from the very people who share, they are not public: no promise holds then.
    """
    graph: bool = True
    """Whether it is worked out which region can follow which. Only `ngram` needs it."""

    def without_paths(self) -> WorldSettings:
        """The same, as a world keeps them."""
        return settings_from_plain(self.plain())

    def plain(self) -> dict[str, Any]:
        """As JSON, without paths."""
        content = asdict(self)
        for table in ("travel", "space"):
            content[table] = {name: value for name, value in content[table].items() if name not in _PATHS}
        if self.graph:
            del content["graph"]  # worlds from before it could be left out keep their hash
        return {name: _listed(value) for name, value in content.items()}


@dataclass(frozen=True, kw_only=True)
class WorldConfig:
    """A whole `world.toml`: two tables and the settings."""

    places: Path
    categories: Path
    settings: WorldSettings = WorldSettings()
    basemap: Path | None = None
    """What maps are drawn on: an OpenStreetMap extract or tiles made of one. Not part of the world."""

    def input_files(self) -> list[Path]:
        """Every file that the world is built from."""
        tables = (self.settings.travel, self.settings.space)
        files = [getattr(table, name, None) for table in tables for name in ("file", "nodes", "edges")]
        given = [self.places, self.categories, self.basemap, *files]
        return [path for path in given if path is not None]

    def extract(self) -> Path | None:
        """Where a base map comes from: what ``basemap`` says, or the extract that roads are read from."""
        travel = self.settings.travel
        return self.basemap or (travel.file if isinstance(travel, RoadTravel) else None)


def _listed(value: Any) -> Any:
    """Tuples as the lists that JSON knows."""
    if isinstance(value, dict):
        return {name: _listed(part) for name, part in value.items()}
    return [_listed(part) for part in value] if isinstance(value, tuple) else value


_TRAVELS = {record.kind: record for record in (SpeedTravel, MatrixTravel, RoadTravel, TimetableTravel)}
_SPACES = {record.kind: record for record in (GridSpace, ClusterSpace, PolygonSpace, H3Space)}


def settings_from_plain(plain: dict[str, Any]) -> WorldSettings:
    """Settings from the JSON that a world keeps; raises ValueError unless each is of its kind.

    A setting that an older world does not have yet is at its default.
    """
    values = dict(plain)
    travel, space = _table(values.pop("travel")), _table(values.pop("space"))
    return _record(
        WorldSettings,
        {
            **values,
            "travel": _record(_TRAVELS[travel.pop("kind", "")], travel),
            "space": _record(_SPACES[space.pop("kind", "")], space),
            "kappa": _record(Kappa, _table(values.pop("kappa", {}))),
            "prior": _record(PriorSettings, _table(values.pop("prior", {}))),
            "distance": _distance(_table(values.pop("distance", {}))),
        },
    )


def _distance(values: dict[str, Any]) -> DistanceSettings:
    weights = _record(DistanceWeights, _table(values.pop("weights", {})))
    return _record(DistanceSettings, {**values, "weights": weights})


def _table(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("a table of settings is missing")  # noqa: TRY004 - it is the file's fault
    return dict(value)


def _record(kind: type[Record], values: dict[str, Any]) -> Record:
    settings = fields(kind)  # type: ignore[arg-type]  # always a dataclass
    known = {field.name: field.default for field in settings}
    for name, value in values.items():
        if name not in known or name in _PATHS:
            raise ValueError(f"there is no setting {name!r}")
        values[name] = tuple(value) if isinstance(value, list) else value
        if not _is_like(values[name], known[name]):
            raise ValueError(f"setting {name!r} is not of its kind")
    return kind(**values)


def _is_like(value: Any, default: Any) -> bool:
    """Whether a value is of the kind of a default: a flag, a number, text, a record, or several numbers."""
    if isinstance(value, tuple):
        return all(isinstance(part, int | float | str) for part in value)
    if default is None or isinstance(default, tuple):
        return value is None or isinstance(value, str | int | float)
    if isinstance(default, bool) or isinstance(value, bool):
        return type(value) is type(default)
    if isinstance(default, int | float):
        return isinstance(value, int | float)
    return isinstance(value, str) if isinstance(default, str) else not isinstance(value, str | int | float)
