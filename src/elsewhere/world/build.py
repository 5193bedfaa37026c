"""From tables and settings to a world; also from an old world and changed places to a new one."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Protocol

import numpy as np

from elsewhere.arrays import Bools
from elsewhere.errors import InputError
from elsewhere.inputs.gtfs import read_timetable
from elsewhere.inputs.osm_roads import read_osm_roads
from elsewhere.inputs.tables import read_categories, read_places
from elsewhere.inputs.travel_tables import check_table_size, read_road_network, read_travel_matrix
from elsewhere.knowledge.categories import CategoryTree
from elsewhere.knowledge.clock import Clock
from elsewhere.knowledge.hours import open_table
from elsewhere.knowledge.places import Places, build_places
from elsewhere.knowledge.roads import nearest_km, road_km, road_milliseconds
from elsewhere.knowledge.timetable import timetable_milliseconds
from elsewhere.knowledge.travel import (
    MeanHours,
    RoadNetwork,
    StepTable,
    Travel,
    hourly_profiles,
    step_table,
    straight_line,
)
from elsewhere.progress import Progress, no_progress
from elsewhere.world.decomposition import build_regions
from elsewhere.world.distances import largest_distance, region_distances
from elsewhere.world.graph import MOST_REGIONS, RegionGraph, build_graph, no_graph
from elsewhere.world.ground import SpaceTable
from elsewhere.world.kinds import kind_distances
from elsewhere.world.regions import Polygons, Regions
from elsewhere.world.settings import (
    MatrixTravel,
    PolygonSpace,
    RoadTravel,
    SpeedTravel,
    TimetableTravel,
    TravelSettings,
    WorldConfig,
    WorldSettings,
)
from elsewhere.world.space import divide_space, read_polygons
from elsewhere.world.toml import read_config
from elsewhere.world.world import World

_FARTHEST_ROADS_KM = 20


class GraphBuilder(Protocol):
    """How to get the graph of regions: `build_graph`, or one that reuses an older graph."""

    def __call__(self, regions: Regions, travel: Travel, clock: Clock, progress: Progress) -> RegionGraph: ...


def build_world(config: WorldConfig | str | Path, progress: Progress = no_progress) -> World:
    """Build a world from tables of places and categories.

    Parameters
    ----------
    config
        The path of a `world.toml`, or what `read_config` made of one.
    progress
        Called with how many regions are connected, and how many there are.

    Returns
    -------
    World
        Immutable, named by its content hash. The same input gives the same world, byte for byte.

    Raises
    ------
    InputError
        With every fault of a table, by row and column.

    Examples
    --------
    >>> world = ew.build_world("world.toml")
    >>> len(world.places)
    3
    """
    if not isinstance(config, WorldConfig):
        config = read_config(config)
    settings = config.settings
    tree = read_categories(config.categories)
    rows = read_places(config.places, tree, settings.kappa.weight)
    places = build_places(rows, tree)
    clock = clock_of(settings)
    polygons = None
    if isinstance(settings.space, PolygonSpace):
        polygons = read_polygons(_given(settings.space.file), settings.space.id, settings.space.parent)
    mean = mean_hours(settings)
    travel, roads = read_travel(settings.travel, places, clock, mean)
    return assemble(
        settings,
        tree,
        places,
        travel,
        is_open=open_table(places.effective_hours(tree), clock),
        roads=roads,
        polygons=polygons,
        space_table=space_table(settings, places, roads, mean),
        source=str(config.places),
        graph_builder=build_graph,
        progress=progress,
    )


def assemble(
    settings: WorldSettings,
    tree: CategoryTree,
    places: Places,
    travel: Travel,
    *,
    is_open: Bools,
    roads: RoadNetwork | None,
    polygons: Polygons | None,
    space_table: SpaceTable | None,
    source: str,
    graph_builder: GraphBuilder,
    progress: Progress = no_progress,
) -> World:
    """Regions, graph and distances from knowledge that has been read and checked."""
    clock = clock_of(settings)
    _check_kappa(settings, places, is_open, source)
    space = divide_space(places, settings.space, polygons)
    regions, report = build_regions(places, tree, clock, settings, is_open=is_open, space=space)
    if settings.graph and len(regions) > MOST_REGIONS:
        raise InputError(
            source,
            f"makes {len(regions):,} regions, and which can follow which is kept for {MOST_REGIONS:,} at "
            "most: say graph = false (only ngram needs it), or use a larger kappa or a coarser grid",
        )
    used, kinds = np.unique(regions.nodes, return_inverse=True)
    nodes = [(node,) for node in used.tolist()]
    distances = region_distances(
        regions,
        places,
        settings,
        clock,
        kinds=kinds.astype(np.int32),
        category_table=kind_distances(tree, settings, nodes, nodes),
        table=space_table,
    )
    max_distance = largest_distance(distances)
    if not math.isfinite(max_distance):  # no device would load it
        raise InputError(
            source,
            "the largest distance d is no finite number: weights of [distance], distances between categories "
            "and kmh must be small enough to be multiplied and squared, such as 1000",
        )
    return World(
        settings=settings.without_paths(),
        clock=clock,
        tree=tree,
        places=places,
        is_open=is_open,
        regions=regions,
        space_labels=space.labels,
        merge_report=report,
        travel=travel,
        graph=graph_builder(regions, travel, clock, progress) if settings.graph else no_graph(len(regions)),
        distances=distances,
        max_distance=max_distance,
        roads=roads,
        polygons=polygons,
        space_table=space_table,
    )


def space_table(
    settings: WorldSettings, places: Places, roads: RoadNetwork | None, mean: MeanHours | None
) -> SpaceTable | None:
    """d_s between all places, where it is not the great circle; infinite for those with no way.

    Deviation: travel-as-distance — one number for each pair, there and back and over the day.
    """
    if mean is not None:
        return (mean.table() * settings.distance.kmh).astype(np.float32)
    if settings.distance.space == "travel-distance" and roads is not None:
        return road_km(roads, places.vectors).astype(np.float32)
    return None


def clock_of(settings: WorldSettings) -> Clock:
    return Clock(
        timestep_minutes=settings.timestep_minutes,
        interval_minutes=max(settings.timestep_minutes, settings.interval_minutes),
        day=settings.day,
        timezone=settings.timezone,
    )


def mean_hours(settings: WorldSettings) -> MeanHours | None:
    """What keeps mean travel times while they are read, where d_s is made of them."""
    return MeanHours() if settings.distance.space == "travel-time" else None


def read_travel(
    settings: TravelSettings, places: Places, clock: Clock, mean: MeanHours | None = None
) -> tuple[Travel, RoadNetwork | None]:
    """Travel between all places, worked out from files; and the roads, if it is along some."""
    if isinstance(settings, SpeedTravel):
        return straight_line(places, clock, settings.speed_kmh), None
    if isinstance(settings, MatrixTravel):
        return read_travel_matrix(_given(settings.file), places, clock, mean), None
    if isinstance(settings, RoadTravel):
        roads = _read_roads(settings)
        return road_travel(roads, places, clock, settings, mean), roads
    return timetable_travel(places, clock, settings, mean), None


def _read_roads(settings: RoadTravel) -> RoadNetwork:
    if settings.file is not None and settings.mode is not None:
        return read_osm_roads(settings.file, settings.mode, has_limits=settings.limits)
    return read_road_network(_given(settings.nodes), _given(settings.edges))


def _given(path: Path | None) -> Path:
    """A path of settings that were just read: only those that a world keeps are without."""
    assert path is not None  # noqa: S101 - `world.toml` sees to it
    return path


def timetable_travel(
    places: Places, clock: Clock, settings: TimetableTravel, mean: MeanHours | None = None
) -> StepTable:
    """Travel on foot and by what runs between all places, for each hour of departure."""
    check_table_size(24, len(places), "timetable")
    timetable = read_timetable(
        _given(settings.file), clock, change_minutes=settings.change_minutes, speed_kmh=settings.speed_kmh
    )
    times = timetable_milliseconds(
        timetable, places.vectors, clock, speed_kmh=settings.speed_kmh, walk_km=settings.walk_km
    )
    return step_table(times, np.arange(24, dtype=np.uint8), clock, places.is_anywhere, mean)


def road_travel(
    roads: RoadNetwork, places: Places, clock: Clock, settings: RoadTravel, mean: MeanHours | None = None
) -> StepTable:
    """Travel over roads between all places, one search for each distinct speed of the day."""
    speeds, profile_of_hour = hourly_profiles(settings.speed_kmh)
    check_table_size(len(speeds), len(places), "roads")
    if nearest_km(roads, places.vectors) > _FARTHEST_ROADS_KM:
        raise InputError(
            "roads", f"lie more than {_FARTHEST_ROADS_KM} km from every place: are they of this city?"
        )
    times = (road_milliseconds(roads, places.vectors, places.vectors, speed) for speed in speeds)
    return step_table(times, profile_of_hour, clock, places.is_anywhere, mean)


def _check_kappa(settings: WorldSettings, places: Places, is_open: Bools, source: str) -> None:
    if not is_open.any():
        raise InputError(source, f"no place is open on {settings.day}: check hours, or choose another day")
    kappa = settings.kappa
    is_count = kappa.weight == "count"
    opens = is_open.any(axis=1)
    most = int(opens.sum()) if is_count else float(places.weights[opens].max(axis=1).sum())
    if kappa.least > most:
        what = "the number of open places" if is_count else f"the {kappa.weight} of all open places"
        raise InputError("kappa", f"{kappa.least:g} is larger than the world: {what} is {most:g}")
