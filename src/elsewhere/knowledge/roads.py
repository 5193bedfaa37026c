"""Travel times over a road network, by shortest paths from every place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import cKDTree

from elsewhere.arrays import Floats
from elsewhere.knowledge.clock import MINUTES_PER_DAY
from elsewhere.knowledge.sphere import great_circle_km
from elsewhere.knowledge.travel import MILLISECONDS_PER_MINUTE, RoadNetwork

_SOURCES_AT_ONCE = 256
_DAY_MILLISECONDS = MINUTES_PER_DAY * MILLISECONDS_PER_MINUTE


def road_milliseconds(
    network: RoadNetwork, origins: Floats, destinations: Floats, speed_kmh: float
) -> Floats:
    """Travel times from each origin to each destination (unit vectors), infinite where no road leads.

    Whole milliseconds add up without rounding, so a path costs the same whichever end it is searched
    from: few origins are searched forwards, few destinations backwards. Places are joined to the
    nearest node at the general speed.
    """
    graph = _weighted_graph(network, speed_kmh)
    if len(destinations) < len(origins):
        return _search(graph.T.tocsr(), network.node_vectors, destinations, origins, speed_kmh).T
    return _search(graph, network.node_vectors, origins, destinations, speed_kmh)


def road_km(network: RoadNetwork, places: Floats) -> Floats:
    """Length of the shortest ways between all places, the mean of there and back; infinite where none leads.

    At 360 km/h a millisecond is ten centimetres: lengths are whole tens of centimetres.
    """
    speed = 360.0
    plain = replace(network, speeds_kmh=np.full_like(network.speeds_kmh, np.nan))
    times = road_milliseconds(plain, places, places, speed)
    km = (times + times.T) / 2 * speed / (60 * MILLISECONDS_PER_MINUTE)
    np.fill_diagonal(km, 0)
    return np.asarray(km)


def nearest_km(network: RoadNetwork, places: Floats) -> float:
    """From the place nearest to the network to its nearest node."""
    chords, _ = cKDTree(network.node_vectors).query(places)
    return float(np.min(great_circle_km(np.asarray(chords) ** 2)))


def _search(
    graph: csr_array, nodes: Floats, origins: Floats, destinations: Floats, speed_kmh: float
) -> Floats:
    tree = cKDTree(nodes)
    chords_out, nodes_out = map(np.asarray, tree.query(origins))
    chords_in, nodes_in = map(np.asarray, tree.query(destinations))
    times = np.empty((len(origins), len(destinations)))
    for start in range(0, len(origins), _SOURCES_AT_ONCE):
        block = slice(start, start + _SOURCES_AT_ONCE)
        sources, row_of = np.unique(nodes_out[block], return_inverse=True)
        reached = dijkstra(graph, indices=sources, limit=_DAY_MILLISECONDS)
        times[block] = reached[row_of][:, nodes_in]
    access_out = _milliseconds(great_circle_km(chords_out**2), speed_kmh)
    access_in = _milliseconds(great_circle_km(chords_in**2), speed_kmh)
    return times + access_out[:, None] + access_in[None, :]


def _weighted_graph(network: RoadNetwork, speed_kmh: float) -> csr_array:
    speeds = np.where(np.isnan(network.speeds_kmh), speed_kmh, network.speeds_kmh)
    times = np.maximum(_milliseconds(network.lengths_km, speeds), 1)
    # Parallel edges: scipy would add them up; keep the quickest, which sorting by time puts first.
    order = np.lexsort((times, network.destinations, network.origins))
    ends = np.stack([network.origins[order], network.destinations[order]])
    is_first = np.append(True, np.any(ends[:, 1:] != ends[:, :-1], axis=0))
    count = len(network.node_vectors)
    return csr_array((times[order][is_first], ends[:, is_first]), shape=(count, count))


def _milliseconds(km: Floats, speed_kmh: float | Floats) -> Floats:
    return np.asarray(np.rint(km / speed_kmh * 60 * MILLISECONDS_PER_MINUTE))
