"""What tests of the trusted core share: a plain-Python tape, exact distributions, and χ² that can say no."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from elsewhere.arrays import Words
from elsewhere.audit.channel import all_trajectories
from elsewhere.mechanism.budget import Draw, split_evenly
from elsewhere.mechanism.windows import windows
from elsewhere.methods.registry import DEFAULT, METHODS
from elsewhere.trajectories import Trajectory
from elsewhere.world.world import World


class PlainTape:
    """The tape of words again, with Python's own integers and nothing compiled."""

    def __init__(self, words: Words) -> None:
        self.words = [int(word) for word in words]
        self.used = 0

    def below(self, bound: int) -> int:
        bits = (bound - 1).bit_length()
        while True:
            word = self.words[self.used]
            self.used += 1
            value = word & ((1 << bits) - 1)
            if value < bound:
                return value

    def accepts_exp(self, gamma: Fraction, denominator: int) -> bool:
        """Bernoulli(e^−γ), with γ over ``denominator`` as the compiled coin is given it."""
        whole = math.floor(gamma)
        return all(self._up_to_one(Fraction(1), 1) for _ in range(whole)) and self._up_to_one(
            gamma - whole, denominator
        )

    def _up_to_one(self, gamma: Fraction, denominator: int) -> bool:
        numerator = gamma * denominator
        k = 1
        while self.below(denominator) < numerator and (k == 1 or self.below(k) == 0):
            k += 1
        return k % 2 == 1


def even_draws(epsilon: Fraction, length: int, n: int) -> tuple[Draw, ...]:
    """The draws of `ngram` for a day of ``length`` visits."""
    return split_evenly(epsilon, [(window, "n-gram of regions") for window in windows(length, n)])


def p_value(counts: Mapping[Any, int], expected: Mapping[Any, float]) -> float:
    """χ² of observed counts against exact probabilities, rare outcomes pooled."""
    total = sum(counts.values())
    assert set(counts) <= set(expected)
    order = sorted(expected, key=lambda outcome: expected[outcome])
    observed: list[float] = []
    wanted: list[float] = []
    pooled = [0.0, 0.0]
    for outcome in order:
        pooled[0] += counts.get(outcome, 0)
        pooled[1] += expected[outcome] * total
        if pooled[1] >= 10:
            observed.append(pooled[0])
            wanted.append(pooled[1])
            pooled = [0.0, 0.0]
    if pooled[1] and observed:
        observed[-1] += pooled[0]
        wanted[-1] += pooled[1]
    if len(observed) < 2:
        return 1.0
    scale = sum(observed) / sum(wanted)
    return float(chisquare(observed, np.array(wanted) * scale).pvalue)


def exact_draw(scores: Sequence[int], base: Sequence[float], epsilon: Fraction, trials: int) -> list[float]:
    """Distribution of the first accepted of ``trials`` proposals, else one more."""
    accept = [math.exp(-float(epsilon) * score / (1 << 21)) for score in scores]
    mass = sum(b * a for b, a in zip(base, accept, strict=True))
    missed = (1 - mass) ** trials
    return [b * a / mass * (1 - missed) + b * missed for b, a in zip(base, accept, strict=True)]


def known_days(world: World, length: int) -> list[Trajectory]:
    """All trajectories of so many visits, but for those to a place that nobody knows."""
    return [
        day
        for day in all_trajectories(world, length)
        if all(visit.place_id in world.place_index for visit in day.visits)
    ]


def some_methods() -> list[Any]:
    """The default method and the paper's in `make test`; in `make audit` the others as well."""
    return [
        name if name in (DEFAULT, "ngram") else pytest.param(name, marks=pytest.mark.audit)
        for name in METHODS
    ]
