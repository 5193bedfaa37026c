"""The parts of a world, as plain records: what a `.world` file holds."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from elsewhere.arrays import Bools
from elsewhere.knowledge.categories import CategoryTree
from elsewhere.knowledge.clock import Clock
from elsewhere.knowledge.places import Places
from elsewhere.knowledge.travel import RoadNetwork, Travel
from elsewhere.world.distances import RegionDistances
from elsewhere.world.graph import RegionGraph
from elsewhere.world.ground import SpaceTable
from elsewhere.world.regions import MergeReport, Polygons, Regions
from elsewhere.world.settings import WorldSettings


@dataclass(frozen=True, kw_only=True, eq=False)
class WorldParts:
    """Everything public; arrays cannot be changed."""

    settings: WorldSettings
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
    space_table: SpaceTable | None = None
    """d_s between places, where it is not the great circle; infinite where there is no way."""

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
