"""What the analyst's map is drawn from: parts of the city with their numbers by the hour, and moves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import h3
import numpy as np
import polars as pl
import shapely

from elsewhere.arrays import Floats
from elsewhere.estimates.estimate import Estimated, Estimates
from elsewhere.survey.part_names import SIDES, Box, PartNames

_DIGITS = 6
_MARGIN = 1e-4
"""Degrees: some ten metres."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Compared:
    """Other days, or another survey with the same questions."""

    name: str
    tables: Mapping[str, pl.DataFrame]

    def numbers(self, question: str, frame: pl.DataFrame) -> dict[str, Any] | None:
        """Its numbers of a question, if that asks about the very same things."""
        theirs = self.tables.get(question)
        if theirs is None or theirs.height != frame.height:
            return None
        about = [column for column in frame.columns if column not in _NUMBERS]
        if about != [column for column in theirs.columns if column not in _NUMBERS]:
            return None
        # Tables are written with nine decimals.
        same = all(_same(frame[column], theirs[column]) for column in about)
        return {"name": self.name, **_intervals(theirs)} if same else None


_NUMBERS = {"count", "estimate", "low", "high", "reports"}


def _same(ours: pl.Series, theirs: pl.Series) -> bool:
    if ours.dtype.is_float():
        return bool(np.allclose(ours.to_numpy(), theirs.to_numpy(), atol=1e-8, equal_nan=True))
    return ours.to_list() == theirs.to_list()


def map_views(
    found: Estimates, truth: Mapping[str, Floats], other: Compared | None, names: PartNames
) -> list[dict[str, Any]]:
    """For each question about parts of the city: its parts, and the numbers of each by the hour."""
    views = []
    for one, frame in _with_tables(found):
        if not {*SIDES, "hour"} <= set(frame.columns):
            continue
        hours = frame["hours"] if "hours" in frame.columns else None
        parts, rows = _parts(frame, names, "")
        views.append(
            {
                **_about(one),
                "parts": parts,
                "part": rows,
                "hour": frame["hour"].to_list(),
                "hours": _block(frame) if hours is None else hours.to_list(),
                **_numbers(one, frame, truth, other),
            }
        )
    return views


def move_views(
    found: Estimates, truth: Mapping[str, Floats], other: Compared | None, names: PartNames
) -> list[dict[str, Any]]:
    """For each question about moves: from where to where, and how many people."""
    views = []
    for one, frame in _with_tables(found):
        if "from_south" not in frame.columns:
            continue
        parts, origins = _parts(frame, names, "from_")
        places = {tuple(part["box"]): number for number, part in enumerate(parts)}
        _, ends = _parts(frame, names, "to_", places)
        views.append({**_about(one), "parts": parts, "from": origins, "to": ends,
                      **_numbers(one, frame, truth, other)})  # fmt: skip
    return views


def _with_tables(found: Estimates) -> list[tuple[Estimated, pl.DataFrame]]:
    return [
        (one, one.frame())
        for one in found.questions
        if one.table is not None and one.question.record.has_table
    ]


def _about(one: Estimated) -> dict[str, Any]:
    return {"name": one.name, "what": one.question.record.what, "reports": one.reports}


def _numbers(
    one: Estimated, frame: pl.DataFrame, truth: Mapping[str, Floats], other: Compared | None
) -> dict[str, Any]:
    true = truth.get(one.name)
    theirs = None if other is None else other.numbers(one.name, frame)
    return {
        **_intervals(frame),
        **({} if true is None else {"truth": np.round(true, _DIGITS).tolist()}),
        **({} if theirs is None else {"other": theirs}),
    }


def _intervals(frame: pl.DataFrame) -> dict[str, list[float]]:
    return {name: frame[name].round(_DIGITS).to_list() for name in ("estimate", "low", "high")}


def _block(frame: pl.DataFrame) -> list[int]:
    """How long each block of hours is: a day is cut evenly."""
    starts = frame["hour"].unique().len()
    return [24 // starts] * frame.height


def _parts(
    frame: pl.DataFrame, names: PartNames, prefix: str, known: dict[Box, int] | None = None
) -> tuple[list[dict[str, Any]], list[int]]:
    """Distinct parts of the city, in the order of their first row, and the part of each row."""
    numbers = {} if known is None else dict(known)
    parts: list[dict[str, Any]] = []
    rows = []
    labels = names.column(frame, prefix)
    cells = frame[f"{prefix}cell"].to_list() if f"{prefix}cell" in frame.columns else [None] * frame.height
    areas = frame[f"{prefix}area"].to_list() if f"{prefix}area" in frame.columns else [None] * frame.height
    for at, box in enumerate(frame.select([f"{prefix}{side}" for side in SIDES]).iter_rows()):
        if box not in numbers:
            numbers[box] = len(numbers)
            ring = _ring(names, box, cells[at], areas[at])
            parts.append(
                {
                    "label": labels[at],
                    "box": list(box),
                    "ring": [[round(x, _DIGITS), round(y, _DIGITS)] for x, y in ring],
                    "middle": [round((box[1] + box[3]) / 2, _DIGITS), round((box[0] + box[2]) / 2, _DIGITS)],
                }
            )
        rows.append(numbers[box])
    return parts, rows


def _ring(names: PartNames, box: Box, cell: str | None, area: str | None) -> list[list[float]]:
    """The outline of a part: a hexagon, a square, or what lies around an area's places."""
    south, west, north, east = box
    if cell is not None:
        corners = [[longitude, latitude] for latitude, longitude in h3.cell_to_boundary(cell)]
        return [*corners, corners[0]]
    if area is not None:
        # A survey keeps which places are in an area, not where it ends.
        hull = shapely.MultiPoint(names.points(area)).convex_hull.buffer(_MARGIN)
        return [[float(x), float(y)] for x, y in shapely.get_coordinates(hull)]
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]
