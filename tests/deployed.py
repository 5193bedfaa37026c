"""What `deploy/` says, read for tests: no Docker and no YAML library is needed."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
Lines = list[tuple[int, str]]


def compose() -> dict[str, Any]:
    """compose.yaml as a dictionary."""
    return dict(read_yaml((DEPLOY / "compose.yaml").read_text()))


def read_yaml(text: str) -> Any:
    """The plain part of YAML that compose.yaml keeps to; a test holds it against a real reader."""
    lines = [
        (len(line) - len(line.lstrip()), line.strip())
        for line in text.splitlines()
        if line.strip() and not line.strip().startswith("#")
    ]
    value, end = _block(lines, 0)
    assert end == len(lines), lines[end]
    return value


def _block(lines: Lines, start: int) -> tuple[Any, int]:
    """A mapping or a list that begins in a line, and the line after it."""
    indent, at = lines[start][0], start
    found: Any = [] if lines[start][1].startswith("- ") else {}
    while at < len(lines) and lines[at][0] == indent:
        text = lines[at][1]
        if isinstance(found, list):
            inner = text.removeprefix("- ")
            if re.match(r"[\w-]+:( |$)", inner):  # a mapping whose first key stands behind the dash
                lines[at] = (indent + 2, inner)
                value, at = _block(lines, at)
            else:
                value, at = _scalar(inner), at + 1
            found.append(value)
            continue
        match = re.fullmatch(r"([\w.-]+):\s*(.*)", text)
        assert match, text
        key, rest = match.groups()
        assert key not in found, f"{key} is there twice"
        if rest:
            found[key], at = _scalar(rest), at + 1
        else:
            found[key], at = _block(lines, at + 1)
    return found, at


def _scalar(text: str) -> Any:
    return json.loads(text) if text[0] in '"[{' or text.isdigit() or text in {"true", "false"} else text


def dockerfile() -> list[tuple[str, str]]:
    """Instructions of the Dockerfile with what they are given, in order."""
    text = (DEPLOY / "Dockerfile").read_text()
    plain = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    lines = re.sub(r"\\\n\s*", "", plain).splitlines()
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in lines if line.strip()]


def given(instruction: str) -> str:
    """What the last such instruction of the Dockerfile says."""
    return [rest for name, rest in dockerfile() if name == instruction][-1]


def unit() -> dict[str, list[str]]:
    """Settings of the systemd unit, each with all its values."""
    text = (DEPLOY / "elsewhere-collector.service").read_text().replace("\\\n", " ")
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line and line[0] not in "#[":
            key, _, value = line.partition("=")
            found.setdefault(key, []).append(value)
    return found


def unit_environment() -> dict[str, str]:
    """Environment variables of the systemd unit."""
    pairs = (entry.partition("=") for entry in unit()["Environment"])
    return {name: value for name, _, value in pairs}


def command_lines() -> dict[str, list[str]]:
    """Each command line that `deploy/` starts a collector with, by where it stands."""
    (start,) = unit()["ExecStart"]
    for name, value in unit_environment().items():
        start = start.replace(f"${{{name}}}", value)
    entry = json.loads(given("ENTRYPOINT"))
    return {
        "Dockerfile": entry + json.loads(given("CMD")),
        "compose.yaml": entry + compose()["services"]["collector"]["command"],
        "elsewhere-collector.service": shlex.split(start),
    }
