"""Regions (r_stc): cells of space, time and category, each with at least one place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
    """Timestep after the last."""
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
    """Regions that have less than κ although they have climbed to the top."""


def space_level_names(labels: Sequence[Sequence[str]]) -> list[str]:
    """How people call each level of space: "16 cells", "4 cells", "everywhere"."""
    return [f"{len(cells)} cells" if len(cells) > 1 else "everywhere" for cells in labels]
