"""Parts of a city as people know them: by their name, or by the best-known place in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elsewhere.arrays import Floats, Indices
from elsewhere.knowledge.places import Places
from elsewhere.survey.things import Groups, Things

if TYPE_CHECKING:
    import polars as pl

SIDES = ("south", "west", "north", "east")
Box = tuple[float, float, float, float]
"""South, west, north, east: how tables tell where a part lies."""
_CLOSE = 1e-9


class PartNames:
    """A name for each part of a city that a table tells of; no two have the same."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._busy = places.popularity.sum(axis=1)
        self._names: dict[Box, str] = {}
        self._taken: set[str] = set()
        self._areas: dict[str, Indices] = {}

    def learn(self, things: Things) -> None:
        """Which places are in the named areas of a question, if it has any."""
        groups = getattr(things, "groups", None)
        if isinstance(groups, Groups):
            for number, area in enumerate(groups.columns.get("area", [])):
                self._areas[area] = np.flatnonzero(groups.members[0] == number).astype(np.int32)

    def of(self, box: Box, own: str | None = None) -> str:
        """Its own name, where it has one, or the busiest place in it that names no other part."""
        if own is not None:
            return own
        if box not in self._names:
            inside = self._inside(box)
            order = inside[np.argsort(-self._busy[inside], kind="stable")]
            names = (self._places.names[place] or self._places.ids[place] for place in order)
            middle = f"{(box[0] + box[2]) / 2:.4f} {(box[1] + box[3]) / 2:.4f}"
            free = next((name for name in names if name not in self._taken), middle)
            self._taken.add(free)
            self._names[box] = f"around {free}"
        return self._names[box]

    def _inside(self, box: Box) -> Indices:
        """Places in a box."""
        south, west, north, east = box
        latitudes, longitudes = self._places.latitudes, self._places.longitudes
        found = np.flatnonzero(
            (latitudes >= south - _CLOSE) & (latitudes <= north + _CLOSE)
            & (longitudes >= west - _CLOSE) & (longitudes <= east + _CLOSE)
        )  # fmt: skip
        return found.astype(np.int32)

    def points(self, area: str) -> Floats:
        """Where the places of a named area are: longitude and latitude."""
        rows = self._areas[area]
        return np.column_stack([self._places.longitudes[rows], self._places.latitudes[rows]])

    def column(self, frame: pl.DataFrame, prefix: str = "") -> list[str]:
        """The name of the part that each row is about, if rows are about any."""
        if f"{prefix}south" not in frame.columns:
            return [""] * frame.height
        own = next((name for name in (f"{prefix}area",) if name in frame.columns), None)
        columns = [f"{prefix}{side}" for side in SIDES]
        rows = frame.select(*columns, *([own] if own else [])).iter_rows()
        return [self.of((row[0], row[1], row[2], row[3]), row[4] if own else None) for row in rows]
