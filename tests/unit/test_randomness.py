"""Public made-up choices: every number comes up, none more often than another."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest

from elsewhere.randomness import next_below


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 17, 200])
def test_every_number_below_a_bound_comes_up_as_often(bound: int) -> None:
    state = np.array([7], dtype=np.uint64)
    counts = np.bincount([next_below(state, bound) for _ in range(400 * bound)], minlength=bound)
    assert len(counts) == bound
    assert abs(counts - 400).max() < 6 * 20


@pytest.mark.parametrize("bits", [9, 17, 33, 41, 62])
def test_every_bit_of_large_numbers_comes_up(bits: int) -> None:
    state, bound = np.array([9], dtype=np.uint64), (1 << bits) + 3
    drawn = [int(next_below(state, bound)) for _ in range(300)]
    assert max(drawn) < bound
    assert reduce(int.__or__, drawn) >= (1 << bits) - 1
