"""One browser for all tests of a worker, a fresh page for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from chromium import Watched, running_browser

OpenPage = Callable[..., Watched]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A real Chromium."""
    with running_browser() as found:
        yield found


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Opens pages with the network off, unless a test says otherwise."""
    contexts = []

    def opened(
        url: str, *, width: int = 1200, offline: bool = True, before: str | None = None, **options: Any
    ) -> Watched:
        context = browser.new_context(viewport={"width": width, "height": 900}, offline=offline, **options)
        contexts.append(context)
        if before is not None:
            context.add_init_script(before)
        watched = Watched(context.new_page())
        watched.page.goto(url)
        return watched

    yield opened
    for context in contexts:
        context.close()
