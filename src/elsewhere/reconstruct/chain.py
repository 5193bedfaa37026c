"""The cheapest chain through layers of candidates, exactly.

Edges cost nothing, only nodes do: first the row-wise best are tried, then all chains that cost little more,
then more and more. What is too dear is passed over by *lanes*: every 64th node of a layer is in one, and of
most lanes only the least cost is looked at.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from elsewhere.arrays import Floats, Indices, Words
from elsewhere.compiled import compiled
from elsewhere.world.graph import lowest_bit
from elsewhere.world.place_world import PlaceWorld, least_steps, steps_block

_LANES = 64
_GROUP = 8
_REACHES = (0.25, 0.5, 1.0, 2.0, 8.0, np.inf)

# How a path was found.
INDEPENDENT, CHAINED, CHAINED_OUTSIDE_BOX, NO_CHAIN = 0, 1, 2, 3


class Edges(NamedTuple):
    """Which node of a layer can be followed by which of the next: bits, or places that travel joins."""

    words: Words
    """Bit b of row a: regions a and b can follow each other; empty for places."""
    places: PlaceWorld
    times: Indices
    """Timestep of each layer, for places."""


class SearchRoom(NamedTuple):
    """Where a search for the best chain works: made once, as making it takes as long as searching."""

    totals: Floats
    """For each layer and node, what the best way to it costs, where that is known."""
    origins: Indices
    """Which node that way comes from."""
    heap: Indices
    candidates: Indices


def region_edges(words: Words, places: PlaceWorld) -> Edges:
    """Edges of the region graph, the same between all layers."""
    return Edges(words, places, np.zeros(0, dtype=np.int32))


@compiled
def room_for(length: int, count: int) -> SearchRoom:
    """Room for chains through so many layers of so many nodes."""
    return SearchRoom(
        np.empty((length, count)),
        np.empty((length, count), dtype=np.int32),
        np.empty(count, dtype=np.int32),
        np.empty(count, dtype=np.int32),
    )


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
def best_chain(costs: Floats, edges: Edges, room: SearchRoom, path: Indices) -> int:
    """Fill ``path`` with the cheapest chain, or with the row-wise best if there is no chain.

    What must not be in a layer costs infinitely much there.
    """
    length, lanes = len(path), _least_of_lanes(costs)
    least, few = np.empty(length), 0.0
    for i in range(length):
        least[i] = lanes[i].min()
        path[i] = _first_with(costs[i], lanes[i], least[i])
    if least.sum() == np.inf:
        return NO_CHAIN
    is_chain = True
    for i in range(1, length):
        is_chain = is_chain and has_edge(edges, i, path[i - 1], path[i])
    if is_chain:
        return INDEPENDENT
    for i in range(length):
        few += (_among_least(lanes[i]) - least[i]) / length
    # Most chains cost little more than their layers' least; whatever is found within a bound is the best.
    for reach in _REACHES:
        slack = reach * few if reach < np.inf else np.inf
        if _shortest_path(costs, lanes, edges, least, slack, room, path) < np.inf:
            return CHAINED
    return NO_CHAIN


@compiled
def _among_least(lanes: Floats) -> float:
    """What some of the cheapest nodes of a layer cost at most: the dearest of the least of a few groups."""
    most = 0.0
    for first in range(0, _LANES, _GROUP):
        least = lanes[first]
        for lane in range(first + 1, first + _GROUP):
            least = min(least, lanes[lane])
        most = max(most, least)
    return most


@compiled
def _least_of_lanes(costs: Floats) -> Floats:
    """The least cost in each lane of each layer."""
    least = np.full((len(costs), _LANES), np.inf)
    whole = costs.shape[1] // _LANES * _LANES
    for i in range(len(costs)):
        row, lanes = costs[i], least[i]
        for start in range(0, whole, _LANES):
            for lane in range(_LANES):
                lanes[lane] = min(lanes[lane], row[start + lane])
        for node in range(whole, len(row)):
            lanes[node - whole] = min(lanes[node - whole], row[node])
    return least


@compiled
def _first_with(row: Floats, lanes: Floats, cost: float) -> int:
    """The first node of a layer with the least cost of all."""
    first = len(row)
    for lane in range(_LANES):
        if lanes[lane] == cost:
            node = lane
            while node < first and row[node] != cost:
                node += _LANES
            first = min(first, node)
    return first


@compiled
def _within(row: Floats, lanes: Floats, limit: float, found: Indices) -> int:
    """Put the nodes of a layer that cost no more than ``limit`` into ``found``; how many they are."""
    count = 0
    for lane in range(_LANES):
        if lanes[lane] <= limit:
            for node in range(lane, len(row), _LANES):
                if row[node] <= limit and row[node] < np.inf:
                    found[count] = node
                    count += 1
    return count


@compiled
def _shortest_path(
    costs: Floats, lanes: Floats, edges: Edges, least: Floats, slack: float, room: SearchRoom, path: Indices
) -> float:
    """Cost of the exact shortest path if it is within ``slack`` of the sum of ``least``, put into ``path``.

    Infinite if there is none. Edges cost nothing, so the best way to a region is from the cheapest that it
    can follow: regions are taken in order of cost, and each claims all its successors that no cheaper one
    has claimed. What cannot be on a path within the bound is dropped.
    """
    length, count = costs.shape
    # Rounding must not drop a path that is just within the bound.
    slack += 1e-9 * max(1.0, least.sum() + slack)
    bound = least.sum() + slack
    totals, heap, candidates = room.totals, room.heap, room.candidates
    size = _within(costs[0], lanes[0], least[0] + slack, heap)
    for region in heap[:size]:
        totals[0, region] = costs[0, region]
    for i in range(1, length):
        if size == 0:
            return np.inf
        # Whoever comes before this layer pays at least its least cost, and that of all after it.
        affordable = (bound - least[i:].sum(), bound - least[i + 1 :].sum())
        found = _within(costs[i], lanes[i], least[i] + slack, candidates)
        unclaimed = _worth_claiming(
            costs[i], candidates[:found], totals[i - 1], heap[:size], affordable[1], (count + 63) // 64
        )
        size = _claim(costs[i], edges, affordable, room, i, size, unclaimed)
    if size == 0:
        return np.inf
    last = heap[0]
    for region in heap[:size]:
        if _is_before(totals[length - 1], region, last):
            last = region
    path[length - 1] = last
    for i in range(length - 1, 0, -1):
        path[i - 1] = room.origins[i, path[i]]
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
    room: SearchRoom,
    layer: int,
    size: int,
    unclaimed: Words,
) -> int:
    """Best ways to the regions of a layer from those in the heap; leaves the layer's regions there."""
    before, here, origins = room.totals[layer - 1], room.totals[layer], room.origins[layer]
    heap, claimed = room.heap, room.candidates
    words, has_words = edges.words, len(edges.words) > 0
    for place in range(size // 2 - 1, -1, -1):
        _sift_down(heap, size, place, before)
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
                    origins[successor] = region
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
