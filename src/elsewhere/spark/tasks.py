"""What tasks do with a partition: days in, shared days or reports out, with noise by key (R23)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np
import polars as pl
import pyarrow as pa

from elsewhere.device.day_columns import DayMatcher
from elsewhere.device.people import AskedDays
from elsewhere.device.shared_file import days_frame
from elsewhere.device.simulate import answered
from elsewhere.estimates.report_tally import DayType, nothing_counted, numbers_of_tally, tally_of
from elsewhere.mechanism.keyed import JobKey
from elsewhere.randomness import SystemRandomness
from elsewhere.spark.rows import chunks_by, people_of_partition
from elsewhere.spark.secret import ReadSecret
from elsewhere.spark.shipment import ShippedMethod, ShippedSurvey, ShippedWorld
from elsewhere.survey.file import survey_hash
from elsewhere.survey.reports import SCHEMA

Batches = Iterable[pa.RecordBatch]
SHARED = pa.schema({
    "uid": pa.string(), "tid": pa.string(), "datetime": pa.string(), "lat": pa.float64(),
    "lng": pa.float64(), "place_id": pa.string(),
})  # fmt: skip
REPORTS = pa.schema({
    "survey": pa.string(), "id": pa.string(), "question": pa.int32(), "day": pa.date32(),
    "seed": pa.int64(), "output": pa.int64(),
})  # fmt: skip
LOOKED = pa.schema({name: pa.int64() for name in ("points", "far_points", "days", "most_days", "longest")})
COUNTED = pa.schema({"slot": pa.int64(), "number": pa.int64()})


@dataclass(frozen=True, slots=True, kw_only=True)
class PerturbTask:
    """Shares every day of a partition."""

    shipped: ShippedMethod
    secret: ReadSecret
    purpose: str

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Shared days, as in a file of them."""
        method, key = self.shipped.method(), JobKey(self.secret(), self.purpose)
        world = method.world
        for people in people_of_partition(batches, world, key.for_reading):
            source = key.for_days(people.uids.to_list(), people.dates, people.days)
            days = method.share_columns(people.days, randomness=source).days
            yield from _packed(days_frame(people, days, world.places, world.clock), SHARED)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTask:
    """Answers a survey for the people of a partition."""

    shipped: ShippedSurvey
    secret: ReadSecret
    purpose: str

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Reports, as many for each person as the survey takes."""
        answering, key = self.shipped.answering(), JobKey(self.secret(), self.purpose)
        survey = answering.survey
        name = survey_hash(survey)
        for everybody in people_of_partition(batches, survey.world, key.for_reading):
            people = AskedDays(survey.terms).of(everybody)  # all days of a person are here
            if not len(people):
                continue
            source = key.for_days(people.uids.to_list(), people.dates, people.days)
            frame = answered(answering, name, people.dates, answering.secret.padded(people.days), source)
            yield from _packed(frame, REPORTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class LookTask:
    """Looks at all rows before the first draw: how many days there are, and whether they are of this city."""

    shipped: ShippedWorld

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """One row of numbers for a partition."""
        world = self.shipped.world()
        matcher, days, most, longest = DayMatcher(world), 0, 0, 0
        for people in people_of_partition(batches, world, lambda *_: SystemRandomness(), matcher):
            days += len(people)
            most = max([most, *Counter(people.uids.to_list()).values()])
            longest = max(longest, int(people.days.lengths.max(initial=0)))
        row = {
            "points": matcher.points, "far_points": matcher.far_points, "days": days, "most_days": most,
            "longest": longest,
        }  # fmt: skip
        yield from _packed(pl.DataFrame(row), LOOKED)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountTask:
    """Counts the reports of a partition; all reports with one id must be in it."""

    shipped: ShippedSurvey
    days: DayType | None

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Numbers of the tally that are not 0, each with its place in it: they add up over partitions."""
        survey = self.shipped.answering().survey
        tally = nothing_counted(survey, self.days)
        for frame in chunks_by(batches, "id"):
            tally += tally_of(survey, frame.cast(SCHEMA), self.days)  # type: ignore[arg-type]  # names and types
        numbers = numbers_of_tally(tally)
        slots = np.flatnonzero(numbers)
        yield from _packed(pl.DataFrame({"slot": slots, "number": numbers[slots]}), COUNTED)


def _packed(frame: pl.DataFrame, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """A table as Spark takes it: Arrow's oldest kinds of text, whole numbers with a sign."""
    table = cast("pa.Table", frame.to_arrow(compat_level=pl.CompatLevel.oldest()))
    yield from table.cast(schema).to_batches()
