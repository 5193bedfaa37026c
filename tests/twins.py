"""Shared vectors of T11: surveys, days and words, the same for Python and for the browser's device."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from elsewhere.arrays import Words
from elsewhere.knowledge.sphere import chord_squared, great_circle_km_squared
from elsewhere.mechanism.listing import Outcome
from elsewhere.survey.answering import Answering
from elsewhere.survey.channels import SetChannel
from elsewhere.survey.file import survey_hash
from elsewhere.survey.report import FIRST_DAY, Report
from elsewhere.survey.survey import Period, Question, Survey
from made_surveys import KINDS, six_places, survey_of
from survey_audit import survey_days
from tiny_surveys import tiny_survey
from worlds import build, place

UNIFORM, EXTREME = 0, 1
"""Kinds of words; of the extreme ones half are all ones or zeros, so that much is drawn again."""
_GOLDEN = 0x9E3779B1


class Vector(NamedTuple):
    """A day of a survey, as numbered visits, and the words that it is answered with."""

    survey: int
    visits: Outcome
    day: int
    seed: int
    mode: int


class CountedWords:
    """Words by a counter: made in the same way by tests/browser/twins.js."""

    label = "counted"

    def __init__(self, seed: int, mode: int) -> None:
        self._seed, self._mode = seed, mode
        self.taken = 0
        self.calls: list[int] = []

    def words(self, count: int) -> Words:
        start = 2 * self.taken
        counter = np.arange(start, start + 2 * count, dtype=np.uint64) * np.uint64(_GOLDEN)
        halves = _stirred(_stirred(np.array([self._seed], dtype=np.uint64)) + counter).astype("<u4")
        if self._mode == EXTREME:
            kinds = (halves[::2] >> 24) % 8
            for kind, value in ((kinds < 3, 0xFFFFFFFF), (kinds == 3, 0)):
                halves[np.repeat(kind, 2)] = value
        self.taken += count
        self.calls.append(count)
        return halves.view(np.uint64)

    def of_rows(self, _rows: object) -> CountedWords:
        return self


def _stirred(words: Words) -> Words:
    """MurmurHash3's last step on 32 bits, for arrays."""
    low = np.uint64(0xFFFFFFFF)
    words = words & low
    words = ((words ^ (words >> np.uint64(16))) * np.uint64(0x85EBCA6B)) & low
    words = ((words ^ (words >> np.uint64(13))) * np.uint64(0xC2B2AE35)) & low
    return np.asarray(words ^ (words >> np.uint64(16)))


def larger_surveys(folder: Path) -> list[Survey]:
    """Every kind of question as it is asked in a city, direct and hashed, with odd shares and ε."""
    world = six_places(folder / "six")
    period = Period(first=dt.date(2025, 9, 1), last=dt.date(2025, 9, 30))
    one: dict[str, dict[str, Any]] = {
        "presence": {"grid": 3}, "kinds": {"until_next": True}, "moves": {}, "visits": {}, "trips": {},
        "places": {"hours": 6}, "day": {"candidates": 64, "shards": 3, "k": 5},
    }  # fmt: skip
    surveys = [
        survey_of(world, (kind, "1", options), epsilon=epsilon, day_unit=unit)
        for kind, options in one.items()
        for epsilon, unit in (("5", 1), ("1.37", 7))
    ]
    mixed = [(kind, f"{number + 1}/28", options) for number, (kind, options) in enumerate(one.items())]
    surveys.append(survey_of(world, *mixed, epsilon="3.3", period=period, day_unit=7))
    surveys.append(survey_of(world, ("presence", "1", {"boxes": 64, "until_next": True})))
    surveys += _of_a_wide_city(folder / "wide")
    surveys.append(survey_of(world, ("presence", "1", {"grid": 4, "until_next": True, "k": 20}), epsilon="2"))
    return surveys


def _of_a_wide_city(folder: Path) -> list[Survey]:
    """Places up to 100 km apart, times around the clock, and trips exactly as long as a bin."""
    rows = [place(f"p{i}", 50 + i % 3 * 0.4, 10 + i // 3 * 0.5, KINDS[i % 3], hours="24/7") for i in range(6)]
    world = build(folder, rows, {"kappa": 1, "circular_time": True})
    chord = chord_squared(world.places.vectors, 0, world.places.vectors, 1)
    edges = (float(np.sqrt(great_circle_km_squared(chord))), 80.0)
    return [
        survey_of(world, ("day", "1", {"candidates": 64, "shards": 2, "k": 4})),
        survey_of(world, ("trips", "1", {"edges_km": edges})),
    ]


def with_few_trials(survey: Survey, trials: int) -> Survey:
    """The same survey, in which often nothing is accepted and one more proposal is taken."""

    def few(question: Question) -> Question:
        channel: Any = question.channel
        tables = channel.tables
        if isinstance(channel, SetChannel):
            tables = tables._replace(odds=tables.odds._replace(trials=trials))
        else:
            tables = replace(tables, odds=tables.odds._replace(trials=trials))
        return replace(question, channel=replace(channel, tables=tables))

    return replace(survey, questions=tuple(map(few, survey.questions)))


def days_of(survey: Survey, generator: np.random.Generator) -> Iterator[Outcome]:
    """Days without a known place, of few and of many visits, some at places nobody knows."""
    secret = Answering(survey).secret
    places, steps = len(survey.world.places), survey.world.clock.timesteps
    yield (places * steps + steps // 2,)
    if steps <= 6:
        days = survey_days(survey)
        yield from (secret(days[int(at)]) for at in generator.integers(0, len(days), 24))
        return
    for visits in (1, 2, 3, 5, 8, 12, 20, 40, steps):
        for _ in range(4):
            times = np.sort(generator.choice(steps, visits, replace=False))
            where = generator.integers(0, places + 1, visits)
            yield tuple((where * steps + times).tolist())


def vectors_of(surveys: list[Survey], each: int) -> list[Vector]:
    """At least ``each`` vectors a survey."""
    found = []
    for number, survey in enumerate(surveys):
        generator = np.random.default_rng(number)
        days = list(days_of(survey, generator))
        for at in range(max(each, len(days))):
            day = int(generator.integers(*((9375, 9405) if survey.terms.period else (3, 65_000))))
            seed, mode = int(generator.integers(1 << 32)), EXTREME if at % 5 == 4 else UNIFORM
            found.append(Vector(number, days[at % len(days)], day, seed, mode))
    return found


def python_answers(surveys: list[Survey], vectors: list[Vector]) -> list[Any]:
    """Report, words taken and how they were asked for, as the device in Python does it."""
    ready = [(Answering(survey), survey_hash(survey), survey.terms) for survey in surveys]
    found = []
    for vector in vectors:
        answering, name, terms = ready[vector.survey]
        source = CountedWords(vector.seed, vector.mode)
        drawn, _ = answering.answer([vector.visits], cast("Any", source), constant_work=True)
        question, seed, output = drawn[0].tolist()
        report = Report(
            survey=name,
            report_id=source.words(2).tobytes().hex(),
            question=question,
            day=terms.told_day(FIRST_DAY + dt.timedelta(days=vector.day)),
            seed=seed,
            output=output,
        )
        found.append([report.to_bytes().hex(), source.taken, source.calls])
    return found


def tiny_surveys(folder: Path, seeds: range) -> list[Survey]:
    """Surveys of T9."""
    return [tiny_survey(folder, seed) for seed in seeds]
