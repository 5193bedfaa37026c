"""Travel between sets of places: the least steps from any place of one to any place of another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Floats, Indices, Steps
from elsewhere.compiled import compiled
from elsewhere.knowledge.travel import StepTable, StraightLine, Travel
from elsewhere.world.regions import Regions

Number = TypeVar("Number", np.float64, np.uint16)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlaceSets:
    """The distinct sets of places that regions have; a shop open all day is in one set, not in ten."""

    set_of_region: Indices
    offsets: Indices
    members: Indices

    def members_of(self, set_index: int) -> Indices:
        return self.members[self.offsets[set_index] : self.offsets[set_index + 1]]


def distinct_place_sets(regions: Regions) -> PlaceSets:
    """Sets in the order in which regions first have them."""
    numbers: dict[bytes, int] = {}
    members: list[Indices] = []
    set_of_region = np.empty(len(regions), dtype=np.int32)
    for region in range(len(regions)):
        place_indices = regions.places_of(region)
        key = place_indices.tobytes()
        if key not in numbers:
            numbers[key] = len(members)
            members.append(place_indices)
        set_of_region[region] = numbers[key]
    offsets = np.concatenate([[0], np.cumsum([len(m) for m in members])]).astype(np.int32)
    return PlaceSets(set_of_region=set_of_region, offsets=offsets, members=np.concatenate(members))


class SetTravel:
    """Answers how many steps lead from one set of places to each of some others.

    A place is in many sets, one for each hour in which its neighbours change. So every answer takes
    two passes: how near each place is to the origin's nearest, then the least of these in each set.

    Paper: section 5.3 (ss:hierarchical-decomposition), "at least one p_i ∈ r_a and at least one p_j ∈ r_b".
    """

    def __init__(self, travel: Travel, sets: PlaceSets, destinations: Indices) -> None:
        self._travel = travel
        self._sets = sets
        self._members = [sets.members_of(destination) for destination in destinations]
        self._columns, positions = np.unique(np.concatenate(self._members), return_inverse=True)
        self._positions = positions.astype(np.int32)
        self._ends = np.cumsum([len(members) for members in self._members]).astype(np.int32)
        if isinstance(travel, StraightLine):
            self._axes = np.ascontiguousarray(travel.vectors[self._columns].T)
            self._is_anywhere = np.array([travel.is_anywhere[members].any() for members in self._members])

    def steps_from(self, origin: int) -> Steps:
        """Steps from set ``origin`` to each destination, one line per profile."""
        here = self._sets.members_of(origin)
        if isinstance(self._travel, StepTable):
            nearest = self._travel.table[:, here[:, None], self._columns].min(axis=1)
            return np.stack([_least_by_set(line, self._positions, self._ends) for line in nearest])
        chords = _nearest_chords_squared(self._travel.vectors[here], self._axes)
        rungs = np.searchsorted(self._travel.thresholds, _least_by_set(chords, self._positions, self._ends))
        rungs[self._is_anywhere | self._travel.is_anywhere[here].any()] = 0
        return self._travel.steps_at[:, rungs]


@compiled
def _nearest_chords_squared(here: Floats, axes: Floats) -> Floats:
    """Squared chord from every column of ``axes`` to the nearest row of ``here``, as `sphere.chord_squared`.

    Place by place over whole columns: a loop that compilers turn into vector instructions.
    """
    xs, ys, zs = axes[0], axes[1], axes[2]
    nearest = np.full(len(xs), np.inf)
    for x, y, z in here:
        for i in range(len(xs)):
            dx, dy, dz = xs[i] - x, ys[i] - y, zs[i] - z
            chord = dx * dx + dy * dy + dz * dz
            nearest[i] = min(nearest[i], chord)
    return nearest


@compiled
def _least_by_set(values: NDArray[Number], positions: Indices, ends: Indices) -> NDArray[Number]:
    """Least value among each set's positions."""
    least = np.empty(len(ends), dtype=values.dtype)
    start = 0
    for index, end in enumerate(ends):
        best = values[positions[start]]
        for i in range(start + 1, end):
            best = min(best, values[positions[i]])
        least[index] = best
        start = end
    return least
