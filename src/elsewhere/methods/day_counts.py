"""Counts of all feasible days of a world: public, made once, and kept in a folder if so wished."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from elsewhere.errors import InputError
from elsewhere.mechanism.whole_days import DayTables, count_days, is_drawable
from elsewhere.methods.table_cache import cached_tables
from elsewhere.world.visits import largest_visit_distance, place_world, visit_distances
from elsewhere.world.world import World


class DayCounts:
    """Tables to draw feasible days from, uniformly, by number of visits."""

    def __init__(
        self, world: World, cache: str | Path | None, progress: Callable[[int, int], None] | None
    ) -> None:
        self._world = world
        self._cache = None if cache is None else Path(cache)
        self._progress = progress
        self._places = place_world(world)
        self._distances = visit_distances(world)
        self._sensitivity = largest_visit_distance(self._distances, world.clock.timesteps)
        self._tables: dict[int, DayTables] = {}

    def tables(self, length: int) -> DayTables:
        """Counts of feasible days of ``length`` visits; raises if there are none."""
        if length not in self._tables:
            longer = min((size for size in self._tables if size > length), default=None)
            self._tables[length] = self._made(length) if longer is None else self._end_of(longer, length)
        return self._tables[length]

    def _made(self, length: int) -> DayTables:
        visits = self._places.is_open.size
        sums, scales, cumulative = cached_tables(
            self._cache,
            f"{self._world.hash}-days-{length}",
            lambda: count_days(self._places, length, self._progress),
            ((length, visits), (length,), (length, visits)),
        )
        tables = DayTables(
            places=self._places,
            distances=self._distances,
            sums=sums,
            scales=scales,
            cumulative=cumulative,
            sensitivity=self._sensitivity,
        )
        if not is_drawable(tables):
            raise InputError("trajectory", f"whole days of {length} visits are too long to be drawn here")
        return tables

    def _end_of(self, longer: int, length: int) -> DayTables:
        """Days are counted from their end: the counts of shorter ones are the last of longer ones."""
        whole = self._tables[longer]
        first = longer - length
        return whole._replace(
            sums=whole.sums[first:], scales=whole.scales[first:], cumulative=whole.cumulative[first:]
        )
