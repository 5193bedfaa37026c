"""How long work tells how far it is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Called with how much is done and how much there is in all."""


_STEPS = 1000


class Portions:
    """One progress for several pieces of work that each tell how far they are; it never goes back."""

    def __init__(self, progress: Progress, count: int) -> None:
        self._progress, self._count = progress, count
        self._furthest = 0

    def part(self, number: int) -> Progress:
        """The progress of piece ``number``, from 0 on."""

        def tell(done: int, total: int) -> None:
            here = _STEPS * number + _STEPS * min(done, total) // max(total, 1)
            self._furthest = max(self._furthest, here)
            self._progress(self._furthest, _STEPS * self._count)

        return tell


def no_progress(_done: int, _total: int) -> None:
    """For callers who do not want to know."""
