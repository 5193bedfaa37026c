"""Places, opening hours and travel of a world as compiled loops take them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from elsewhere.arrays import Bools, Counts, Floats, Indices, Steps, frozen
from elsewhere.compiled import compiled
from elsewhere.knowledge.sphere import chord_squared
from elsewhere.knowledge.travel import StepTable
from elsewhere.world.world import World


class PlaceWorld(NamedTuple):
    """Places, hours and travel of a world, as compiled loops take them."""

    offsets: Indices
    members: Indices
    starts: Indices
    ends: Indices
    """Of regions; beyond the day for one that passes midnight (`region_hours`)."""
    is_open: Bools
    profile_of_timestep: Counts
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
        offsets=frozen(world.regions.place_offsets),
        members=frozen(world.regions.place_indices),
        starts=frozen(world.regions.starts),
        ends=frozen(world.regions.ends),
        is_open=frozen(world.is_open),
        profile_of_timestep=frozen(travel.profile_of_hour[hours].astype(np.int64)),
        vectors=frozen(world.places.vectors),
        thresholds=frozen(line[0]),
        steps_at=frozen(line[1]),
        is_anywhere=frozen(world.places.is_anywhere),
        table=frozen(line[2]),
    )


def always_open(places: PlaceWorld) -> PlaceWorld:
    """The same without any knowledge of opening hours."""
    return places._replace(is_open=frozen(np.ones_like(places.is_open)))


class RegionHours(NamedTuple):
    """Timesteps of a region in the order of the day: ``early`` ones from midnight on, then from ``start``."""

    early: int
    start: int
    steps: int


@compiled
def region_hours(places: PlaceWorld, region: int) -> RegionHours:
    """When a region is; one that passes midnight has timesteps at both ends of the day."""
    start, end = places.starts[region], places.ends[region]
    return RegionHours(int(max(end - places.is_open.shape[1], 0)), int(start), int(end - start))


@compiled
def timestep_at(hours: RegionHours, rank: int) -> int:
    """The timestep with ``rank`` others before it."""
    later = np.int64(rank) - hours.early  # signed, whatever kind of number a rank is
    return int(later + (hours.early if later < 0 else hours.start))


@compiled
def _rung(thresholds: Floats, chord: float) -> int:
    """The first threshold that is not below a squared chord.

    At one speed thresholds grow like squares, so that the guess is right; if not, they are searched. It pays
    in `steps_block`; a look-up by itself is faster searched.
    """
    if len(thresholds) and thresholds[0] > 0:
        guess = int(min(math.sqrt(chord / thresholds[0]), len(thresholds) - 1.0))
        if chord <= thresholds[guess] and (guess == 0 or thresholds[guess - 1] < chord):
            return guess
    return int(np.searchsorted(thresholds, chord))


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
                block[i, j] = steps_at[_rung(thresholds, chord_squared(vectors, a, vectors, b))]
    return block
