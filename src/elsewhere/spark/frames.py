"""Data frames of Spark in and out: share days, answer a survey, estimate from reports."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody has it
from pyspark.sql.types import TimestampNTZType, TimestampType

from elsewhere.device.points import columns_of
from elsewhere.errors import InputError
from elsewhere.estimates.estimate import Estimates
from elsewhere.estimates.estimate import estimate as estimate_tally
from elsewhere.estimates.report_tally import (
    DayType,
    ReportTally,
    nothing_counted,
    numbers_of_tally,
    tally_from_numbers,
)
from elsewhere.methods.sharing import Sharing
from elsewhere.spark.rows import SOURCE
from elsewhere.spark.secret import JobSecret, ReadSecret
from elsewhere.spark.shipment import ship_method, ship_survey, ship_world
from elsewhere.spark.tasks import (
    COUNTED,
    LOOKED,
    REPORTS,
    SHARED,
    AnswerTask,
    CountTask,
    LookTask,
    PerturbTask,
)
from elsewhere.survey.file import survey_hash
from elsewhere.survey.reports import SCHEMA
from elsewhere.survey.survey import Survey
from elsewhere.world.world import World

_kept: list[JobSecret] = []
"""Secrets that nobody else keeps: as long as this process runs."""


def perturb(df: DataFrame, method: Sharing, *, secret: JobSecret | ReadSecret | None = None) -> DataFrame:
    """Share every person's day of a data frame.

    Parameters
    ----------
    df
        PRIVATE. A row for each point, in any order, with columns as in files: ``uid``, ``datetime``, and
        ``place_id`` or ``lat`` and ``lng``. Times may be text, or timestamps of either kind.
    method
        What to share with, made by `elsewhere.method`.
    secret
        Where noise comes from (`JobSecret`), or a function that reads 32 bytes from a secret scope on the
        machines that work. If not given, a secret is kept until this program ends.

    Returns
    -------
    DataFrame
        ``uid, tid, datetime, lat, lng, place_id``. It is worked out whenever it is asked for, each time the
        same, as long as the secret lives: write it down first.

    Raises
    ------
    InputError
        If columns are missing, or the secret was used for another job or is gone.

    Examples
    --------
    >>> with JobSecret() as secret:  # doctest: +SKIP
    ...     perturb(df, codebook, secret=secret).write.parquet("shared")
    """
    _refuse_what_is_no_frame(df)
    method.prepare(1)
    facts = method.facts().as_json()
    purpose = json.dumps({"share": facts, "world": method.world.hash}, sort_keys=True, default=str)
    task = PerturbTask(
        shipped=ship_method(df.sparkSession, method),
        secret=_reader(secret, purpose),
        purpose=purpose,
    )
    people = _by_person(df, method.world.clock.timezone)
    return people.mapInArrow(task, _spark_schema(SHARED))


def answer(df: DataFrame, survey: Survey, *, secret: JobSecret | ReadSecret | None = None) -> DataFrame:
    """Answer a survey for every person of a data frame, as each of their devices would.

    Parameters
    ----------
    df
        PRIVATE. As for `perturb`.
    survey
        What is asked. Of each person the first days within its period are answered, as many as it takes.
    secret
        As for `perturb`.

    Returns
    -------
    DataFrame
        Reports: ``survey, id, question, day, seed, output``, in the order of their random ids.

    Examples
    --------
    >>> reports = answer(df, survey)  # doctest: +SKIP
    """
    _refuse_what_is_no_frame(df)
    purpose = f"answer {survey_hash(survey)}"
    task = AnswerTask(
        shipped=ship_survey(df.sparkSession, survey), secret=_reader(secret, purpose), purpose=purpose
    )
    people = _by_person(df, survey.world.clock.timezone)
    reports = people.mapInArrow(task, _spark_schema(REPORTS))
    # By their random ids: neighbours must not be reports of one person.
    return reports.repartition("id").sortWithinPartitions("id")


def estimate(df: DataFrame, survey: Survey, *, days: DayType | None = None, **options: Any) -> Estimates:
    """What the reports of a data frame say together: counted by Spark, estimated here.

    Parameters
    ----------
    df
        Reports, as `answer`, a collector or `elsewhere survey simulate` gives them.
    survey
        The survey that they answer.
    days
        Only reports about weekdays, or about weekends.
    options
        As for `elsewhere.estimate`: ``margins``, ``also``, ``progress``.

    Returns
    -------
    Estimates
        As `elsewhere.estimate` gives them.

    Examples
    --------
    >>> estimate(df, survey).frame("presence")  # doctest: +SKIP
    """
    return estimate_tally(survey, counted(df, survey, days), days=days, **options)


def counted(df: DataFrame, survey: Survey, days: DayType | None = None) -> ReportTally:
    """What the reports of a data frame come down to; estimates need no more."""
    _refuse_what_is_no_frame(df)
    missing = [name for name in SCHEMA if name not in df.columns]
    if missing:
        raise InputError(SOURCE, f"no column {missing[0]!r}; reports have {', '.join(SCHEMA)}")
    task = CountTask(shipped=ship_survey(df.sparkSession, survey), days=days)
    columns = [
        F.col(field.name).try_cast(kind).alias(field.name)
        for field, kind in zip(REPORTS, ("string", "string", "int", "date", "bigint", "bigint"), strict=True)
    ]
    together = df.select(*columns).repartition("id").sortWithinPartitions("id")
    sums = together.mapInArrow(task, _spark_schema(COUNTED)).groupBy("slot").agg(F.sum("number"))
    numbers = np.zeros(len(numbers_of_tally(nothing_counted(survey, days))), dtype=np.int64)
    for slot, number in sums.collect():
        numbers[slot] = number
    return tally_from_numbers(survey, numbers, days)


class Looked(NamedTuple):
    """What a data frame holds, as far as that is public, and how much of it is of another city."""

    points: int
    far_points: int
    days: int
    most_days: int
    """Of one person."""
    longest: int
    """Visits of a day, at most."""


def look(df: DataFrame, world: World) -> Looked:
    """Read a data frame once before the first draw, so that whatever is wrong with it shows."""
    task = LookTask(shipped=ship_world(df.sparkSession, world))
    looked = _by_person(df, world.clock.timezone).mapInArrow(task, _spark_schema(LOOKED))
    sums = [F.sum(name) for name in ("points", "far_points", "days")]
    row = looked.agg(*sums, F.max("most_days"), F.max("longest")).first()
    return Looked(*(value or 0 for value in row)) if row else Looked(0, 0, 0, 0, 0)


def _refuse_what_is_no_frame(df: object) -> None:
    if not hasattr(df, "mapInArrow") or not hasattr(df, "sparkSession"):
        raise InputError("df", f"found {type(df).__name__}, must be a DataFrame of PySpark 4 or newer")


def _reader(secret: JobSecret | ReadSecret | None, purpose: str) -> ReadSecret:
    """What tasks call for the secret."""
    if secret is None:
        secret = JobSecret()
        _kept.append(secret)
    if isinstance(secret, JobSecret):
        secret.bind(purpose)
        return secret.address()
    if not callable(secret):
        raise InputError("secret", f"found {type(secret).__name__}, must be a JobSecret or a function")
    return secret


def _by_person(df: DataFrame, timezone: str) -> DataFrame:
    """Columns as text, all rows of a person together: nothing else is one input for a person's day."""
    return as_text(df, timezone).repartition("uid").sortWithinPartitions("uid")


def as_text(df: DataFrame, timezone: str) -> DataFrame:
    """The columns that are needed, by the names that files have, as text; times in local time."""
    found = columns_of(list(df.columns), SOURCE)
    columns = []
    for key, place in found.where.items():
        if key == "epsilon":
            continue
        name, kind = df.columns[place], df.schema.fields[place].dataType
        text, is_stamp = _time_as_text(F.col(f"`{name}`"), kind, timezone)
        is_utc = key == "datetime" and found.is_utc and not is_stamp
        columns.append(text.alias("utc_time" if is_utc else key))
    return df.select(*columns)


def _time_as_text(column: Column, kind: object, timezone: str) -> tuple[Column, bool]:
    """A column as text; a timestamp as the clock on the wall showed it, whatever the session's zone is."""
    if isinstance(kind, TimestampType):
        # Microseconds as if the local clock were that of Greenwich.
        micros = F.unix_micros(F.from_utc_timestamp(column, timezone))
        plain = F.timestamp_add("MICROSECOND", micros, F.lit("1970-01-01 00:00:00").cast("timestamp_ntz"))
        return plain.cast("string"), True
    return column.cast("string"), isinstance(kind, TimestampNTZType)


def _spark_schema(schema: pa.Schema) -> str:
    names: dict[pa.DataType, str] = {
        pa.string(): "string", pa.float64(): "double", pa.int64(): "bigint", pa.int32(): "int",
        pa.date32(): "date",
    }  # fmt: skip
    return ", ".join(f"{field.name} {names[field.type]}" for field in schema)
