"""The one door to numba: loops that pay for compilation, kept on disk once compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function`` on first use; it releases the GIL, so threads can share the work.

    No fastmath: the same inputs must give the same bits here, in numpy and on another machine.
    """
    return cast("Callable[P, R]", numba.njit(cache=True, nogil=True)(function))
