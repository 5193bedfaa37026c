"""Places (POIs, 𝒫): one row as people write it, and all of them as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Bools, Floats, Indices
from elsewhere.knowledge.categories import CategoryTree
from elsewhere.knowledge.sphere import unit_vectors

HOURS_PER_DAY = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One public place; ``popularity`` and ``weight`` hold one number, or one per hour of the day."""

    place_id: str
    name: str
    latitude: float
    longitude: float
    category_ids: tuple[str, ...]
    hours: str = ""
    """OpenStreetMap opening_hours; blank takes the default of the first category."""
    popularity: tuple[float, ...] = (1.0,)
    weight: tuple[float, ...] = (1.0,)
    """What counts towards κ, where κ is not a plain number of places."""
    is_anywhere: bool = False
    """Reachable from everywhere, like an online shop."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Places:
    """All places as columns, in the order of their ids: a ``place_index`` is a row."""

    ids: tuple[str, ...]
    names: tuple[str, ...]
    latitudes: Floats
    longitudes: Floats
    vectors: Floats
    category_offsets: Indices
    """Place i has the category nodes ``category_nodes[category_offsets[i] : category_offsets[i + 1]]``."""
    category_nodes: Indices
    hours: tuple[str, ...]
    popularity: Floats
    """Row per place, column per hour of the day."""
    weights: Floats
    is_anywhere: Bools

    def __len__(self) -> int:
        return len(self.ids)

    def categories_of(self, place_index: int) -> Indices:
        return self.category_nodes[
            self.category_offsets[place_index] : self.category_offsets[place_index + 1]
        ]

    def effective_hours(self, tree: CategoryTree) -> list[str]:
        """Opening hours of each place, blanks filled from the first of its categories."""
        firsts = self.category_nodes[self.category_offsets[:-1]]
        return [
            hours or tree.default_hours(int(node)) for hours, node in zip(self.hours, firsts, strict=True)
        ]

    def row(self, place_index: int, tree: CategoryTree) -> Place:
        """One place as people write it."""
        return Place(
            place_id=self.ids[place_index],
            name=self.names[place_index],
            latitude=float(self.latitudes[place_index]),
            longitude=float(self.longitudes[place_index]),
            category_ids=tuple(tree.ids[node] for node in self.categories_of(place_index)),
            hours=self.hours[place_index],
            popularity=tuple(self.popularity[place_index].tolist()),
            weight=tuple(self.weights[place_index].tolist()),
            is_anywhere=bool(self.is_anywhere[place_index]),
        )


def build_places(rows: Iterable[Place], tree: CategoryTree) -> Places:
    """Columns from rows, in the order of the ids, so that the order of a file does not matter."""
    ordered = sorted(rows, key=lambda row: row.place_id)
    node_of = {category_id: node for node, category_id in enumerate(tree.ids)}
    latitudes = np.array([row.latitude for row in ordered], dtype=np.float64)
    longitudes = np.array([row.longitude for row in ordered], dtype=np.float64)
    counts = [len(row.category_ids) for row in ordered]
    return Places(
        ids=tuple(row.place_id for row in ordered),
        names=tuple(row.name for row in ordered),
        latitudes=latitudes,
        longitudes=longitudes,
        vectors=unit_vectors(latitudes, longitudes),
        category_offsets=np.concatenate([[0], np.cumsum(counts, dtype=np.int32)]).astype(np.int32),
        category_nodes=np.array([node_of[c] for row in ordered for c in row.category_ids], dtype=np.int32),
        hours=tuple(row.hours for row in ordered),
        popularity=_by_hour(row.popularity for row in ordered),
        weights=_by_hour(row.weight for row in ordered),
        is_anywhere=np.array([row.is_anywhere for row in ordered], dtype=np.bool_),
    )


def _by_hour(values: Iterable[tuple[float, ...]]) -> Floats:
    full = [value if len(value) == HOURS_PER_DAY else value * HOURS_PER_DAY for value in values]
    return np.array(full, dtype=np.float64).reshape(len(full), HOURS_PER_DAY)


def changed_places(old: Places, changed: Places, removed: AbstractSet[str]) -> Places:
    """``old`` with ``changed`` put in place of their namesakes or added, and ``removed`` taken out."""
    gone = removed | set(changed.ids)
    kept = [row for row, place_id in enumerate(old.ids) if place_id not in gone]
    ids = [old.ids[row] for row in kept] + list(changed.ids)
    order = sorted(range(len(ids)), key=ids.__getitem__)
    # Rows of the two tables one below the other, in the order of the ids.
    take = np.array(kept + list(range(len(old), len(old) + len(changed))), dtype=np.int64)[order]

    def texts(name: str) -> tuple[str, ...]:
        both = getattr(old, name) + getattr(changed, name)
        return tuple(both[row] for row in take.tolist())

    def columns(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(old, name), getattr(changed, name)])[take]

    nodes = np.concatenate([old.category_nodes, changed.category_nodes])
    counts = np.concatenate([np.diff(old.category_offsets), np.diff(changed.category_offsets)])
    starts = (np.cumsum(counts) - counts)[take]
    offsets = np.concatenate([[0], np.cumsum(counts[take])]).astype(np.int32)
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts[take])
    return Places(
        ids=texts("ids"),
        names=texts("names"),
        latitudes=columns("latitudes"),
        longitudes=columns("longitudes"),
        vectors=columns("vectors"),
        category_offsets=offsets,
        category_nodes=nodes[np.repeat(starts, counts[take]) + within],
        hours=texts("hours"),
        popularity=columns("popularity"),
        weights=columns("weights"),
        is_anywhere=columns("is_anywhere"),
    )
