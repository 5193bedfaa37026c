"""Counting and finding bits in words, for compiled loops over rows of the region graph."""

from __future__ import annotations

import numpy as np

from elsewhere.compiled import compiled


@compiled
def count_bits(word: np.uint64) -> int:
    """How many bits are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))  # type: ignore[return-value]


@compiled
def lowest_bit(word: np.uint64) -> int:
    """Position of the lowest set bit."""
    return count_bits((word & (~word + np.uint64(1))) - np.uint64(1))
