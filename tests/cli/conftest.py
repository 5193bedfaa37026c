"""Commands as tests run them."""

from __future__ import annotations

import sys

import pytest

from commands import Command
from elsewhere.cli.main import run


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """Run a command in this process; exit code, standard output, standard error."""

    def command(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["elsewhere", *map(str, arguments)])
        code = 0
        try:
            run()
        except SystemExit as stop:
            code = int(stop.code or 0)
        output = capfd.readouterr()
        return code, output.out, output.err

    return command
