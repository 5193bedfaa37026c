"""Functions of strangers in compiled loops: their errors are no numbers, and no messages."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from elsewhere.compiled import address_of, call_at, compiled
from elsewhere.errors import InputError

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


def _two(space: float, time: float) -> float:
    return space + time


def _four(space: float, time: float, category: float, more: float) -> float:
    return space + time + category + more


def _text(space: float, _time: float, _category: float) -> str:
    return "near" if space < 2 else "far"


def _nothing(_space: float, _time: float, _category: float) -> None:
    return None


def _text_when_far(space: float, _time: float, _category: float) -> Any:
    return space if space < 2 else "far"


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (_two, "must be a function of three numbers"),
        (_four, "must be a function of three numbers"),
        (7, "must be a function of three numbers"),
        (_text, "must return a number, not str"),
        (_nothing, "must return a number, not NoneType"),
        (_text_when_far, "cannot be compiled"),
    ],
)
def test_what_is_no_distance_is_refused_in_words(function: Any, said: str) -> None:
    with pytest.raises(InputError, match=f"^register_distance: .*{said}"):
        address_of(function)


def test_defaults_and_whole_numbers_are_welcome() -> None:
    def whole(space: float, _time: float, _category: float, least: int = 1) -> int:
        return int(max(space, least))

    assert _called(address_of(whole), 3.5) == 3
