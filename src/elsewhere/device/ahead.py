"""Read the next part of a file while the one before it is worked on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def one_ahead(items: Iterable[T], workers: int) -> Iterator[T]:
    """The same items in order; with two workers or more, a thread makes the next while one is used."""
    if workers == 1:
        yield from items
        return
    source = iter(items)
    with ThreadPoolExecutor(max_workers=1) as thread:
        waiting = thread.submit(next, source, None)
        while (item := waiting.result()) is not None:
            waiting = thread.submit(next, source, None)
            yield item
