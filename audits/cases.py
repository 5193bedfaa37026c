"""Which settings of every registered method are audited; a new method is audited by being registered."""

from __future__ import annotations

from typing import Any

from elsewhere.methods.registry import METHODS

_OWN: dict[str, list[dict[str, Any]]] = {
    "ngram": [{"n": 1}, {"n": 2}, {"n": 3}, {"n": 2, "hide_length": 3}],
}
EPSILONS = ["0.5", "1", "5", "14"]
WORLDS = 240
FAULT_WORLDS = (7, 4)
"""Tiny worlds on which the faults show: one with places nobody can reach, one where days need smoothing."""


def cases(name: str) -> list[dict[str, Any]]:
    """Options of a method to go round."""
    if name not in METHODS:
        raise KeyError(name)
    return _OWN.get(name, [{}, {"hide_length": 3}])


def case(name: str, seed: int) -> tuple[dict[str, Any], int]:
    """Options and number of visits for tiny world ``seed``: all combinations come round."""
    options = cases(name)
    chosen = {**options[seed // 5 % len(options)], "epsilon": EPSILONS[seed // 7 % len(EPSILONS)]}
    return chosen, 1 + seed % 3
