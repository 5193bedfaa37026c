"""Decomposition: from places to regions, first as fine as the hierarchies go, then merged to κ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Bools, Floats, Indices
from elsewhere.knowledge.categories import CategoryTree
from elsewhere.knowledge.clock import Clock, interval_level_names, interval_levels
from elsewhere.knowledge.places import Places
from elsewhere.world.kinds import category_pairs
from elsewhere.world.merging import (
    Climb,
    Keys,
    Memberships,
    category_climbs,
    merge,
    space_climbs,
    time_climbs,
)
from elsewhere.world.regions import MergeReport, Regions, shortest_arcs, space_level_names
from elsewhere.world.settings import WorldSettings
from elsewhere.world.space import SpaceLevels


def build_regions(
    places: Places,
    tree: CategoryTree,
    clock: Clock,
    settings: WorldSettings,
    *,
    is_open: Bools,
    space: SpaceLevels,
) -> tuple[Regions, MergeReport]:
    """Decompose and merge: every open (place, interval, category) ends in exactly one region.

    Paper: section 5.3 (ss:hierarchical-decomposition).
    """
    pair_places, pair_nodes = category_pairs(
        places.category_offsets, places.category_nodes, tree.ancestors_at(settings.category_levels)
    )
    open_intervals = np.asarray(is_open.reshape(len(places), clock.intervals, -1).any(axis=2))
    pairs, intervals = np.nonzero(open_intervals[pair_places])
    memberships = Memberships(
        places=pair_places[pairs],
        nodes=pair_nodes[pairs],
        intervals=intervals.astype(np.int32),
        weights=_weights(places, clock, settings, pair_places[pairs], intervals),
    )
    keys = _finest_keys(memberships, space, settings)
    climbs = _climbs(memberships, tree, clock, settings, space)
    report = merge(memberships, keys, climbs, settings.kappa.least)
    region_of_membership, firsts = _number_regions(keys)
    region_of = np.full((len(pair_places), clock.intervals), -1, dtype=np.int32)
    region_of[pairs, intervals] = region_of_membership
    starts, ends = shortest_arcs(region_of_membership, memberships.intervals, len(firsts), clock.intervals)
    place_offsets, place_indices = _region_places(region_of_membership, memberships.places)
    regions = Regions(
        place_offsets=place_offsets,
        place_indices=place_indices,
        starts=starts * clock.timesteps_per_interval,
        ends=ends * clock.timesteps_per_interval,
        nodes=keys.nodes[firsts],
        space_levels=keys.space_levels[firsts],
        cells=keys.cells[firsts],
        time_levels=keys.time_levels[firsts],
        vectors=_centroids(place_offsets, places.vectors[place_indices], places.is_anywhere[place_indices]),
        mid_hours=(starts + ends).astype(np.float64) * (clock.interval_minutes / 120) % 24,
        pair_places=pair_places,
        pair_nodes=pair_nodes,
        region_of=region_of,
    )
    return regions, report


def _weights(
    places: Places, clock: Clock, settings: WorldSettings, owners: Indices, intervals: NDArray[np.intp]
) -> Floats:
    if settings.kappa.weight == "count":
        return np.ones(len(owners))
    # A place counts with the largest weight of the hours that an interval touches.
    first_hours = np.arange(clock.intervals) * clock.interval_minutes // 60
    last_hours = ((np.arange(clock.intervals) + 1) * clock.interval_minutes - 1) // 60
    by_interval = np.stack(
        [
            places.weights[:, first : last + 1].max(axis=1)
            for first, last in zip(first_hours, last_hours, strict=True)
        ],
        axis=1,
    )
    return by_interval[owners, intervals]


def _finest_keys(memberships: Memberships, space: SpaceLevels, settings: WorldSettings) -> Keys:
    """Where every membership starts: finest cell, interval and category.

    Deviation: standing-alone — where κ is a weight such as popularity, a place that weighs κ by itself
    gets a region of its own even if others share its cell, as the paper's figure shows.

    Paper: fig:merging-r.
    """
    count = len(memberships.places)
    is_alone = (settings.kappa.weight != "count") & (memberships.weights >= settings.kappa.least)
    return Keys(
        space_levels=np.zeros(count, dtype=np.int32),
        cells=space.cells[0, memberships.places],
        time_levels=np.zeros(count, dtype=np.int32),
        blocks=memberships.intervals.copy(),
        nodes=memberships.nodes.copy(),
        alone=np.where(is_alone, memberships.places, -1).astype(np.int32),
    )


def _climbs(
    memberships: Memberships, tree: CategoryTree, clock: Clock, settings: WorldSettings, space: SpaceLevels
) -> Sequence[Climb]:
    by_dimension = {
        "space": space_climbs(memberships, space.cells, space_level_names(space.labels)),
        "time": time_climbs(memberships, interval_levels(clock), interval_level_names(clock)),
        "category": category_climbs(tree, settings.category_levels),
    }
    return [climb for dimension in settings.merge_order for climb in by_dimension[dimension]]


def _number_regions(keys: Keys) -> tuple[Indices, NDArray[np.intp]]:
    """Region of each membership, and a membership of each region; cell by cell, category, then time."""
    _, firsts, region_of = np.unique(keys.codes(), return_index=True, return_inverse=True)
    return region_of.astype(np.int32), firsts


def _region_places(region_of: Indices, owners: Indices) -> tuple[Indices, Indices]:
    width = int(owners.max(initial=0)) + 1
    pairs = np.sort(region_of.astype(np.int64) * width + owners)
    pairs = pairs[np.append(True, pairs[1:] != pairs[:-1])]
    counts = np.bincount(pairs // width)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return offsets, (pairs % width).astype(np.int32)


def _centroids(offsets: Indices, vectors: Floats, is_anywhere: Bools) -> Floats:
    """Mean of the places of each region; of those with a position, if there are any.

    Deviation: centroid — the mean is taken on the sphere, so that the date line and the poles do no harm;
    within a city it differs from the mean of latitudes and longitudes by centimetres.
    """
    alone = np.repeat(np.logical_and.reduceat(is_anywhere, offsets[:-1]), np.diff(offsets))
    sums = np.add.reduceat(vectors * (~is_anywhere | alone)[:, None], offsets[:-1], axis=0)
    # Places spread evenly over the globe have no middle; their first place must do.
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.where(lengths > 1e-9, sums / np.maximum(lengths, 1e-300), vectors[offsets[:-1]])
