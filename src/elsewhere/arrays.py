"""Names for the kinds of arrays that pass between modules."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Indices = NDArray[np.int32]
Counts = NDArray[np.int64]
Steps = NDArray[np.uint16]
Words = NDArray[np.uint64]
