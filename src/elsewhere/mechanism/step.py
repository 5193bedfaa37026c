"""A draw with all its outcomes listed, for the audit of small worlds.

Sampling never lists anything. What is listed here comes from the very tables, scores and numbers that
sampling uses, read a second time and in a plain way; a test holds real draws against it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from elsewhere.arrays import Indices
from elsewhere.errors import InputError
from elsewhere.mechanism.draw import SCORE_STEPS, scores
from elsewhere.mechanism.perturb import Plan
from elsewhere.mechanism.proposal import Proposals
from elsewhere.world.bits import lowest_bit
from elsewhere.world.distances import RegionDistances, region_distance

Outcome = tuple[int, ...]
State = tuple[Any, ...]

_MOST_WALKS = 200_000
# Tilted draws have no scores: their distances are listed in units this fine.
_TILT_STEPS = 1 << 40


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Step:
    """One draw by bounded rejection: the first accepted of ``trials`` proposals, else one more."""

    outcomes: Sequence[Outcome]
    proposal: Sequence[Fraction]
    """Chance of each outcome to be proposed; they add up to 1."""
    numerators: Sequence[int]
    """Acceptance of each outcome, given what is true: e^−(numerator / denominator)."""
    denominator: int
    trials: int | None
    """None: trials without end."""
    states: Sequence[State]
    """What each outcome leads to; whoever sees the draws sees this too."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GivenStep:
    """One draw that is no bounded rejection: its chances are worked out by whoever lists it."""

    outcomes: Sequence[Outcome]
    chances: Sequence[Decimal]
    states: Sequence[State]


AnyStep = Step | GivenStep


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Walks:
    """All walks that `propose` can give, each with its chance."""

    rows: Indices
    outcomes: list[Outcome]
    chances: list[Fraction]


def list_walks(proposals: Proposals, length: int) -> Walks:
    """Every walk of ``length`` with the chance that `propose` gives it, read off its tables.

    A walk is begun with its weight over all weights; each step is let through by a coin and then
    chosen by weight; what a coin stops is begun again, so what is left is scaled up to 1.
    """
    level = length - 1
    total = int(proposals.cumulative[level, -1])
    weights = np.diff(proposals.cumulative[level], prepend=0).tolist()
    walks: list[tuple[Outcome, Fraction]] = [
        ((first,), Fraction(weight, total)) for first, weight in enumerate(weights) if weight
    ]
    for step in range(1, length):
        left = length - step
        walks = [
            ((*walk, after), chance * share)
            for walk, chance in walks
            for after, share in _steps_from(proposals, walk[-1], left)
        ]
        if len(walks) > _MOST_WALKS:
            raise InputError("audit", f"more than {_MOST_WALKS:,} n-grams of regions are too many to list")
    through = sum((chance for _, chance in walks), start=Fraction(0))
    return Walks(
        rows=np.array([walk for walk, _ in walks], dtype=np.int32).reshape(-1, length),
        outcomes=[walk for walk, _ in walks],
        chances=[chance / through for _, chance in walks],
    )


def _steps_from(proposals: Proposals, here: int, left: int) -> list[tuple[int, Fraction]]:
    """Regions that can come next, each with the chance to be let through and chosen."""
    scale, total = int(proposals.scales[left]), int(proposals.sums[left, here])
    through = Fraction(1)
    if scale > 1:
        through = min(through, Fraction(total, scale * int(proposals.weights[left, here])))
    after = _successors(proposals, here)
    counts = [1 if left == 1 else int(proposals.weights[left - 1, region]) for region in after]
    return [
        (region, through * Fraction(count, total))
        for region, count in zip(after, counts, strict=True)
        if count  # a dead end: nothing long enough goes on from there
    ]


def _successors(proposals: Proposals, region: int) -> list[int]:
    found = []
    for index, whole in enumerate(proposals.words[region]):
        word = whole
        while word:
            found.append(index * 64 + int(lowest_bit(word)))
            word &= word - np.uint64(1)
    return found


def window_step(
    plan: Plan,
    index: int,
    walks: Walks,
    distances: RegionDistances,
    true_regions: Sequence[int],
    state: State,
) -> Step:
    """Draw ``index`` of a plan, when ``true_regions`` are true; every outcome leads to ``state``."""
    start, length = int(plan.starts[index]), int(plan.lengths[index])
    true_walk = np.array(true_regions[start : start + length], dtype=np.int32)
    found = scores(distances, true_walk, walks.rows, float(plan.sensitivities[index]))
    numerator = int(plan.numerators[index])
    return Step(
        outcomes=walks.outcomes,
        proposal=walks.chances,
        numerators=[numerator * far for far in found.tolist()],
        denominator=int(plan.denominators[index]),
        trials=int(plan.trials[index]),
        states=[state] * len(walks.rows),
    )


def tilted_step(
    plan: Plan,
    index: int,
    walks: Walks,
    distances: RegionDistances,
    true_regions: Sequence[int],
    state: State,
) -> Step:
    """The same draw with Δ := 1, nothing clamped and no end of trials (R16)."""
    start, length = int(plan.starts[index]), int(plan.lengths[index])
    true_walk = true_regions[start : start + length]
    totals = [
        sum(region_distance(distances, a, b) for a, b in zip(true_walk, walk, strict=True))
        for walk in walks.outcomes
    ]
    return Step(
        outcomes=walks.outcomes,
        proposal=walks.chances,
        numerators=[int(plan.numerators[index]) * int(total * _TILT_STEPS) for total in totals],
        # The coin's denominator is that of ε' times 2 · 2²⁰; here distances count in finer units.
        denominator=int(plan.denominators[index]) // SCORE_STEPS * _TILT_STEPS,
        trials=None,
        states=[state] * len(walks.rows),
    )
