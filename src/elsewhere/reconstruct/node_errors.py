"""Which regions may stand where, and how badly each fits the draws there."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from elsewhere.arrays import Bools, Floats, Indices
from elsewhere.compiled import compiled
from elsewhere.knowledge.places import Places
from elsewhere.knowledge.sphere import continuous_longitudes, near_km_squared
from elsewhere.mechanism.windows import Windows
from elsewhere.world.distances import RegionDistances, capped_hours, region_distance
from elsewhere.world.ground import all_near
from elsewhere.world.world import World

_LARGEST_TABLE = 2048
"""Regions of which all distances are kept, 32 MB at most."""


class Boxes(NamedTuple):
    """Where regions and their places lie, for the bounding rectangle of the draws."""

    offsets: Indices
    members: Indices
    latitudes: Floats
    longitudes: Floats
    edges: Floats
    """South, west, north and east, each of all regions."""


def region_boxes(world: World) -> Boxes:
    return _boxes(world.places, world.regions.place_offsets, world.regions.place_indices)


def place_boxes(places: Places) -> Boxes:
    """Boxes of places by themselves: each is a point."""
    return _boxes(places, *(np.arange(len(places) + more, dtype=np.int32) for more in (1, 0)))


def _boxes(places: Places, offsets: Indices, members: Indices) -> Boxes:
    latitudes, longitudes = places.latitudes, continuous_longitudes(places.longitudes)
    lat, lng, starts = latitudes[members], longitudes[members], offsets[:-1]
    edges = np.stack(
        [
            np.minimum.reduceat(lat, starts),
            np.minimum.reduceat(lng, starts),
            np.maximum.reduceat(lat, starts),
            np.maximum.reduceat(lng, starts),
        ]
    )
    return Boxes(offsets, members, latitudes, longitudes, edges)


class DistanceColumns(NamedTuple):
    """What d is made of, column by column, for loops over all regions that run as vector instructions."""

    xs: Floats
    ys: Floats
    zs: Floats
    mid_hours: Floats
    kinds: Indices
    category_squares: Floats
    """d_c² from each kind of category to each region."""
    time_cap_hours: float
    is_short: bool
    """d is plain and all within 200 km, where d_s² is a short series in the squared chord."""
    distances: RegionDistances
    table: Floats
    """d between all regions, where it has been worked out (`with_table`); else empty."""


def region_columns(distances: RegionDistances) -> DistanceColumns:
    is_near = all_near(distances.vectors, distances.is_anywhere, distances.table)
    xs, ys, zs = (np.ascontiguousarray(axis) for axis in distances.vectors.T)
    return DistanceColumns(
        xs,
        ys,
        zs,
        distances.mid_hours,
        distances.kinds,
        np.ascontiguousarray(distances.category_table[:, distances.kinds] ** 2),
        distances.time_cap_hours,
        distances.measure.is_plain and is_near,
        distances,
        np.zeros((0, 0)),
    )


def with_table(columns: DistanceColumns) -> DistanceColumns:
    """The same with d between all regions in memory, unless there are many: looked up, it takes a third."""
    count = len(columns.kinds)
    if count > _LARGEST_TABLE or len(columns.table):
        return columns
    table = np.zeros((count, count))
    _fill(columns, table)
    return columns._replace(table=table)


@compiled
def _fill(columns: DistanceColumns, table: Floats) -> None:
    for region in range(len(table)):
        _add_distances(columns, region, 1.0, table[region])


@compiled
def _add_distances(columns: DistanceColumns, drawn: int, times: float, row: Floats) -> None:
    """Add ``times`` the distance to one region, for all regions."""
    xs, ys, zs, hours, turns = columns.xs, columns.ys, columns.zs, columns.mid_hours, columns.distances.turns
    x, y, z, hour, turn = xs[drawn], ys[drawn], zs[drawn], hours[drawn], turns[drawn]
    squares, cap = columns.category_squares[columns.kinds[drawn]], columns.time_cap_hours
    if len(columns.table):
        far = columns.table[drawn]
        for r in range(len(row)):
            row[r] += times * far[r]
    elif columns.is_short:
        for r in range(len(row)):
            dx, dy, dz = xs[r] - x, ys[r] - y, zs[r] - z
            km_squared = near_km_squared(dx * dx + dy * dy + dz * dz)
            gap = capped_hours(abs(hours[r] - hour), cap, min(turns[r], turn))
            row[r] += times * math.sqrt(km_squared + squares[r] + gap * gap)
    else:
        for r in range(len(row)):
            row[r] += times * region_distance(columns.distances, drawn, r)


@compiled
def inside_box(draw: Indices, boxes: Boxes) -> Bools:
    """Regions with a place inside the rectangle around all places of the draws (ℛ_mbr).

    Paper: section 5.5 (ss:opt-reconstruction), minimum bounding rectangle.
    """
    souths, wests, norths, easts = boxes.edges
    south, west, north, east = np.inf, np.inf, -np.inf, -np.inf
    for region in draw:
        south, west = min(south, souths[region]), min(west, wests[region])
        north, east = max(north, norths[region]), max(east, easts[region])
    inside = np.ones(len(souths), dtype=np.bool_)
    for r in range(len(souths)):
        if souths[r] < south or wests[r] < west or norths[r] > north or easts[r] > east:
            is_apart = souths[r] > north or wests[r] > east or norths[r] < south or easts[r] < west
            inside[r] = not is_apart and _has_place_inside(boxes, r, south, west, north, east)
    return inside


@compiled
def forbid(is_allowed: Bools, costs: Floats) -> None:
    """Let what is not allowed in any layer cost infinitely much."""
    for i in range(len(costs)):
        row = costs[i]
        for r in range(len(row)):
            row[r] = row[r] if is_allowed[r] else np.inf


@compiled
def prepare_rows(
    draws: Indices, windows: Windows, columns: DistanceColumns, boxes: Boxes, length: int
) -> int:
    """Boxes and errors of each row of draws, and nothing else, for timing; how many regions are inside."""
    costs = np.empty((length, len(columns.kinds)))
    inside = 0
    for row in range(len(draws)):
        inside += inside_box(draws[row], boxes).sum()
        node_costs(draws[row], windows, columns, costs)
    return inside


@compiled
def _has_place_inside(
    boxes: Boxes, region: int, south: float, west: float, north: float, east: float
) -> bool:
    for i in range(boxes.offsets[region], boxes.offsets[region + 1]):
        latitude, longitude = boxes.latitudes[boxes.members[i]], boxes.longitudes[boxes.members[i]]
        if south <= latitude <= north and west <= longitude <= east:
            return True
    return False


@compiled
def node_costs(draw: Indices, windows: Windows, columns: DistanceColumns, costs: Floats) -> None:
    """Error of each region at each position, as often as the objective counts the position.

    Paper: eq:region-error, eq:bigram-error, eq:objective-function.
    """
    costs[:] = 0.0
    for w in range(len(windows.starts)):
        for j in range(windows.lengths[w]):
            position = windows.starts[w] + j
            times = 2.0 if 0 < position < len(costs) - 1 else 1.0
            _add_distances(columns, draw[windows.offsets[w] + j], times, costs[position])
