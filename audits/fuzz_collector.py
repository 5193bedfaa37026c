"""`make audit`: a running collector under a million wrong requests.

Each is answered with 2xx or 4xx, or its connection ends; never 5xx. The store holds what was acknowledged and
nothing else, nothing is written to standard error, and memory does not grow.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from elsewhere.cli.console import progress_bar
from elsewhere.collector.store import Store
from elsewhere.survey.file import save_survey, survey_hash
from elsewhere.survey.report import FIRST_DAY
from elsewhere.survey.survey import Survey
from fuzzed_requests import Requests, Told
from fuzzing import Fuzzer, Outcome
from made_reports import PERIOD
from made_surveys import six_places, survey_of
from running import Running

REQUESTS = 1_000_000
_DESCRIBED = 3000
"""Examples of each operation that its description leads to."""
_BATCH = 5000
_WORKERS = 2
_MOST_GROWTH = 32 << 20
"""Of memory that is held, in the second half. An export takes as much as there are reports, and what it gave
back the allocator may keep: the system's number alone would say how large the store is."""
_TRIM = """
import ctypes, gc, signal
def trim(*_):
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
signal.signal(signal.SIGUSR1, trim)
"""
_OPTIONS = ("--limit", "1000000000", "--proxy", "127.0.0.1")
_PROGRAMS = str(Path(__file__).parents[1] / ".venv/fuzz/bin")
"""Schemathesis has an environment of its own: beside pytest it would be a part of every test run."""
Summary = dict[str, Any]


def fuzzed(port: int, survey: str, token: str, seed: int, count: int) -> Outcome:
    """What comes of so many requests of a seed."""
    return Fuzzer(port, Requests(seed, survey, token)).run(count)


def batches(running: Running, survey: str, seed: int, count: int) -> Iterator[tuple[Outcome, int]]:
    """Outcomes of batches, each of a seed of its own, and the collector's memory after each."""
    token = running.token_file.read_text().strip()
    sizes = [_BATCH] * (count // _BATCH) + ([count % _BATCH] if count % _BATCH else [])
    with ProcessPoolExecutor(_WORKERS, get_context("spawn")) as pool:
        given = [
            pool.submit(fuzzed, running.port, survey, token, seed * 1_000_000 + number, size)
            for number, size in enumerate(sizes)
        ]
        for one in given:
            yield one.result(), memory(running.pid)


def memory(pid: int) -> int:
    """Bytes that a process holds now."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) << 10
    return 0


def held(pid: int) -> int:
    """Bytes that it still holds when it has given back whatever it can."""
    os.kill(pid, signal.SIGUSR1)
    time.sleep(3)
    return memory(pid)


def kept_in(where: str, survey: Survey) -> dict[str, Told]:
    """What a store has."""
    store = Store(where, survey)
    rows = store.frame().rows(named=True)
    store.close()
    days = {row["id"]: (row["day"] - FIRST_DAY).days for row in rows}
    return {
        row["id"]: (row["id"], row["question"], days[row["id"]], row["seed"], row["output"]) for row in rows
    }


def differences(outcome: Outcome, kept: dict[str, Told]) -> dict[str, int]:
    """Where a store and what was acknowledged disagree: all must be 0."""
    never = sum(
        told != outcome.kept.get(name) and told not in outcome.maybe.get(name, set())
        for name, told in kept.items()
    )
    unsure = len(outcome.maybe.keys() & kept.keys())
    return {
        "acknowledged, not kept": len(outcome.kept.keys() - kept.keys()),
        "kept, never acknowledged": never,
        "kept beyond those counted": max(0, len(kept) - outcome.new - unsure),
        "counted beyond those kept": max(0, outcome.new - len(kept)),
    }


def described(folder: Path, examples: int, seed: int) -> Summary:
    """Requests that Schemathesis makes of what a collector says of itself; none where it is not."""
    program = shutil.which("schemathesis", path=os.pathsep.join([_PROGRAMS, os.environ.get("PATH", "")]))
    if examples == 0 or program is None:
        return {"requests": 0, "failures": 0, "note": "Schemathesis is not installed, or not wanted"}
    running = Running(folder, str(folder / "described.db"), *_OPTIONS)
    token = running.token_file.read_text().strip()
    command = [
        program, "run", f"http://127.0.0.1:{running.port}/openapi.json", "--checks", "all",
        # That bytes must begin with "ew" is more than a schema can say.
        "--exclude-checks", "positive_data_acceptance", "--max-examples", str(examples), "--seed", str(seed),
        "--phases", "examples,coverage,fuzzing", "--mode", "all", "--continue-on-failure", "--no-color",
        "--header", f"Authorization: Bearer {token}", "--suppress-health-check", "all",
        "--generation-database", "none",
    ]  # fmt: skip
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    found = subprocess.run(command, capture_output=True, text=True, check=False, env=alone, cwd=folder)  # noqa: S603
    counted = re.search(r"([\d,]+) generated", found.stdout)
    written = running.end(signal.SIGTERM)
    is_fine = found.returncode == 0 and written == ""
    return {
        "requests": int(counted[1].replace(",", "")) if counted else 0,
        "failures": int(not is_fine),
        "note": "" if is_fine else found.stdout[-3000:] + found.stderr[-1000:] + written[-1000:],
    }


def fuzz(folder: Path, *, requests: int, seed: int, examples: int) -> Summary:
    """All of it, against a collector in a process of its own."""
    (folder / "world").mkdir()
    survey = survey_of(
        six_places(folder / "world"), ("presence", "1/2", {"grid": 2}), ("visits", "1/2", {}), period=PERIOD
    )
    save_survey(survey, folder / "s.survey")
    where, start = str(folder / "r.db"), time.monotonic()
    by_description = described(folder, examples, seed)
    start_of_raw = time.monotonic()
    running, total = Running(folder, where, *_OPTIONS, first=_TRIM), Outcome()
    sizes, half = list[int](), 0
    with progress_bar("Fuzzing") as progress:
        for number, (outcome, size) in enumerate(batches(running, survey_hash(survey), seed, requests)):
            total.add(outcome)
            sizes.append(size)
            progress(total.requests, requests)
            _log(total, requests, number, start_of_raw)
            if not half and total.requests >= requests / 2:
                half = held(running.pid)
    wrong = differences(total, kept_in(where, survey))
    at_the_end, written = held(running.pid), running.end(signal.SIGTERM)
    return {
        "seed": seed,
        "requests": total.requests + by_description["requests"],
        "seconds": round(time.monotonic() - start),
        "statuses": {str(status): count for status, count in sorted(total.statuses.items())},
        "closed without an answer": total.closed,
        "acknowledged as new": total.new,
        **wrong,
        "by description": by_description,
        "memory after the first batch": sizes[0],
        "memory at most": max(sizes),
        "memory held at half": half,
        "memory held at the end": at_the_end,
        "memory, ten times": sizes[:: max(1, len(sizes) // 10)],
        "standard error": written[:3000],
        "tracebacks": written.count("Traceback"),
        "findings": total.findings,
    }


def _log(total: Outcome, requests: int, number: int, start: float) -> None:
    """For those who look into a file: how far it is, and how long it will take."""
    if number % 10 == 0 and not sys.stderr.isatty():
        left = (time.monotonic() - start) * (requests - total.requests) / max(1, total.requests)
        print(f"{total.requests:,} of {requests:,} requests, {left:.0f} s left", flush=True)


def is_good(summary: Summary) -> bool:
    """Whether nothing was found."""
    differ = [
        value for name, value in summary.items() if name.startswith(("acknowledged, ", "kept", "counted"))
    ]
    growth = summary["memory held at the end"] - summary["memory held at half"]
    return (
        not summary["findings"]
        and not any(differ)
        and summary["by description"]["failures"] == 0
        and summary["standard error"] == ""
        and growth < _MOST_GROWTH
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=REQUESTS)
    parser.add_argument("--examples", type=int, default=_DESCRIBED)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        summary = fuzz(Path(folder), requests=given.requests, seed=given.seed, examples=given.examples)
    text = json.dumps(summary, indent=2)
    print(text)
    if given.json:
        given.json.write_text(text)
    print("Nothing found." if is_good(summary) else "SOMETHING WAS FOUND.")
    return 0 if is_good(summary) else 1


if __name__ == "__main__":
    sys.exit(main())
