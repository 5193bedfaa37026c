"""Hotspots: hours in a row in which more than η people are somewhere."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elsewhere.compiled import compiled

THRESHOLDS = {
    "place": 20, "4 × 4 grid": 20, "2 × 2 grid": 50, "category level 1": 50, "category level 2": 30,
    "category level 3": 20,
}  # fmt: skip
"""Granularities with the paper's thresholds η."""

Hotspots = NDArray[np.int64]
"""A row each: where, from which hour, until which, and how many people at most. By place, then hour."""


@compiled
def find_hotspots(counts: NDArray[np.int64], threshold: int) -> Hotspots:
    """Maximal intervals of hours with more than ``threshold`` people."""
    found, done = np.empty((counts.size, 4), dtype=np.int64), 0
    for where in range(len(counts)):
        peak = 0
        for hour in range(counts.shape[1] + 1):
            people = counts[where, hour] if hour < counts.shape[1] else 0
            if people > threshold:
                if not peak:
                    found[done, 0], found[done, 1] = where, hour
                peak = max(peak, people)
            elif peak:
                found[done, 2], found[done, 3] = hour, peak
                done, peak = done + 1, 0
    return found[:done].copy()
