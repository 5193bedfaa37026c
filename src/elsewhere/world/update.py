"""Local updates: changed, moved, new and removed places touch only what they affect.

The result equals a full rebuild from the changed table, bit for bit. Regions are cheap and are made
anew; what is kept is the costly part: opening hours already worked out, travel between places that
stayed where they were, and the graph between regions that did not change.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Bools, Indices, Words
from elsewhere.compiled import compiled
from elsewhere.errors import InputError, WorldFileError
from elsewhere.inputs.tables import read_place_changes
from elsewhere.knowledge.clock import Clock
from elsewhere.knowledge.hours import open_table
from elsewhere.knowledge.places import Places, build_places, changed_places
from elsewhere.knowledge.roads import road_milliseconds
from elsewhere.knowledge.travel import (
    MeanHours,
    StepTable,
    Travel,
    hourly_profiles,
    step_table,
    straight_line,
)
from elsewhere.progress import Progress, no_progress
from elsewhere.world.build import assemble, road_travel, space_table
from elsewhere.world.graph import EdgeFiller, RegionGraph, degrees_of
from elsewhere.world.ground import SpaceTable
from elsewhere.world.regions import Regions
from elsewhere.world.settings import (
    MatrixTravel,
    RoadTravel,
    SpeedTravel,
    TimetableTravel,
    WorldSettings,
)
from elsewhere.world.toml import check_settings
from elsewhere.world.world import World


def update_world(world: World, changes: str | Path, progress: Progress = no_progress) -> World:
    """A world after changes to some of its places; what did not change is not worked out again.

    Parameters
    ----------
    world
        The world as it was.
    changes
        A table of changed and new places, columns as in the table of places. A column ``remove`` takes places
        away. Columns that it does not have stay as they are.
    progress
        Called with how many regions are connected, and how many there are.

    Returns
    -------
    World
        Exactly what `build_world` would give for the changed table.

    Raises
    ------
    InputError
        With every fault of the table; or if travel to a new place cannot be known.

    Examples
    --------
    >>> ew.update_world(world, "changed.csv").hash == world.hash
    False
    """
    settings = world.settings
    try:
        check_settings(settings)
    except ValueError as error:
        raise WorldFileError(f"the world's settings are not valid: {error}") from None
    changed, removed = read_place_changes(Path(changes), world.tree, world.places, settings.kappa.weight)
    places = changed_places(world.places, build_places(changed, world.tree), removed)
    if not len(places):
        raise InputError(str(changes), "would remove every place, at least one must stay")
    old_of_new = _old_places(world.places, places)
    hours = places.effective_hours(world.tree)
    known = dict(zip(world.places.effective_hours(world.tree), world.is_open, strict=True))

    def graph_builder(regions: Regions, travel: Travel, clock: Clock, progress: Progress) -> RegionGraph:
        old_regions = _old_regions(world.regions, regions, old_of_new)
        return _updated_graph(world.graph, regions, travel, clock, old_regions, progress)

    return assemble(
        settings,
        world.tree,
        places,
        _updated_travel(world, settings, places, old_of_new, str(changes)),
        is_open=open_table(hours, world.clock, known),
        roads=world.roads,
        polygons=world.polygons,
        space_table=_updated_space(world, places),
        source=str(changes),
        graph_builder=graph_builder,
        progress=progress,
    )


def _old_places(old: Places, new: Places) -> NDArray[np.intp]:
    """For each new place its old row, or -1 if it is new or travel to it has changed."""
    row_of = {place_id: row for row, place_id in enumerate(old.ids)}
    rows = np.array([row_of.get(place_id, -1) for place_id in new.ids])
    stayed = np.all(old.vectors[rows] == new.vectors, axis=1) & (old.is_anywhere[rows] == new.is_anywhere)
    return np.where((rows >= 0) & stayed, rows, -1)


def _updated_travel(
    world: World, settings: WorldSettings, places: Places, old_of_new: NDArray[np.intp], source: str
) -> Travel:
    match settings.travel:
        case SpeedTravel(speed_kmh=speed):
            return straight_line(places, world.clock, speed)
        case MatrixTravel():
            return _updated_matrix(world, places, source, "a given matrix")
        case TimetableTravel():
            _refuse_moves(world, places, source)
            return _updated_matrix(world, places, source, "by a timetable")
        case RoadTravel():
            return _updated_roads(world, settings.travel, places, old_of_new)


def _refuse_moves(world: World, places: Places, source: str) -> None:
    """The timetable is not in the world: times to where a place was do not hold where it is."""
    for place_id, vector in zip(places.ids, places.vectors, strict=True):
        old = world.place_index.get(place_id)
        if old is not None and not np.array_equal(world.places.vectors[old], vector):
            raise InputError(source, f"{place_id!r} has moved: travel is by a timetable, build it again")


def _updated_matrix(world: World, places: Places, source: str, kind: str) -> StepTable:
    """The given matrix without removed places; it has no times for new ones."""
    assert isinstance(world.travel, StepTable)  # noqa: S101 - what MatrixTravel always makes
    unknown = [place_id for place_id in places.ids if place_id not in world.place_index]
    if unknown:
        raise InputError(
            source,
            f"no travel times for the new place {unknown[0]!r}: this world's travel is {kind}, "
            "build it again with times for the place",
        )
    if not np.array_equal(
        world.places.is_anywhere[[world.place_index[place_id] for place_id in places.ids]], places.is_anywhere
    ):
        raise InputError(
            source, f"'anywhere' cannot change in a world whose travel is {kind}: build it again"
        )
    rows = np.array([world.place_index[place_id] for place_id in places.ids])
    return replace(
        world.travel, table=np.ascontiguousarray(world.travel.table[:, rows[:, None], rows[None, :]])
    )


def _updated_roads(
    world: World, settings: RoadTravel, places: Places, old_of_new: NDArray[np.intp]
) -> StepTable:
    """Shortest paths again from and to places that are new or moved, the rest as it was."""
    assert isinstance(world.travel, StepTable)  # noqa: S101 - what RoadTravel always makes
    assert world.roads is not None  # noqa: S101 - as above
    speeds, profile_of_hour = hourly_profiles(settings.speed_kmh)
    fresh, kept = np.flatnonzero(old_of_new < 0), np.flatnonzero(old_of_new >= 0)
    tables = []
    for profile, speed in enumerate(speeds):
        out = road_milliseconds(world.roads, places.vectors[fresh], places.vectors, speed)
        back = road_milliseconds(world.roads, places.vectors, places.vectors[fresh], speed)
        times = np.zeros((len(places), len(places)))
        times[fresh, :] = out
        times[:, fresh] = back
        table = step_table([times], profile_of_hour, world.clock, places.is_anywhere).table[0]
        old_rows = old_of_new[kept]
        table[kept[:, None], kept] = world.travel.table[profile][old_rows[:, None], old_rows]
        tables.append(table)
    return StepTable(profile_of_hour=profile_of_hour, table=np.stack(tables))


def _updated_space(world: World, places: Places) -> SpaceTable | None:
    """d_s between the places: anew over roads, else without those that were removed."""
    if world.space_table is None:
        return None
    settings = world.settings
    if isinstance(settings.travel, RoadTravel) and world.roads is not None:
        mean = MeanHours() if settings.distance.space == "travel-time" else None
        if mean is not None:
            road_travel(world.roads, places, world.clock, settings.travel, mean)
        return space_table(settings, places, world.roads, mean)
    rows = np.array([world.place_index[place_id] for place_id in places.ids])
    return np.ascontiguousarray(world.space_table[rows[:, None], rows])


def _old_regions(old: Regions, new: Regions, old_of_new: NDArray[np.intp]) -> Indices:
    """For each new region an old one with the same unchanged places and interval, or -1."""
    row_of = {
        (int(old.starts[r]), int(old.ends[r]), int(old.nodes[r]), old.places_of(r).tobytes()): r
        for r in range(len(old))
    }
    result = np.full(len(new), -1, dtype=np.int32)
    for region in range(len(new)):
        places = old_of_new[new.places_of(region)]
        if np.all(places >= 0):
            key = (
                int(new.starts[region]),
                int(new.ends[region]),
                int(new.nodes[region]),
                places.astype(np.int32).tobytes(),
            )
            result[region] = row_of.get(key, -1)
    return result


def _updated_graph(
    old: RegionGraph, regions: Regions, travel: Travel, clock: Clock, old_regions: Indices, progress: Progress
) -> RegionGraph:
    words = np.zeros((len(regions), -(-len(regions) // 64)), dtype=np.uint64)
    kept = np.flatnonzero(old_regions >= 0).astype(np.int32)
    fresh = np.flatnonzero(old_regions < 0).astype(np.int32)
    _copy_rows(words, old.words, kept, old_regions, *_runs(old_regions))
    filler = EdgeFiller(regions, travel, clock)
    filler.fill(words, origins=fresh, destinations=np.arange(len(regions), dtype=np.int32), progress=progress)
    filler.fill(words, origins=kept, destinations=fresh, progress=progress)
    return RegionGraph(words=words, out_degrees=degrees_of(words))


def _runs(old_regions: Indices) -> tuple[Indices, Indices, Indices]:
    """Stretches of new regions that were a stretch of old ones: start, old start, length."""
    is_kept: Bools = old_regions >= 0
    follows = np.zeros(len(old_regions), dtype=np.bool_)
    follows[1:] = is_kept[1:] & is_kept[:-1] & (np.diff(old_regions) == 1)
    starts = np.flatnonzero(is_kept & ~follows).astype(np.int32)
    stops = np.flatnonzero(is_kept & ~np.append(follows[1:], False)) + 1
    return starts, old_regions[starts], (stops - starts).astype(np.int32)


@compiled
def _copy_rows(
    words: Words,
    old_words: Words,
    rows: Indices,
    old_regions: Indices,
    starts: Indices,
    sources: Indices,
    lengths: Indices,
) -> None:
    """Copy runs of bits from old rows to new ones, a word at a time."""
    for row in rows:
        old_row = old_words[old_regions[row]]
        for run in range(len(starts)):
            done = 0
            while done < lengths[run]:
                target, source = starts[run] + done, sources[run] + done
                count = min(64 - (target & 63), 64 - (source & 63), lengths[run] - done)
                bits = old_row[source >> 6] >> np.uint64(source & 63)
                if count < 64:
                    bits &= (np.uint64(1) << np.uint64(count)) - np.uint64(1)
                words[row, target >> 6] |= bits << np.uint64(target & 63)
                done += count
