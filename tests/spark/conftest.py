"""A real Spark with two cores for the tests of a process, and a small city for it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from elsewhere.world.world import World
from made_surveys import six_places
from missing_parts import missing

pyspark = pytest.importorskip("pyspark")
from pyspark.sql import SparkSession  # noqa: E402 - only where there is one


@pytest.fixture(scope="session")
def java() -> str:
    """Where Java is."""
    found = shutil.which("java")
    if found is None:
        missing("there is no Java: Spark needs 17 or newer")
    return str(found)


@pytest.fixture(scope="session")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where Spark writes down what happened, and what it keeps on disk."""
    return tmp_path_factory.mktemp("spark")


@pytest.fixture(scope="session")
def spark(java: str, logs: Path) -> Iterator[SparkSession]:
    """Two cores; a task that fails is tried once more."""
    del java
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = str(Path(__file__).parents[1])  # tasks find what tests hand to them
    for name in ("events", "disk"):
        (logs / name).mkdir()
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": f"file://{logs / 'events'}",
        "spark.local.dir": str(logs / "disk"),
        "spark.sql.warehouse.dir": str(logs / "warehouse"),
    }
    builder = SparkSession.builder.master("local[2, 2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")  # tasks fail on purpose
    yield session
    session.stop()


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return six_places(tmp_path_factory.mktemp("world"))
