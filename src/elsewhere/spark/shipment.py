"""What tasks need and everybody may know, sent to every machine once: a world or a survey, and its tables."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from pyspark import SparkFiles
from pyspark.sql import SparkSession

from elsewhere.methods.registry import entry_of, method
from elsewhere.methods.sharing import Sharing
from elsewhere.survey.answering import Answering
from elsewhere.survey.file import load_survey, save_survey
from elsewhere.survey.survey import Survey
from elsewhere.world.world import World

_WORLD, _SURVEY, _TABLES = "w.world", "s.survey", "tables"
_NO_DATE = (1980, 1, 1, 0, 0, 0)
_sent: set[tuple[str, str]] = set()
"""Which session has which shipment."""
# Machines fetch an archive when their first task begins: it must be there as long as this process.
_outgoing = TemporaryDirectory(prefix="elsewhere-shipments-")


class Shipment(NamedTuple):
    """An archive that every machine has unpacked."""

    name: str

    @property
    def folder(self) -> Path:
        """Where it is, seen from a task."""
        return Path(SparkFiles.get(self.name))


class ShippedMethod(NamedTuple):
    """A method as tasks make it."""

    shipment: Shipment
    name: str
    options: tuple[tuple[str, Any], ...]

    def method(self) -> Sharing:
        """The method, made once in each worker."""
        return _method(self)


class ShippedWorld(NamedTuple):
    """A world as tasks read it."""

    shipment: Shipment

    def world(self) -> World:
        """The world, read once in each worker."""
        return _world(self)


class ShippedSurvey(NamedTuple):
    """A survey as tasks answer it."""

    shipment: Shipment

    def answering(self) -> Answering:
        """The survey, read once in each worker."""
        return _answering(self)


@lru_cache(maxsize=2)
def _method(shipped: ShippedMethod) -> Sharing:
    folder = shipped.shipment.folder
    options: dict[str, Any] = dict(shipped.options)
    if options["levels"] is not None:
        options["levels"] = dict(options["levels"])
    if entry_of(shipped.name).takes("cache"):
        options["cache"] = folder / _TABLES
    return method(shipped.name, World.load(folder / _WORLD), **options)


@lru_cache(maxsize=2)
def _world(shipped: ShippedWorld) -> World:
    return World.load(shipped.shipment.folder / _WORLD)


@lru_cache(maxsize=2)
def _answering(shipped: ShippedSurvey) -> Answering:
    return Answering(load_survey(shipped.shipment.folder / _SURVEY))


def ship_method(spark: SparkSession, sharing: Sharing) -> ShippedMethod:
    """Send a method: its world, and the public tables that would take each machine long to make."""
    if sharing.recipe is None:
        raise TypeError("only what `elsewhere.method` made can be made again elsewhere")
    name, options = sharing.recipe
    with TemporaryDirectory(prefix="elsewhere-") as text:
        folder = Path(text)
        sharing.world.save(folder / _WORLD)
        (folder / _TABLES).mkdir()
        kept = {key: value for key, value in options.items() if key not in {"cache", "progress"}}
        if entry_of(name).takes("cache"):
            twin = method(name, sharing.world, **{**kept, "cache": folder / _TABLES})
            twin.prepare_many(1)
        shipment = _send(spark, folder)
    if kept["levels"] is not None:
        kept["levels"] = _plain(kept["levels"])
    return ShippedMethod(shipment, name, tuple(kept.items()))


def _plain(levels: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((place_id, str(level)) for place_id, level in levels.items())


def ship_world(spark: SparkSession, world: World) -> ShippedWorld:
    """Send a world."""
    with TemporaryDirectory(prefix="elsewhere-") as text:
        world.save(Path(text) / _WORLD)
        return ShippedWorld(_send(spark, Path(text)))


def ship_survey(spark: SparkSession, survey: Survey) -> ShippedSurvey:
    """Send a survey, with its world and its public outputs."""
    with TemporaryDirectory(prefix="elsewhere-") as text:
        save_survey(survey, Path(text) / _SURVEY)
        return ShippedSurvey(_send(spark, Path(text)))


def _send(spark: SparkSession, folder: Path) -> Shipment:
    """An archive named by its content, so that the same thing is sent once."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.relative_to(folder)} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    name = f"elsewhere-{digest.hexdigest()[:32]}.zip"
    session = str(spark.conf.get("spark.app.id", ""))
    if (session, name) not in _sent:
        archive = Path(_outgoing.name) / name
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as packed:
            for path in files:
                entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), _NO_DATE)
                packed.writestr(entry, path.read_bytes())
        spark.addArtifacts(str(archive), archive=True)
        _sent.add((session, name))
    return Shipment(name)
