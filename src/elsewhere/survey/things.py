"""Sets of things in a day: what a question asks about, as public tables that any device can look up.

A *thing* is a number below D: a cell of the city in an hour, a move from cell to cell, a number of visits.
Every day has a set of them, by a rule that never fails: a place nobody knows is in no cell, and a day may
have no thing at all. Tables are plain arrays, so that a device needs neither polygons nor hexagons.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Bools, Floats, Indices
from elsewhere.compiled import compiled
from elsewhere.days.visits import Days
from elsewhere.knowledge.sphere import chord_squared, great_circle_km_squared
from elsewhere.mechanism.answer import distinct

NONE = -1
"""In place of a thing."""


class Things(Protocol):
    """What a question asks about."""

    @property
    def count(self) -> int:
        """How many things there are, D."""
        ...

    def of(self, days: Days) -> Indices:
        """The distinct things of each day, a row each, filled up with −1."""
        ...

    def coarser(self) -> list[Indices]:
        """Ways to put things together, from fine to coarse: for each thing the number of its group."""
        ...

    def columns(self) -> dict[str, list[Any]]:
        """What each thing is, as columns of a table."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Groups:
    """Places put together, on nested levels, finest first: cells of a grid, kinds of place, the places."""

    members: Indices
    """Level × place: the group of each place."""
    columns: dict[str, list[Any]]
    """What each group of the finest level is."""

    @property
    def count(self) -> int:
        """How many groups the finest level has."""
        return len(next(iter(self.columns.values())))

    def of_places(self, places: Indices) -> Indices:
        """The group of each of some places; −1 for those that nobody knows."""
        padded = np.append(self.members[0], np.int32(NONE))
        known = (places >= 0) & (places < self.members.shape[1])
        return padded[np.where(known, places, self.members.shape[1])]

    def above(self, level: int) -> Indices:
        """For each group of the finest level its group on another one."""
        found = np.zeros(self.count, dtype=np.int32)
        found[self.members[0]] = self.members[level]
        return found


class BlockHours(NamedTuple):
    """How a day is cut into blocks of hours."""

    timestep_minutes: int
    hours: int

    @property
    def per_day(self) -> int:
        return 24 // self.hours

    def of(self, times: Indices) -> Indices:
        """The block of each timestep; what fills up rows is in the first."""
        hours = np.clip(times * self.timestep_minutes // 60, 0, 23)
        return np.asarray(hours // self.hours, dtype=np.int32)


def present_in_blocks(groups: Indices, days: Days, blocks: BlockHours, *, until_next: bool) -> Indices:
    """Group × block of each visit, or of each block until the next one; −1 where nobody knows the group."""
    if not until_next:
        things = groups * blocks.per_day + blocks.of(days.times)
        return np.where(groups >= 0, things, NONE).astype(np.int32)
    # Whoever arrives at 10:00 was elsewhere until 9:59.
    leaves = np.append(days.times[:, 1:], days.times[:, -1:], axis=1) - 1
    return _stays(groups, blocks.of(days.times), blocks.of(leaves), days.lengths, blocks.per_day)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupHours:
    """A group of places in a block of hours: cells by the hour, kinds of place by the hour, places."""

    groups: Groups
    timestep_minutes: int
    hours: int = 1
    """Length of a block; 24: whole days."""
    until_next: bool = False
    """People count where they are until they are somewhere else, not only where they arrive."""

    @property
    def blocks(self) -> int:
        """How many blocks a day has."""
        return 24 // self.hours

    @property
    def count(self) -> int:
        return self.groups.count * self.blocks

    def of(self, days: Days) -> Indices:
        """One thing for each visit; with ``until_next`` one for each block until the next one."""
        groups, blocks = self.groups.of_places(days.places), BlockHours(self.timestep_minutes, self.hours)
        return distinct(present_in_blocks(groups, days, blocks, until_next=self.until_next))

    def coarser(self) -> list[Indices]:
        """Coarser groups, longer blocks, and both."""
        group, block = np.divmod(np.arange(self.count, dtype=np.int32), np.int32(self.blocks))
        spans = [span for span in (1, 4, 24) if span >= self.hours and span % self.hours == 0]
        found = []
        for level in range(len(self.groups.members)):
            above = self.groups.above(level)[group]
            for span in spans:
                if level or span > self.hours:
                    per_day = 24 // span
                    found.append(above * per_day + block // (span // self.hours))
        return [np.asarray(row, dtype=np.int32) for row in found]

    def columns(self) -> dict[str, list[Any]]:
        plain = {name: np.repeat(np.array(values, dtype=object), self.blocks).tolist()
                 for name, values in self.groups.columns.items()}  # fmt: skip
        if self.blocks == 1:
            return plain
        return {**plain, "hour": (np.arange(self.blocks) * self.hours).tolist() * self.groups.count}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Moves:
    """From the group of a visit to the group of the next one."""

    groups: Groups

    @property
    def count(self) -> int:
        return self.groups.count**2

    def of(self, days: Days) -> Indices:
        """One thing for each step of a day; a day of one visit has none."""
        groups = self.groups.of_places(days.places)
        before, after = groups[:, :-1], groups[:, 1:]
        is_step = (before >= 0) & (after >= 0)
        rows = np.where(is_step, before * np.int32(self.groups.count) + after, NONE)
        return distinct(rows.astype(np.int32)) if rows.shape[1] else _nothing(len(rows))

    def coarser(self) -> list[Indices]:
        """Moves between coarser groups; where they go; whether they go anywhere."""
        before, after = np.divmod(np.arange(self.count, dtype=np.int32), np.int32(self.groups.count))
        found = []
        for level in range(1, len(self.groups.members)):
            above = self.groups.above(level)
            found.append(above[before] * (int(above.max()) + 1) + above[after])
        found += [after, (before == after).astype(np.int32)]
        return [np.asarray(row, dtype=np.int32) for row in found]

    def columns(self) -> dict[str, list[Any]]:
        count, names = self.groups.count, self.groups.columns
        origins = {
            f"from_{name}": [value for value in values for _ in range(count)]
            for name, values in names.items()
        }
        return origins | {f"to_{name}": values * count for name, values in names.items()}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VisitNumber:
    """How many visits a day has; the last thing stands for so many or more. None at known places: none."""

    most: int
    places: int

    @property
    def count(self) -> int:
        return self.most

    def of(self, days: Days) -> Indices:
        """One thing at most."""
        known = ((days.places >= 0) & (days.places < self.places)).sum(axis=1)
        return np.where(known > 0, np.minimum(known, self.most) - 1, NONE).astype(np.int32)[:, None]

    def coarser(self) -> list[Indices]:
        return []

    def columns(self) -> dict[str, list[Any]]:
        return {"visits": list(range(1, self.most + 1))}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TripLengths:
    """How far it is from one visit to the next, in bins of km."""

    edges_km: tuple[float, ...]
    """Where one bin ends and the next begins; the first begins at 0, the last never ends."""
    vectors: Floats

    @property
    def count(self) -> int:
        return len(self.edges_km) + 1

    def of(self, days: Days) -> Indices:
        """A thing for each bin that a step of the day falls into."""
        before, after = days.places[:, :-1], days.places[:, 1:]
        is_step = _are_known(before, len(self.vectors)) & _are_known(after, len(self.vectors))
        if not before.shape[1]:
            return _nothing(len(before))
        bins = _bins(self.vectors, np.array(self.edges_km), before.astype(np.int32), after.astype(np.int32))
        return distinct(np.where(is_step, bins, NONE).astype(np.int32))

    def coarser(self) -> list[Indices]:
        return []

    def columns(self) -> dict[str, list[Any]]:
        return {"from_km": [0.0, *self.edges_km], "to_km": [*self.edges_km, float("inf")]}


def trip_words(from_km: float, to_km: float) -> str:
    """A bin of lengths, for people."""
    return f"{from_km:g} km or more" if to_km == float("inf") else f"{from_km:g} to {to_km:g} km"


def _are_known(places: Indices, count: int) -> Bools:
    return np.asarray((places >= 0) & (places < count))


def _nothing(days: int) -> Indices:
    return np.full((days, 1), NONE, dtype=np.int32)


@compiled
def _bins(vectors: Floats, edges: Floats, before: Indices, after: Indices) -> NDArray[np.int32]:
    """The bin of each step; what is not known gets any."""
    found = np.zeros(before.shape, dtype=np.int32)
    for row in range(before.shape[0]):
        for i in range(before.shape[1]):
            p, q = before[row, i], after[row, i]
            if 0 <= p < len(vectors) and 0 <= q < len(vectors):
                km = np.sqrt(great_circle_km_squared(chord_squared(vectors, p, vectors, q)))
                found[row, i] = np.searchsorted(edges, km, side="right")
    return found


@compiled
def _stays(
    groups: Indices, arrives: Indices, leaves: Indices, lengths: Indices, per_day: int
) -> NDArray[np.int32]:
    """Where somebody is in each block, from each visit until the next one; the last counts for its own."""
    found = np.full((len(groups), groups.shape[1] + per_day), NONE, dtype=np.int32)
    for row in range(len(groups)):
        filled = 0
        for i in range(lengths[row]):
            first = arrives[row, i]
            last = max(leaves[row, i], first) if i + 1 < lengths[row] else first
            for block in range(first, last + 1):
                if groups[row, i] >= 0:
                    found[row, filled] = groups[row, i] * per_day + block
                    filled += 1
    return found
