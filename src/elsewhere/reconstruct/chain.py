"""The cheapest chain through layers of candidates, exactly.

Edges cost nothing, only nodes do: first the row-wise best are tried, then a bound from the cheapest few
leaves little for the search through everything.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from elsewhere.arrays import Floats, Indices, Words
from elsewhere.compiled import compiled
from elsewhere.world.graph import lowest_bit
from elsewhere.world.place_world import PlaceWorld, least_steps, steps_block

_FEW = 12

# How a path was found.
INDEPENDENT, CHAINED, CHAINED_OUTSIDE_BOX, NO_CHAIN = 0, 1, 2, 3


class Edges(NamedTuple):
    """Which node of a layer can be followed by which of the next: bits, or places that travel joins."""

    words: Words
    """Bit b of row a: regions a and b can follow each other; empty for places."""
    places: PlaceWorld
    times: Indices
    """Timestep of each layer, for places."""


def region_edges(words: Words, places: PlaceWorld) -> Edges:
    """Edges of the region graph, the same between all layers."""
    return Edges(words, places, np.zeros(0, dtype=np.int32))


@compiled
def has_edge(edges: Edges, layer: int, here: int, there: int) -> bool:
    """Whether ``there`` in a layer can follow ``here`` in the one before."""
    if len(edges.words):
        return bool((edges.words[here, there >> 6] >> np.uint64(there & 63)) & np.uint64(1))
    departure = edges.times[layer - 1]
    return bool(least_steps(edges.places, here, there, departure) <= edges.times[layer] - departure)


@compiled
def _reached(edges: Edges, layer: int, here: int, wanted: Words) -> Words:
    """Bits of those among the ``wanted`` places of a layer that can follow ``here``."""
    nodes = np.empty(64 * len(wanted), dtype=np.int32)
    count = 0
    for w in range(len(wanted)):
        word = wanted[w]
        while word:
            nodes[count] = w * 64 + lowest_bit(word)
            count += 1
            word &= word - np.uint64(1)
    departure = edges.times[layer - 1]
    origin = np.full(1, here, dtype=np.int32)
    steps = steps_block(edges.places, origin, nodes[:count], departure)[0]
    bits = np.zeros_like(wanted)
    for i in range(count):
        if steps[i] <= edges.times[layer] - departure:
            bits[nodes[i] >> 6] |= np.uint64(1) << np.uint64(nodes[i] & 63)
    return bits


@compiled
def best_chain(costs: Floats, inside: Indices, edges: Edges, path: Indices) -> int:
    """Fill ``path`` with the cheapest chain, or with the row-wise best if there is no chain.

    What must not be in a layer costs infinitely much there.
    """
    length = len(path)
    few = _cheapest_few(costs, inside)
    least = np.empty(length)
    for i in range(length):
        path[i] = few[i, 0]
        least[i] = costs[i, path[i]]
    if least.sum() == np.inf:
        return NO_CHAIN
    is_chain = True
    for i in range(1, length):
        is_chain = is_chain and has_edge(edges, i, path[i - 1], path[i])
    if is_chain:
        return INDEPENDENT
    # A path through the cheapest few of each position bounds the best one; where there is none, through more.
    bound = _shortest_path(costs, few, edges, least, np.inf, path)
    for reach in (4.0, 16.0):
        if bound == np.inf:
            bound = _shortest_path(costs, _also(costs, inside, few, reach), edges, least, np.inf, path)
    everything = np.empty((length, len(inside)), dtype=np.int32)
    for i in range(length):
        for at in range(len(inside)):
            everything[i, at] = inside[at]
    return CHAINED if _shortest_path(costs, everything, edges, least, bound, path) < np.inf else NO_CHAIN


@compiled
def _cheapest_few(costs: Floats, inside: Indices) -> Indices:
    """At each position the regions with the least cost, in its order."""
    count = min(_FEW, len(inside))
    few = np.empty((len(costs), count), dtype=np.int32)
    for i in range(len(costs)):
        row = costs[i]
        filled = 0
        for region in inside:
            if filled == count and row[region] >= row[few[i, count - 1]]:
                continue
            place = filled if filled < count else count - 1
            while place > 0 and row[few[i, place - 1]] > row[region]:
                few[i, place] = few[i, place - 1]
                place -= 1
            few[i, place] = region
            filled = min(filled + 1, count)
    return few


@compiled
def _also(costs: Floats, inside: Indices, few: Indices, reach: float) -> Indices:
    """At each position all regions that exceed the least cost by ``reach`` times what the few do.

    Rows are filled up with the cheapest region, which changes nothing.
    """
    wider = np.empty((len(costs), len(inside)), dtype=np.int32)
    most = 0
    for i in range(len(costs)):
        row, cheapest = costs[i], few[i, 0]
        limit = row[cheapest] + reach * (row[few[i, -1]] - row[cheapest])
        count = 0
        for region in inside:
            if row[region] <= limit:
                wider[i, count] = region
                count += 1
        wider[i, count:] = cheapest
        most = max(most, count)
    return np.ascontiguousarray(wider[:, :most])  # as all others are, so that one loop is compiled for them


@compiled
def _shortest_path(
    costs: Floats, candidates: Indices, edges: Edges, least: Floats, bound: float, path: Indices
) -> float:
    """Cost of the exact shortest path through the layers, put into ``path``; infinite if there is none.

    Edges cost nothing, so the best way to a region is from the cheapest that it can follow: regions
    are taken in order of cost, and each claims all its successors that no cheaper one has claimed.
    What cannot be on a path within ``bound`` is dropped.
    """
    length = len(costs)
    # Rounding must not drop the path that gave the bound.
    bound += 1e-9 * max(1.0, abs(bound)) if bound < np.inf else 0.0
    totals = np.empty((length, costs.shape[1]))
    origins = np.empty((length, costs.shape[1]), dtype=np.int32)
    heap = np.empty(candidates.shape[1], dtype=np.int32)
    size = 0
    for region in candidates[0]:
        totals[0, region] = costs[0, region]
        if costs[0, region] + least[1:].sum() <= bound:
            heap[size] = region
            size += 1
    for i in range(1, length):
        if size == 0:
            return np.inf
        # Whoever comes before this layer pays at least its least cost, and that of all after it.
        limits = (bound - least[i:].sum(), bound - least[i + 1 :].sum())
        unclaimed = _worth_claiming(
            costs[i], candidates[i], totals[i - 1], heap[:size], limits[1], (costs.shape[1] + 63) // 64
        )
        size = _claim(costs[i], edges, limits, totals, origins, i, heap, size, unclaimed)
    if size == 0:
        return np.inf
    last = heap[0]
    for region in heap[:size]:
        if _is_before(totals[length - 1], region, last):
            last = region
    path[length - 1] = last
    for i in range(length - 1, 0, -1):
        path[i - 1] = origins[i, path[i]]
    return float(totals[length - 1, last])


@compiled
def _worth_claiming(
    costs: Floats, candidates: Indices, totals: Floats, reached: Indices, limit: float, width: int
) -> Words:
    """Bits of the regions that a path from the cheapest reached so far could still afford."""
    cheapest = np.inf
    for region in reached:
        cheapest = min(cheapest, totals[region])
    bits = np.zeros(width, dtype=np.uint64)
    for region in candidates:
        if cheapest + costs[region] <= limit:
            bits[region >> 6] |= np.uint64(1) << np.uint64(region & 63)
    return bits


@compiled
def _claim(
    costs: Floats,
    edges: Edges,
    limits: tuple[float, float],
    totals: Floats,
    origins: Indices,
    layer: int,
    heap: Indices,
    size: int,
    unclaimed: Words,
) -> int:
    """Best ways to the regions of a layer from those in ``heap``; leaves the layer's regions in ``heap``."""
    before, here = totals[layer - 1], totals[layer]
    words, has_words = edges.words, len(edges.words) > 0
    for place in range(size // 2 - 1, -1, -1):
        _sift_down(heap, size, place, before)
    claimed = np.empty(len(heap), dtype=np.int32)
    count = 0
    while size > 0 and before[heap[0]] <= limits[0]:
        region = heap[0]
        size -= 1
        heap[0] = heap[size]
        _sift_down(heap, size, 0, before)
        row = words[region] if has_words else _reached(edges, layer, region, unclaimed)
        is_open = False
        for w in range(len(unclaimed)):
            new = unclaimed[w] & row[w]
            unclaimed[w] ^= new
            is_open = is_open or unclaimed[w] != 0
            while new:
                successor = w * 64 + lowest_bit(new)
                new &= new - np.uint64(1)
                total = before[region] + costs[successor]
                if total <= limits[1]:
                    here[successor] = total
                    origins[layer, successor] = region
                    claimed[count] = successor
                    count += 1
        if not is_open:
            break
    heap[:count] = claimed[:count]
    return count


@compiled
def _is_before(totals: Floats, first: int, second: int) -> bool:
    return bool(totals[first] < totals[second] or (totals[first] == totals[second] and first < second))


@compiled
def _sift_down(heap: Indices, size: int, place: int, totals: Floats) -> None:
    """Let the region at ``place`` sink to where it belongs in a heap of least totals."""
    while True:
        child = 2 * place + 1
        if child >= size:
            return
        if child + 1 < size and _is_before(totals, heap[child + 1], heap[child]):
            child += 1
        if not _is_before(totals, heap[child], heap[place]):
            return
        heap[child], heap[place] = heap[place], heap[child]
        place = child
