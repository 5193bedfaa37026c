"""Clients that are slow, silent, many, or do not read: nobody waits for them, nobody is kept out by them."""

from __future__ import annotations

import http.client
import resource
import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

import pytest

from elsewhere.collector.app import Collector
from elsewhere.collector.connections import Connection
from elsewhere.collector.requests import BYTES, body_in
from elsewhere.collector.serve import _MOST_CONNECTIONS, _most_connections, bound_socket, server
from elsewhere.collector.store import Store
from elsewhere.survey.file import save_survey
from elsewhere.survey.report import Report
from elsewhere.survey.survey import Survey
from made_reports import free_port, some_reports
from running import Forked

_HEAD = b"POST /v1/reports HTTP/1.1\r\nHost: here\r\nContent-Type: application/octet-stream\r\n"
_SMALL = 1 << 14


@pytest.fixture
def port(tmp_path: Path, survey: Survey, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A collector of little patience."""
    monkeypatch.setattr(Connection, "patience", 0.6)
    monkeypatch.setattr("elsewhere.collector.app.body_in", partial(body_in, patience=0.3))
    made = Collector(store=Store(str(tmp_path / "r.db"), survey), token="t" * 16)
    bound = bound_socket("127.0.0.1", port := free_port())
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SMALL)  # what nobody reads is soon noticed
    running = server(made, "127.0.0.1", port)
    thread = threading.Thread(target=running.run, args=([bound],))
    thread.start()
    while not running.started:
        time.sleep(0.01)
    yield port
    running.should_exit = True
    thread.join()


def _hand_in(port: int, report: Report) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("POST", "/v1/reports", report.to_bytes(), {"Content-Type": BYTES})
    status = connection.getresponse().status
    connection.close()
    return status


_SLOW = {
    "silent": (b"", b"", b""),
    "half a line": (b"GET /v1/hea", b"", b""),
    "slow head": (_HEAD + b"X: ", b"x", b""),
    "no body": (_HEAD + b"Content-Length: 63\r\n\r\n", b"", b" 408 "),
    "too large": (_HEAD + b"Content-Length: 999999\r\n\r\n", b"x", b" 413 "),
    "slow body": (_HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n", b" 408 "),
}
"""What comes first, what comes now and then, and what is said before the connection ends."""


def _answer_to(one: socket.socket, byte: bytes) -> bytes:
    """What comes back while somebody sends a byte now and then, until the other end has had enough."""
    answer, end = b"", time.monotonic() + 10
    one.settimeout(0.05)
    while time.monotonic() < end:
        try:
            one.sendall(byte)
            if not (part := one.recv(1 << 16)):
                return answer
            answer += part
        except TimeoutError:
            continue
        except OSError:
            return answer
    raise AssertionError("it waits for ever")


def test_nobody_waits_for_who_is_slow(port: int, survey: Survey) -> None:
    with ExitStack() as stack:
        slow = {name: stack.enter_context(socket.create_connection(("127.0.0.1", port))) for name in _SLOW}
        for name, one in slow.items():
            one.sendall(_SLOW[name][0])
        pool = stack.enter_context(ThreadPoolExecutor(len(_SLOW)))
        answers = {name: pool.submit(_answer_to, one, _SLOW[name][1]) for name, one in slow.items()}
        for report in some_reports(survey, 20):
            assert _hand_in(port, report) == 201
        for name, answer in answers.items():
            said = answer.result()
            assert _SLOW[name][2] in said, name
            assert bool(said) == bool(_SLOW[name][2]), name


def test_who_does_not_read_is_let_go_and_who_reads_slowly_is_not(port: int) -> None:
    asked, times = b"GET /openapi.json HTTP/1.1\r\nHost: here\r\n\r\n", 100
    with socket.socket() as deaf, socket.socket() as slow:
        for one in (deaf, slow):
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SMALL)
            one.connect(("127.0.0.1", port))
            one.sendall(asked * times)
        answers = b""
        while answers.count(b" 200 OK") < times:
            time.sleep(0.01)
            part = slow.recv(_SMALL // 2)
            assert part, "it was let go while it read"
            answers += part
        deaf.settimeout(10)
        rest = b""
        with suppress(ConnectionResetError):
            while part := deaf.recv(1 << 20):
                rest += part
        assert rest.count(b" 200 OK") < times


def test_what_is_no_http_is_not_logged(tmp_path: Path, survey: Survey) -> None:
    """Before an answer, in words to who asked for none (HEAD), and after the answer was given."""
    save_survey(survey, tmp_path / "s.survey")
    running = Forked(tmp_path, str(tmp_path / "r.db"))
    for asked in (b"GET /v1/ready", b"HEAD /v1/ready", b"POST /v1/none", b"POST /v1/reports"):
        with socket.create_connection(("127.0.0.1", running.port), timeout=10) as one:
            one.sendall(asked + b" HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n")
            if asked.startswith(b"POST"):
                assert b" 4" in one.recv(20)
                one.sendall(b"zz\r\n")
            else:
                one.sendall(b"zz\r\n")
                one.recv(20)
            while one.recv(1 << 16):
                pass
    assert running.end(signal.SIGTERM) == ""


def test_two_thousand_idle_connections_keep_nobody_out(tmp_path: Path, survey: Survey) -> None:
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_CONNECTIONS + 500
    if most != resource.RLIM_INFINITY and most < wanted + 100:
        pytest.skip("so many files may not be open here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(files, wanted + 100), most))
    save_survey(survey, tmp_path / "s.survey")
    running = Forked(tmp_path, str(tmp_path / "r.db"))
    with ExitStack() as stack:
        for number in range(wanted):
            one = stack.enter_context(socket.create_connection(("127.0.0.1", running.port)))
            if number % 2:
                one.sendall(_HEAD)
        statuses = [_hand_in(running.port, report) for report in some_reports(survey, 20)]
    assert running.end(signal.SIGTERM) == ""
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))
    assert statuses == [201] * 20


@pytest.mark.parametrize(
    ("files", "most", "expected"),
    [(1024, 4096, _MOST_CONNECTIONS), (256, 1024, 824), (100, 150, 1), (-1, -1, _MOST_CONNECTIONS)],
)
def test_as_many_connections_as_files_may_be_open(
    monkeypatch: pytest.MonkeyPatch, files: int, most: int, expected: int
) -> None:
    changed = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (files, most))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: changed.append(limits))
    assert _most_connections() == expected
    assert changed == ([] if files == -1 else [(min(_MOST_CONNECTIONS + 200, most), most)])
