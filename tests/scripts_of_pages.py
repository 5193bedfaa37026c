"""Scripts of pages in Node and in Chromium, for tests that hold them against Python."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import elsewhere

SCRIPTS = Path(elsewhere.__file__).parent / "pages" / "scripts"
HERE = Path(__file__).parent / "browser"
_CHROMIUM = (
    "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
)  # fmt: skip


def without(what: str) -> None:
    """Skip a test for want of something, unless nothing may be skipped."""
    if os.environ.get("ELSEWHERE_NO_SKIPS"):
        pytest.fail(f"there is no {what}, and ELSEWHERE_NO_SKIPS forbids to go on without it")
    pytest.skip(f"needs {what}")


def in_node(folder: Path, call: str, given: Sequence[Any], scripts: Sequence[Path]) -> Any:
    """What a function of scripts returns, in one process."""
    node = shutil.which("node")
    if node is None:
        without("Node.js")
    asked, answered = folder / "asked.json", folder / "answered.json"
    asked.write_text(json.dumps(given))
    subprocess.run(  # noqa: S603 - our own scripts
        [str(node), HERE / "node.js", answered, call, asked, *scripts], check=True, timeout=300
    )
    return json.loads(answered.read_text())


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser, as Playwright drives it."""
    where = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if where is None:
        without("Chromium")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=where, args=list(_CHROMIUM))
        try:
            yield browser
        finally:
            browser.close()
