"""What the documents show is run here, as written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from elsewhere.world.settings import WorldSettings
from elsewhere.world.toml import parse_config

ROOT = Path(__file__).parents[2]
COMMANDS = (
    "demo",
    "evaluate",
    "experiment",
    "audit",
    "dataset campus",
    "dataset foursquare",
    "dataset osm",
    "dataset personal",
    "dataset safegraph",
    "dataset taxi",
    "ledger show",
    "perturb",
    "plan",
    "share",
    "world build",
    "world show",
    "world update",
)


DOCUMENTS = [
    "README.md",
    "docs/data.md",
    "docs/methods.md",
    "docs/privacy.md",
    "docs/results.md",
    "docs/sharing.md",
    "docs/worlds.md",
]


def _blocks(document: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / document).read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_examples_run_in_the_order_shown(tmp_path: Path, document: str) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shell = [block for block in _blocks(document, "sh") if "make" not in block]
    programs = _blocks(document, "python")
    assert shell
    assert programs
    for arguments in [["bash", "-e", "-c", block] for block in shell] + [
        [sys.executable, "-W", "error", "-c", program] for program in programs
    ]:
        done = subprocess.run(  # noqa: S603 - our own documents
            arguments,
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr


def test_every_setting_is_documented_with_its_default(tmp_path: Path) -> None:
    block = next(block for block in _blocks("docs/worlds.md", "toml") if "places =" in block)
    values = tomllib.loads(block)
    documented = parse_config(values, folder=tmp_path, source="docs").settings
    assert documented.model_copy(update={"timezone": "UTC"}) == WorldSettings()
    short = {"speed_kmh": "travel", "grid": "space"}
    assert {short.get(key, key) for key in values} - {"places", "categories"} == set(
        WorldSettings.model_fields
    )


def test_every_command_is_documented() -> None:
    text = "".join((ROOT / name).read_text().replace("\n", " ") for name in DOCUMENTS)
    for command in COMMANDS[1:]:
        assert f"elsewhere {command}" in text
    assert "make demo" in text


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    named = [re.split(r"[>=\[]", entry)[0] for group in [project["dependencies"], *extras] for entry in group]
    design = (ROOT / "docs/design.md").read_text()
    assert [name for name in named if name != "elsewhere" and name not in design] == []
