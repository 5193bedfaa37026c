"""Spatio-temporal hotspots: when more than η people are somewhere, and whether sharing keeps that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Indices
from elsewhere.evaluate.pairs import Columns, Pairs
from elsewhere.knowledge.places import Places
from elsewhere.params import GridSpace
from elsewhere.world.space import divide_space
from elsewhere.world.visits import first_categories
from elsewhere.world.world import World

HOURS = 24
# Granularities with the paper's thresholds η.
THRESHOLDS = {
    "place": 20, "4 × 4 grid": 20, "2 × 2 grid": 50, "category level 1": 50, "category level 2": 30,
    "category level 3": 20,
}  # fmt: skip


class Hotspot(NamedTuple):
    """From hour ``start`` to hour ``end`` more than η people an hour were there, at most ``peak``."""

    where: int
    start: int
    end: int
    peak: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HotspotScore:
    """How well hotspots of one granularity are kept."""

    ahd_hours: float | None
    """Average hotspot distance; None where no shared hotspot has a real one to be compared with."""
    acd: float | None
    """Average difference of counts."""
    real: int
    shared: int
    excluded: int
    """Shared hotspots where there is no real one: left out of AHD and ACD, which hides failure."""
    precision: float | None
    """Share of shared hotspots that overlap a real one at the same place."""
    recall: float | None
    """Share of real hotspots that overlap a shared one."""

    @property
    def f1(self) -> float | None:
        if not self.precision or not self.recall:
            return 0.0 if self.real and (self.precision is not None or self.recall is not None) else None
        return 2 * self.precision * self.recall / (self.precision + self.recall)


def groupings(world: World) -> dict[str, Indices]:
    """For each granularity, the number of the group of each place.

    Paper: section 6.3 (ss:utility), hotspot preservation.
    """
    first = first_categories(world)
    levels = {
        f"category level {level}": np.asarray(world.tree.ancestors_at(level)[first], dtype=np.int32)
        for level in (1, 2, 3)
    }
    return {
        "place": np.arange(len(world.places), dtype=np.int32),
        "4 × 4 grid": _grid(world.places, 4),
        "2 × 2 grid": _grid(world.places, 2),
        **levels,
    }


def _grid(places: Places, cells: int) -> Indices:
    return np.asarray(divide_space(places, GridSpace(cells=cells), None).cells[0], dtype=np.int32)


def group_hours(world: World, columns: Columns, group_of: Indices) -> NDArray[np.int64]:
    """Group and hour of each visit as one number."""
    hours = columns.times.astype(np.int64) * world.clock.timestep_minutes // 60
    return np.asarray(group_of[columns.places].astype(np.int64) * HOURS + hours)


def unique_visitors(world: World, columns: Columns, group_of: Indices) -> NDArray[np.int64]:
    """Group × hour: how many different people.

    Deviation: hotspot-hour — people are counted by the hour; the paper does not say in which steps.
    """
    groups = int(group_of.max()) + 1
    once = np.unique(columns.owners * (groups * HOURS) + group_hours(world, columns, group_of))
    return np.bincount(once % (groups * HOURS), minlength=groups * HOURS).reshape(groups, HOURS)


def find_hotspots(counts: NDArray[np.int64], threshold: int) -> list[Hotspot]:
    """Maximal intervals of hours with more than ``threshold`` people."""
    is_hot = np.zeros((len(counts), HOURS + 2), dtype=np.int8)
    is_hot[:, 1:-1] = counts > threshold
    changes = np.diff(is_hot, axis=1)
    where, starts = np.nonzero(changes == 1)
    _, ends = np.nonzero(changes == -1)
    return [
        Hotspot(int(group), int(start), int(end), int(counts[group, start:end].max()))
        for group, start, end in zip(where, starts, ends, strict=True)
    ]


def compare_hotspots(real: list[Hotspot], shared: list[Hotspot]) -> HotspotScore:
    """AHD and ACD as the paper defines them, and how many of each side the other has.

    Paper: eq:hotspots.
    """
    by_place: dict[int, list[Hotspot]] = {}
    for spot in real:
        by_place.setdefault(spot.where, []).append(spot)
    distances, differences, excluded, hits = [], [], 0, 0
    for spot in shared:
        options = by_place.get(spot.where)
        if not options:
            excluded += 1
            continue
        nearest = min(options, key=lambda other: _distance(spot, other))
        distances.append(_distance(spot, nearest))
        differences.append(abs(spot.peak - nearest.peak))
        hits += any(_overlap(spot, other) for other in options)
    shared_by_place: dict[int, list[Hotspot]] = {}
    for spot in shared:
        shared_by_place.setdefault(spot.where, []).append(spot)
    found = sum(any(_overlap(spot, other) for other in shared_by_place.get(spot.where, [])) for spot in real)
    return HotspotScore(
        ahd_hours=float(np.mean(distances)) if distances else None,
        acd=float(np.mean(differences)) if differences else None,
        real=len(real),
        shared=len(shared),
        excluded=excluded,
        precision=hits / len(shared) if shared else None,
        recall=found / len(real) if real else None,
    )


def _distance(a: Hotspot, b: Hotspot) -> int:
    return abs(a.start - b.start) + abs(a.end - b.end)


def _overlap(a: Hotspot, b: Hotspot) -> bool:
    return a.start < b.end and b.start < a.end


def hotspot_scores(pairs: Pairs, thresholds: Mapping[str, int] = THRESHOLDS) -> dict[str, HotspotScore]:
    """Each granularity, and all of them together."""
    scores: dict[str, HotspotScore] = {}
    everything: tuple[list[Hotspot], list[Hotspot]] = ([], [])
    offset = 0
    for name, group_of in groupings(pairs.world).items():
        both = [
            find_hotspots(unique_visitors(pairs.world, columns, group_of), thresholds[name])
            for columns in (pairs.real, pairs.shared)
        ]
        scores[name] = compare_hotspots(both[0], both[1])
        for side, spots in zip(everything, both, strict=True):
            side.extend(spot._replace(where=spot.where + offset) for spot in spots)
        offset += int(group_of.max()) + 1
    return {**scores, "all": compare_hotspots(*everything)}
