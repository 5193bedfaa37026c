"""d_s: how far two places, or two regions, are apart, as the crow flies or by what travel takes.

A region's place is its centroid. Where d_s is a table between places, it is the member nearest to that.
Whoever is `anywhere`, such as an online shop, has no position, and d_s to everything is 0.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Bools, Floats, Indices
from elsewhere.compiled import compiled
from elsewhere.knowledge.places import Places
from elsewhere.knowledge.sphere import (
    NEAR_CHORD_SQUARED,
    chord_squared,
    chords_squared,
    great_circle_km,
    great_circle_km_squared,
)
from elsewhere.world.regions import Regions

SpaceTable = NDArray[np.float32]

NO_TABLE: SpaceTable = np.zeros((0, 0), dtype=np.float32)


class Ground(Protocol):
    """Where things are: rows of distances between visits (`days.visits`) or regions (`world.distances`)."""

    @property
    def vectors(self) -> Floats: ...
    @property
    def is_anywhere(self) -> Bools: ...
    @property
    def spots(self) -> Indices: ...
    @property
    def table(self) -> SpaceTable: ...


@compiled
def km_squared_between(first: Ground, a: int, second: Ground, b: int) -> float:
    """d_s² between row a of one and row b of another."""
    if first.is_anywhere[a] or second.is_anywhere[b]:
        return 0.0
    if len(first.table):
        km = np.float64(first.table[first.spots[a], second.spots[b]])
        return float(km * km)
    return great_circle_km_squared(chord_squared(first.vectors, a, second.vectors, b))


@compiled
def km_squared(ground: Ground, a: int, b: int) -> float:
    """d_s² between two rows."""
    return km_squared_between(ground, a, ground, b)


def all_near(vectors: Floats, is_anywhere: Bools, table: SpaceTable) -> bool:
    """Whether d_s² is a short series for all of them: as the crow flies, and all within 200 km."""
    spread = vectors.max(axis=0) - vectors.min(axis=0)
    return not len(table) and not is_anywhere.any() and bool((spread**2).sum() < NEAR_CHORD_SQUARED)


def all_km(ground: Ground, a: Indices, b: Indices) -> Floats:
    """The plain twin of `km_squared`: d_s between rows, broadcast."""
    if len(ground.table):
        km = ground.table[ground.spots[a], ground.spots[b]].astype(np.float64)
    else:
        km = great_circle_km(chords_squared(ground.vectors[a], ground.vectors[b]))
    return np.where(ground.is_anywhere[a] | ground.is_anywhere[b], 0.0, km)


def filled(table: SpaceTable | None) -> SpaceTable:
    """A table of d_s without gaps: who cannot be reached is as far as the farthest who can."""
    if table is None:
        return NO_TABLE
    known = np.isfinite(table)
    return np.where(known, table, table[known].max(initial=0)).astype(np.float32)


def region_anywhere(regions: Regions, places: Places) -> Bools:
    """Regions without a position: all their places are anywhere."""
    members = places.is_anywhere[regions.place_indices]
    return np.asarray(np.logical_and.reduceat(members, regions.place_offsets[:-1]))


def region_spots(regions: Regions, places: Places) -> Indices:
    """The place that stands for each region: of those with a position the nearest to the centroid."""
    owners = np.repeat(np.arange(len(regions)), np.diff(regions.place_offsets))
    members = regions.place_indices
    chords = chords_squared(places.vectors[members], regions.vectors[owners])
    order = np.lexsort((members, chords, places.is_anywhere[members], owners))
    return np.asarray(members[order[regions.place_offsets[:-1]]], dtype=np.int32)
