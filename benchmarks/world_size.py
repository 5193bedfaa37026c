"""Build, save, load and update one city in a process of its own, so that peak memory is its own."""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from cities import write_changes, write_city
from elsewhere import World, build_world, read_config, update_world

_REPEATS = 3


def _best(action: Any) -> tuple[Any, float]:
    """Result, and the least time of a few runs: the machine is noisy."""
    times = []
    for _ in range(_REPEATS):
        started = time.perf_counter()
        result = action()
        times.append(time.perf_counter() - started)
    return result, min(times)


def measure(places: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_city(folder / "tiny", 50)
        build_world(read_config(folder / "tiny/world.toml"))  # compiled loops are loaded once
        source = write_city(folder, places)
        world, build = _best(lambda: build_world(read_config(folder / "world.toml")))
        _, save = _best(lambda: world.save(folder / "w.world"))
        _, load = _best(lambda: World.load(folder / "w.world"))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        write_changes(folder)
        overrides = {"places": folder / "changed.csv"}
        rebuilt, rebuild = _best(lambda: build_world(read_config(folder / "world.toml", overrides)))
        updated, update = _best(lambda: update_world(world, folder / "changes.csv"))
        if updated != rebuilt:
            raise SystemExit("update and rebuild differ")
        return {
            "source": source,
            "places": len(world.places),
            "regions": len(world.regions),
            "bigrams": world.graph.bigrams,
            "build_s": build,
            "save_s": save,
            "load_s": load,
            "rebuild_s": rebuild,
            "update_s": update,
            "peak_mb": peak,
            "file_mb": (folder / "w.world").stat().st_size / 1e6,
        }


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
