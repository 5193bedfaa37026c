"""A program for tests: days on a small cluster of processes, whose machines die and whose tasks are slow.

It prints, as JSON, digests of what was shared: by a clean run, with an executor that is killed, and with
tasks that are so slow that Spark begins them a second time.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyarrow as pa
import pyspark
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession

import elsewhere as ew
from days_of_people import made_rows
from elsewhere.spark import JobSecret, perturb

_SCHEMA = "uid string, tid string, datetime string, lat double, lng double, place_id string"
_MASTER_HOST = "127.0.0.1"
_WORKER_HOSTS = ("127.0.0.2", "127.0.0.3")
"""Spark begins a task again on another host only, so a `local-cluster`, which has one, never would."""
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": _MASTER_HOST,
    "spark.driver.bindAddress": _MASTER_HOST,
    "spark.executor.memory": "700m",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.adaptive.coalescePartitions.enabled": "false",
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.25",
    "spark.speculation.minTaskRuntime": "1s",
}


class _Trouble:
    """Ends the machine of one first try, or keeps one waiting, after its days were shared."""

    def __init__(self, folder: Path, how: str) -> None:
        self.folder, self.how = folder, how

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None
        yield from batches
        if context.partitionId() == 1:
            tries = len(list(self.folder.glob(f"{self.how}-*")))
            (self.folder / f"{self.how}-{context.taskAttemptId()}").touch()
            # Once only: what a dead machine had handed on is made again, and counts as a first try there.
            if not tries:
                self._trouble()

    def _trouble(self) -> None:
        if self.how == "slow":
            time.sleep(40)
            return
        daemon = Path(f"/proc/{os.getppid()}/stat").read_text(encoding="utf-8")
        os.kill(int(daemon.rpartition(")")[2].split()[1]), signal.SIGKILL)  # the executor, its parent
        time.sleep(40)


def _digest(df: DataFrame) -> str:
    return hashlib.sha256(repr(sorted(map(tuple, df.collect()))).encode()).hexdigest()


@contextmanager
def _daemon(name: str, *arguments: str) -> Iterator[None]:
    """A process of Spark's own, the master of a cluster or one of its machines."""
    program = str(Path(pyspark.__file__).parent / "bin/spark-class")
    process = subprocess.Popen(  # noqa: S603 - Spark's own program
        [program, f"org.apache.spark.deploy.{name}", *arguments, "--webui-port", "0"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.kill()
        process.wait()


def _free_port() -> str:
    with socket.socket() as probe:
        probe.bind((_MASTER_HOST, 0))
        return str(probe.getsockname()[1])


@contextmanager
def _cluster(folder: Path) -> Iterator[str]:
    """Two machines with a core each; the address of their master."""
    port = _free_port()
    address = f"spark://{_MASTER_HOST}:{port}"
    with ExitStack() as running:
        running.enter_context(_daemon("master.Master", "--host", _MASTER_HOST, "--port", port))
        for host in _WORKER_HOSTS:
            own = ("--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"work-{host}"))
            running.enter_context(_daemon("worker.Worker", "--host", host, *own, address))
        yield address


def _shared(spark: SparkSession, world: Path, folder: Path) -> dict[str, object]:
    rows = made_rows(300)
    df = spark.createDataFrame(rows, "uid string, tid string, datetime timestamp_ntz, place_id string")
    method = ew.method("ngram", ew.World.load(world), epsilon=5)
    found: dict[str, object] = {}
    with JobSecret() as secret:
        shared = perturb(df, method, secret=secret)
        found["clean"] = _digest(shared)
        for how in ("killed", "slow"):
            found[how] = _digest(shared.mapInArrow(_Trouble(folder, how), _SCHEMA))
            found[f"{how} tries"] = len(list(folder.glob(f"{how}-*")))
    return found


def main(world: Path, folder: Path) -> None:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with _cluster(folder) as master:
        builder = SparkSession.builder.master(master)
        for name, value in {**_SETTINGS, "spark.local.dir": str(folder / "disk")}.items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
        spark.sparkContext.setLogLevel("OFF")
        found = _shared(spark, world, folder)
        spark.stop()
    sys.stdout.write(f"{json.dumps(found)}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
