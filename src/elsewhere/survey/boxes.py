"""AdaptiveBoxes of space and time with nearly as many people each: fine where and when the city is busy.

A grid that is fine enough for the centre at noon is far too fine for the outskirts at night, and every cell
that hardly anybody is in makes the others harder to tell. The public prior says where it is busy, so boxes
cost no privacy.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np

from elsewhere.arrays import Floats, Indices
from elsewhere.days.prior_days import prior_days
from elsewhere.days.visits import Days
from elsewhere.errors import InputError
from elsewhere.mechanism.answer import distinct
from elsewhere.survey.questions.question import PublicMap, indices
from elsewhere.survey.questions.spaces import squares_of
from elsewhere.survey.things import NONE, BlockHours, Groups, present_in_blocks
from elsewhere.world.world import World

_SIDE = 16
_HOURS = 24
_PRETEND = 8192
# From coarse to fine: rows, columns and hours of a box. Hours are halved before cells: people keep hours.
_SHAPES = ((16, 16, 24), (8, 8, 4), (4, 4, 4), (4, 4, 1), (2, 2, 1), (1, 1, 1))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AdaptiveBoxes:
    """Which box a visit falls into."""

    cells: Groups
    """Fine cells; where they lie is told by ``bounds``."""
    box_of: Indices
    """Cell × hour: the box."""
    above: Indices
    """Level × box: the coarser box that holds it."""
    bounds: dict[str, list[Any]]
    timestep_minutes: int
    until_next: bool = False

    @property
    def count(self) -> int:
        return int(self.above.shape[1])

    def of(self, days: Days) -> Indices:
        """One thing for each visit; with ``until_next`` one for each hour until the next one, once each."""
        cells = self.cells.of_places(days.places)
        hourly = present_in_blocks(
            cells, days, BlockHours(self.timestep_minutes, 1), until_next=self.until_next
        )
        known = np.append(self.box_of.ravel(), np.int32(NONE))
        return distinct(known[np.where(hourly >= 0, hourly, self.box_of.size)])

    def coarser(self) -> list[Indices]:
        return [np.asarray(level) for level in self.above]

    def columns(self) -> dict[str, list[Any]]:
        return self.bounds


def box_map(world: World, boxes: int) -> PublicMap:
    """Divide the box with most people, by the prior, until there are so many."""
    cells = squares_of(world, _SIDE)
    corner = np.array([cells.columns[side] for side in ("south", "west", "north", "east")])
    height, width = (corner[2] - corner[0])[0], (corner[3] - corner[1])[0]
    south, west = corner[0].min(), corner[1].min()
    rows = np.rint((corner[0] - south) / (height or 1)).astype(np.int64)
    columns = np.rint((corner[1] - west) / (width or 1)).astype(np.int64)
    leaves, above = _divided(_busy(world, cells, rows, columns), boxes)
    shapes = np.array([(*at, *size) for at, size in leaves])
    box_of = np.empty((_SIDE, _SIDE, _HOURS), dtype=np.int32)
    for number, (at, size) in enumerate(leaves):
        box_of[tuple(slice(a, a + s) for a, s in zip(at, size, strict=True))] = number
    return PublicMap(
        arrays={
            "members": cells.members,
            "box_of": np.ascontiguousarray(box_of[rows, columns]),
            "above": above,
        },
        columns={
            "south": (south + shapes[:, 0] * height).tolist(),
            "west": (west + shapes[:, 1] * width).tolist(),
            "north": (south + (shapes[:, 0] + shapes[:, 3]) * height).tolist(),
            "east": (west + (shapes[:, 1] + shapes[:, 4]) * width).tolist(),
            "hour": shapes[:, 2].tolist(),
            "hours": shapes[:, 5].tolist(),
        },
    )


def boxes_from(public: PublicMap, world: World, *, until_next: bool) -> AdaptiveBoxes:
    """AdaptiveBoxes of a survey's file, from anybody: checked."""
    count = len(next(iter(public.columns.values()), []))
    members = indices(public, "members", below=len(world.places), dimensions=2)
    cells = int(members[0].max()) + 1
    box_of = indices(public, "box_of", below=max(count, 1), dimensions=2)
    above = indices(public, "above", below=1 << 24, dimensions=2)
    if members.shape[1] != len(world.places) or box_of.shape != (cells, _HOURS) or above.shape[1] != count:
        raise InputError("survey", "boxes of a question are missing or damaged")
    groups = Groups(members=members, columns={"cell": list(range(cells))})
    return AdaptiveBoxes(
        cells=groups,
        box_of=box_of,
        above=above,
        bounds=public.columns,
        timestep_minutes=world.clock.timestep_minutes,
        until_next=until_next,
    )


def _busy(world: World, cells: Groups, rows: Indices, columns: Indices) -> Floats:
    """How many visits the prior has in each fine cell and hour; a little everywhere."""
    days = prior_days(world, "boxes of a question", _PRETEND)
    is_there = days.places >= 0
    cell = cells.of_places(days.places)[is_there]
    hour = days.times[is_there] * world.clock.timestep_minutes // 60
    found = np.full((_SIDE, _SIDE, _HOURS), 1e-4)
    np.add.at(found, (rows[cell], columns[cell], hour), 1.0)
    return found


_Box = tuple[tuple[int, int, int], tuple[int, int, int]]


def _divided(busy: Floats, boxes: int) -> tuple[list[_Box], Indices]:
    """Leaves, and for each level the number of the box above each of them."""
    nodes: list[tuple[int, tuple[int, int, int], int]] = []
    heap: list[tuple[float, int]] = []

    def add(level: int, at: tuple[int, int, int], parent: int) -> None:
        part = busy[tuple(slice(a, a + s) for a, s in zip(at, _SHAPES[level], strict=True))].sum()
        is_finest = level == len(_SHAPES) - 1
        heapq.heappush(heap, (np.inf if is_finest else -float(part), len(nodes)))
        nodes.append((level, at, parent))

    add(0, (0, 0, 0), -1)
    while len(heap) < boxes and heap[0][0] < 0:
        _, number = heapq.heappop(heap)
        level, at, _ = nodes[number]
        counts = tuple(b // s for b, s in zip(_SHAPES[level], _SHAPES[level + 1], strict=True))
        for offset in np.ndindex(*counts):
            steps = zip(at, offset, _SHAPES[level + 1], strict=True)
            row, column, hour = (a + i * s for a, i, s in steps)
            add(level + 1, (row, column, hour), number)
    leaves = sorted(number for _, number in heap)
    return [(nodes[n][1], _SHAPES[nodes[n][0]]) for n in leaves], _levels_above(nodes, leaves)


def _levels_above(nodes: list[tuple[int, tuple[int, int, int], int]], leaves: list[int]) -> Indices:
    """For each level the box of each leaf on it, or the leaf itself where it is coarser; numbered anew."""
    found = []
    for level in range(1, len(_SHAPES) - 1):
        boxes = []
        for leaf in leaves:
            number = leaf
            while nodes[number][0] > level:
                number = nodes[number][2]
            boxes.append(number)
        found.append(np.unique(boxes, return_inverse=True)[1])
    return np.array(found, dtype=np.int32)
