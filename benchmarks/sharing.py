"""Share real days on worlds of two sizes: speed by stage, n, workers, and against the integer program."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import elsewhere as ew
from cities import write_city, write_days
from elsewhere.mechanism.budget import split_evenly
from elsewhere.mechanism.ngram import NgramTables, perturb_regions
from elsewhere.mechanism.ngram_proposal import build_proposals
from elsewhere.mechanism.windows import window_tables, windows
from elsewhere.methods.sharing import Sharing
from elsewhere.randomness import SeededRandomness
from elsewhere.world.world import World
from integer_program import solve_integer_program

_REPEATS = 5


def _rate(method: Sharing, days: list[ew.Trajectory], workers: int = 1) -> tuple[float, dict[str, float]]:
    """Seconds per trajectory, best of a few runs, and where they went."""
    method.share_batch(days[:400])  # compiled loops are loaded once
    best, stages = float("inf"), {}
    for _ in range(_REPEATS):
        started = time.perf_counter()
        batch = method.share_batch(days, workers=workers)
        seconds = (time.perf_counter() - started) / len(days)
        if seconds < best:
            best, stages = seconds, {name: value / len(days) for name, value in batch.seconds.items()}
    return best, stages


def _integer_program(world: World) -> dict[str, float]:
    """Time of the paper's program on the draws of one trajectory of three visits."""
    length, count = 3, len(world.regions)
    draws = split_evenly(Fraction(5), [(window, "n-gram of regions") for window in windows(length, 2)])
    tables = NgramTables(
        draws=draws,
        windows=window_tables(draws, world.max_distance),
        proposals=build_proposals(world.graph, 2),
        distances=world.distances,
    )
    truth = np.arange(length, dtype=np.int32)[None, :]
    drawn, _ = perturb_regions(truth, tables, SeededRandomness(1), constant_work=False)
    errors, position = np.zeros((length, count)), 0
    for draw in draws:
        for j in range(draw.length):
            errors[draw.start + j] += world.distances.combined(np.arange(count), int(drawn[0, position]))
            position += 1
    bigrams = np.array([(a, b) for a in range(count) for b in world.graph.successors(a)], dtype=np.int32)
    started = time.perf_counter()
    solve_integer_program(errors, [bigrams] * (length - 1))
    return {"seconds": time.perf_counter() - started, "bigrams": len(bigrams)}


def _from_the_shell(folder: Path) -> float:
    """One person from a cold process: load the world, share a day."""
    program = (
        "import elsewhere as ew; w = ew.World.load('w.world'); ids = w.places.ids; "
        "print(ew.method('ngram', w, epsilon=5).share(ew.Trajectory([(ids[0], 60), (ids[1], 90)])))"
    )
    times = []
    for _ in range(_REPEATS):
        started = time.perf_counter()
        command = [sys.executable, "-c", program]
        subprocess.run(command, check=True, cwd=folder, capture_output=True)  # noqa: S603 - our own program
        times.append(time.perf_counter() - started)
    return min(times)


def measure(with_integer_program: bool) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_city(folder, 2000)
        source = write_days(folder / "days.csv", 2000)
        world = ew.build_world(folder / "world.toml")
        world.save(folder / "w.world")
        days = ew.read_trajectories(folder / "days.csv", world=world)[:3000]
        one, stages = _rate(ew.method("ngram", world, epsilon=5), days)
        by_n = {n: _rate(ew.method("ngram", world, epsilon=5, n=n), days)[0] for n in (1, 3, 4)}
        two, _ = _rate(ew.method("ngram", world, epsilon=5), days, workers=2)
        shell = _from_the_shell(folder)
        write_city(folder / "large", 32000)
        large = ew.build_world(folder / "large/world.toml")
        generator = np.random.default_rng(3)
        same = [
            ew.Trajectory((large.places.ids[generator.integers(32000)], visit.timestep) for visit in day)
            for day in days[:1000]
        ]
        thirty_two, _ = _rate(ew.method("ngram", large, epsilon=5), same)
        program = _integer_program(world) if with_integer_program else None
        return {
            "source": source,
            "days": len(days),
            "mean_length": float(np.mean([len(day) for day in days])),
            "ms_per_day": one * 1e3,
            "stages_ms": {name: value * 1e3 for name, value in stages.items()},
            "per_second": 1 / one,
            "n_against_2": {n: seconds / one for n, seconds in by_n.items()},
            "two_workers_against_one": one / two,
            "from_the_shell_s": shell,
            "places_32000_against_2000": thirty_two / one,
            "integer_program": program,
        }


if __name__ == "__main__":
    print(json.dumps(measure("--integer-program" in sys.argv)))
