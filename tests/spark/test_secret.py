"""T12: tasks that fail and run again give the same bytes, and the secret is nowhere but in memory (R23)."""

from __future__ import annotations

import base64
import os
import pickle
import signal
import socket
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark import TaskContext
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession

import elsewhere as ew
from days_of_people import FixedSecret, made_rows
from elsewhere.spark import JobSecret, perturb
from elsewhere.world.world import World

SCHEMA = "uid string, tid string, datetime string, lat double, lng double, place_id string"


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(
        made_rows(400), "uid string, tid string, datetime timestamp_ntz, place_id string"
    ).repartition(6)


def _bytes_of(df: DataFrame) -> list[tuple[Any, ...]]:
    return sorted(map(tuple, df.collect()))


class _FailsLate:
    """Ends every first try of a task after it has handed on what it shared, in one way or another."""

    def __init__(self, folder: Path, how: str) -> None:
        self.folder, self.how = folder, how

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None
        yield from batches
        if context.attemptNumber() < 1:
            (self.folder / f"{context.stageId()}-{context.partitionId()}").touch()
            if self.how == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            raise RuntimeError("this try fails")


@pytest.mark.parametrize("how", ["raised", "killed"])
@pytest.mark.parametrize("name", ["ngram", "codebook"])
def test_tasks_that_fail_and_run_again_share_the_same(
    df: DataFrame, world: World, tmp_path: Path, name: str, how: str
) -> None:
    options: dict[str, Any] = {"candidates": 40, "shards": 2, "k": 4} if name == "codebook" else {}
    method = ew.method(name, world, epsilon=5, **options)
    with JobSecret() as secret:
        shared = perturb(df, method, secret=secret)
        clean = _bytes_of(shared)
        again = _bytes_of(shared.mapInArrow(_FailsLate(tmp_path, how), SCHEMA))
        assert _bytes_of(perturb(df.repartition(2), method, secret=secret)) == clean
    assert again == clean
    assert len(list(tmp_path.iterdir())) >= 2  # every partition was tried twice
    with JobSecret() as another:
        assert _bytes_of(perturb(df, method, secret=another)) != clean


def test_the_secret_is_in_no_plan_log_file_or_output(
    df: DataFrame, world: World, spark: SparkSession, logs: Path, tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """All that Spark writes: event logs, its disk, plans, outputs, and what it says."""
    with JobSecret() as secret:
        hidden = bytes(secret._secret)
        assert secret.address()() == hidden
        shared = perturb(df, ew.method("ngram", world, epsilon=5), secret=secret)
        shared.write.parquet(str(tmp_path / "out"))
        shared.cache().count()
        plan = shared._jdf.queryExecution().toString()
        shared.unpersist()
    written = [path for folder in (logs, tmp_path) for path in folder.rglob("*") if path.is_file()]
    assert any(path.stat().st_size and "events" in str(path) for path in written)
    said = capfd.readouterr()
    heap = plan.encode() + said.out.encode() + said.err.encode() + repr(secret).encode()
    heap += b"".join(path.read_bytes() for path in written)
    assert b"MapInArrow" in heap
    assert b"SparkListenerJobStart" in heap
    words = str(list(hidden)).encode()
    for form in (hidden, hidden.hex().encode(), base64.b64encode(hidden), words, words.replace(b" ", b"")):
        assert form not in heap
    spark.catalog.clearCache()


def test_a_secret_is_gone_when_its_job_ends(df: DataFrame, world: World) -> None:
    with JobSecret() as secret:
        address = secret.address()
        shared = perturb(df, ew.method("ngram", world, epsilon=5), secret=secret)
        inside = secret._secret
    assert secret.is_destroyed
    assert inside == bytearray()
    with pytest.raises(ew.InputError, match="the secret of this job is gone"):
        address()
    with pytest.raises(PythonException, match="the secret of this job is gone"):
        shared.count()
    with pytest.raises(ew.InputError, match="spends ε again"):
        secret.address()


def test_a_secret_is_for_one_job(df: DataFrame, world: World) -> None:
    with JobSecret() as secret:
        perturb(df, ew.method("ngram", world, epsilon=5), secret=secret)
        perturb(df, ew.method("ngram", world, epsilon=5), secret=secret)
        with pytest.raises(ew.InputError, match="was used for another job"):
            perturb(df, ew.method("ngram", world, epsilon=4), secret=secret)


def test_strangers_get_nothing(world: World) -> None:
    """Neither without the token, nor with half of it, nor by waiting."""
    del world
    with JobSecret() as secret:
        address = secret.address()
        for said in (b"", b"x" * 32, address.token[:31] + b"?", b"GET / HTTP/1.1\r\n\r\n" * 20):
            with closing(socket.create_connection((address.host, address.port), timeout=5)) as line:
                with suppress(OSError):  # who has heard enough hangs up
                    line.sendall(said)
                    line.shutdown(socket.SHUT_WR)
                with suppress(ConnectionResetError):
                    assert line.recv(64) == b""
        assert len(address()) == 32
        with pytest.raises(TypeError, match="stays in the memory"):
            pickle.dumps(secret)
        assert address.token.hex() not in repr(address) + repr(secret)


def test_nobody_listens_once_a_secret_is_gone() -> None:
    with JobSecret() as secret:
        address = secret.address()
        assert len(address()) == 32
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((address.host, address.port), timeout=5)


def test_a_host_of_others_is_refused() -> None:
    with pytest.raises(ew.InputError, match="is no address of this machine"):
        JobSecret("203.0.113.7")


def test_a_secret_may_come_from_a_scope_of_ones_own(df: DataFrame, world: World) -> None:
    method = ew.method("ngram", world, epsilon=5)
    once = _bytes_of(perturb(df, method, secret=FixedSecret(3)))
    assert once == _bytes_of(perturb(df, method, secret=FixedSecret(3)))
