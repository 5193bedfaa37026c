"""Places for timesteps that are settled: the chain of places that fits the draws best, exactly.

The same shortest path as for regions, but what can follow what depends on the time between the visits.
"""

from __future__ import annotations

import numpy as np

from elsewhere.arrays import Floats, Indices
from elsewhere.compiled import compiled
from elsewhere.days.smoothing import smooth_times
from elsewhere.mechanism.windows import Windows
from elsewhere.reconstruct.chain import CHAINED_OUTSIDE_BOX, NO_CHAIN, Edges, best_chain, room_for
from elsewhere.reconstruct.node_errors import Boxes, DistanceColumns, forbid, inside_box, node_costs
from elsewhere.reconstruct.region_path import path_cost
from elsewhere.world.distances import RegionDistances
from elsewhere.world.place_world import PlaceWorld

# Beyond the ways of a chain of regions: times shifted to when the places are open, or not even that.
SHIFTED, PARTLY_CLOSED = 3, 4


@compiled
def place_chains(
    draws: Indices,
    times: Indices,
    windows: Windows,
    columns: DistanceColumns,
    distances: RegionDistances,
    places: PlaceWorld,
    boxes: Boxes,
) -> tuple[Indices, Floats, Indices]:
    """For each row of draws and times the best chain of places, its error, and how it was found.

    Places are open and inside the box of the draws if such a chain exists, else open, else any: a chain
    always exists then, as one can stay. In that last case ``times`` are shifted to opening hours.

    Paper: section 5.9 (ss:alternative-approaches), NGramNoH.
    """
    paths = np.empty(times.shape, dtype=np.int32)
    errors = np.empty(len(draws))
    ways = np.empty(len(draws), dtype=np.int32)
    costs = np.empty((times.shape[1], len(columns.kinds)))
    no_words = np.zeros((0, 0), dtype=np.uint64)
    room = room_for(*costs.shape)
    for row in range(len(draws)):
        edges = Edges(no_words, places, times[row])
        node_costs(draws[row], windows, columns, costs)
        forbid(inside_box(draws[row], boxes), costs)
        _forbid_closed(places, times[row], costs)
        ways[row] = best_chain(costs, edges, room, paths[row])
        if ways[row] == NO_CHAIN:
            ways[row] = CHAINED_OUTSIDE_BOX
            node_costs(draws[row], windows, columns, costs)
            _forbid_closed(places, times[row], costs)
            if best_chain(costs, edges, room, paths[row]) == NO_CHAIN:
                node_costs(draws[row], windows, columns, costs)
                best_chain(costs, edges, room, paths[row])
                ways[row] = SHIFTED if smooth_times(places, paths[row], times[row], True) else PARTLY_CLOSED
        errors[row] = path_cost(draws[row], windows, distances, paths[row])
    return paths, errors, ways


@compiled
def _forbid_closed(places: PlaceWorld, times: Indices, costs: Floats) -> None:
    for i in range(len(times)):
        for place in range(costs.shape[1]):
            if not places.is_open[place, times[i]]:
                costs[i, place] = np.inf
