"""Every kind of question by its name: what is listed here can be asked, answered, audited and estimated."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from elsewhere.errors import InputError
from elsewhere.survey.questions.day import Day
from elsewhere.survey.questions.kinds import Kinds
from elsewhere.survey.questions.moves import MovesQuestion
from elsewhere.survey.questions.places import PlacesQuestion
from elsewhere.survey.questions.presence import Presence
from elsewhere.survey.questions.question import QuestionKind
from elsewhere.survey.questions.trips import Trips
from elsewhere.survey.questions.visits import Visits

QUESTIONS: dict[str, type[QuestionKind]] = {
    question.kind: question
    for question in (Presence, Kinds, MovesQuestion, Visits, Trips, PlacesQuestion, Day)
}


def question_of(kind: Any, options: dict[str, Any]) -> QuestionKind:
    """The record of a kind with its options, checked; says what is allowed."""
    if not isinstance(kind, str) or kind not in QUESTIONS:
        raise InputError("question.kind", f"found {kind!r}, must be one of {', '.join(QUESTIONS)}")
    record = QUESTIONS[kind]
    allowed = [option.name for option in fields(record)]
    unknown = [name for name in options if name not in allowed]
    if unknown:
        what = f"is no option of {kind!r}, allowed are {', '.join(allowed)}"
        raise InputError(f"question.{unknown[0]}", what)
    return record(**options)
