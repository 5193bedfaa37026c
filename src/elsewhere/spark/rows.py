"""Rows of a partition as days of people: whole people at a time, in memory for some of them only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

import polars as pl
import pyarrow as pa

from elsewhere.device.day_columns import (
    DAY_MICROS,
    TRIP_GAP_MICROS,
    DayMatcher,
    PeopleColumns,
    Thinning,
    joined_people,
    people_in_columns,
)
from elsewhere.device.owner import OWN_DAYS, is_own
from elsewhere.device.point_columns import PointColumns, columns_of_table
from elsewhere.device.points import one_way_to_write
from elsewhere.errors import Fault, InputError
from elsewhere.world.world import World

SOURCE = "data frame"
_ONE_WAY = "must be written in one way: no blanks around, and letters as Unicode composes them (NFKC)"
# Arrow's batches are small; what is done with all days of a chunk at once pays for larger ones.
_ROWS_AT_ONCE = 50_000


def chunks_by(batches: Iterable[pa.RecordBatch], key: str) -> Iterator[pl.DataFrame]:
    """Batches of a partition that is sorted by ``key``, put together such that no key is in two of them."""
    waiting: list[pl.DataFrame] = []
    rows, enough = 0, _ROWS_AT_ONCE
    for batch in batches:
        frame = cast("pl.DataFrame", pl.from_arrow(batch))
        waiting += [frame] if frame.height else []
        rows += frame.height
        if rows < enough:
            continue
        joined = pl.concat(waiting)
        is_last = joined.select(pl.col(key).eq_missing(pl.col(key).last())).to_series()
        whole, left = joined.filter(~is_last), joined.filter(is_last)
        if whole.height:
            yield whole
        waiting, rows = [left], left.height
        enough = max(_ROWS_AT_ONCE, 2 * rows)  # a person with very many rows is not looked at all the time
    if waiting:
        yield pl.concat(waiting)


def people_of_partition(
    batches: Iterable[pa.RecordBatch], world: World, thinning: Thinning, matcher: DayMatcher | None = None
) -> Iterator[PeopleColumns]:
    """Days of people, all of a person's together, of batches with all rows of a person in one partition."""
    matcher = DayMatcher(world) if matcher is None else matcher
    for frame in chunks_by(batches, "uid"):
        points = in_order(_points(frame, world))
        yield joined_people(list(people_in_columns([points], matcher, SOURCE, thinning)))


def _points(frame: pl.DataFrame, world: World) -> PointColumns:
    if any(uid != one_way_to_write(uid.strip()) for uid in frame["uid"].drop_nulls().unique().to_list()):
        # Partitions go by what is written: one person in two of them would be shared twice.
        raise InputError(SOURCE, [Fault(column="uid", problem=_ONE_WAY)])
    table = frame.select(pl.all().fill_null("").str.strip_chars())
    if any(map(is_own, table["uid"].unique().to_list())):
        raise InputError(SOURCE, OWN_DAYS)
    try:
        return columns_of_table(table, world.clock, SOURCE)
    except InputError as error:
        raise InputError(SOURCE, _without_rows(error.faults)) from None


def _without_rows(faults: Sequence[Fault]) -> list[Fault]:
    """Rows of a partition have no numbers that anybody could look up: how many there are is said instead."""
    counts = Counter((fault.column, fault.problem) for fault in faults)
    return [
        Fault(column=column, problem=f"{problem} ({count:,} rows of one partition)")
        for (column, problem), count in counts.items()
    ]


def in_order(points: PointColumns) -> PointColumns:
    """Points by person, trip and time; rows of a data frame have no order of their own.

    What is left to decide goes by all columns, so that a second run sees the same order.
    """
    frame = pl.DataFrame(
        {
            "uid": points.uids,
            "tid": points.tids,
            "moment": points.moments,
            "place_id": points.place_ids,
            "lat": points.latitudes,
            "lng": points.longitudes,
        }
    ).with_row_index("row")
    date = pl.col("moment") // DAY_MICROS
    is_another = (pl.col("moment").diff() >= TRIP_GAP_MICROS).fill_null(value=False)
    number = is_another.cum_sum().over("uid", "tid", order_by="moment")
    trip = ["uid", "tid", pl.when(pl.col("tid") == "").then(date).otherwise(number)]
    order = (
        frame.with_columns(pl.col("moment").min().over(trip).alias("begins"))
        .sort(["uid", "begins", "tid", "moment", "place_id", "lat", "lng"], maintain_order=True)["row"]
        .to_numpy()
    )
    return PointColumns(
        uids=points.uids.gather(order),
        tids=points.tids.gather(order),
        moments=points.moments[order],
        latitudes=points.latitudes[order],
        longitudes=points.longitudes[order],
        place_ids=points.place_ids.gather(order),
        epsilons=points.epsilons.gather(order),
    )
