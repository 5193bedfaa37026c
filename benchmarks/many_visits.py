"""Files of very many made-up visits through the command line: rate, peak memory, two cores against one.

`python benchmarks/many_visits.py 1000000` takes minutes; `100000000 --workers 2` a quarter of an hour or
more. With `--engine spark` the same file goes through Spark on this machine.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import elsewhere as ew
from cities import write_city
from elsewhere.days.prior_days import prior_days
from elsewhere.world.world import World

_PLACES = 2000
_DIFFERENT = 20_000
_DATE = np.datetime64("2025-09-17")
_FILES = 8
"""Spark reads files, or parts of them, side by side."""


def write_visits(folder: Path, world: World, visits: int) -> tuple[int, int]:
    """Parquet of about so many visits: days come again, people do not. Returns days and visits."""
    days = prior_days(world, "many visits", _DIFFERENT)
    lengths = (days.places >= 0).sum(axis=1)
    is_visit = np.arange(days.places.shape[1]) < lengths[:, None]
    person = np.repeat(np.arange(_DIFFERENT), lengths)
    minutes = days.times[is_visit].astype("timedelta64[m]") * world.clock.timestep_minutes
    fixed = {
        "datetime": pa.array((_DATE + minutes).astype("datetime64[us]")),
        "place_id": pa.array(np.array(world.places.ids)[days.places[is_visit]]),
    }
    blocks = max(1, round(visits / len(person)))
    folder.mkdir()
    writers: list[pq.ParquetWriter] = []
    for block in range(blocks):
        uids = pa.array(block * _DIFFERENT + person, pa.int64()).cast(pa.string())
        table = pa.table({"uid": uids, **fixed})
        if block * _FILES // blocks == len(writers):
            writers.append(pq.ParquetWriter(folder / f"{len(writers)}.parquet", table.schema))
        writers[-1].write_table(table)
    for writer in writers:
        writer.close()
    return blocks * _DIFFERENT, blocks * len(person)


def in_one_file(folder: Path) -> Path:
    """The same visits as one file, for `perturb` on one machine."""
    whole = folder.with_suffix(".parquet")
    parts = [pq.ParquetFile(path) for path in sorted(folder.iterdir())]
    with pq.ParquetWriter(whole, parts[0].schema_arrow) as writer:
        for part in parts:
            for group in range(part.num_row_groups):
                writer.write_table(part.read_row_group(group))
    return whole


def run(arguments: list[str | Path], cores: int) -> dict[str, float]:
    """Seconds of a command on so many cores, its processor seconds (not those of Java), peak memory."""
    program = [str(Path(sys.executable).with_name("elsewhere")), *map(str, arguments)]
    every = os.sched_getaffinity(0)
    started = time.perf_counter()
    # Spark has threads beside its tasks: what it does on one core must not spill over to others.
    os.sched_setaffinity(0, sorted(every)[:cores])
    process = subprocess.Popen(program, stdout=subprocess.DEVNULL)  # noqa: S603 - our own program
    os.sched_setaffinity(0, every)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(program)} ended with {status}")
    return {
        "seconds": round(time.perf_counter() - started, 1),
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
        "peak_mb": round(used.ru_maxrss / 1024),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("visits", type=int)
    parser.add_argument("--method", default="ngram")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--engine", choices=("here", "spark"), default="here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = write_city(folder, _PLACES)
        world = ew.build_world(folder / "world.toml")
        world.save(folder / "w.world")
        days, visits = write_visits(folder / "days", world, options.visits)
        known = {"source": source, "days": days, "visits": visits, "method": options.method}
        found: dict[str, Any] = {**known, "engine": options.engine}
        whole = in_one_file(folder / "days") if options.engine == "here" else folder / "days"
        for workers in options.workers:
            output = folder / ("out.parquet" if options.engine == "here" else "out")
            share = [
                "perturb",
                whole,
                "-w",
                folder / "w.world",
                "-e",
                "5",
                "-m",
                options.method,
                "-o",
                output,
            ]
            here = ["--workers", str(workers)]
            there = ["--engine", "spark", "--master", f"local[{workers}]"]
            found[f"workers {workers}"] = run(
                [*share, *(here if options.engine == "here" else there)], workers
            )
            if output.is_dir():
                shutil.rmtree(output)
            else:
                output.unlink()
        print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
