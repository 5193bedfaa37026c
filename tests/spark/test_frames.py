"""Days on Spark are what one machine makes of them with the same key, however they are laid out."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession

import elsewhere as ew
from days_of_people import FixedSecret, Row, as_rows, made_rows, people_here
from elsewhere import spark as on_spark
from elsewhere.device.day_columns import people_of_rows
from elsewhere.device.people import number_of
from elsewhere.device.shared_file import days_frame
from elsewhere.device.simulate import answered
from elsewhere.estimates.report_tally import DayType, numbers_of_tally, tally_of
from elsewhere.mechanism.keyed import JobKey
from elsewhere.methods.sharing import Sharing
from elsewhere.randomness import SeededRandomness, SystemRandomness
from elsewhere.spark import rows as chunked
from elsewhere.survey.answering import Answering
from elsewhere.survey.file import survey_hash
from elsewhere.survey.survey import Period, Survey
from elsewhere.world.world import World
from made_surveys import survey_of

SMALL: dict[str, Any] = {"candidates": 40, "shards": 2, "k": 4}
NAMES = ["uid", "tid", "datetime", "place_id"]


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return made_rows(200, days=2)


@pytest.fixture(scope="module")
def df(spark: SparkSession, rows: list[Row]) -> DataFrame:
    return spark.createDataFrame(rows, "uid string, tid string, datetime timestamp_ntz, place_id string")


@pytest.fixture(scope="module")
def survey(world: World, tmp_path_factory: pytest.TempPathFactory) -> Survey:
    asked = [("presence", "1/2", {"grid": 2}), ("day", "1/4", {}), ("visits", "1/4", {})]
    period = Period(first=dt.date(2024, 3, 7), last=dt.date(2024, 3, 9))
    return survey_of(world, *asked, folder=tmp_path_factory.mktemp("s"), period=period, least=1)


def _purpose(method: Sharing) -> str:
    about = {"share": method.facts().as_json(), "world": method.world.hash}
    return json.dumps(about, sort_keys=True, default=str)


def _here(rows: list[Row], method: Sharing) -> list[tuple[object, ...]]:
    key = JobKey(FixedSecret()(), _purpose(method))
    people = people_here(rows, method.world, key)
    source = key.for_days(people.uids.to_list(), people.dates, people.days)
    days = method.share_columns(people.days, randomness=source).days
    return as_rows(days_frame(people, days, method.world.places, method.world.clock))


def _there(df: DataFrame) -> list[tuple[object, ...]]:
    return sorted(map(tuple, df.collect()))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("ngram", {"n": 2}),
        ("codebook", SMALL),
        ("ind-noreach", {"hide_length": 3}),
        ("ngram", {"levels": {"p1": "1/2", "p3": "1"}}),
        ("popular", {}),
    ],
    ids=str,
)
def test_what_spark_shares_is_what_one_machine_shares(
    df: DataFrame, rows: list[Row], world: World, name: str, options: dict[str, Any]
) -> None:
    method = ew.method(name, world, epsilon=None if name == "popular" else "5/2", **options)
    shared = _there(on_spark.perturb(df, method, secret=FixedSecret()))
    assert shared == _here(rows, method)
    assert len({(row[0], str(row[2])[:10]) for row in shared}) == len({(r[0], r[2].date()) for r in rows})
    assert shared != _there(on_spark.perturb(df, method, secret=FixedSecret(1)))


def test_partitions_and_their_order_make_no_difference(df: DataFrame, world: World) -> None:
    method = ew.method("ngram", world, epsilon=5)
    once = _there(on_spark.perturb(df, method, secret=FixedSecret()))
    for other in (df.repartition(7), df.coalesce(1), df.orderBy("place_id", "datetime")):
        assert _there(on_spark.perturb(other, method, secret=FixedSecret())) == once


def test_one_person_with_very_many_rows_is_one_person(
    spark: SparkSession, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Skew: more rows than a chunk has, and others beside them."""
    monkeypatch.setattr(chunked, "_ROWS_AT_ONCE", 50)
    sizes = {"a": 3, "busy": 900, "c": 200, "d": 1}
    made = [
        (uid, "", dt.datetime(2024, 3, 7) + dt.timedelta(seconds=90 * at), f"p{at % 6}")  # noqa: DTZ001
        for uid, count in sizes.items()
        for at in range(count)
    ]
    frame = pl.DataFrame(made, schema=NAMES, orient="row").sort("uid")
    batches = frame.to_arrow().to_batches(max_chunksize=20)
    chunks = list(chunked.chunks_by(batches, "uid"))
    assert pl.concat(chunks).equals(frame)
    uids = [uid for chunk in chunks for uid in chunk["uid"].unique()]
    assert sorted(uids) == sorted(sizes)
    method = ew.method("ngram", world, epsilon=5)
    there = spark.createDataFrame(made, "uid string, tid string, datetime timestamp_ntz, place_id string")
    assert _there(on_spark.perturb(there, method, secret=FixedSecret())) == _here(made, method)


@pytest.mark.parametrize(
    ("kind", "zone"),
    [
        ("timestamp", "America/New_York"),
        ("timestamp", "UTC"),
        ("timestamp_ntz", "America/New_York"),
        ("string", "UTC"),
        ("utc text", "America/New_York"),
        ("date and time", "UTC"),
    ],
)
def test_times_of_every_type_are_local_times(
    spark: SparkSession, world: World, rows: list[Row], kind: str, zone: str
) -> None:
    """Also where the session thinks that it is somewhere else."""
    method, some = ew.method("ngram", world, epsilon=5), rows[:300]
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        there = spark.createDataFrame(some, "uid string, tid string, datetime timestamp_ntz, place_id string")
        local = f"convert_timezone('{world.clock.timezone}', 'UTC', datetime)"
        as_instant = f"cast(concat(cast({local} as string), 'Z') as timestamp)"
        columns = {
            "timestamp": [f"{as_instant} as Time"],
            "timestamp_ntz": ["datetime as Time"],
            "string": ["date_format(datetime, 'dd.MM.yyyy HH:mm') as Time"],
            "utc text": [f"cast({local} as string) as utc_time"],
            "date and time": ["cast(datetime as date) as date", "date_format(datetime, 'HH:mm') as time"],
        }[kind]
        named = there.selectExpr("uid as User", "place_id as `Place ID`", *columns)
        assert _there(on_spark.perturb(named, method, secret=FixedSecret())) == _here(some, method)
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_files_and_hive_partitions_are_read_as_spark_reads_them(
    df: DataFrame, spark: SparkSession, world: World, rows: list[Row], tmp_path: Path
) -> None:
    df.selectExpr("*", "cast(datetime as date) as night").write.partitionBy("night").parquet(
        str(tmp_path / "in")
    )
    method = ew.method("ngram", world, epsilon=5)
    shared = on_spark.perturb(spark.read.parquet(str(tmp_path / "in")), method, secret=FixedSecret())
    shared.write.parquet(str(tmp_path / "out"))
    assert as_rows(pl.read_parquet(tmp_path / "out" / "*.parquet")) == _here(rows, method)


def test_reports_are_those_of_one_machine(df: DataFrame, rows: list[Row], survey: Survey) -> None:
    key = JobKey(FixedSecret()(), f"answer {survey_hash(survey)}")
    people = people_here(rows, survey.world, key)
    uids = people.uids.to_list()
    firsts = [uid not in uids[:at] for at, uid in enumerate(uids)]
    asked = people_of_rows(people, np.flatnonzero(firsts))
    answering = Answering(survey)
    source = key.for_days(asked.uids.to_list(), asked.dates, asked.days)
    here = answered(answering, survey_hash(survey), asked.dates, answering.secret.padded(asked.days), source)
    reports = on_spark.answer(df, survey, secret=FixedSecret())
    assert _there(reports) == as_rows(here)
    assert reports.count() == len({uid for uid, _, _, _ in rows})  # one day of each person
    parts = reports.rdd.glom().collect()
    assert all([row.id for row in part] == sorted(row.id for row in part) for part in parts)


def test_estimates_are_those_of_one_machine(spark: SparkSession, survey: Survey, tmp_path: Path) -> None:
    """Also of reports that came twice, are damaged, foreign, or have another's id."""
    answering = Answering(survey)
    days = [ew.Trajectory([(f"p{at % 6}", 40 + at % 50), ("p2", 100)]) for at in range(900)]
    dates = np.array([number_of(dt.date(2024, 3, 7 + at % 3)) for at in range(900)])
    secrets = answering.rows([answering.secret(day) for day in days], constant_work=False)
    frame = answered(answering, survey_hash(survey), dates, secrets, SeededRandomness(4))
    odd = frame.head(6).with_columns(
        survey=pl.when(pl.int_range(6) < 2).then(pl.lit("0" * 64)).otherwise("survey"),
        output=pl.when(pl.int_range(6) > 3).then(pl.lit(1 << 40)).otherwise("output"),
    )
    everything = pl.concat([frame, frame.head(40), odd, frame[50:60].with_columns(pl.col("output") ^ 1)])
    everything.write_parquet(tmp_path / "reports.parquet")
    there = spark.read.parquet(str(tmp_path / "reports.parquet")).repartition(5)
    reasons: set[str] = set()
    kinds: tuple[DayType | None, ...] = (None, "weekday", "weekend")
    for kind in kinds:
        here, counted = tally_of(survey, everything, kind), on_spark.counted(there, survey, kind)
        np.testing.assert_array_equal(numbers_of_tally(counted), numbers_of_tally(here))
        assert counted.left_out == here.left_out
        reasons |= set(here.left_out)
    assert reasons >= {
        "about other days of the week",
        "sent again",
        "of another survey",
        "with the id of another report",
    }
    found, expected = on_spark.estimate(there, survey), ew.estimate(survey, everything)
    assert (found.left_out, found.reports, found.tau) == (expected.left_out, expected.reports, expected.tau)
    for name in survey.names:
        assert found.frame(name).equals(expected.frame(name))


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (["uid", "place_id"], "column datetime"),
        (["uid", "datetime"], r"column place_id \(or lat and lng\) missing"),
        (["uid", "uid as user", "datetime", "place_id"], ""),
    ],
)
def test_columns_that_are_missing_are_named_at_once(
    df: DataFrame, world: World, columns: list[str], said: str
) -> None:
    method = ew.method("ngram", world, epsilon=5)
    if said:
        with pytest.raises(ew.InputError, match=said):
            on_spark.perturb(df.selectExpr(*columns), method)
    else:
        on_spark.perturb(df.selectExpr(*columns), method, secret=FixedSecret())


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (("ann", "", "yesterday at Rick's", "p1"), "column datetime: must be a time such as"),
        (("", "", "2024-03-07T10:00:00", "p1"), "column uid: is empty"),
        (("ann", "", "2024-03-07T10:00:00", ""), "needs lat and lng in degrees, or a place_id"),
        (("me", "", "2024-03-07T10:00:00", "p1"), "own days of a device"),
    ],
)
def test_bad_rows_end_a_job_without_a_word_of_what_they_hold(
    spark: SparkSession, world: World, row: tuple[str, ...], said: str
) -> None:
    good = ("bob", "", "2024-03-07T10:00:00", "p2")
    there = spark.createDataFrame(
        [good, row, row], "uid string, tid string, datetime string, place_id string"
    )
    method = ew.method("ngram", world, epsilon=5)
    with pytest.raises(PythonException) as failed:
        on_spark.perturb(there, method, secret=FixedSecret()).collect()
    told = str(failed.value)
    assert said in told
    assert "Rick" not in told


@pytest.mark.parametrize("other", ["ann ", "\tann", "a\u0308nn", "\uff41nn"])
def test_one_person_is_written_in_one_way(world: World, other: str) -> None:
    """Partitions go by what is written: two ways to write one id would be two inputs for a day."""
    rows = [(uid, "", "2024-03-07T10:00:00", "p1") for uid in ("ann", other)]
    batches = pl.DataFrame(rows, schema=NAMES, orient="row").to_arrow().to_batches()
    with pytest.raises(ew.InputError, match="column uid: must be written in one way"):
        list(chunked.people_of_partition(batches, world, lambda *_: SeededRandomness(1)))


def test_what_is_no_frame_of_spark_is_told_so(world: World, survey: Survey) -> None:
    frame = pl.DataFrame({"uid": ["a"]})
    for call in (
        lambda: on_spark.perturb(frame, ew.method("ngram", world, epsilon=5)),  # type: ignore[arg-type]  # a fault
        lambda: on_spark.answer(frame, survey),  # type: ignore[arg-type]  # a fault
        lambda: on_spark.estimate(frame, survey),  # type: ignore[arg-type]  # a fault
    ):
        with pytest.raises(ew.InputError, match="must be a DataFrame of PySpark 4"):
            call()


def test_frames_without_the_columns_of_reports_are_told_so(df: DataFrame, survey: Survey) -> None:
    with pytest.raises(ew.InputError, match="no column 'survey'; reports have survey, id, question"):
        on_spark.estimate(df, survey)


def test_rows_of_nobody_are_never_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those come first in their partition, and must be told of however many there are."""
    monkeypatch.setattr(chunked, "_ROWS_AT_ONCE", 4)
    uids = [[None, None, None], [None, None, "a"], ["a", "b", "b"], ["b", "c"]]
    batches = [pa.RecordBatch.from_pydict({"uid": pa.array(some, pa.string())}) for some in uids]
    found = [frame["uid"].to_list() for frame in chunked.chunks_by(batches, "uid")]
    assert found == [[None] * 5, ["a", "a"], ["b", "b", "b"], ["c"]]


@pytest.mark.parametrize("beside", ["25/04/2024 10:00", "04/25/2024 10:00"])
def test_a_date_is_never_read_by_the_rows_beside_it(world: World, beside: str) -> None:
    """Which rows are beside it depends on partitions: one day could be drawn on two dates."""
    names = ("uid", "datetime", "place_id")
    rows = [("ann", "03/04/2024 10:00", "p1"), ("bob", beside, "p1")]
    batch = pa.RecordBatch.from_pydict(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    with pytest.raises(ew.InputError, match="day and month cannot be told apart"):
        list(chunked.people_of_partition([batch], world, lambda *_: SystemRandomness()))
    told = chunked.people_of_partition([batch.slice(1)], world, lambda *_: SystemRandomness())
    assert [date for people in told for date in people.dates.tolist()] == [number_of(dt.date(2024, 4, 25))]
