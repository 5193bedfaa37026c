"""A collector in a process of its own, to be killed and started again."""

from __future__ import annotations

import http.client
import signal
import subprocess
import sys
import time
from pathlib import Path

from made_reports import free_port

_RUN = "from elsewhere.cli.main import run; run()"


class Running:
    """A collector in a process of its own."""

    def __init__(self, folder: Path, where: str, *options: str) -> None:
        self.port = free_port()
        self._command = [
            sys.executable, "-c", _RUN, "survey", "serve", str(folder / "s.survey"),
            "--store", where, "--port", str(self.port), "--token-file", str(folder / "s.token"),
            *options,
        ]  # fmt: skip
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # noqa: S603 - our own
        for _ in range(600):
            if self._answers():
                return
            assert self.process.poll() is None, self.process.stderr
            time.sleep(0.05)
        raise AssertionError("it does not start")

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=1)
        try:
            connection.request("GET", "/v1/ready")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def end(self, how: signal.Signals) -> str:
        """Returns what it wrote to standard error."""
        self.process.send_signal(how)
        _, error = self.process.communicate(timeout=30)
        return error.decode()
