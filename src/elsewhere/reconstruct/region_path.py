"""Region reconstruction: the chain of regions that fits the draws best, exactly.

The paper's integer program chooses chained bigrams of least total error. Its objective is a sum over
positions (interior ones count twice, the ends once) and its constraints only say that neighbours are
feasible pairs, so it is a shortest path through layers of regions.
"""

from __future__ import annotations

import numpy as np

from elsewhere.arrays import Floats, Indices
from elsewhere.compiled import compiled
from elsewhere.mechanism.windows import Windows
from elsewhere.reconstruct.chain import CHAINED_OUTSIDE_BOX, NO_CHAIN, Edges, best_chain, room_for
from elsewhere.reconstruct.node_errors import Boxes, DistanceColumns, forbid, inside_box, node_costs
from elsewhere.world.distances import RegionDistances, region_distance


@compiled
def region_paths(
    draws: Indices,
    windows: Windows,
    columns: DistanceColumns,
    distances: RegionDistances,
    edges: Edges,
    boxes: Boxes,
    length: int,
) -> tuple[Indices, Floats, Indices]:
    """For each row of draws the best chain, its error, and how it was found.

    Paper: section 5.5 (ss:opt-reconstruction).
    Deviation: shortest-path — the integer program as the shortest path that it is.
    """
    paths = np.empty((len(draws), length), dtype=np.int32)
    errors = np.empty(len(draws))
    ways = np.empty(len(draws), dtype=np.int32)
    costs = np.empty((length, len(columns.kinds)))
    room = room_for(*costs.shape)
    for row in range(len(draws)):
        inside = inside_box(draws[row], boxes)
        node_costs(draws[row], windows, columns, costs)
        forbid(inside, costs)
        ways[row] = best_chain(costs, edges, room, paths[row])
        if ways[row] == NO_CHAIN and not inside.all():
            node_costs(draws[row], windows, columns, costs)
            ways[row] = best_chain(costs, edges, room, paths[row])
            if ways[row] != NO_CHAIN:
                ways[row] = CHAINED_OUTSIDE_BOX
        errors[row] = path_cost(draws[row], windows, distances, paths[row])
    return paths, errors, ways


@compiled
def path_cost(draw: Indices, windows: Windows, distances: RegionDistances, path: Indices) -> float:
    """Value of the objective for a path."""
    total = 0.0
    for w in range(len(windows.starts)):
        for j in range(windows.lengths[w]):
            position = windows.starts[w] + j
            times = 2.0 if 0 < position < len(path) - 1 else 1.0
            total += times * region_distance(distances, path[position], draw[windows.offsets[w] + j])
    return total
