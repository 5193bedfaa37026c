"""Road networks from OpenStreetMap extracts: who may go where, in which direction, how fast.

Nodes between two crossings are taken out, their lengths added up; of what is left the largest part in
which every crossing can be reached from every other is kept, so that no place ends up on a dead end.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from elsewhere.errors import InputError, MissingExtraError
from elsewhere.knowledge.sphere import great_circle_km, unit_vectors
from elsewhere.knowledge.travel import RoadNetwork

Mode = Literal["walk", "bike", "drive"]

_CAR_KMH = {
    "motorway": 100, "trunk": 80, "primary": 50, "secondary": 50, "tertiary": 40, "unclassified": 40,
    "residential": 30, "living_street": 10, "service": 15, "road": 30,
    "motorway_link": 60, "trunk_link": 50, "primary_link": 40, "secondary_link": 40, "tertiary_link": 40,
}  # fmt: skip
_FOR_BIKES = (set(_CAR_KMH) - {"motorway", "motorway_link", "trunk", "trunk_link"}) | {
    "cycleway", "path", "track",
}  # fmt: skip
_FOR_WALKERS = _FOR_BIKES | {"footway", "pedestrian", "steps", "corridor", "bridleway", "platform"}
_HIGHWAYS: dict[Mode, set[str]] = {"walk": _FOR_WALKERS, "bike": _FOR_BIKES, "drive": set(_CAR_KMH)}
_OWN_KEYS: dict[Mode, tuple[str, ...]] = {
    "walk": ("foot",),
    "bike": ("bicycle",),
    "drive": ("motorcar", "motor_vehicle", "vehicle"),
}
_NO = {"no", "private", "use_sidepath"}
_YES = {"yes", "designated", "permissive", "destination"}
_ONE_WAY = {"yes": 1, "1": 1, "true": 1, "-1": -1, "reverse": -1}
_MPH = 1.609344


class _Way(NamedTuple):
    nodes: list[int]
    direction: int
    """1 along the nodes, −1 against them, 0 both."""
    kmh: float
    """Its own speed, or nan."""


def read_osm_roads(path: Path, mode: Mode, *, has_limits: bool) -> RoadNetwork:
    """Roads of an extract (.osm.pbf, .osm) for walkers, bikes or cars; cars at each road's own limit."""
    positions: dict[int, tuple[float, float]] = {}
    ways = list(_ways(path, mode, positions, has_limits=has_limits))
    if not ways:
        raise InputError(str(path), f"has no road to {mode} on")
    uses = Counter(node for way in ways for node in way.nodes)
    for way in ways:
        uses.update((way.nodes[0], way.nodes[-1]))  # where a way ends is kept
    nodes = list(positions)
    vectors = unit_vectors(*np.array([positions[node] for node in nodes]).T)
    row_of = {node: row for row, node in enumerate(nodes)}
    edges: list[tuple[int, int, float, float]] = []
    for way in ways:
        rows = np.array([row_of[node] for node in way.nodes])
        chords = ((vectors[rows[1:]] - vectors[rows[:-1]]) ** 2).sum(axis=1)
        along = np.concatenate([[0.0], np.cumsum(great_circle_km(chords))])
        kept = [i for i, node in enumerate(way.nodes) if uses[node] > 1]
        for a, b in pairwise(kept):
            ends = int(rows[a]), int(rows[b])
            km = float(along[b] - along[a])
            if way.direction >= 0:
                edges.append((*ends, km, way.kmh))
            if way.direction <= 0:
                edges.append((*ends[::-1], km, way.kmh))
    return _strongly_connected(vectors, edges)


def _ways(
    path: Path, mode: Mode, positions: dict[int, tuple[float, float]], *, has_limits: bool
) -> Iterator[_Way]:
    """Ways that may be used; positions of their nodes are filled in."""
    try:
        import osmium  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("reading OpenStreetMap", "osm") from None
    if not path.is_file():
        raise InputError(str(path), "no such file")
    try:
        found = osmium.FileProcessor(str(path)).with_locations()
        found = found.with_filter(osmium.filter.EntityFilter(osmium.osm.WAY))
        for way in found.with_filter(osmium.filter.KeyFilter("highway")):
            assert isinstance(way, osmium.osm.Way)  # noqa: S101 - nothing else passes the filter
            tags = dict(way.tags)
            # Nodes beyond the edge of an extract have no position.
            nodes = [(node.ref, node.lat, node.lon) for node in way.nodes if node.location.valid()]
            if len(nodes) > 1 and may_use(tags, mode):
                positions.update((ref, (lat, lng)) for ref, lat, lng in nodes)
                kmh = limit_kmh(tags) if mode == "drive" and has_limits else float("nan")
                yield _Way([ref for ref, _, _ in nodes], direction(tags, mode), kmh)
    except RuntimeError as error:
        raise InputError(str(path), f"not an OpenStreetMap extract: {error}") from None


def may_use(tags: dict[str, str], mode: Mode) -> bool:
    """Whether a way is for walkers, bikes or cars; what is said of them by name counts most."""
    if tags.get("area") == "yes":
        return False
    for key in _OWN_KEYS[mode]:
        if tags.get(key) in _NO:
            return False
        if tags.get(key) in _YES and tags["highway"] in _FOR_WALKERS | set(_CAR_KMH):
            return True
    return tags["highway"] in _HIGHWAYS[mode] and tags.get("access") not in _NO


def direction(tags: dict[str, str], mode: Mode) -> int:
    """1 if a way may only be used along its nodes, −1 against them, 0 both ways."""
    if mode == "walk" or (mode == "bike" and tags.get("oneway:bicycle") == "no"):
        return 0
    stated = tags.get("oneway")
    if stated is not None:
        return _ONE_WAY.get(stated, 0)
    is_implied = tags.get("junction") in {"roundabout", "circular"} or tags["highway"] == "motorway"
    return 1 if is_implied else 0


def limit_kmh(tags: dict[str, str]) -> float:
    """The limit that is signed, or what is usual on such roads."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(mph|km/h)?", tags.get("maxspeed", "").strip())
    if found and float(found[1]) > 0:
        return float(found[1]) * (_MPH if found[2] == "mph" else 1.0)
    return float(_CAR_KMH.get(tags["highway"], 30))


def _strongly_connected(vectors: np.ndarray, edges: list[tuple[int, int, float, float]]) -> RoadNetwork:
    """The largest part in which all can be reached from all, nodes numbered anew."""
    origins, destinations = (np.array([edge[end] for edge in edges], dtype=np.int32) for end in (0, 1))
    shape = (len(vectors), len(vectors))
    graph = coo_array((np.ones(len(edges)), (origins, destinations)), shape=shape)
    _, labels = connected_components(graph, directed=True, connection="strong")
    is_kept = labels == np.bincount(labels[origins]).argmax()
    is_kept &= np.isin(np.arange(len(vectors)), np.concatenate([origins, destinations]))
    number_of = np.cumsum(is_kept) - 1
    both = is_kept[origins] & is_kept[destinations]
    return RoadNetwork(
        node_vectors=np.ascontiguousarray(vectors[is_kept]),
        origins=number_of[origins[both]].astype(np.int32),
        destinations=number_of[destinations[both]].astype(np.int32),
        lengths_km=np.array([edge[2] for edge in edges])[both],
        speeds_kmh=np.array([edge[3] for edge in edges])[both],
    )
