"""Merging: regions with less than κ climb, one level at a time, and join whom they meet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Bools, Floats, Indices
from elsewhere.knowledge.categories import CategoryTree
from elsewhere.world.regions import MergeReport, MergeStep

Codes = NDArray[np.int64]

_CODE_LIMIT = 2**62


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Memberships:
    """One row per open (place, interval, category): what every region is made of."""

    places: Indices
    nodes: Indices
    intervals: Indices
    weights: Floats
    """What the place counts towards κ in that interval."""


@dataclass(slots=True, kw_only=True, eq=False)
class Keys:
    """Where each membership's region stands in the three hierarchies: a level and a member of it."""

    space_levels: Indices
    cells: Indices
    time_levels: Indices
    blocks: Indices
    nodes: Indices
    alone: Indices
    """Place that stands alone because it alone weighs κ, else -1."""

    def codes(self) -> Codes:
        """Equal codes for equal keys; alike in every run on the same keys."""
        columns = [self.space_levels, self.cells, self.nodes, self.time_levels, self.blocks, self.alone]
        code = np.zeros(len(self.cells), dtype=np.int64)
        size = 1
        for column in columns:
            low = int(column.min(initial=0))
            width = int(column.max(initial=0)) - low + 1
            if size * width >= _CODE_LIMIT:
                code = np.unique(code, return_inverse=True)[1].astype(np.int64)
                size = len(code)
            code = code * width + (column - low)
            size *= width
        return code


@dataclass(frozen=True, slots=True, kw_only=True)
class Climb:
    """One level of one dimension."""

    dimension: str
    level: str
    apply: Callable[[Keys, Bools], None]


def merge(memberships: Memberships, keys: Keys, climbs: Sequence[Climb], kappa: float) -> MergeReport:
    """Climb until every region has κ or stands at the top; ``keys`` end as the regions' keys.

    A region's mass is the sum over its places of the largest weight the place has in it, so with
    weights of one it is the number of places.

    Whoever has κ stays; whoever has not climbs, and joins all that stand where it arrives. At the top of all
    three hierarchies there is nothing left to join, so the rest of a top-level category may stay below κ.

    Paper: section 5.3 (ss:hierarchical-decomposition), "we require that each STC region has κ POIs".
    Deviation: merging-rule — the paper does not say in which steps regions merge, nor what if κ is not met.
    """
    codes = keys.codes()
    pending = ~_has_mass(codes, memberships, np.ones(len(codes), dtype=np.bool_), kappa)
    pending &= keys.alone < 0
    finest = len(np.unique(codes))
    steps = []
    for climb in climbs:
        if not pending.any():
            break
        climbed = len(np.unique(codes[pending]))
        climb.apply(keys, pending)
        codes = keys.codes()
        arrived = np.unique(codes[pending])
        joins_settled = pending & np.isin(codes, codes[~pending])
        satisfied = joins_settled | _has_mass(codes, memberships, pending, kappa)
        steps.append(
            MergeStep(
                dimension=climb.dimension,
                level=climb.level,
                climbed=climbed,
                became=len(arrived),
                satisfied=len(np.unique(codes[satisfied])),
            )
        )
        pending &= ~satisfied
    return MergeReport(finest=finest, steps=tuple(steps), below_kappa=len(np.unique(codes[pending])))


def _has_mass(codes: Codes, memberships: Memberships, among: Bools, kappa: float) -> Bools:
    """Which memberships, of those in ``among``, belong to a region whose mass is κ or more."""
    rows = np.flatnonzero(among)
    order = rows[np.lexsort((memberships.places[rows], codes[rows]))]
    sorted_codes, sorted_places = codes[order], memberships.places[order]
    starts_region = np.append(True, sorted_codes[1:] != sorted_codes[:-1])[: len(order)]
    starts_pair = starts_region | np.append(True, sorted_places[1:] != sorted_places[:-1])[: len(order)]
    result = np.zeros(len(codes), dtype=np.bool_)
    if len(order):
        heaviest = np.maximum.reduceat(memberships.weights[order], np.flatnonzero(starts_pair))
        masses = np.add.reduceat(heaviest, np.flatnonzero(starts_region[starts_pair]))
        result[order] = masses[np.cumsum(starts_region) - 1] >= kappa
    return result


def space_climbs(memberships: Memberships, cells: Indices, names: Sequence[str]) -> list[Climb]:
    """Climbs over the levels of ``cells`` (level × place)."""

    def climb_to(level: int) -> Callable[[Keys, Bools], None]:
        def apply(keys: Keys, rows: Bools) -> None:
            keys.space_levels[rows] = level
            keys.cells[rows] = cells[level, memberships.places[rows]]

        return apply

    return [
        Climb(dimension="space", level=names[level], apply=climb_to(level)) for level in range(1, len(cells))
    ]


def time_climbs(memberships: Memberships, block_sizes: Sequence[int], names: Sequence[str]) -> list[Climb]:
    """Climbs over blocks of 2, 4, ... intervals up to the day."""

    def climb_to(level: int) -> Callable[[Keys, Bools], None]:
        def apply(keys: Keys, rows: Bools) -> None:
            keys.time_levels[rows] = level
            keys.blocks[rows] = memberships.intervals[rows] // block_sizes[level]

        return apply

    return [
        Climb(dimension="time", level=names[level], apply=climb_to(level))
        for level in range(1, len(block_sizes))
    ]


def category_climbs(tree: CategoryTree, levels: int) -> list[Climb]:
    """Climbs to level ``levels - 1``, ..., 1 of the tree; who stands there already waits."""

    def climb_to(level: int) -> Callable[[Keys, Bools], None]:
        ancestors = tree.ancestors_at(level)

        def apply(keys: Keys, rows: Bools) -> None:
            keys.nodes[rows] = ancestors[keys.nodes[rows]]

        return apply

    return [
        Climb(dimension="category", level=f"level {level}", apply=climb_to(level))
        for level in range(levels - 1, 0, -1)
    ]
