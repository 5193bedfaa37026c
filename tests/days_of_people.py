"""Made-up people for Spark, and what one machine makes of them with the same key."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

import numpy as np
import polars as pl

from elsewhere.device.day_columns import DayMatcher, PeopleColumns, joined_people, people_in_columns
from elsewhere.device.point_columns import columns_of_table
from elsewhere.device.points import table_of
from elsewhere.mechanism.keyed import JobKey
from elsewhere.spark.rows import in_order
from elsewhere.world.world import World

Row = tuple[str, str, dt.datetime, str]


@dataclass(frozen=True)
class FixedSecret:
    """A secret that a test knows, and so does everybody: of no use to anyone else."""

    first: int = 0

    def __call__(self) -> bytes:
        return bytes((self.first + at) % 256 for at in range(32))


def made_rows(people: int, *, days: int = 1, seed: int = 1) -> list[Row]:
    """Points of made-up people: places that are known or not, times that collide, in no order."""
    generator = np.random.default_rng(seed)
    rows: list[Row] = []
    for person in range(people):
        for day in range(days):
            for _ in range(generator.integers(1, 7)):
                moment = dt.datetime(2024, 3, 7) + dt.timedelta(  # noqa: DTZ001 - local time
                    days=day, minutes=int(generator.integers(0, 1440))
                )
                place = f"p{generator.integers(6)}" if generator.random() < 0.95 else "nowhere"
                rows.append((f"u{person}", "", moment, place))
    return [rows[at] for at in generator.permutation(len(rows))]


def people_here(rows: list[Row], world: World, key: JobKey) -> PeopleColumns:
    """The same people, read by one machine."""
    table = {
        "uid": [uid for uid, _, _, _ in rows],
        "tid": [tid for _, tid, _, _ in rows],
        "datetime": [moment.isoformat() for _, _, moment, _ in rows],
        "place_id": [place for _, _, _, place in rows],
    }
    points = in_order(columns_of_table(table_of(table), world.clock, "rows"))
    return joined_people(list(people_in_columns([points], DayMatcher(world), "rows", key.for_reading)))


def as_rows(frame: pl.DataFrame) -> list[tuple[object, ...]]:
    """A table's rows, in an order of their own."""
    return sorted(frame.iter_rows())
