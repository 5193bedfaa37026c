"""Functions of strangers in compiled loops: their errors are no numbers, and no messages."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from elsewhere.compiled import address_of, call_at, compiled

OfParts = Callable[[float, float, float], float]


def _raises_words(space: float, _time: float, _category: float) -> float:
    if space > 2:
        raise ValueError("far")
    return space


def _raises_what_is_private(space: float, _time: float, _category: float) -> float:
    if space > 2:
        raise ValueError(space)
    return space


def _looks_too_far(space: float, _time: float, _category: float) -> float:
    return [1.0, 1.0][int(space)]


@compiled
def _called(address: int, space: float) -> float:
    return call_at(address, space, 1.0, 1.0)


@pytest.mark.parametrize("function", [_raises_words, _raises_what_is_private, _looks_too_far])
def test_an_error_is_no_number_and_no_message(function: OfParts, capfd: pytest.CaptureFixture[str]) -> None:
    """Found by an attacker: an error printed what was private, gave 0 in compiled loops, or hung."""
    address = address_of(function)
    assert _called(address, 1.0) == 1
    assert math.isnan(_called(address, 3.0))
    assert capfd.readouterr().err == ""
