"""Travel times and road networks in files."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from elsewhere.arrays import Floats
from elsewhere.errors import Fault, InputError
from elsewhere.inputs.columns import Columns, number
from elsewhere.inputs.tables import write_csv
from elsewhere.knowledge.clock import Clock
from elsewhere.knowledge.places import Places
from elsewhere.knowledge.sphere import unit_vectors
from elsewhere.knowledge.travel import (
    MILLISECONDS_PER_MINUTE,
    MeanHours,
    RoadNetwork,
    StepTable,
    step_table,
)

_minutes = partial(
    number, low=0, high=1e9, allowed="must be minutes, 0 or more (leave the row out for no way)"
)
_hour = partial(number, low=0, high=23, allowed="must be an hour of the day, 0 to 23")
_km = partial(number, low=0, high=1e5, allowed="must be a length in km, 0 or more")
_MOST_ENTRIES = 200_000_000


def read_travel_matrix(path: Path, places: Places, clock: Clock, mean: MeanHours | None = None) -> StepTable:
    """Travel from a long table ``from_id, to_id, minutes`` and, if times differ, ``hour`` of departure.

    A pair that is not listed cannot be travelled; with an hour column, not in that hour. Rows about
    places that the world does not have are passed over: a matrix may cover more than one world.
    """
    columns = Columns(path, required=["from_id", "to_id", "minutes"])
    index_of = {place_id: index for index, place_id in enumerate(places.ids)}
    origins, destinations = (
        np.array([index_of.get(value, -1) for value in columns.text(name)], dtype=np.int64)
        for name in ("from_id", "to_id")
    )
    listed = (
        set(origins.tolist()) | set(destinations.tolist()) | set(np.flatnonzero(places.is_anywhere).tolist())
    )
    columns.faults += [
        Fault(problem=f"place {places.ids[index]!r} has no travel time at all, from it or to it")
        for index in sorted(set(range(len(places))) - listed)
        if len(places) > 1
    ]
    minutes = columns.parse("minutes", _minutes, default=0.0)
    hours = columns.parse("hour", _hour, default=0.0) if "hour" in columns else [0.0] * columns.count
    for row, hour in enumerate(hours):
        if hour != int(hour):
            columns.complain(row, "hour", f"found {hour:g}, must be a whole hour")
    columns.finish()
    profiles = 24 if "hour" in columns else 1
    check_table_size(profiles, len(places), columns.source)
    profile_of_hour = np.arange(24, dtype=np.uint8) % profiles
    times = np.rint(np.array(minutes) * MILLISECONDS_PER_MINUTE)
    is_listed = (origins >= 0) & (destinations >= 0)

    def matrix(profile: int) -> Floats:
        rows = np.flatnonzero(is_listed & (np.array(hours) == profile))
        full = np.full((len(places), len(places)), np.inf)
        np.minimum.at(full, (origins[rows], destinations[rows]), times[rows])
        return full

    return step_table(map(matrix, range(profiles)), profile_of_hour, clock, places.is_anywhere, mean)


def read_road_network(nodes: Path, edges: Path) -> RoadNetwork:
    """Road network from nodes ``node_id, lat, lng`` and directed edges ``from_node, to_node, km``.

    Edges may have a ``speed_kmh`` of their own; a street both ways is two rows.
    """
    node_columns = Columns(nodes, required=["node_id", "lat", "lng"])
    ids = node_columns.unique_ids("node_id")
    latitude = partial(number, low=-90, high=90, allowed="must be between -90 and 90")
    longitude = partial(number, low=-180, high=180, allowed="must be between -180 and 180")
    latitudes = node_columns.parse("lat", latitude, default=0.0)
    longitudes = node_columns.parse("lng", longitude, default=0.0)
    node_columns.finish()
    edge_columns = Columns(edges, required=["from_node", "to_node", "km"])
    if not edge_columns.count:
        raise InputError(edge_columns.source, "holds no edge, at least one is needed")
    node_of = {node_id: node for node, node_id in enumerate(ids)}
    ends = []
    for name in ("from_node", "to_node"):
        texts = edge_columns.text(name)
        ends.append([node_of.get(value, -1) for value in texts])
        for row, node in enumerate(ends[-1]):
            if node < 0:
                edge_columns.complain(row, name, f"found {texts[row]!r}, must be in the table of nodes")
    lengths = edge_columns.parse("km", _km, default=0.0)
    speeds = edge_columns.parse("speed_kmh", _edge_speed, default=float("nan"))
    edge_columns.finish()
    return RoadNetwork(
        node_vectors=unit_vectors(np.array(latitudes), np.array(longitudes)),
        origins=np.array(ends[0], dtype=np.int32),
        destinations=np.array(ends[1], dtype=np.int32),
        lengths_km=np.array(lengths),
        speeds_kmh=np.array(speeds),
    )


def write_road_network(nodes: Path, edges: Path, network: RoadNetwork) -> None:
    """Write a network in the columns that `read_road_network` reads; positions to a ten-millionth degree."""
    x, y, z = network.node_vectors.T
    ids = [str(number) for number in range(len(x))]
    positions = {
        "lat": np.round(np.degrees(np.arcsin(z)), 7), "lng": np.round(np.degrees(np.arctan2(y, x)), 7)
    }  # fmt: skip
    write_csv(nodes, pl.DataFrame({"node_id": ids, **positions}))
    speeds = ["" if np.isnan(speed) else repr(speed) for speed in network.speeds_kmh.tolist()]
    ends = {"from_node": network.origins, "to_node": network.destinations}
    write_csv(edges, pl.DataFrame({**ends, "km": network.lengths_km, "speed_kmh": speeds}))


def check_table_size(profiles: int, count: int, source: str) -> None:
    """A travel time for every pair is kept whole: a limit keeps that within memory."""
    if profiles * count**2 > _MOST_ENTRIES:
        most = int((_MOST_ENTRIES / profiles) ** 0.5)
        raise InputError(
            source,
            f"travel times between all pairs, {profiles} a day, can be kept for {most:,} places at most, "
            f"not {count:,}: use speed_kmh, or fewer places",
        )


def _edge_speed(text: str) -> float:
    return number(text, low=1e-3, high=1e5, allowed="must be above 0 or blank") if text else float("nan")
