"""Names for the kinds of arrays that pass between modules."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Indices = NDArray[np.int32]
Counts = NDArray[np.int64]
Steps = NDArray[np.uint16]
Words = NDArray[np.uint64]

Anything = TypeVar("Anything", bound=np.generic)


def frozen(array: NDArray[Anything]) -> NDArray[Anything]:
    """The same numbers, in one piece and not to be changed.

    Compiled loops are compiled for each kind of array that they meet: one kind, one compilation.
    """
    kept = np.ascontiguousarray(array).view()
    kept.setflags(write=False)
    return kept
