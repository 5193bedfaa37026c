"""Every method on the same real days: milliseconds a day beside the paper's seconds, and its tables."""

from __future__ import annotations

import json
import resource
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import elsewhere as ew
from cities import city_with_days, write_city
from elsewhere.days.visits import place_distances, visit_distances
from elsewhere.methods.place_ngram import PlaceNgram
from elsewhere.methods.registry import METHODS, null_names
from elsewhere.methods.sharing import Sharing
from elsewhere.randomness import SeededRandomness
from elsewhere.world.place_world import steps_block
from elsewhere.world.world import World
from integer_program import solve_integer_program

_REPEATS = 3
_PLACES_FOR_PROGRAM = 500


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _measured(method: Sharing, days: list[ew.Trajectory]) -> dict[str, float]:
    """Seconds for what is public, then milliseconds a day: many at once, and one with constant work."""
    before, started = _peak_mb(), time.perf_counter()
    for length in sorted({len(day) for day in days}, reverse=True):
        method.prepare(length)
    tables, memory = time.perf_counter() - started, _peak_mb() - before
    method.share_batch(days[:100])
    batch = []
    for _ in range(_REPEATS):
        started = time.perf_counter()
        method.share_batch(days)
        batch.append((time.perf_counter() - started) / len(days))
    method.share(days[0])
    started = time.perf_counter()
    for day in days[:40]:
        method.share(day)
    one = (time.perf_counter() - started) / 40
    return {"tables_s": tables, "tables_mb": memory, "ms": min(batch) * 1e3, "one_ms": one * 1e3}


def _program_on_places(folder: Path) -> dict[str, dict[str, float]]:
    """The integer program on the draws of one day of three visits among 500 places, against ours."""
    write_city(folder, _PLACES_FOR_PROGRAM)
    world = ew.build_world(folder / "world.toml")
    # The day is nobody's; what is solved depends on the draws alone.
    truth = np.array([[100, 20_000, 50_000]] * 64, dtype=np.int32) % (len(world.places) * 144)
    found = {}
    for name in ("ngram-noh", "physdist"):
        core = METHODS[name].make(world, epsilon=5)
        assert isinstance(core, PlaceNgram)  # noqa: S101 - both are
        drawn, _ = core.perturb(truth, SeededRandomness(1), constant_work=False)
        core.rebuild(drawn, SeededRandomness(1))
        started = time.perf_counter()
        core.rebuild(drawn, SeededRandomness(1))
        ours = (time.perf_counter() - started) / len(truth)
        errors, bigrams = _problem(core, world, drawn.values[0], drawn.length)
        started = time.perf_counter()
        solve_integer_program(errors, bigrams)
        theirs = time.perf_counter() - started
        found[name] = {"seconds": theirs, "bigrams": sum(map(len, bigrams)), "against_ours": theirs / ours}
    return found


def _problem(core: PlaceNgram, world: World, row: Any, length: int) -> tuple[Any, list[Any]]:
    """Node errors and feasible pairs of the program for one row of draws."""
    windows = core.tables(length).windows
    distances = place_distances(visit_distances(world, has_categories=core.name != "physdist"))
    places, everything = core.tables(length).opens.places, np.arange(len(world.places), dtype=np.int32)
    errors = np.zeros((length, len(everything)))
    for window, start in enumerate(windows.starts.tolist()):
        for j in range(int(windows.lengths[window])):
            drawn = int(row[length + windows.offsets[window] + j])
            errors[start + j] += distances.combined(everything, drawn)
    times = np.sort(row[:length])
    bigrams = []
    for t, u in pairwise(times):
        steps = steps_block(places, everything, everything, int(t))
        is_open = places.is_open[:, [t]] & places.is_open[:, [u]].T
        bigrams.append(np.argwhere((steps <= u - t) & is_open).astype(np.int32))
    return errors, bigrams


def measure() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, world, days = city_with_days(folder, 2000)
        five = [day for day in days if len(day) == 5][:1000]
        # The largest table first: memory is seen as a rise of the peak.
        methods = sorted(
            (name for name, entry in METHODS.items() if not entry.is_for_small_worlds),
            key=lambda name: name != "global",
        )
        rows = {name: _measured(ew.method(name, world, epsilon=5), five) for name in methods}
        program = _program_on_places(folder / "small")
    return {"source": source, "days": len(five), "methods": rows, "nulls": null_names(), "program": program}


if __name__ == "__main__":
    print(json.dumps(measure()))
