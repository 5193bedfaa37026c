"""Regions (r_stc): cells of space, time and category, each with at least one place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elsewhere.arrays import Floats, Indices


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Regions:
    """All regions as columns: a ``region_index`` is a row.

    ``region_of[pair, interval]`` leads from a (place, category) pair, in the order of
    ``pair_places``, to its region in that interval, or to -1 where the place is closed.
    """

    place_offsets: Indices
    place_indices: Indices
    starts: Indices
    """First timestep."""
    ends: Indices
    """Timestep after the last; beyond the day for a region that passes midnight.

    It has timesteps at both ends of the same day then: from 23:00 on, and those before 02:00.
    """
    nodes: Indices
    space_levels: Indices
    cells: Indices
    time_levels: Indices
    vectors: Floats
    """Centroid: mean of the places' unit vectors, back on the sphere."""
    mid_hours: Floats
    pair_places: Indices
    pair_nodes: Indices
    region_of: Indices

    def __len__(self) -> int:
        return len(self.starts)

    def places_of(self, region_index: int) -> Indices:
        return self.place_indices[self.place_offsets[region_index] : self.place_offsets[region_index + 1]]

    def earliest(self, timesteps: int) -> Indices:
        """The first timestep of the day that each region has; a day has so many ``timesteps``."""
        return np.where(self.ends > timesteps, np.int32(0), self.starts)

    def latest(self, timesteps: int) -> Indices:
        """The last timestep of the day that each region has."""
        return np.minimum(self.ends, np.int32(timesteps)) - 1

    def timesteps_of(self, region_index: int, timesteps: int) -> Indices:
        """Timesteps of one region, in the order of the day."""
        steps = np.arange(self.starts[region_index], self.ends[region_index], dtype=np.int32)
        return np.sort(steps % timesteps)


def shortest_arcs(region_of: Indices, intervals: Indices, count: int, day: int) -> tuple[Indices, Indices]:
    """First interval and the one after the last of each region: the shortest arc of the clock over its own.

    ``region_of`` and ``intervals`` say who has which of a ``day``'s intervals. Of arcs equally short the one
    that does not pass midnight is taken. One that does ends beyond the day.

    Deviation: region-interval — the interval of a merged region is the arc over the intervals in it, not
    the whole block of hours it climbed to: it starts and ends when something of it is open.
    """
    owners, hours = np.divmod(np.unique(region_of.astype(np.int64) * day + intervals), day)
    first = np.searchsorted(owners, np.arange(count))
    last = np.append(first[1:], len(owners)) - 1
    # What lies between an interval and the next of the same region; across midnight at the last.
    following = np.append(hours[1:], 0)
    following[last] = hours[first] + day
    gaps = following - hours
    starts, ends = hours[first], hours[last] + 1
    for region in np.flatnonzero(np.maximum.reduceat(gaps, first) > gaps[last]).tolist():
        before = first[region] + int(np.argmax(gaps[first[region] : last[region] + 1]))
        starts[region], ends[region] = hours[before + 1], hours[before] + 1 + day
    return starts.astype(np.int32), ends.astype(np.int32)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Polygons:
    """Given geography: well-known binary shapes, their names, and the names of their parents."""

    shapes: tuple[bytes, ...]
    names: tuple[str, ...]
    parents: tuple[str, ...]
    """Name of the parent: another polygon's, or a name that stands for itself; blank for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeStep:
    """What one climb did: how many regions were below κ, and how many they became."""

    dimension: str
    level: str
    climbed: int
    became: int
    satisfied: int
    """Regions that have κ after this step, of those that climbed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeReport:
    """What merging did, step by step, and what it could not mend."""

    finest: int
    """Regions before any merging."""
    steps: tuple[MergeStep, ...]
    below_kappa: int
    """Regions that have less than κ although they have climbed to the top: the rest of their category."""


def space_level_names(labels: Sequence[Sequence[str]]) -> list[str]:
    """How people call each level of space: "16 cells", "4 cells", "everywhere"."""
    return [f"{len(cells)} cells" if len(cells) > 1 else "everywhere" for cells in labels]
