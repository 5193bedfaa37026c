"""The world: everything public, built once, immutable, named by one content hash."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elsewhere.arrays import Bools
from elsewhere.knowledge.categories import CategoryTree
from elsewhere.knowledge.clock import Clock
from elsewhere.knowledge.places import Places
from elsewhere.knowledge.travel import RoadNetwork, Travel
from elsewhere.world.distances import RegionDistances
from elsewhere.world.graph import RegionGraph
from elsewhere.world.regions import MergeReport, Polygons, Regions

if TYPE_CHECKING:
    from elsewhere.params import WorldConfig


@dataclass(frozen=True, kw_only=True, eq=False)
class World:
    """Public knowledge (ℛ, 𝒲ⁿ, d, θ) in the form that mechanisms use; the same for everybody.

    Two worlds are equal if their content hashes are.
    """

    settings_json: str
    clock: Clock
    tree: CategoryTree
    places: Places
    is_open: Bools
    """Row per place, column per timestep."""
    regions: Regions
    space_labels: tuple[tuple[str, ...], ...]
    merge_report: MergeReport
    travel: Travel
    graph: RegionGraph
    distances: RegionDistances
    max_distance: float
    """Largest d between two regions; the sensitivity of an n-gram's distance is n times this."""
    roads: RoadNetwork | None = None
    polygons: Polygons | None = None

    def __post_init__(self) -> None:
        """Make every array read-only: a world never changes."""
        parts = [getattr(self, field.name) for field in fields(self)]
        for record in parts:
            names = getattr(record, "__slots__", ()) or getattr(record, "_fields", ())
            for array in (record, *(getattr(record, name) for name in names)):
                if isinstance(array, np.ndarray):
                    array.setflags(write=False)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """In another process a world is as unchangeable as here: pickles forget that."""
        self.__dict__.update(state)
        self.__post_init__()

    @staticmethod
    def build(config: WorldConfig | str | Path) -> World:
        """Build a world from a `world.toml`, or from what `config.read_config` made of one."""
        from elsewhere.world.build import build_world  # noqa: PLC0415 - a device never builds

        return build_world(config)

    @staticmethod
    def load(path: str | Path) -> World:
        """Read a `.world` file, from anyone: checked, and nothing in it is executed."""
        from elsewhere.world.file import load_world  # noqa: PLC0415 - the file format knows the world

        return load_world(Path(path))

    def save(self, path: str | Path) -> None:
        """Write a `.world` file, whole or not at all; the same world gives the same bytes."""
        from elsewhere.world.file import save_world  # noqa: PLC0415 - the file format knows the world

        save_world(self, Path(path))

    @cached_property
    def hash(self) -> str:
        """sha256 of the whole content: what a report names to say which world it is about."""
        from elsewhere.world.file import content_of, hash_of  # noqa: PLC0415 - the file format knows the world

        return hash_of(content_of(self))

    @property
    def settings(self) -> dict[str, Any]:
        """The choices that shaped the world, without paths; a copy."""
        plain: dict[str, Any] = json.loads(self.settings_json)
        return plain

    @cached_property
    def place_index(self) -> dict[str, int]:
        """Row of each place id."""
        return {place_id: index for index, place_id in enumerate(self.places.ids)}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, World) and self.hash == other.hash

    def __hash__(self) -> int:
        return hash(self.hash)

    def __repr__(self) -> str:
        return f"<World of {len(self.places):,} places, {len(self.regions):,} regions, {self.hash[:12]}>"
