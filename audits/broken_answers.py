"""Devices that answer a survey and break its promise, each in one way: `device_answers` must notice (T9)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from device_answers import device_objections
from elsewhere.arrays import Counts, Indices
from elsewhere.device.charge import Charge
from elsewhere.device.ledger import Ledger
from elsewhere.mechanism.answer import AnswerTables, answers
from elsewhere.mechanism.listing import Outcome
from elsewhere.randomness import Randomness, SeededRandomness
from elsewhere.survey.answering import Answering
from elsewhere.survey.channels import DayChannel

_answer, _day_answers, _paid = Answering.answer, DayChannel.answers, Ledger.paid


def _question_by_the_day(
    self: Answering, secrets: Sequence[Outcome], randomness: Randomness, *, constant_work: bool
) -> tuple[Indices, Counts]:
    """Which question is asked depends on where the day began."""
    wanted = secrets[0][0] % 2 % len(self.survey.questions)
    while (found := _answer(self, secrets, randomness, constant_work=constant_work))[0][0, 0] != wanted:
        pass
    return found


def _in_a_hurry(
    self: Answering, secrets: Sequence[Outcome], randomness: Randomness, *, constant_work: bool
) -> tuple[Indices, Counts]:
    """Done when something is accepted: whoever has a stopwatch learns how long that took."""
    del constant_work
    return _answer(self, secrets, randomness, constant_work=False)


def _truth(
    things: Indices, tables: AnswerTables, randomness: Randomness, *, constant_work: bool
) -> tuple[Indices, Counts]:
    """On a device, the first true thing itself."""
    found, trials = answers(things, tables, randomness, constant_work=constant_work)
    if constant_work and things.max() >= 0:
        found[:, 1] = things.max() % tables.odds.candidates
    return found, trials


def _seed_is_a_thing(
    things: Indices, tables: AnswerTables, randomness: Randomness, *, constant_work: bool
) -> tuple[Indices, Counts]:
    """What is called a public seed is something of the day."""
    found, trials = answers(things, tables, randomness, constant_work=constant_work)
    if constant_work and tables.is_hashed and things.max() >= 0:
        found[:, 0] = int(things.max()) % tables.seeds
    return found, trials


def _shard_by_the_day(
    self: DayChannel, secrets: Indices, randomness: Randomness, *, constant_work: bool
) -> tuple[Indices, Counts]:
    """Which shard of candidates is looked at depends on where the day began."""
    wanted = int(secrets[0, 0]) % self.seeds
    while (found := _day_answers(self, secrets, randomness, constant_work=constant_work))[0][0, 0] != wanted:
        pass
    return found


def _draws_again(
    self: Ledger, charges: Sequence[Charge], draw: Callable[[str], dict[str, Any]], *, most: int | None = None
) -> dict[str, Any]:
    """A day that was answered before is answered once more."""
    kept = _paid(self, charges, draw, most=most)
    return {day: (json.loads(json.dumps(draw(day))), was_there) for day, (_, was_there) in kept.items()}


_FAULTS: dict[str, tuple[str, Any]] = {
    "question by the day, on a device": ("elsewhere.survey.answering.Answering.answer", _question_by_the_day),
    "no constant work on a device": ("elsewhere.survey.answering.Answering.answer", _in_a_hurry),
    "the truth, on a device": ("elsewhere.survey.channels.answers", _truth),
    "seed is a true thing": ("elsewhere.survey.channels.answers", _seed_is_a_thing),
    "shard by the day, on a device": ("elsewhere.survey.channels.DayChannel.answers", _shard_by_the_day),
    "id that is not random": ("elsewhere.device.answer.random_id", lambda: "ab" * 16),
    "noise by the date": ("elsewhere.device.answer.SystemRandomness", lambda: SeededRandomness(7)),
    "day told as it is": ("elsewhere.survey.survey.Terms.told_day", lambda _terms, day: day),
    "second report for a day": ("elsewhere.device.ledger.Ledger.paid", _draws_again),
}


def _look(folder: Path, target: str, broken: Any) -> dict[str, str]:
    with patch(target, broken):
        return device_objections(folder)


ANSWER_FAULTS: dict[str, Callable[[Path], dict[str, str]]] = {
    name: (lambda folder, fault=fault: _look(folder, *fault))  # type: ignore[misc]
    for name, fault in _FAULTS.items()
}
