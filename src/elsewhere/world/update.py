"""Local updates: changed places, categories, roads, timetables and matrices touch only what they affect.

The result equals a full rebuild from the changed tables, bit for bit. Regions are cheap and are made
anew; what is kept is the costly part: opening hours already worked out, travel between places that
stayed where they were, and the graph between regions that did not change.

Paper: section 6.1.5 (sss:pre-processing-costs), "localized updates can be performed".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Bools, Indices, Words
from elsewhere.compiled import compiled
from elsewhere.errors import InputError, WorldFileError
from elsewhere.inputs.tables import read_categories, read_place_changes
from elsewhere.knowledge.categories import CategoryTree
from elsewhere.knowledge.clock import Clock
from elsewhere.knowledge.hours import open_table
from elsewhere.knowledge.places import Places, build_places, changed_places
from elsewhere.knowledge.travel import Travel
from elsewhere.progress import Progress, no_progress
from elsewhere.world.build import assemble, mean_hours, road_travel, space_table
from elsewhere.world.graph import EdgeFiller, RegionGraph, degrees_of
from elsewhere.world.ground import SpaceTable
from elsewhere.world.regions import Regions
from elsewhere.world.settings import RoadTravel
from elsewhere.world.toml import check_settings
from elsewhere.world.update_travel import TravelFiles, replaced_travel, touched_origins, updated_travel
from elsewhere.world.world import World

_Ways = Literal["none", "new and moved places", "all places"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Redone:
    """What an update worked out again; the rest was kept."""

    travel: _Ways
    regions: int
    """Regions whose successors were all looked for again."""

    def in_words(self, world: World) -> str:
        """For people."""
        ways = {
            "none": "travel was kept",
            "new and moved places": "travel from and to new and moved places",
            "all places": "travel between all places, since new files may change any way",
        }
        return f"{ways[self.travel]}; successors of {self.regions:,} of {len(world.regions):,} regions"


def update_world(
    world: World,
    changes: str | Path | None = None,
    progress: Progress = no_progress,
    *,
    categories: str | Path | None = None,
    roads: str | Path | tuple[str | Path, str | Path] | None = None,
    timetable: str | Path | None = None,
    matrix: str | Path | None = None,
) -> World:
    """A world after changes; what did not change is not worked out again.

    Parameters
    ----------
    world
        The world as it was.
    changes
        A table of changed and new places, columns as in the table of places. A column ``remove`` takes places
        away. Columns that it does not have stay as they are.
    progress
        Called with how many regions are connected, and how many there are.
    categories
        A new table of categories, whole. It must have every category that a place has.
    roads
        New roads, whole: an OpenStreetMap extract, or tables of nodes and edges, as the world had before.
    timetable
        A new GTFS feed.
    matrix
        A new table of travel times, whole.

    Returns
    -------
    World
        Exactly what `build_world` would give for the changed tables.

    Raises
    ------
    InputError
        With every fault of a table; or if travel to a new place cannot be known.

    Examples
    --------
    >>> ew.update_world(world, "changed.csv").hash == world.hash
    False
    """
    ends = roads if isinstance(roads, tuple) or roads is None else None
    files = TravelFiles(
        roads=(Path(ends[0]), Path(ends[1]))
        if ends
        else _path(roads if isinstance(roads, str | Path) else None),
        timetable=_path(timetable),
        matrix=_path(matrix),
    )
    return updated(world, _path(changes), categories=_path(categories), files=files, progress=progress)[0]


def _path(given: str | Path | None) -> Path | None:
    return None if given is None else Path(given)


def updated(
    world: World,
    changes: Path | None,
    *,
    categories: Path | None = None,
    files: TravelFiles | None = None,
    progress: Progress = no_progress,
) -> tuple[World, Redone]:
    """The same, with what was worked out again."""
    files = files or TravelFiles()
    settings = world.settings
    try:
        check_settings(settings)
    except ValueError as error:
        raise WorldFileError(f"the world's settings are not valid: {error}") from None
    if changes is None and categories is None and not files.given:
        raise InputError("update", "needs something that changed: places, categories, or travel")
    tree = world.tree if categories is None else read_categories(categories)
    places = world.places if categories is None else _in_tree(world, tree, categories)
    if changes is not None:
        changed, removed = read_place_changes(changes, tree, places, settings.kappa.weight)
        places = changed_places(places, build_places(changed, tree), removed)
        if not len(places):
            raise InputError(str(changes), "would remove every place, at least one must stay")
    source = str(changes or categories or "update")
    old_of_new = _old_places(world.places, places)
    travel: Travel
    roads = world.roads
    if files.given:
        mean = mean_hours(settings)
        travel, roads = replaced_travel(world, files, places, mean)
        space = space_table(settings, places, roads, mean)
        touched = touched_origins(world.travel, travel, old_of_new)
    else:
        travel = updated_travel(world, places, old_of_new, source)
        space = _updated_space(world, places)
        touched = np.zeros(len(places), dtype=np.bool_)
    known = dict(zip(world.places.effective_hours(world.tree), world.is_open, strict=True))
    redone = 0

    def graph_builder(regions: Regions, travel: Travel, clock: Clock, progress: Progress) -> RegionGraph:
        nonlocal redone
        old_regions = _old_regions(world.regions, regions, old_of_new)
        is_origin_kept = (old_regions >= 0) & ~_any_in_regions(regions, touched)
        redone = int((~is_origin_kept).sum())
        return _updated_graph(world.graph, regions, travel, clock, old_regions, is_origin_kept, progress)

    result = assemble(
        settings,
        tree,
        places,
        travel,
        is_open=open_table(places.effective_hours(tree), world.clock, known),
        roads=roads,
        polygons=world.polygons,
        space_table=space,
        source=source,
        graph_builder=graph_builder,
        progress=progress,
    )
    way: _Ways = "all places" if files.given else "new and moved places" if np.any(old_of_new < 0) else "none"
    return result, Redone(travel=way, regions=redone)


def _in_tree(world: World, tree: CategoryTree, source: Path) -> Places:
    """The world's places with the nodes of another tree."""
    node_of = {category_id: node for node, category_id in enumerate(tree.ids)}
    used = [world.tree.ids[node] for node in world.places.category_nodes.tolist()]
    missing = sorted({name for name in used if name not in node_of})
    if missing:
        raise InputError(
            str(source),
            f"does not have {missing[0]!r}, which a place has ({len(missing)} such): give the places others "
            "first, in an update of their own",
        )
    nodes = np.array([node_of[name] for name in used], dtype=np.int32)
    return replace(world.places, category_nodes=nodes)


def _any_in_regions(regions: Regions, is_touched: Bools) -> Bools:
    """Regions with a place that is touched."""
    return np.array([is_touched[regions.places_of(r)].any() for r in range(len(regions))], dtype=np.bool_)


def _old_places(old: Places, new: Places) -> NDArray[np.intp]:
    """For each new place its old row, or -1 if it is new or travel to it has changed."""
    row_of = {place_id: row for row, place_id in enumerate(old.ids)}
    rows = np.array([row_of.get(place_id, -1) for place_id in new.ids])
    stayed = np.all(old.vectors[rows] == new.vectors, axis=1) & (old.is_anywhere[rows] == new.is_anywhere)
    return np.where((rows >= 0) & stayed, rows, -1)


def _updated_space(world: World, places: Places) -> SpaceTable | None:
    """d_s between the places: anew over roads, else without those that were removed."""
    if world.space_table is None:
        return None
    settings = world.settings
    if isinstance(settings.travel, RoadTravel) and world.roads is not None:
        mean = mean_hours(settings)
        if mean is not None:
            road_travel(world.roads, places, world.clock, settings.travel, mean)
        return space_table(settings, places, world.roads, mean)
    rows = np.array([world.place_index[place_id] for place_id in places.ids])
    return np.ascontiguousarray(world.space_table[rows[:, None], rows])


def _old_regions(old: Regions, new: Regions, old_of_new: NDArray[np.intp]) -> Indices:
    """For each new region an old one with the same unchanged places and interval, or -1.

    What can follow what is a matter of places and times: the category of a region does not count.
    """
    row_of = {(int(old.starts[r]), int(old.ends[r]), old.places_of(r).tobytes()): r for r in range(len(old))}
    result = np.full(len(new), -1, dtype=np.int32)
    for region in range(len(new)):
        places = old_of_new[new.places_of(region)]
        if np.all(places >= 0):
            key = (
                int(new.starts[region]),
                int(new.ends[region]),
                places.astype(np.int32).tobytes(),
            )
            result[region] = row_of.get(key, -1)
    return result


def _updated_graph(
    old: RegionGraph,
    regions: Regions,
    travel: Travel,
    clock: Clock,
    old_regions: Indices,
    is_origin_kept: Bools,
    progress: Progress,
) -> RegionGraph:
    words = np.zeros((len(regions), -(-len(regions) // 64)), dtype=np.uint64)
    kept = np.flatnonzero(is_origin_kept).astype(np.int32)
    again = np.flatnonzero(~is_origin_kept).astype(np.int32)
    fresh = np.flatnonzero(old_regions < 0).astype(np.int32)
    _copy_rows(words, old.words, kept, old_regions, *_runs(old_regions))
    filler = EdgeFiller(regions, travel, clock)
    filler.fill(words, origins=again, destinations=np.arange(len(regions), dtype=np.int32), progress=progress)
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
