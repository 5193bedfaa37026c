"""`--engine spark`: folders of Parquet, whole or not at all, and clear words where Spark is not to be had."""

from __future__ import annotations

import datetime as dt
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyspark
import pytest
from pyspark.sql import SparkSession

import elsewhere as ew
from commands import Command
from days_of_people import Row, made_rows, people_here
from elsewhere.device.job_folder import lock_folder
from elsewhere.mechanism.keyed import JobKey
from elsewhere.spark import jobs
from elsewhere.survey.survey import Survey
from elsewhere.world.world import World
from made_surveys import survey_of

EPOCH = dt.date(1970, 1, 1).toordinal()
NAMES = ["uid", "tid", "datetime", "place_id"]
ON_SPARK = ("--engine", "spark", "--master", "local[2, 2]")


@pytest.fixture
def folder(tmp_path: Path, world: World) -> Path:
    """A world, a survey, and people's days in two files of Parquet."""
    world.save(tmp_path / "w.world")
    ew.save_survey(_survey(world, tmp_path), tmp_path / "s.survey")
    rows = [(uid, tid, moment.isoformat(), place) for uid, tid, moment, place in made_rows(120, days=2)]
    (tmp_path / "in").mkdir()
    for number in range(2):
        _write(rows[number::2], tmp_path / "in" / f"{number}.parquet")
    return tmp_path


def _survey(world: World, folder: Path) -> Survey:
    return survey_of(world, ("presence", "1", {"grid": 2}), folder=folder, least=1)


def _write(rows: Sequence[tuple[str, ...]], path: Path) -> None:
    pl.DataFrame(rows, schema=NAMES, orient="row").write_parquet(path)


def test_a_folder_is_shared_answered_and_estimated(
    spark: SparkSession, elsewhere: Command, folder: Path
) -> None:
    del spark  # is there, and stays
    shared = ("perturb", folder / "in", "-w", folder / "w.world", "-e", "5", "-m", "ngram")
    code, out, err = elsewhere(*shared, "-o", folder / "out", *ON_SPARK, "--json")
    assert code == 0, err
    told, kept = json.loads(out), json.loads((folder / "out.meta.json").read_text())
    assert told.items() >= kept.items()
    assert (kept["randomness"], kept["is_ldp"], kept["trajectories"]) == ("keyed", True, 240)
    assert (kept["most_days_of_a_person"], kept["epsilon_of_a_person_at_most"]) == (2, "10")
    assert "ChaCha20" in kept["promise"]
    days = pl.read_parquet(folder / "out" / "*.parquet")
    assert days.select(pl.struct("uid", pl.col("datetime").str.slice(0, 10)).n_unique()).item() == 240
    assert not list(folder.glob("*.partial"))
    code, _, err = elsewhere(*shared, "-o", folder / "out", *ON_SPARK)
    assert (code, "sharing again would spend ε again" in err) == (2, True)
    answered = ("survey", "simulate", folder / "s.survey", folder / "in", "-o", folder / "reports")
    code, out, err = elsewhere(*answered, *ON_SPARK, "--json")
    assert code == 0, err
    assert json.loads(out)["reports"] == 120
    estimated = ("survey", "estimate", folder / "s.survey", folder / "reports", "-o", folder / "results")
    code, out, err = elsewhere(*estimated, *ON_SPARK, "--json")
    assert code == 0, err
    assert json.loads(out)["reports"] == 120
    assert (folder / "results" / "presence.csv").exists()


def test_bad_rows_end_a_command_with_one_message_and_nothing_half_written(
    spark: SparkSession, elsewhere: Command, folder: Path
) -> None:
    del spark
    _write([("ann", "", "half past nine", "p1")], folder / "in" / "2.parquet")
    code, _, err = elsewhere(
        "perturb", folder / "in", "-w", folder / "w.world", "-e", "5", "-o", folder / "out", *ON_SPARK
    )
    assert code == 2
    assert "--engine spark: data frame: column datetime: must be a time such as" in err
    assert "half past" not in err
    assert "Traceback" not in err
    assert not (folder / "out").exists()
    assert not list(folder.glob("*.partial"))


def test_a_damaged_file_is_named(spark: SparkSession, elsewhere: Command, folder: Path) -> None:
    del spark
    (folder / "in" / "2.parquet").write_bytes(b"PAR1 and then nothing that could be read")
    code, _, err = elsewhere(
        "perturb", folder / "in", "-w", folder / "w.world", "-e", "5", "-o", folder / "out", *ON_SPARK
    )
    assert (code, "2.parquet" in err, "Traceback" in err) == (2, True, False), err
    assert not (folder / "out").exists()


def _mode_of(folder: Path) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def told(_batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield pa.RecordBatch.from_pydict({"mode": [stat.S_IMODE(folder.stat().st_mode)]})

    return told


def test_one_run_at_a_time_writes_an_output(spark: SparkSession, tmp_path: Path) -> None:
    """Of two runs in one folder, both could have drawn for the same day. Meanwhile it is for its owner."""
    output, waiting = tmp_path / "out", tmp_path / "out.PRIVATE.partial"
    df = spark.range(1, numPartitions=1).mapInArrow(_mode_of(waiting), "mode long")
    lock = lock_folder(waiting, output)
    (waiting / "written").mkdir()
    (waiting / "written" / "part-of-another-run.parquet").touch()
    with pytest.raises(ew.InputError, match="another run of this job is at work"):
        jobs._write(df, output)
    assert list((waiting / "written").iterdir())
    os.close(lock)
    jobs._write(df, output)
    assert pl.read_parquet(output / "*.parquet")["mode"].to_list() == [0o700]
    assert not (output / "part-of-another-run.parquet").exists()
    assert not waiting.exists()


def test_what_a_job_of_one_machine_has_drawn_stays(spark: SparkSession, tmp_path: Path) -> None:
    output, waiting = tmp_path / "out.parquet", tmp_path / "out.parquet.PRIVATE.partial"
    waiting.mkdir()
    (waiting / "job.json").write_text("{}")
    with pytest.raises(ew.InputError, match="belongs to another job"):
        jobs._write(spark.range(1), output)
    assert (waiting / "job.json").exists()


@pytest.mark.usefixtures("java")
def test_true_days_do_not_lie_open_on_disk(folder: Path) -> None:
    """Spark sorts people in files that others may read, and that stay behind if it is killed (R10)."""
    (folder / "disk").mkdir()
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, str(Path(__file__).parent / "on_disk.py"), str(folder), str(folder / "disk")],
        env={**os.environ, "SPARK_LOCAL_DIRS": str(folder / "disk")},
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["bytes"] > 1000
    assert not found["is_open"]
    # Java says nothing but what it says before it has read our settings.
    assert " WARN " not in done.stderr
    assert " ERROR " not in done.stderr


def test_days_of_another_city_and_empty_folders_are_refused(
    spark: SparkSession, elsewhere: Command, folder: Path
) -> None:
    del spark
    far = pl.DataFrame({"uid": ["a"], "datetime": ["2024-03-07T10:00:00"], "lat": [0.0], "lng": [0.0]})
    far.write_parquet(folder / "far.parquet")
    far.clear().write_parquet(folder / "none.parquet")
    given = ("-w", folder / "w.world", "-e", "5", "-m", "ngram", *ON_SPARK)
    for name, said in (("far", "the world of another city"), ("none", "holds no trajectory")):
        code, _, err = elsewhere("perturb", folder / f"{name}.parquet", *given, "-o", folder / "out")
        assert (code, said in err) == (2, True), err
    code, _, err = elsewhere("perturb", folder / "far.parquet", *given, "-o", folder / "out", "--anyway")
    assert code == 0, err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--master", "local"), "--master: goes with --engine spark"),
        (("--engine", "spark", "--seed", "1"), "--seed: does not go with --engine spark"),
        (("--engine", "spark", "--strict"), "--strict: does not go with --engine spark"),
        (("--engine", "spark", "--master", "foo"), "--master: found 'foo', must be local[2]"),
    ],
)
def test_options_that_do_not_go_together_are_named(
    elsewhere: Command, folder: Path, options: tuple[str, ...], said: str
) -> None:
    given = ("perturb", folder / "in", "-w", folder / "w.world", "-e", "5", "-o", folder / "out")
    code, _, err = elsewhere(*given, *options)
    assert (code, said in err) == (2, True), err


def test_files_of_hive_have_no_ending_and_other_files_may_be_hidden(folder: Path) -> None:
    days = folder / "in" / "0.parquet"
    for name in ("hive/day=1/000000_0", "hive/_delta_log/0.json", "hive/.0.crc", "hive/empty"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(days.read_bytes() if "day=" in name else b"{}" * ("empty" not in name))
    jobs._check_parquet(folder / "hive")
    jobs._check_parquet(days)


def test_a_folder_without_parquet_is_refused_before_spark_starts(
    elsewhere: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(folder))  # there is no Java, so Spark cannot even have been tried
    (folder / "csv").mkdir()
    (folder / "csv" / "days.csv").write_text("uid,datetime,place_id\n")
    (folder / "none").mkdir()
    (folder / "none" / "_delta_log").mkdir()
    (folder / "none" / "_delta_log" / "0.json").write_text("{}")
    given = ("-w", folder / "w.world", "-e", "5", "-o", folder / "out", "--engine", "spark")
    refused = {"csv": "is not Parquet", "none": "holds no file", "gone": "no such file or folder"}
    for name, said in refused.items():
        code, _, err = elsewhere("perturb", folder / name, *given)
        assert (code, said in err) == (2, True), err


def test_without_java_the_message_says_what_to_install(
    elsewhere: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    given = ("perturb", folder / "in", "-w", folder / "w.world", "-e", "5", "-o", folder / "out")
    code, _, err = elsewhere(*given, "--engine", "spark")
    assert (code, "needs Java 17 or newer" in err, "openjdk-17" in err) == (2, True, True)


def test_an_older_spark_is_told_so(elsewhere: Command, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pyspark, "__version__", "3.5.9")
    given = ("perturb", folder / "in", "-w", folder / "w.world", "-e", "5", "-o", folder / "out")
    code, _, err = elsewhere(*given, "--engine", "spark")
    assert (code, "found PySpark 3.5.9, must be 4 or newer" in err) == (2, True)


def test_made_up_people_are_what_they_seem() -> None:
    rows: list[Row] = made_rows(5)
    assert {uid for uid, _, _, _ in rows} == {f"u{number}" for number in range(5)}


def test_ids_of_trips_that_come_again_on_another_date_are_other_trips(world: World) -> None:
    """As on one machine, where rows stand in order; here they have none."""
    hours = [("1", "07T09"), ("1", "07T20"), ("2", "07T23"), ("2", "08T01"), ("1", "08T10"), ("2", "08T14")]
    rows: list[Row] = [
        ("ann", tid, dt.datetime.fromisoformat(f"2024-03-{hour}:00:00"), f"p{number}")
        for number, (tid, hour) in enumerate(hours)
    ]
    for again in (rows, rows[::-1], [rows[at] for at in (4, 0, 5, 2, 1, 3)]):
        people = people_here(again, world, JobKey(bytes(32), "trips"))
        assert people.dates.tolist() == [dt.date(2024, 3, day).toordinal() - EPOCH for day in (7, 8)]
        assert people.days.lengths.tolist() == [4, 2]
