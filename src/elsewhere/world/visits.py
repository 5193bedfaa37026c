"""Visits in compiled loops: how far one place is from another in timesteps, and two visits in d."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Bools, Floats, Indices, Steps
from elsewhere.compiled import compiled
from elsewhere.knowledge.categories import category_distances
from elsewhere.knowledge.sphere import chord_squared, great_circle_km_squared
from elsewhere.knowledge.travel import StepTable
from elsewhere.world.distances import RegionDistances
from elsewhere.world.world import World


class PlaceWorld(NamedTuple):
    """Places, hours and travel of a world, as compiled loops take them."""

    offsets: Indices
    members: Indices
    starts: Indices
    ends: Indices
    is_open: Bools
    profile_of_timestep: NDArray[np.int64]
    vectors: Floats
    thresholds: Floats
    steps_at: Steps
    is_anywhere: Bools
    table: Steps
    """profile × origin × destination; empty where travel is along straight lines."""


def place_world(world: World) -> PlaceWorld:
    travel, clock = world.travel, world.clock
    hours = np.arange(clock.timesteps) * clock.timestep_minutes // 60
    if isinstance(travel, StepTable):
        line = (np.zeros(1), np.ones((1, 2), dtype=np.uint16), travel.table)
    else:
        line = (travel.thresholds, travel.steps_at, np.zeros((0, 0, 0), dtype=np.uint16))
    return PlaceWorld(
        offsets=world.regions.place_offsets,
        members=world.regions.place_indices,
        starts=world.regions.starts,
        ends=world.regions.ends,
        is_open=world.is_open,
        profile_of_timestep=travel.profile_of_hour[hours].astype(np.int64),
        vectors=world.places.vectors,
        thresholds=line[0],
        steps_at=line[1],
        is_anywhere=world.places.is_anywhere,
        table=line[2],
    )


@compiled
def least_steps(places: PlaceWorld, origin: int, destination: int, departure: int) -> int:
    """Least timesteps from one place to another when leaving at ``departure``."""
    profile = places.profile_of_timestep[departure]
    if len(places.table):
        return int(places.table[profile, origin, destination])
    rung = np.int64(0)
    if not (places.is_anywhere[origin] or places.is_anywhere[destination]):
        rung = np.searchsorted(
            places.thresholds, chord_squared(places.vectors, origin, places.vectors, destination)
        )
    return int(places.steps_at[profile, rung])


@compiled
def steps_block(places: PlaceWorld, origins: Indices, destinations: Indices, departure: int) -> Steps:
    """Least timesteps from each of some places to each of others."""
    block = np.empty((len(origins), len(destinations)), dtype=np.uint16)
    table, vectors, is_anywhere = places.table, places.vectors, places.is_anywhere
    profile = places.profile_of_timestep[departure]
    thresholds, steps_at = places.thresholds, places.steps_at[profile]
    for i in range(len(origins)):
        for j in range(len(destinations)):
            a, b = origins[i], destinations[j]
            if len(table):
                block[i, j] = table[profile, a, b]
            elif is_anywhere[a] or is_anywhere[b]:
                block[i, j] = steps_at[0]
            else:
                block[i, j] = steps_at[np.searchsorted(thresholds, chord_squared(vectors, a, vectors, b))]
    return block


class VisitDistances(NamedTuple):
    """d = √(d_s² + d_t² + d_c²) between visits; a place nobody knows (index |𝒫|) differs in time alone."""

    vectors: Floats
    kinds: Indices
    """Row of each place's first category in ``category_table``."""
    category_table: Floats
    hours_per_step: float
    time_cap_hours: float
    is_circular: bool


def visit_distances(world: World, *, has_categories: bool = True) -> VisitDistances:
    """Distances between visits of a world; without categories d is about space and time alone."""
    used, kinds = np.unique(first_categories(world), return_inverse=True)
    settings = world.settings
    table = category_distances(
        world.tree,
        used,
        weights=settings["category_weights"],
        unrelated=settings["unrelated_category_distance"],
    )
    return VisitDistances(
        vectors=world.places.vectors,
        kinds=kinds.astype(np.int32),
        category_table=np.asarray(table if has_categories else np.zeros_like(table)),
        hours_per_step=world.clock.timestep_minutes / 60,
        time_cap_hours=world.distances.time_cap_hours,
        is_circular=world.distances.is_circular,
    )


def place_distances(distances: VisitDistances) -> RegionDistances:
    """√(d_s² + d_c²) between places: as if they were regions without a time."""
    return RegionDistances(
        vectors=distances.vectors,
        mid_hours=np.zeros(len(distances.kinds)),
        kinds=distances.kinds,
        category_table=distances.category_table,
        time_cap_hours=distances.time_cap_hours,
        is_circular=False,
    )


def first_categories(world: World) -> Indices:
    """The first category of each place, cut to the levels in use."""
    cut = world.tree.ancestors_at(world.settings["category_levels"])
    return np.asarray(cut[world.places.category_nodes[world.places.category_offsets[:-1]]])


@compiled
def place_distance_squared(distances: VisitDistances, p: int, q: int) -> float:
    """d_s² + d_c² between two places."""
    if p >= len(distances.kinds) or q >= len(distances.kinds):
        return 0.0
    category = distances.category_table[distances.kinds[p], distances.kinds[q]]
    km_squared = great_circle_km_squared(chord_squared(distances.vectors, p, distances.vectors, q))
    return float(category * category + km_squared)


@compiled
def time_distance(distances: VisitDistances, t: int, u: int) -> float:
    """d_t in hours."""
    hours = abs(t - u) * distances.hours_per_step
    if distances.is_circular:
        hours = min(hours, 24 - hours)
    return min(hours, distances.time_cap_hours)


@compiled
def visit_distance(distances: VisitDistances, p: int, t: int, q: int, u: int) -> float:
    """D between a visit to p at t and one to q at u."""
    hours = time_distance(distances, t, u)
    return math.sqrt(place_distance_squared(distances, p, q) + hours * hours)


@compiled
def largest_place_distance(distances: VisitDistances) -> float:
    """Largest √(d_s² + d_c²) between two places."""
    largest = 0.0
    for p in range(len(distances.kinds)):
        for q in range(p + 1, len(distances.kinds)):
            largest = max(largest, place_distance_squared(distances, p, q))
    return math.sqrt(largest)


def largest_time_distance(distances: VisitDistances, timesteps: int) -> float:
    """Largest d_t between two timesteps of a day."""
    return max(time_distance(distances, 0, step) for step in range(timesteps))


def largest_visit_distance(distances: VisitDistances, timesteps: int) -> float:
    """Largest d between two visits: the farthest places at the farthest times."""
    return math.hypot(largest_place_distance(distances), largest_time_distance(distances, timesteps))
