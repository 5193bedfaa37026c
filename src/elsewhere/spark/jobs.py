"""Folders of Parquet through Spark, whole or not at all: what the command line does with `--engine spark`."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pyspark
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from elsewhere.device.job_folder import JOB_FILE, OF_ANOTHER_JOB, lock_folder, partial_folder
from elsewhere.device.other_city import FAR_SHARE, OTHER_CITY
from elsewhere.device.shared_metadata import SharedMetadata, metadata_file
from elsewhere.errors import InputError
from elsewhere.estimates.report_tally import DayType, ReportTally
from elsewhere.files import write_text
from elsewhere.methods.sharing import Sharing
from elsewhere.randomness import KEYED
from elsewhere.spark.frames import Looked, answer, counted, look, perturb
from elsewhere.spark.secret import JobSecret
from elsewhere.survey.survey import Survey

ENGINE = "--engine spark"
_OLDEST = 4
_LOOPBACK = "127.0.0.1"
_SETTINGS = {
    "spark.ui.showConsoleProgress": "false",
    # What is sorted by person waits on disk, in files that others may read and that outlive a kill.
    "spark.io.encryption.enabled": "true",
}
_PARQUET = b"PAR"
"""What files begin with; a fourth letter says whether they are encrypted."""
_MASTERS = "local[2] (so many cores of this machine), spark://host:7077, yarn or k8s://..."
_HOW_TO_START = (
    "a master must answer there (yarn also needs HADOOP_CONF_DIR), and JAVA_HOME, if it is set, must be the "
    "folder of Java 17 or newer"
)
_JAVAS = re.compile(r"^: [\w.$]+: (.+)$", re.MULTILINE)
_OURS = re.compile(r"elsewhere\.errors\.\w+: (.*?)(?:\n\s*SQLSTATE|\Z)", re.DOTALL)


class FolderShared(NamedTuple):
    """What a job has done."""

    metadata: SharedMetadata
    visits: int


@contextmanager
def spark_of(master: str) -> Iterator[SparkSession]:
    """A session on a master, with this Python for its workers; ended afterwards if it was begun here."""
    _check_spark(master)
    is_new = SparkSession.getActiveSession() is None
    builder = SparkSession.builder.master(master).appName("elsewhere")
    for name, value in _SETTINGS.items():
        builder = builder.config(name, value)
    _set_up(master)
    try:
        session = builder.getOrCreate()
    except Exception as error:  # noqa: BLE001 - Java's errors have no types of their own here
        raise InputError(ENGINE, f"does not start on {master!r}: {_reason(error)}; {_HOW_TO_START}") from None
    try:
        with _told():
            yield session
    finally:
        if is_new:
            session.stop()


def _set_up(master: str) -> None:
    """How Java is started: without a word on standard error, unless somebody has other wishes."""
    logging = f"-Dlog4j2.configurationFile=file:{Path(__file__).with_name('log4j2.properties')}"
    wishes = {
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_SUBMIT_ARGS": f'--driver-java-options "{logging}" pyspark-shell',
    }
    if _is_here(master):
        wishes["SPARK_LOCAL_IP"] = _LOOPBACK
    for name, value in wishes.items():
        os.environ.setdefault(name, value)


def _is_here(master: str) -> bool:
    return master.partition("[")[0] == "local"


def _check_spark(master: str) -> None:
    if not (_is_here(master) or master.startswith(("spark://", "yarn", "k8s://"))):
        raise InputError("--master", f"found {master!r}, must be {_MASTERS}")
    if int(pyspark.__version__.split(".")[0]) < _OLDEST:
        raise InputError(ENGINE, f"found PySpark {pyspark.__version__}, must be {_OLDEST} or newer")
    has_java = shutil.which("java") or (Path(os.environ.get("JAVA_HOME", "")) / "bin" / "java").is_file()
    if not has_java:
        raise InputError(
            ENGINE,
            f"needs Java 17 or newer to reach {master!r}, and there is none: install a JRE, such as Debian's "
            "openjdk-17-jre-headless, or set JAVA_HOME",
        )


@contextmanager
def _told() -> Iterator[None]:
    """What went wrong in a task, in our own words if it has any; a stack of Java is of no use to anybody."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise InputError(ENGINE, _reason(error)) from None


def _reason(error: Exception) -> str:
    """Our own words, or what Java says is wrong, or the first line."""
    text = str(error).strip()
    said = _OURS.search(text) or _JAVAS.search(text)
    return said[1].strip() if said else text.splitlines()[0]


def perturb_folder(
    source: Path,
    output: Path,
    method: Sharing,
    *,
    master: str,
    version: str,
    is_anyway: bool = False,
) -> FolderShared:
    """Share every person's day of a folder of Parquet into another folder."""
    _refuse_existing(output)
    _check_parquet(source)
    with spark_of(master) as spark, JobSecret(_host(spark, master)) as secret:
        df = _read(spark, source)
        facts = look(df, method.world)
        if not facts.days:
            raise InputError(str(source), "holds no trajectory")
        if facts.far_points > FAR_SHARE * facts.points and not is_anyway:
            raise InputError(str(source), OTHER_CITY)
        metadata = _metadata(method, facts, version)
        _write(perturb(df, method, secret=secret), output, metadata)
        return FolderShared(metadata, spark.read.parquet(str(output)).count())


def _metadata(method: Sharing, facts: Looked, version: str) -> SharedMetadata:
    metadata = SharedMetadata(
        method=method.facts(),
        world=method.world.hash,
        version=version,
        randomness=KEYED,
        trajectories=facts.days,
        most_days_of_a_person=facts.most_days,
    )
    if not metadata.is_ldp:
        return metadata
    dearest = max(method.facts().epsilon or method.spent_on(length) for length in (1, facts.longest))
    return replace(metadata, epsilon_of_a_person_at_most=facts.most_days * dearest)


def answer_folder(source: Path, output: Path, survey: Survey, *, master: str) -> int:
    """Answer a survey for the people of a folder of Parquet; returns the number of reports."""
    _refuse_existing(output)
    _check_parquet(source)
    with spark_of(master) as spark, JobSecret(_host(spark, master)) as secret:
        _write(answer(_read(spark, source), survey, secret=secret), output)
        return spark.read.parquet(str(output)).count()


def count_folder(source: Path, survey: Survey, days: DayType | None, *, master: str) -> ReportTally:
    """Count the reports of a folder of Parquet."""
    _check_parquet(source)
    with spark_of(master) as spark:
        return counted(_read(spark, source), survey, days)


def _host(spark: SparkSession, master: str) -> str:
    """Where tasks reach this process."""
    return _LOOPBACK if _is_here(master) else str(spark.conf.get("spark.driver.host"))


def _check_parquet(source: Path) -> None:
    """What can be said before Spark starts, which takes long."""
    if not source.exists():
        raise InputError(str(source), "no such file or folder")
    within = (path for path in source.rglob("*") if _is_data(path, source))
    first = next(within, None) if source.is_dir() else source
    if first is None:
        raise InputError(str(source), "holds no file: --engine spark reads folders of Parquet")
    with first.open("rb") as file:  # Hive gives its files no ending
        if file.read(len(_PARQUET)) != _PARQUET:
            raise InputError(str(first), "is not Parquet, which is all that --engine spark reads")


def _is_data(path: Path, source: Path) -> bool:
    """Whether Spark would read a file: what is empty or hidden it passes over, but for partitions."""
    names = path.relative_to(source).parts
    is_hidden = any(name.startswith(("_", ".")) and "=" not in name for name in names)
    return not is_hidden and path.is_file() and path.stat().st_size > 0


def _read(spark: SparkSession, source: Path) -> DataFrame:
    return spark.read.parquet(str(source.resolve()))


def _refuse_existing(output: Path) -> None:
    if output.exists():
        raise InputError(
            str(output), "is there already: sharing again would spend ε again, so it stays as it is"
        )


def _write(df: DataFrame, output: Path, metadata: SharedMetadata | None = None) -> None:
    """All of it or nothing: a folder appears when the job is done, what is said of it before."""
    with _own_folder(output) as folder:
        written = folder / "written"
        shutil.rmtree(written, ignore_errors=True)  # of a job that was killed: nothing of it was handed out
        df.write.parquet(str(written.resolve()))
        if metadata is not None:
            about = json.dumps(metadata.as_json(), indent=2, ensure_ascii=False)
            write_text(metadata_file(output), f"{about}\n")
        written.rename(output)


@contextmanager
def _own_folder(output: Path) -> Iterator[Path]:
    """Where an output is written, readable by its owner only; gone afterwards.

    One job at a time: of two in one folder each would have drawn a part of what comes out, or all of it.
    """
    folder = partial_folder(output)
    lock = lock_folder(folder, output)
    try:
        _refuse_existing(output)  # another run may have finished while this one was getting ready
        if (folder / JOB_FILE).exists():
            raise InputError(str(folder), OF_ANOTHER_JOB)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)
