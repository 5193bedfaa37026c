"""Runs cells, each once: results are files, so a run that was stopped goes on where it was."""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from functools import lru_cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from elsewhere.device.reading import read_trajectories
from elsewhere.evaluate.hours import hours_of_days, hours_of_prior
from elsewhere.evaluate.intervals import mean_estimate
from elsewhere.evaluate.summary import summarise
from elsewhere.experiments.cells import Cell, PopulationCell, Setting, Size
from elsewhere.experiments.further import FurtherCell, further_result
from elsewhere.experiments.population import Pool, population_result
from elsewhere.experiments.sources import Sources, make_source
from elsewhere.experiments.stages import PREPARATION, PreparesReconstruction
from elsewhere.experiments.tilted import TILTED, tilted_ngram
from elsewhere.files import write_text
from elsewhere.methods.guess import GUESS
from elsewhere.methods.registry import method
from elsewhere.methods.sharing import Sharing
from elsewhere.progress import Progress
from elsewhere.randomness import SeededRandomness, seeded_generator
from elsewhere.trajectories import Trajectory
from elsewhere.world.build import build_world
from elsewhere.world.world import World

Result = dict[str, Any]
AnyCell = Cell | PopulationCell | FurtherCell

_SEED = 20210816
# Of each length: enough to time one stage by itself.
_TIMED_DAYS = 100


class Workshop:
    """A folder of worlds, days and results."""

    def __init__(self, folder: Path, sources: Sources, size: Size) -> None:
        self.folder = folder
        self.sources = sources
        self.size = size

    def world_folder(self, setting: Setting) -> Path:
        return (
            self.folder / "worlds" / _name({**asdict(setting), "raw": repr(self.sources), "size": self.size})
        )

    def prepare(self, setting: Setting) -> Result:
        """Make a world, timed."""
        folder = self.world_folder(setting)
        stamp = folder / "built.json"
        if not stamp.exists():
            make_source(folder, setting, self.sources, self.size)
            seconds = math.inf
            for _ in range(2):  # the first time, compiled loops may have to be loaded
                started = time.perf_counter()
                world = build_world(folder / "world.toml")
                seconds = min(seconds, time.perf_counter() - started)
            world.save(folder / "w.world")
            facts = {
                "seconds": seconds,
                "places": len(world.places),
                "regions": len(world.regions),
                "bigrams": world.graph.bigrams,
                "prior_by_hour": hours_of_prior(world),
                "world": world.hash,
            }
            write_text(stamp, json.dumps(facts))
        result: Result = json.loads(stamp.read_text())
        return result

    def result_file(self, cell: AnyCell) -> Path:
        return (
            self.folder
            / "cells"
            / f"{_name({**cell.key(), 'world': self.prepare(cell.setting)['world']})}.json"
        )

    def measure(self, cell: AnyCell) -> Result:
        """What a method gives on the days of a setting; from its file, if it was measured before."""
        path = self.result_file(cell)
        if not path.exists():
            write_text(path, json.dumps(self._measured(cell)))
        result: Result = json.loads(path.read_text())
        return result

    def _measured(self, cell: AnyCell) -> Result:
        folder = self.world_folder(cell.setting)
        if isinstance(cell, PopulationCell):
            return population_result(cell, _pool(folder, cell.support))
        world = World.load(folder / "w.world")
        days = read_trajectories(folder / "trajectories.csv", world=world)
        if isinstance(cell, FurtherCell):
            some = sampled(days, cell.days)
            return further_result(cell, world, folder, some, seed_of(cell))
        return _measured(cell, world, folder, days, self.prepare(cell.setting)["prior_by_hour"])


@lru_cache(maxsize=1)
def _pool(folder: Path, support: int) -> Pool:
    """Days of a setting, read once for the cells that a process measures one after the other."""
    world = World.load(folder / "w.world")
    return Pool(world, read_trajectories(folder / "trajectories.csv", world=world), support)


def _name(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()[:20]


def chosen_days(cell: Cell, days: Sequence[Trajectory]) -> list[Trajectory]:
    """The days that a cell looks at: of its length, and a seeded sample if there are too many."""
    return sampled([day for day in days if cell.length is None or len(day) == cell.length], cell.days)


def sampled(days: Sequence[Trajectory], most: int) -> list[Trajectory]:
    """All days, or a seeded sample if there are too many."""
    if len(days) <= most:
        return list(days)
    picks = seeded_generator(_SEED).permutation(len(days))[:most]
    return [days[pick] for pick in sorted(picks.tolist())]


def seed_of(cell: AnyCell) -> int:
    """Of a cell's own randomness, the same whenever it is measured."""
    return int(hashlib.sha256(json.dumps(cell.key(), default=str).encode()).hexdigest()[:8], 16)


def _measured(
    cell: Cell, world: World, folder: Path, days: Sequence[Trajectory], prior_by_hour: list[float]
) -> Result:
    chosen = chosen_days(cell, days)
    seed = seed_of(cell)
    facts: Result = {
        "cell": cell.key(), "label": cell.label, "world": world.hash, "days": len(chosen), "seed": seed,
    }  # fmt: skip
    if not chosen:
        return {**facts, "skipped": "no such day"}
    make = tilted_ngram if cell.method == TILTED else partial(method, cell.method)
    options = dict(cell.options)
    if options.get("reading") == GUESS:
        options["cache"] = folder / "tables"  # minutes for each ε, the same for cells that differ in days
    shared_by = make(world, epsilon=cell.epsilon, **options)
    started = time.perf_counter()
    for length in sorted({len(day) for day in chosen}, reverse=True):
        shared_by.prepare_many(length)
    prepared = time.perf_counter() - started
    shared_by.share_batch(chosen[:5], randomness=SeededRandomness(1))  # loads compiled loops
    batch = shared_by.share_batch(chosen, randomness=SeededRandomness(seed))
    seconds = {name: value / len(chosen) for name, value in sorted(batch.seconds.items())}
    if isinstance(shared_by.core, PreparesReconstruction):
        seconds[PREPARATION] = _preparation(shared_by.core, shared_by, chosen)
    return {
        **facts,
        "epsilon_spent_on_5_visits": _spent(shared_by),
        "seconds": seconds,
        "prepare_seconds": prepared,
        "smoothed_percent": _smoothed(batch.counts, len(chosen)),
        "summary": summarise(world, chosen, batch.shared).as_json(),
        "hours": {
            "true": hours_of_days(world, chosen),
            "prior": prior_by_hour,
            "shared": hours_of_days(world, batch.shared),
        },
    }


def _preparation(core: PreparesReconstruction, shared_by: Sharing, days: Sequence[Trajectory]) -> float:
    """Seconds a day that preparing the reconstruction takes by itself, over days of all lengths."""
    by_length: dict[int, list[Trajectory]] = {}
    for day in days:
        by_length.setdefault(len(day), []).append(day)
    seconds = 0.0
    for length, mine in by_length.items():
        some = mine[:_TIMED_DAYS]
        secret = shared_by.core.secret
        rows = np.array([secret(day, length, constant_work=False) for day in some], dtype=np.int32)
        drawn, _ = shared_by.core.perturb(rows, SeededRandomness(1), constant_work=False)
        core.prepare_reconstruction(drawn)  # loads compiled loops
        started = time.perf_counter()
        core.prepare_reconstruction(drawn)
        seconds += (time.perf_counter() - started) * len(mine) / len(some)
    return seconds / len(days)


def _spent(shared_by: Sharing) -> float:
    """What five visits really cost: the claim, or far more with sensitivity=1."""
    really = shared_by.facts().spent_on_five_visits
    return float(shared_by.spent_on(5)) if really is None else really


def _smoothed(counts: dict[str, int], days: int) -> dict[str, float]:
    """Per cent of days whose times had to be moved, with its interval."""
    moved = sum(
        count for name, count in counts.items() if "smoothed" in name or "shifted" in name or "stayed" in name
    )
    return asdict(mean_estimate(np.where(np.arange(days) < moved, 100.0, 0.0)))


def run_cells(workshop: Workshop, cells: Sequence[AnyCell], workers: int, progress: Progress) -> list[Result]:
    """All cells, in order; worlds first, then cells, on so many processes."""
    settings = list(dict.fromkeys(cell.setting for cell in cells))
    # For the processes that are started here: two that use two cores each wait for each other, for minutes.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    total, done = len(settings) + len(cells), 0
    with ProcessPoolExecutor(min(workers, os.cpu_count() or 1), get_context("spawn")) as pool:
        worlds = [pool.submit(workshop.prepare, setting) for setting in settings]
        for future in as_completed(worlds):
            future.result()
            done += 1
            progress(done, total)
        measured = [pool.submit(workshop.measure, cell) for cell in cells]
        for future in as_completed(measured):
            future.result()
            done += 1
            progress(done, total)
    return [workshop.measure(cell) for cell in cells]


def run_preprocessing(
    workshop: Workshop, settings: Sequence[Setting], progress: Progress
) -> list[tuple[Setting, Result]]:
    """Worlds one after the other, so that nothing else is running while one is timed."""
    found = []
    for number, setting in enumerate(settings, start=1):
        found.append((setting, workshop.prepare(setting)))
        progress(number, len(settings))
    return found
