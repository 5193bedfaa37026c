"""What really leaves a device that answers a survey: `answer_days`, looked at from outside (T4, T7, T9).

One row at a time, constant work, the system's words, rows as wide as a day: the path that people's days take,
and no other check does.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

import numpy as np

from elsewhere.audit.agreement import agreement
from elsewhere.device.answer import answer_days
from elsewhere.device.charge import Charge
from elsewhere.device.ledger import Ledger
from elsewhere.device.personal import day_without_a_visit
from elsewhere.mechanism.answer import SEEDS, hashed_answer
from elsewhere.mechanism.listing import Outcome
from elsewhere.randomness import Randomness, SeededRandomness
from elsewhere.survey.answering import Answering
from elsewhere.survey.channels import SetChannel
from elsewhere.survey.report import Report
from elsewhere.survey.survey import Survey
from elsewhere.trajectories import Trajectory
from made_surveys import six_places, survey_of
from survey_audit import AsMethod

_FIRST = dt.date(2024, 1, 1)
_SURE = 1e-6
_AGAIN = 12
_URANDOM = os.urandom
_PRESENCE: dict[str, Any] = {"grid": 2, "hours": 12, "k": 2}


class _Pays:
    """In place of a ledger: everything is paid for."""

    def paid(
        self, charges: Sequence[Charge], draw: Callable[[str], dict[str, Any]], **_: Any
    ) -> dict[str, Any]:
        return {charge.day: (draw(charge.day), False) for charge in charges}


def reports_of(survey: Survey, day: Trajectory, count: int) -> list[Report]:
    """So many reports of one day, each under a date of its own."""
    days = {_FIRST + dt.timedelta(days=number): day for number in range(count)}
    return [one.report for one in answer_days(cast("Ledger", _Pays()), survey, days).values()]


class _OnDevice(AsMethod):
    """A device as the checks of methods take it."""

    def __init__(self, survey: Survey) -> None:
        super().__init__(Answering(survey))
        self._survey = survey

    def outcomes(
        self, day: Trajectory, count: int, randomness: Randomness, *, constant_work: bool = False
    ) -> list[tuple[Outcome, ...]]:
        del randomness, constant_work  # a device has no choice
        rows = [(one.question, one.seed, one.output) for one in reports_of(self._survey, day, count)]
        return self._answering.outcomes(np.array(rows, dtype=np.int64))


def device_surveys(folder: Path) -> tuple[Survey, Survey]:
    """Two on a world of 144 timesteps: two questions, one of them `day`; and one that is hashed."""
    world = six_places(folder)
    day = {"candidates": 6, "shards": 2, "k": 2}
    several = survey_of(world, ("presence", "1/3", _PRESENCE), ("day", "2/3", day))
    return several, _hashed(survey_of(world, ("presence", "1", _PRESENCE)), seeds=2)


def _hashed(survey: Survey, seeds: int) -> Survey:
    question = survey.questions[0]
    channel = question.channel
    if not isinstance(channel, SetChannel):
        raise TypeError("only sets of things are hashed")
    tables = hashed_answer(survey.epsilon, channel.things.count, 2, 5, seeds=seeds)
    return replace(survey, questions=(replace(question, channel=replace(channel, tables=tables)),))


def device_days(survey: Survey) -> list[Trajectory]:
    """Nothing, one thing, and many more than k."""
    ids = survey.world.places.ids
    long = Trajectory([(ids[step % len(ids)], 6 * step) for step in range(24)])
    return [day_without_a_visit(survey.world.clock), Trajectory([(ids[0], 60)]), long]


def device_objections(folder: Path, samples: int = 300) -> dict[str, str]:
    """What is wrong with how this device answers, the first thing that is found."""
    several, hashed = device_surveys(folder)
    for name, problem in _objections(folder, several, hashed, samples):
        if problem:
            return {name: problem}
    return {}


def _objections(folder: Path, several: Survey, hashed: Survey, samples: int) -> Iterator[tuple[str, str]]:
    yield "ids", _ids(several)
    yield "entropy", _entropy(_hashed(hashed, seeds=SEEDS))
    yield "constant work", _work(several)
    yield "told day", _told_day(several)
    yield "one report a day", _one_report(folder, several)
    for survey in (several, hashed):
        for number, day in enumerate(device_days(survey)):
            p = agreement(cast("Any", _OnDevice(survey)), day, samples, SeededRandomness(0))
            yield "real answers", f"day {number}: p = {p:.1g} under the listed ones" if p < _SURE else ""


def _ids(survey: Survey) -> str:
    reports = [one for day in device_days(survey) for one in reports_of(survey, day, _AGAIN)]
    different = len({one.report_id for one in reports})
    return "" if different == len(reports) else f"{different} ids for {len(reports)} reports"


def _entropy(survey: Survey) -> str:
    """The same date and day on many devices: public seeds of 31 bits must all differ."""
    day = device_days(survey)[1]
    seeds = {reports_of(survey, day, 1)[0].seed for _ in range(_AGAIN)}
    return "" if len(seeds) == _AGAIN else f"{len(seeds)} different seeds on {_AGAIN} devices"


def _work(survey: Survey) -> str:
    """Every trial takes a word to propose and one for its coin, at least, whatever was true."""
    least = 2 * min(question.channel.odds.trials for question in survey.questions)
    for day in device_days(survey):
        for _ in range(_AGAIN):
            asked: list[int] = []
            with (
                patch("elsewhere.randomness.os.urandom", lambda size, asked=asked: _counted(size, asked)),
                patch("elsewhere.tape._tape_length", lambda *_: 64),  # so that words asked for are words used
            ):
                reports_of(survey, day, 1)
            if sum(asked) // 8 < least:
                return f"{sum(asked) // 8} words where all trials take {least}"
    return ""


def _counted(size: int, asked: list[int]) -> bytes:
    asked.append(size)
    return _URANDOM(size)


def _told_day(survey: Survey) -> str:
    weekly = replace(survey, terms=replace(survey.terms, day_unit=7))
    told = {one.day for one in reports_of(weekly, device_days(survey)[1], 28)}
    return "" if len(told) <= 5 else f"{len(told)} days are told in four weeks"


def _one_report(folder: Path, survey: Survey) -> str:
    ledger = Ledger(folder / "one.ledger", cap=5)
    kept = [answer_days(ledger, survey, {_FIRST: day})[_FIRST].report for day in device_days(survey)]
    return "" if len(set(kept)) == 1 else f"{len(set(kept))} reports for one day that was paid for once"
