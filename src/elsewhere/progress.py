"""How long work tells how far it is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Called with how much is done and how much there is in all."""


def no_progress(_done: int, _total: int) -> None:
    """For callers who do not want to know."""
