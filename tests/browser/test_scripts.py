"""Scripts of pages are typed as the Python is: JSDoc, checked by TypeScript, strictly."""

from __future__ import annotations

import subprocess
from pathlib import Path

from chromium import missing
from elsewhere.pages import people
from scripts_of_pages import HERE, SCRIPTS

ROOT = Path(__file__).parents[2]
PEOPLE = tuple(name.removeprefix("scripts/") for name in people.SCRIPTS)


def test_typescript_finds_nothing_in_the_scripts() -> None:
    """`make .venv/.node` gets TypeScript from the package registry."""
    tsc = ROOT / ".venv/node/node_modules/.bin/tsc"
    if not tsc.exists():
        missing("there is no TypeScript: make .venv/.node, with npm")
    done = subprocess.run(  # noqa: S603 - ours
        [
            tsc, "--noEmit", "--allowJs", "--checkJs", "--strict", "--target", "es2022",
            "--lib", "es2022,dom,dom.iterable", HERE / "vendor.d.ts", SCRIPTS / "map.js",
            *(SCRIPTS / name for name in PEOPLE),
        ],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == ""
    assert done.returncode == 0


def test_every_script_of_the_people_is_checked() -> None:
    for name in PEOPLE:
        text = (SCRIPTS / name).read_text()
        assert text.startswith('// @ts-check\n"use strict";\n')
        assert max(map(len, text.splitlines())) <= 120
        assert len(text.splitlines()) <= 330
