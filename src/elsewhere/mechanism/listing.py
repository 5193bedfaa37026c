"""A draw with all its outcomes listed, for the audit of small worlds.

Sampling never lists anything. What is listed comes from the very tables, scores and numbers that sampling
uses, read a second time and in a plain way; a test holds real draws against it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from elsewhere.mechanism.rejection import Coin

Outcome = tuple[int, ...]
State = tuple[Any, ...]


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


def scored_step(
    outcomes: Sequence[Outcome],
    proposal: Sequence[Fraction],
    scores: Sequence[int],
    coin: Coin,
    states: Sequence[State],
) -> Step:
    """A draw of `rejection.first_accepted`, when the outcomes have these scores."""
    return Step(
        outcomes=outcomes,
        proposal=proposal,
        numerators=[coin.numerator * score for score in scores],
        denominator=coin.denominator,
        trials=coin.trials,
        states=states,
    )


def chosen_among(outcomes: Sequence[Outcome], states: Sequence[State]) -> Step:
    """One of several, each as likely, whatever is true."""
    count = len(outcomes)
    return Step(
        outcomes=outcomes,
        proposal=[Fraction(1, count)] * count,
        numerators=[0] * count,
        denominator=1,
        trials=1,
        states=states,
    )
