"""A survey: what is asked of a day, at which ε, and of whom which question."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path

from elsewhere.days.prior_days import prior_days
from elsewhere.days.visits import Days
from elsewhere.errors import InputError
from elsewhere.inputs.raw_text import CONTROL
from elsewhere.survey.channels import Channel
from elsewhere.survey.questions.question import PublicMap, QuestionKind
from elsewhere.survey.things import Things
from elsewhere.world.settings import SAME_PEOPLE
from elsewhere.world.world import World

_PRETEND = 4096
_MOST_SHARES = 1 << 16
_MOST_QUESTIONS = 100
_MOST_DAYS = 366
_MOST_LEAST = 1 << 20
_LONGEST_UNIT = 366


@dataclass(frozen=True, kw_only=True, eq=False)
class Question:
    """One question, ready to be answered on a world."""

    record: QuestionKind
    share: Fraction
    """Of the people, how many are asked this one."""
    public: PublicMap
    channel: Channel

    @property
    def kind(self) -> str:
        return self.record.kind

    @property
    def things(self) -> Things:
        return self.channel.things


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """The days that a survey asks about, first and last."""

    first: dt.date
    last: dt.date

    def __post_init__(self) -> None:
        if self.last < self.first:
            raise InputError("period", f"ends on {self.last}, before it begins on {self.first}")

    def plain(self) -> list[str]:
        """As it is written down: two dates."""
        return [str(self.first), str(self.last)]

    def holds(self, day: dt.date) -> bool:
        """Whether a day is one of them."""
        return self.first <= day <= self.last


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a survey promises the people who answer it."""

    epsilon: Fraction
    """For each day that a person answers."""
    days: int = 1
    """Days that a person may answer."""
    period: Period | None = None
    least: int = 100
    """Nothing is published of fewer reports than this."""
    day_unit: int = 1
    """A report's day is told in steps of so many days."""
    purpose: str = ""

    def __post_init__(self) -> None:
        for name, number, most in (
            ("days", self.days, _MOST_DAYS),
            ("least", self.least, _MOST_LEAST),
            ("day_unit", self.day_unit, _LONGEST_UNIT),
        ):
            if type(number) is not int or not 1 <= number <= most:
                raise InputError(name, f"found {number!r}, must be a whole number, 1 to {most:,}")
        if not isinstance(self.purpose, str) or len(self.purpose) > 2000:
            raise InputError("purpose", "must be text of at most 2,000 letters")
        if CONTROL.search(self.purpose):
            # A terminal would obey them: a stranger's file could hide the line that says what ε is.
            raise InputError("purpose", "must be plain text, without control characters")

    @property
    def told_days(self) -> int | None:
        """How many different days reports can tell; None if there is no period."""
        if self.period is None:
            return None
        return -(-((self.period.last - self.period.first).days + 1) // self.day_unit)

    def told_day(self, day: dt.date) -> dt.date:
        """The day that a report tells: the first of its unit."""
        start = dt.date(2000, 1, 3) if self.period is None else self.period.first
        return day - dt.timedelta(days=(day - start).days % self.day_unit)


@dataclass(frozen=True, kw_only=True, eq=False)
class Survey:
    """All that is public about a survey; every device answers the same one."""

    world: World
    terms: Terms
    questions: tuple[Question, ...]
    believed: Days | None = None
    """Made-up days to start from in place of the world's prior: the population of an earlier round."""

    def __post_init__(self) -> None:
        if self.world.settings.popularity_from == SAME_PEOPLE:
            # Whatever answers hide, the list of places and the prior may already tell (R12).
            raise InputError(
                "world", "is made from the people who would be asked: nothing can be promised to them"
            )
        if not 1 <= len(self.questions) <= _MOST_QUESTIONS:
            allowed = f"must have 1 to {_MOST_QUESTIONS}"
            raise InputError("survey", f"has {len(self.questions)} questions ([[question]]), {allowed}")
        if any(question.share <= 0 for question in self.questions):
            raise InputError("share", "must be above 0 for every question")
        total = sum((question.share for question in self.questions), start=Fraction(0))
        if total != 1:
            raise InputError("share", f"of all questions adds up to {float(total):g}, must add up to 1")
        if shares_denominator(self.questions) > _MOST_SHARES:
            raise InputError("share", f"must be fractions of at most {_MOST_SHARES:,} parts together")
        if any(question.channel.odds.epsilon != self.terms.epsilon for question in self.questions):
            raise InputError("epsilon", "must be the same for every question: the whole ε of a day is in one")

    @property
    def epsilon(self) -> Fraction:
        """For each day that a person answers."""
        return self.terms.epsilon

    @cached_property
    def names(self) -> tuple[str, ...]:
        """A name for each question: its kind, with a number where a kind is asked twice."""
        kinds = [question.kind for question in self.questions]
        return tuple(
            kind if kinds.count(kind) == 1 else f"{kind}-{kinds[: at + 1].count(kind)}"
            for at, kind in enumerate(kinds)
        )


def make_survey(
    world: World,
    terms: Terms,
    asked: Sequence[tuple[QuestionKind, Fraction]],
    *,
    folder: Path = Path(),
    believed: Days | None = None,
) -> Survey:
    """A survey with its public maps worked out; files of options start at ``folder``.

    How many things of a day are kept (k) and how they are told comes from the public prior alone, or from the
    public population of an earlier round.
    """
    questions = []
    days = prior_days(world, "k of a question", _PRETEND) if believed is None else believed
    for record, share in asked:
        public = record.public_map(world, terms.epsilon, folder)
        kept = record.kept_of(world, record.things(world, public), terms.epsilon, days)
        questions.append(ready_question(world, terms, record, share, public, kept))
    return Survey(world=world, terms=terms, questions=tuple(questions), believed=believed)


def ready_question(
    world: World, terms: Terms, record: QuestionKind, share: Fraction, public: PublicMap, kept: int
) -> Question:
    """A question put together from its parts."""
    channel = record.channel(world, public, terms.epsilon, kept)
    return Question(record=record, share=share, public=public, channel=channel)


def shares_denominator(questions: Sequence[Question]) -> int:
    """How many equal parts all shares are made of."""
    return math.lcm(*(question.share.denominator for question in questions))
