"""Scripts of pages are typed as the Python is: JSDoc, checked by TypeScript, strictly."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from elsewhere.pages import people
from missing_parts import missing
from scripts_of_pages import HERE, SCRIPTS

ROOT = Path(__file__).parents[2]
# What runs together in a page: scripts share their names.
PAGES = {
    "people": people.SCRIPTS,
    "results": ("scripts/results.js", "scripts/downloads.js", "scripts/results_page.js"),
    "sides": ("scripts/sides.js",),
    "world": ("scripts/world.js",),
}


@pytest.mark.parametrize("name", PAGES)
def test_typescript_finds_nothing_in_the_scripts(name: str) -> None:
    """`make .venv/.node` gets TypeScript from the package registry."""
    tsc = ROOT / ".venv/node/node_modules/.bin/tsc"
    if not tsc.exists():
        missing("there is no TypeScript: make .venv/.node, with npm")
    done = subprocess.run(  # noqa: S603 - ours
        [
            tsc, "--noEmit", "--allowJs", "--checkJs", "--strict", "--target", "es2022",
            "--lib", "es2022,dom,dom.iterable", HERE / "vendor.d.ts", SCRIPTS / "map.js",
            SCRIPTS / "controls.js",
            *(SCRIPTS.parent / script for script in PAGES[name]),
        ],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == ""
    assert done.returncode == 0


def test_every_script_is_checked_and_fits() -> None:
    listed = {
        "map.js",
        "controls.js",
        *(script.removeprefix("scripts/") for scripts in PAGES.values() for script in scripts),
    }
    assert listed == {path.name for path in SCRIPTS.glob("*.js")}
    for name in listed:
        text = (SCRIPTS / name).read_text()
        assert text.startswith('// @ts-check\n"use strict";\n')
        assert max(map(len, text.splitlines())) <= 120
        assert len(text.splitlines()) <= 335
