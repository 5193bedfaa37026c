"""A collector in a process of its own, to be killed and started again."""

from __future__ import annotations

import atexit
import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import IO

from made_reports import free_port

_RUN = "from elsewhere.cli.main import run; run()"
_PATIENCE = 30.0
_NURSERY = """
import json, os, signal, sys
import elsewhere.collector.results, elsewhere.collector.serve, elsewhere.pages.people, uvicorn.lifespan.on
from elsewhere.cli.main import run
children = set()
def ended(*_):
    children.difference_update([child for child in children if os.waitpid(child, os.WNOHANG)[0]])
signal.signal(signal.SIGCHLD, ended)
for line in sys.stdin:
    if not (child := os.fork()):
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        given = json.loads(line)
        for stream, name in ((0, os.devnull), (1, os.devnull), (2, given["errors"])):
            os.dup2(os.open(name, os.O_RDWR | os.O_APPEND | os.O_CREAT), stream)
        sys.argv = ["elsewhere", *given["arguments"]]
        exec(given["first"])
        run()
        os._exit(0)
    children.add(child)
    print(child, flush=True)
"""


class Running:
    """A collector in a process of its own; ``first`` is Python that runs in it before all else."""

    def __init__(self, folder: Path, where: str, *options: str, first: str = "") -> None:
        self.port = free_port()
        self.token_file = folder / "s.token"
        self.arguments = [
            "survey", "serve", str(folder / "s.survey"), "--store", where, "--port", str(self.port),
            "--token-file", str(self.token_file), *options,
        ]  # fmt: skip
        self._code = f"{first}\n{_RUN}"
        self.start()

    @property
    def pid(self) -> int:
        return self.process.pid

    def start(self) -> None:
        # A file: who writes to a pipe that nobody reads comes to a stop.
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed when it ends
        self.process = subprocess.Popen(  # noqa: S603 - our own
            [sys.executable, "-c", self._code, *self.arguments],
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
        )
        self._wait_until_ready()

    def _wait_until_ready(self) -> None:
        end = time.monotonic() + _PATIENCE
        while not self._answers():
            assert self.is_alive(), self.errors()
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                raise AssertionError("it does not start")
            time.sleep(0.01)

    def is_alive(self) -> bool:
        return self.process.poll() is None

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=1)
        try:
            connection.request("GET", "/v1/ready")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def errors(self) -> str:
        """What it has written to standard error."""
        self._errors.seek(0)
        return self._errors.read().decode()

    def end(self, how: signal.Signals) -> str:
        """Returns what it wrote to standard error."""
        self.process.send_signal(how)
        self.process.wait(timeout=_PATIENCE)
        written = self.errors()
        self._errors.close()
        return written


class Forked(Running):
    """The same, forked from a process that has loaded everything: most of a start is loading."""

    def __init__(self, folder: Path, where: str, *options: str, first: str = "") -> None:
        self._first = first
        super().__init__(folder, where, *options)

    @property
    def pid(self) -> int:
        return self._child

    def start(self) -> None:
        descriptor, name = tempfile.mkstemp()
        os.close(descriptor)
        self._written = Path(name)
        told = {"arguments": self.arguments, "first": self._first, "errors": name}
        self._child = _nursery().fork(json.dumps(told))
        self._wait_until_ready()

    def is_alive(self) -> bool:
        try:
            os.kill(self._child, 0)
        except ProcessLookupError:
            return False
        return True

    def errors(self) -> str:
        return self._written.read_text()

    def end(self, how: signal.Signals) -> str:
        os.kill(self._child, how)
        end = time.monotonic() + _PATIENCE
        while self.is_alive():
            assert time.monotonic() < end, "it does not end"
            time.sleep(0.002)
        written = self.errors()
        self._written.unlink()
        return written


class _Nursery:
    """A process that has loaded everything, and forks."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own
            [sys.executable, "-c", _NURSERY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        atexit.register(self._process.communicate)

    def fork(self, line: str) -> int:
        """Returns the new process's number."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


@cache
def _nursery() -> _Nursery:
    return _Nursery()
