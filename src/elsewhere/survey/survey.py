"""A survey: what is asked of a day, at which ε, and of whom which question."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from elsewhere.errors import InputError
from elsewhere.mechanism.answer import AnswerTables
from elsewhere.survey.things import Things
from elsewhere.world.world import World

_MOST_SHARES = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Question:
    """One question, ready to be answered on a world."""

    kind: str
    share: Fraction
    """Of the people, how many are asked this one."""
    things: Things
    tables: AnswerTables


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """The days that a survey asks about, first and last."""

    first: dt.date
    last: dt.date

    def __post_init__(self) -> None:
        if self.last < self.first:
            raise InputError("period", f"ends on {self.last}, before it begins on {self.first}")

    def holds(self, day: dt.date) -> bool:
        """Whether a day is one of them."""
        return self.first <= day <= self.last


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Survey:
    """All that is public about a survey; every device answers the same one."""

    world: World
    questions: tuple[Question, ...]
    epsilon: Fraction
    """For each day that a person answers."""
    days: int = 1
    """Days that a person may answer."""
    period: Period | None = None
    least: int = 100
    """Nothing is published of fewer reports than this."""
    purpose: str = ""

    def __post_init__(self) -> None:
        if not self.questions:
            raise InputError("survey", "asks nothing: at least one [[question]] is needed")
        if any(question.share <= 0 for question in self.questions):
            raise InputError("share", "must be above 0 for every question")
        total = sum((question.share for question in self.questions), start=Fraction(0))
        if total != 1:
            raise InputError("share", f"of all questions adds up to {float(total):g}, must add up to 1")
        if shares_denominator(self.questions) > _MOST_SHARES:
            raise InputError("share", f"must be fractions of at most {_MOST_SHARES:,} parts together")
        if any(question.tables.odds.epsilon != self.epsilon for question in self.questions):
            raise InputError("epsilon", "must be the same for every question: the whole ε of a day is in one")
        for name, number in (("days", self.days), ("least", self.least)):
            if number < 1:
                raise InputError(name, f"found {number}, must be 1 or more")


def shares_denominator(questions: Sequence[Question]) -> int:
    """How many equal parts all shares are made of."""
    return math.lcm(*(question.share.denominator for question in questions))
