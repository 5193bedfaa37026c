"""A fuzzer on raw sockets: sends what it is given, reads every answer, and knows what must be kept."""

from __future__ import annotations

import json
import socket
import time
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from fuzzed_requests import Fuzzed, Requests, Told

_PATIENCE = 30.0
_A_WHILE = 0.3
_MOST_WAITING = 200
_MOST_TOGETHER = 6
_MOST_FINDINGS = 20


@dataclass(slots=True)
class Outcome:
    """What came of some requests."""

    requests: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    closed: int = 0
    """Requests after which the connection ended without an answer."""
    new: int = 0
    kept: dict[str, Told] = field(default_factory=dict)
    """Reports that were acknowledged as new."""
    maybe: dict[str, set[Told]] = field(default_factory=dict)
    """Reports that may be there: nobody answered, or it is unclear where a request ended."""
    findings: list[str] = field(default_factory=list)

    def add(self, other: Outcome) -> None:
        self.requests += other.requests
        self.statuses += other.statuses
        self.closed += other.closed
        self.new += other.new
        self.kept |= other.kept
        for name, told in other.maybe.items():
            self.maybe.setdefault(name, set()).update(told)
        self.findings = (self.findings + other.findings)[:_MOST_FINDINGS]


class ClosedError(Exception):
    """The other end is gone."""


class Answers:
    """Answers of one connection, one after the other."""

    def __init__(self, one: socket.socket) -> None:
        self._socket, self._data = one, b""
        self.is_last = False

    def next(self, *, is_head: bool) -> tuple[int, bytes]:
        """Status and body."""
        while True:
            head = self._until(b"\r\n\r\n").lower()
            status = int(head.split(b" ", 2)[1])
            if status >= 200:
                break
        self.is_last = b"\r\nconnection: close" in head
        if is_head or status in {204, 304}:
            return status, b""
        if b"\r\ntransfer-encoding: chunked" in head:
            return status, self._chunks()
        _, found, rest = head.partition(b"\r\ncontent-length: ")
        return status, self._exactly(int(rest.split(b"\r\n", 1)[0]) if found else 0)

    def _chunks(self) -> bytes:
        body = b""
        while size := int(self._until(b"\r\n"), 16):
            body += self._exactly(size + 2)[:-2]
        self._until(b"\r\n")
        return body

    def _until(self, mark: bytes) -> bytes:
        while (end := self._data.find(mark)) < 0:
            self._more()
        found, self._data = self._data[: end + len(mark)], self._data[end + len(mark) :]
        return found

    def _exactly(self, size: int) -> bytes:
        while len(self._data) < size:
            self._more()
        found, self._data = self._data[:size], self._data[size:]
        return found

    def _more(self) -> None:
        try:
            part = self._socket.recv(1 << 18)
        except (ConnectionError, BlockingIOError):
            part = b""
        if not part:
            raise ClosedError
        self._data += part


class Fuzzer:
    """Sends requests of a seed to a collector."""

    def __init__(self, port: int, requests: Requests) -> None:
        self._port, self._requests = port, requests
        self.outcome = Outcome()
        self._connection: tuple[socket.socket, Answers] | None = None
        self._waiting: deque[tuple[float, socket.socket, Fuzzed]] = deque()

    def run(self, count: int) -> Outcome:
        """So many requests."""
        framed: list[Fuzzed] = []
        for _ in range(count):
            one = self._requests.next()
            if one.is_framed:
                framed.append(one)
            else:
                self._throw(one)
            if len(framed) >= self._requests.chance.randint(1, _MOST_TOGETHER):
                self._together(framed)
                framed = []
        self._together(framed)
        while self._waiting:
            self._look()
        self._hang_up()
        self.outcome.requests += count
        return self.outcome

    def _connect(self) -> socket.socket:
        one = socket.create_connection(("127.0.0.1", self._port), timeout=_PATIENCE)
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return one

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection[0].close()
            self._connection = None

    def _together(self, some: Sequence[Fuzzed]) -> None:
        """Some at once on one connection, and all their answers."""
        if not some:
            return
        if self._connection is None:
            one = self._connect()
            self._connection = one, Answers(one)
        one, answers = self._connection
        answered = 0
        try:
            one.sendall(b"".join(request.raw for request in some))
            for request in some:
                self._judge(request, *answers.next(is_head=request.is_head))
                answered += 1
                if answers.is_last:
                    break
        except TimeoutError:
            self._find(some[answered], "no answer")
        except (ConnectionError, ClosedError):
            pass
        if answered < len(some) or answers.is_last:
            self._unanswered(some[answered:])

    def _unanswered(self, some: Sequence[Fuzzed]) -> None:
        self.outcome.closed += len(some)
        for request in some:
            self._may_be_kept(request)
        self._hang_up()

    def _may_be_kept(self, request: Fuzzed) -> None:
        for told in request.told:
            self.outcome.maybe.setdefault(told[0], set()).add(told)

    def _judge(self, request: Fuzzed, status: int, body: bytes) -> None:
        self._count(request, status)
        new = _new(status, body)
        self.outcome.new += new
        if not new:
            return
        expected = 0
        for told in request.told:
            if told[0] not in self.outcome.kept:
                self.outcome.kept[told[0]] = told
                expected += told[0] not in self.outcome.maybe
        if not expected <= new <= len(request.told):
            self._find(request, f"{new} new, not {expected}")

    def _count(self, request: Fuzzed, status: int) -> None:
        self.outcome.statuses[status] += 1
        is_good = 200 <= status < 300 or 400 <= status < 500 or status == 304
        if not is_good:
            self._find(request, f"status {status}")

    def _throw(self, request: Fuzzed) -> None:
        """On a connection of its own; what comes back is looked at in a while."""
        self._may_be_kept(request)
        one = self._connect()
        try:
            one.sendall(request.raw)
        except OSError:
            self.outcome.closed += 1
            one.close()
            return
        self._waiting.append((time.monotonic() + _A_WHILE, one, request))
        while self._waiting and (
            len(self._waiting) > _MOST_WAITING or self._waiting[0][0] < time.monotonic()
        ):
            self._look()

    def _look(self) -> None:
        due, one, request = self._waiting.popleft()
        time.sleep(max(0.0, due - time.monotonic()))
        one.setblocking(False)
        answers, before = Answers(one), self.outcome.statuses.total()
        try:
            while True:
                status, body = answers.next(is_head=request.raw.startswith(b"HEAD "))
                self._count(request, status)
                self.outcome.new += _new(status, body)
        except (ClosedError, ValueError, IndexError):
            self.outcome.closed += self.outcome.statuses.total() == before
        one.close()

    def _find(self, request: Fuzzed, problem: str) -> None:
        if len(self.outcome.findings) < _MOST_FINDINGS:
            self.outcome.findings.append(f"{problem}: {request.raw[:2000]!r}")


def _new(status: int, body: bytes) -> int:
    return int(json.loads(body).get("new", 0)) if status in {201, 409} else 0
