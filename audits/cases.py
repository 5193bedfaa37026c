"""Which settings of every registered method are audited; a new method is audited by being registered."""

from __future__ import annotations

from math import comb
from typing import Any

from elsewhere.methods.registry import METHODS
from elsewhere.world.world import World

_OWN: dict[str, list[dict[str, Any]]] = {
    "codebook": [
        {"candidates": 12, "shards": 2, "k": 3},
        {"candidates": 7, "shards": 4},
        {"candidates": 12, "shards": 2, "same_length": True, "k": 1},
        {"candidates": 9, "shards": 3, "k": 2},
        {"candidates": 12, "shards": 2, "same_length": True, "k": 4, "hide_length": 2},
    ],
    "global-subsampled": [{"sample_size": 1}, {"sample_size": 2}],
    "global-pf": [{}],
    "ngram-noh": [{"n": 1}, {"n": 2}, {"n": 3}, {"n": 2, "hide_length": 2}],
    "physdist": [{"n": 2}],
    "uniform": [{}],
    "popular": [{}],
    "constant": [{}],
    "typical": [{}],
    "ngram": [
        {"n": 1},
        {"n": 2, "calibration": "exact"},
        {"n": 3},
        {"n": 2, "hide_length": 3},
        {"n": 2},
        {"n": 3, "calibration": "exact"},
    ],
}
EPSILONS = ["0.5", "1", "5", "14"]
WORLDS = 240
FAULT_WORLDS = (7, 4)
"""Tiny worlds on which the faults show: one with places nobody can reach, one where days need smoothing."""


# Methods whose draws see places and timesteps have far more inputs than those that see regions.
_MOST_PLACES = {"ngram": 8, "global-subsampled": 2, "global-pf": 3}
_MOST_DAYS = {"ngram-noh": 400, "physdist": 400, "global": 250, "global-subsampled": 40, "global-pf": 60}


def most_places(name: str) -> int:
    """How large a tiny world may be for all pairs of days of a method to be looked at."""
    return _MOST_PLACES.get(name, 4)


def longest(name: str, world: World, visits: int) -> int:
    """As many of ``visits`` as leave few enough days."""
    steps, places = world.clock.timesteps, len(world.places) + 1
    visits = min(visits, steps)
    if name == "ngram":
        return visits
    return max(
        k for k in range(1, visits + 1) if k == 1 or comb(steps, k) * places**k <= _MOST_DAYS.get(name, 700)
    )


def cases(name: str) -> list[dict[str, Any]]:
    """Options of a method to go round."""
    if name not in METHODS:
        raise KeyError(name)
    return _OWN.get(name, [{}, {"hide_length": 3}])


def plain_options(name: str) -> dict[str, Any]:
    """Options with which a method is looked at from outside: its own, but a sample that can be listed."""
    return dict(METHODS[name].tiny)


def case(name: str, seed: int) -> tuple[dict[str, Any], int]:
    """Options and number of visits for tiny world ``seed``: all combinations come round."""
    options = cases(name)
    chosen = {**options[seed // 5 % len(options)], "epsilon": EPSILONS[seed // 7 % len(EPSILONS)]}
    return chosen, 1 + seed % 3
