"""Travel between sets of places: the least steps from any place of one to any place of another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elsewhere.arrays import Bools, Floats, Indices, Steps
from elsewhere.compiled import compiled
from elsewhere.knowledge.sphere import chord_squared
from elsewhere.knowledge.travel import StepTable, StraightLine, Travel
from elsewhere.world.regions import Regions


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlaceSets:
    """The distinct sets of places that regions have; a shop open all day is in one set, not in ten."""

    set_of_region: Indices
    offsets: Indices
    members: Indices

    def __len__(self) -> int:
        return len(self.offsets) - 1


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
    """Answers how many steps lead from one set of places to others.

    Paper: section 5.3 (ss:hierarchical-decomposition), "at least one p_i ∈ r_a and at least one p_j ∈ r_b".
    """

    def __init__(self, travel: Travel, sets: PlaceSets) -> None:
        self._travel = travel
        self._sets = sets
        if isinstance(travel, StraightLine):
            self._vectors = np.ascontiguousarray(travel.vectors[sets.members])
            self._lows = np.minimum.reduceat(self._vectors, sets.offsets[:-1], axis=0)
            self._highs = np.maximum.reduceat(self._vectors, sets.offsets[:-1], axis=0)
            self._is_anywhere = np.logical_or.reduceat(travel.is_anywhere[sets.members], sets.offsets[:-1])

    def steps_to(self, origin: int, destinations: Indices) -> Steps:
        """Steps from set ``origin`` to each of ``destinations``, one line per profile."""
        if isinstance(self._travel, StepTable):
            return _table_steps(
                self._travel.table, self._sets.offsets, self._sets.members, origin, destinations
            )
        rungs = _set_rungs(
            self._vectors,
            self._sets.offsets,
            self._lows,
            self._highs,
            self._is_anywhere,
            self._travel.thresholds,
            origin,
            destinations,
        )
        return self._travel.steps_at[:, rungs]


@compiled
def _set_rungs(
    vectors: Floats,
    offsets: Indices,
    lows: Floats,
    highs: Floats,
    is_anywhere: Bools,
    thresholds: Floats,
    origin: int,
    destinations: Indices,
) -> Indices:
    """Rung of the nearest pair between one set and others.

    Boxes around the sets bound the answer from below (rounding is monotone, so also in floating
    point); the search ends as soon as a pair is found on the lowest possible rung.
    """
    rungs = np.zeros(len(destinations), dtype=np.int32)
    for index, other in enumerate(destinations):
        if is_anywhere[origin] or is_anywhere[other]:
            continue
        gap_squared = 0.0
        for axis in range(3):
            gap = max(lows[origin, axis] - highs[other, axis], lows[other, axis] - highs[origin, axis], 0.0)
            gap_squared += gap * gap
        lowest = np.searchsorted(thresholds, gap_squared)
        enough = thresholds[lowest] if lowest < len(thresholds) else -1.0
        nearest = np.inf
        for i in range(offsets[origin], offsets[origin + 1]):
            if nearest <= enough or lowest == len(thresholds):
                break
            for j in range(offsets[other], offsets[other + 1]):
                chord = chord_squared(vectors, i, vectors, j)
                nearest = min(nearest, chord)
        rungs[index] = np.searchsorted(thresholds, nearest)
    return rungs


@compiled
def _table_steps(
    table: Steps, offsets: Indices, members: Indices, origin: int, destinations: Indices
) -> Steps:
    profiles = table.shape[0]
    steps = np.empty((profiles, len(destinations)), dtype=np.uint16)
    for profile in range(profiles):
        for index, other in enumerate(destinations):
            least = np.uint16(65535)
            for i in range(offsets[origin], offsets[origin + 1]):
                for j in range(offsets[other], offsets[other + 1]):
                    least = min(least, table[profile, members[i], members[j]])
            steps[profile, index] = least
    return steps
