"""A real browser for tests: Debian's Chromium, or else one from the npm registry (`make .venv/.node`)."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from missing_parts import missing

_FLAGS = [
    "--no-sandbox",  # containers have none
    "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
]  # fmt: skip
_FETCHED = Path(sys.prefix) / "browser"


def chromium() -> Path:
    """Where the browser is."""
    fetched = _FETCHED / "chromium"
    found = str(fetched) if fetched.exists() else shutil.which("chromium")
    if found is None:
        missing("there is no Chromium: `make .venv/.node` fetches one")
    return Path(str(found))


@contextmanager
def running_browser() -> Iterator[Browser]:
    """A browser of its own, ended afterwards."""
    path = chromium()
    own = {"LD_LIBRARY_PATH": str(_FETCHED / "lib"), "FONTCONFIG_FILE": str(_FETCHED / "fonts.conf")}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path,
            args=_FLAGS,
            env={**os.environ, **(own if path.parent == _FETCHED else {})},
        )
        yield browser
        browser.close()


class Watched:
    """A page whose every request and complaint is written down."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._said)

    def _said(self, message: Any) -> None:
        # Software rendering is slow, and says so.
        if message.type in {"error", "warning"} and "GPU stall" not in message.text:
            self.complaints.append(message.text)

    @property
    def asked_of_others(self) -> list[str]:
        """Requests that left the page."""
        return [url for url in self.requests if not url.startswith(("file:", "blob:", "data:"))]

    def wait(self, is_so: Callable[[], object], what: str, seconds: float = 20.0) -> None:
        """Until something is so; a page's policy forbids the ways in which Playwright waits for code."""
        for _ in range(int(seconds / 0.05)):
            if is_so():
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"{what}, after {seconds:g} s: {self.complaints}")

    def wait_for_map(self) -> None:
        """Until the map is drawn and at rest."""
        self.wait(lambda: self.page.evaluate("document.body.dataset.map") == "drawn", "the map is not drawn")

    def click_map(self, x: float, y: float) -> None:
        """Click so many pixels from the map's top left corner: scrolled to, and where nothing covers it."""
        self.page.click("#map canvas", position={"x": x, "y": y})

    def width_of_map(self) -> float:
        """In pixels."""
        return float(self.page.evaluate("document.getElementById('map').getBoundingClientRect().width"))


def faults_of_access(watched: Watched) -> list[str]:
    """What axe finds wrong by WCAG AA: rule, and where."""
    axe = Path(sys.prefix) / "node" / "node_modules" / "axe-core" / "axe.min.js"
    if not axe.exists():
        missing("there is no axe: make .venv/.node, with npm")
    watched.page.evaluate(axe.read_text(encoding="utf-8"))
    rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
    found = watched.page.evaluate("(rules) => axe.run({ runOnly: rules })", rules)
    return [
        f"{one['id']}: {node['target']} {node['failureSummary']}"
        for one in found["violations"]
        for node in one["nodes"]
    ]
