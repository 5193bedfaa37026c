"""Many devices against a running collector: a rehearsal, and a load test.

Each connection stands for devices that come one after the other. What a collector cannot take now is sent
again, the same bytes, after the time that it asks for.
"""

from __future__ import annotations

import http.client
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from elsewhere.device.send import LATER, Receiver, connection_to, headers_with
from elsewhere.progress import Progress, no_progress
from elsewhere.survey.report import Report

CONNECTIONS = 16
_TRIES = 8
_LONGEST_WAIT = 65.0


@dataclass(slots=True, kw_only=True)
class Rehearsed:
    """What became of the reports, and how long each request took."""

    new: int = 0
    again: int = 0
    refused: Counter[int] = field(default_factory=Counter)
    """Reports that were not taken, by the status of the answer; 0: nobody answered."""
    retries: int = 0
    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    """Seconds, of each request that was answered."""

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "new": self.new,
            "again": self.again,
            "refused": {str(status): count for status, count in sorted(self.refused.items())},
            "retries": self.retries,
            "seconds": round(self.seconds, 3),
            "reports_per_second": round((self.new + self.again) / max(self.seconds, 1e-9), 1),
            "milliseconds": self.percentiles(),
        }

    def percentiles(self) -> dict[str, float]:
        """How long requests took, in milliseconds."""
        if not self.latencies:
            return {}
        found = np.percentile(self.latencies, [50, 95, 99, 100]) * 1000
        return {
            name: round(float(value), 2)
            for name, value in zip(("p50", "p95", "p99", "max"), found, strict=True)
        }


def rehearse(
    receiver: Receiver,
    reports: Sequence[Report],
    *,
    codes: Sequence[str] | None = None,
    connections: int = CONNECTIONS,
    batch: int = 1,
    rate: float | None = None,
    progress: Progress = no_progress,
) -> Rehearsed:
    """Hand in reports over many connections; with ``rate``, so many in a second, at most."""
    crowd = _Crowd(receiver, reports, codes, 1 if codes else batch, rate, progress)
    with ThreadPoolExecutor(connections) as pool:
        for done in [pool.submit(crowd.take_part) for _ in range(connections)]:
            done.result()
    crowd.found.seconds = time.perf_counter() - crowd.started
    return crowd.found


class _Crowd:
    """Devices that take the next reports from a common pile."""

    def __init__(
        self,
        receiver: Receiver,
        reports: Sequence[Report],
        codes: Sequence[str] | None,
        batch: int,
        rate: float | None,
        progress: Progress,
    ) -> None:
        self._receiver, self._reports, self._codes = receiver, reports, codes
        self._batch, self._rate, self._progress = batch, rate, progress
        self._lock, self._next = threading.Lock(), 0
        self.found, self.started = Rehearsed(), time.perf_counter()

    def take_part(self) -> None:
        """Send until nothing is left."""
        connection: http.client.HTTPConnection | None = None
        while (start := self._taken()) is not None:
            if self._rate is not None:
                time.sleep(max(0.0, self.started + start / self._rate - time.perf_counter()))
            connection = self._send(connection, start)
        if connection is not None:
            connection.close()

    def _taken(self) -> int | None:
        with self._lock:
            start, self._next = self._next, self._next + self._batch
        return start if start < len(self._reports) else None

    def _send(
        self, connection: http.client.HTTPConnection | None, start: int
    ) -> http.client.HTTPConnection | None:
        """Send some reports until they are taken or refused for good; returns the connection, if it lasts."""
        some = self._reports[start : start + self._batch]
        body = b"".join(report.to_bytes() for report in some)
        headers = headers_with(None if self._codes is None else self._codes[start])
        status, pause = 0, 0.0
        for number in range(_TRIES):
            time.sleep(pause)
            connection = connection or connection_to(self._receiver)
            began = time.perf_counter()
            try:
                connection.request("POST", f"{self._receiver.path}/v1/reports", body, headers)
                answer = connection.getresponse()
                answer.read()
            except (OSError, http.client.HTTPException):
                connection.close()
                connection, status, pause = None, 0, 0.1 * 2**number
                self._count(retries=1)
                continue
            status = answer.status
            self._count(latency=time.perf_counter() - began)
            if status not in LATER:
                break
            waits = answer.headers.get("Retry-After", "")
            pause = min(float(waits) if waits.isdecimal() else 0.1 * 2**number, _LONGEST_WAIT)
            self._count(retries=1)
        self._done(status, len(some))
        return connection

    def _count(self, *, retries: int = 0, latency: float | None = None) -> None:
        with self._lock:
            self.found.retries += retries
            if latency is not None:
                self.found.latencies.append(latency)

    def _done(self, status: int, count: int) -> None:
        with self._lock:
            if status == 201:
                self.found.new += count
            elif status == 200:
                self.found.again += count
            else:
                self.found.refused[status] += count
            sent = self.found.new + self.found.again + self.found.refused.total()
            self._progress(sent, len(self._reports))
