"""One point of the cost curves, in a process of its own, so that peak memory is its own.

`python benchmarks/curve_points.py CURVE SIZE FOLDER` prints a line of JSON: seconds of processor time and
megabytes at most. Cities, days and reports of each size are kept in FOLDER for other curves.
"""

from __future__ import annotations

import csv
import datetime as dt
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import elsewhere as ew
from cities import city_with_days, write_city
from elsewhere.cli.main import app
from elsewhere.days.prior_days import prior_days
from elsewhere.methods.codebook import Codebook
from elsewhere.methods.sharing import Sharing
from elsewhere.randomness import SystemRandomness
from elsewhere.survey.answering import Answering
from elsewhere.survey.file import survey_hash
from elsewhere.survey.questions.registry import question_of
from elsewhere.survey.reports import SCHEMA, write_reports, write_reports_of_files
from elsewhere.survey.survey import Survey, Terms, make_survey
from elsewhere.world.world import World

EPSILON = 5
_PLACES = 2000
_DAYS = 300
_ONE_BY_ONE = 20
_PIECE = 1_000_000
_DIFFERENT = 20_000
_ANSWERS = 100_000
_DAY = dt.date(2025, 9, 17)
KINDS: list[tuple[str, dict[str, Any]]] = [
    ("presence", {"grid": 4}),
    ("kinds", {}),
    ("moves", {"grid": 4}),
    ("visits", {}),
    ("trips", {}),
    ("places", {}),
    ("day", {"candidates": 256, "shards": 2}),
]
"""In the order in which a survey of few questions would ask them."""


def _seconds(action: Callable[[], Any]) -> tuple[Any, float]:
    """What it gives, and its processor time: others may be busy on this machine."""
    started = time.process_time()
    result = action()
    return result, time.process_time() - started


def _city(folder: Path, places: int, *, graph: bool = False) -> Path:
    """Settings of a city, with its tables."""
    settings = folder / f"city-{places}" / ("graph.toml" if graph else "world.toml")
    if not settings.exists():
        write_city(settings.parent, places)
        tables = (settings.parent / "world.toml").read_text()
        (settings.parent / "graph.toml").write_text(tables)
        (settings.parent / "world.toml").write_text(f"{tables}graph = false\n")
    return settings


def _days(world: World, count: int = _DAYS) -> list[ew.Trajectory]:
    """Made-up days on a world."""
    ids = world.places.ids
    rows = prior_days(world, "cost curves", count).rows()
    return [
        ew.Trajectory(zip((ids[at] for at in places), times, strict=True)) for places, times in rows if places
    ]


def _warm(folder: Path) -> World:
    """A small city's world: compiled loops are loaded once, for all that follows."""
    world = ew.build_world(_city(folder, 50, graph=True))
    _days(world, 10)
    return world


def build(places: int, folder: Path) -> dict[str, float]:
    """A world without the region graph."""
    _warm(folder)
    settings = _city(folder, places)
    world, built = _seconds(lambda: ew.build_world(settings))
    path = settings.with_suffix(".world")
    _, saved = _seconds(lambda: world.save(path))
    return {
        "build_s": built,
        "save_s": saved,
        "file_mb": path.stat().st_size / 1e6,
        "regions": len(world.regions),
    }


def _loaded(folder: Path, places: int) -> tuple[World, float]:
    path = _city(folder, places).with_suffix(".world")
    if not path.exists():
        ew.build_world(_city(folder, places)).save(path)
    return _seconds(lambda: World.load(path))


def ngram(places: int, folder: Path) -> dict[str, float]:
    """What the region graph adds: its bits, and sharing with `ngram`."""
    ew.method("ngram", _warm(folder), epsilon=EPSILON).share_batch(_days(_warm(folder), 10))
    world, built = _seconds(lambda: ew.build_world(_city(folder, places, graph=True)))
    path = _city(folder, places).with_name("graph.world")
    world.save(path)
    method, days = ew.method("ngram", world, epsilon=EPSILON), _days(world)
    for length in sorted({len(day) for day in days}):
        method.prepare(length)
    method.share_batch(days[:20])
    _, shared = _seconds(lambda: method.share_batch(days))
    return {
        "build_s": built,
        "file_mb": path.stat().st_size / 1e6,
        "graph_mb": world.graph.words.nbytes / 1e6,
        "regions": len(world.regions),
        "ms": 1e3 * shared / len(days),
    }


def codebook(places: int, folder: Path) -> dict[str, float]:
    """Sharing with `codebook`: the first day of a device, and each of many."""
    small = _warm(folder)
    Sharing(Codebook(small, epsilon=EPSILON, candidates=64)).share_batch(_days(small, 10))
    world, loaded = _loaded(folder, places)
    core = Codebook(world, epsilon=EPSILON, shards=4)
    method, days = Sharing(core), _days(world)
    _, prepared = _seconds(lambda: method.prepare(1))
    core.prepare_many(1)
    method.share_batch(days[:20])
    _, shared = _seconds(lambda: method.share_batch(days))
    method.share(days[0])
    _, one = _seconds(lambda: [method.share(day) for day in days[:_ONE_BY_ONE]])
    return {
        "load_s": loaded,
        "prepare_s": prepared,
        "ms": 1e3 * shared / len(days),
        "one_ms": 1e3 * one / _ONE_BY_ONE,
    }


def answer(places: int, folder: Path) -> dict[str, float]:
    """A survey of one question: made once, loaded and answered on each device."""
    _answer_alone(_asking(_warm(folder), 1), _days(_warm(folder), 10))
    world, _ = _loaded(folder, places)
    survey, made = _seconds(lambda: _asking(world, 1))
    path = _city(folder, places).with_suffix(".survey")
    ew.save_survey(survey, path)
    survey, loaded = _seconds(lambda: ew.load_survey(path))
    ms = _answer_alone(survey, _days(world, 50))
    return {"create_s": made, "load_s": loaded, "one_ms": ms, "file_mb": path.stat().st_size / 1e6}


def _asking(world: World, questions: int) -> Survey:
    share = Fraction(1, questions)
    asked = [(question_of(kind, options), share) for kind, options in KINDS[:questions]]
    return make_survey(world, Terms(epsilon=Fraction(EPSILON)), asked)


def _answer_alone(survey: Survey, days: list[ew.Trajectory]) -> float:
    """Milliseconds for one day with constant work."""
    answering = Answering(survey)
    secrets = [answering.secret(day) for day in days]

    def one_by_one() -> None:
        for secret in secrets:
            answering.answer([secret], SystemRandomness(), constant_work=True)

    one_by_one()
    return 1e3 * _seconds(one_by_one)[1] / len(secrets)


def _reports(survey: Survey, path: Path, count: int) -> None:
    """Made-up reports of so many people, a million at a time; days come again, ids do not."""
    answering, name = Answering(survey), survey_hash(survey)
    secrets = [answering.secret(day) for day in _days(survey.world, min(count, _DIFFERENT))]
    found, _ = answering.answer(secrets, SystemRandomness(), constant_work=False)
    parts = []
    for start in range(0, count, _PIECE):
        rows = np.arange(start, min(start + _PIECE, count)) % len(found)
        ids = pl.Series([os.urandom(16) for _ in rows], dtype=pl.Binary).bin.encode("hex")
        frame = pl.DataFrame(
            {
                "survey": pl.repeat(name, len(rows), dtype=pl.String, eager=True),
                "id": ids,
                "question": found[rows, 0],
                "day": pl.repeat(_DAY, len(rows), dtype=pl.Date, eager=True),
                "seed": found[rows, 1],
                "output": found[rows, 2],
            }
        ).cast(SCHEMA)  # type: ignore[arg-type]  # names and types
        parts.append(path.with_name(f"{path.stem}-{start}.parquet"))
        write_reports(parts[-1], frame, randomness="made up")
    write_reports_of_files(path, parts, randomness="made up")
    for part in parts:
        part.unlink()


def reports(people: int, folder: Path) -> dict[str, float]:
    """No curve: the reports that `estimate` reads, made in a process of their own."""
    world, _ = _loaded(folder, _PLACES)
    survey = _asking(world, 1)
    ew.save_survey(survey, folder / f"people-{people}.survey")
    _reports(survey, folder / f"people-{people}.parquet", people)
    return {}


def estimate(people: int, folder: Path) -> dict[str, float]:
    """Estimating from a file of reports to one question."""
    path = folder / f"people-{people}.parquet"
    if not path.exists():
        program = [sys.executable, __file__, "reports", str(people), str(folder)]
        subprocess.run(program, check=True, capture_output=True)  # noqa: S603 - our own script
    survey = ew.load_survey(path.with_suffix(".survey"))
    found, seconds = _seconds(lambda: ew.estimate(survey, path))
    file_mb = path.stat().st_size / 1e6
    path.unlink()  # hundreds of megabytes
    return {"estimate_s": seconds, "reports": found.reports, "tau": found.tau, "file_mb": file_mb}


def _file_of_days(folder: Path, visits: int) -> tuple[Path, World]:
    """A file of so many visits, whole days of a city's people again and again under other ids."""
    city, path = folder / "people", folder / f"visits-{visits}.csv"
    _, world, days = city_with_days(city, _PLACES)
    world.save(city / "city.world")
    left, person = visits, 0
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["uid", "datetime", "place_id"])
        while left > 0:
            for place_id, step in days[person % len(days)].visits:
                moment = f"{_DAY}T{step // 6:02d}:{step % 6 * 10:02d}:00"
                writer.writerow([f"u{person:08d}", moment, place_id])
                left -= 1
            person += 1
    return path, world


def _perturbed(visits: int, folder: Path, name: str) -> dict[str, float]:
    path, _ = _file_of_days(folder, visits)
    out = path.with_name(f"{name}-{visits}.csv")
    out.unlink(missing_ok=True)
    arguments = ["perturb", path, "-w", folder / "people/city.world", "-o", out, "-e", EPSILON, "-m", name]
    _, seconds = _seconds(lambda: app([str(part) for part in arguments], standalone_mode=False))
    path.unlink()
    return {"seconds": seconds}


def perturb_codebook(visits: int, folder: Path) -> dict[str, float]:
    """`elsewhere perturb` with `codebook`, one thread."""
    return _perturbed(visits, folder, "codebook")


def perturb_ngram(visits: int, folder: Path) -> dict[str, float]:
    """`elsewhere perturb` with `ngram`, one thread."""
    return _perturbed(visits, folder, "ngram")


def simulate(visits: int, folder: Path) -> dict[str, float]:
    """`elsewhere survey simulate`: a report for each day of a file."""
    path, world = _file_of_days(folder, visits)
    survey, out = path.with_suffix(".survey"), path.with_suffix(".parquet")
    ew.save_survey(_asking(world, 1), survey)
    out.unlink(missing_ok=True)
    arguments = ["survey", "simulate", survey, path, "-o", out]
    _, seconds = _seconds(lambda: app([str(part) for part in arguments], standalone_mode=False))
    path.unlink()
    return {"seconds": seconds}


def questions(count: int, folder: Path) -> dict[str, float]:
    """A survey of so many kinds of question: made, answered, and estimated from 100,000 reports."""
    _answer_alone(_asking(_warm(folder), 7), _days(_warm(folder), 10))
    world, _ = _loaded(folder, _PLACES)
    survey, made = _seconds(lambda: _asking(world, count))
    ms = _answer_alone(survey, _days(world))
    path = folder / f"questions-{count}.parquet"
    _reports(survey, path, _ANSWERS)
    _, seconds = _seconds(lambda: ew.estimate(survey, path))
    return {"create_s": made, "one_ms": ms, "estimate_s": seconds}


POINTS: dict[str, Callable[[int, Path], dict[str, float]]] = {
    point.__name__: point
    for point in (
        build, ngram, codebook, answer, reports, estimate,
        perturb_codebook, perturb_ngram, simulate, questions,
    )
}  # fmt: skip


def main() -> None:
    curve, size, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    found = POINTS[curve](size, folder)
    found["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(found))


if __name__ == "__main__":
    main()
