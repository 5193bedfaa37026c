"""Surveys on real days: how fast devices answer, reports are counted, and estimates made."""

from __future__ import annotations

import json
import resource
import tempfile
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import elsewhere as ew
from cities import city_with_days
from elsewhere.estimates.counts import AnswerCounts, counted
from elsewhere.estimates.support import support_of
from elsewhere.estimates.tables import table_of
from elsewhere.estimates.tilt import Evidence
from elsewhere.mechanism.answer import hashed_answer
from elsewhere.randomness import SeededRandomness, SystemRandomness
from elsewhere.survey.answering import Answering
from elsewhere.survey.channels import SetChannel
from elsewhere.survey.questions.registry import question_of
from elsewhere.survey.survey import Survey, Terms, make_survey
from elsewhere.world.world import World

_PLACES = 2000
_MANY = 1_000_000
_SIX: list[tuple[str, str, dict[str, Any]]] = [
    ("presence", "0.35", {"grid": 4}),
    ("presence", "0.2", {"grid": 4, "hours": 24}),
    ("kinds", "0.15", {}),
    ("moves", "0.2", {"grid": 4}),
    ("visits", "0.05", {}),
    ("trips", "0.05", {}),
]


def _survey(world: World, asked: list[tuple[str, str, dict[str, Any]]]) -> Survey:
    records = [(question_of(kind, options), Fraction(share)) for kind, share, options in asked]
    return make_survey(world, Terms(epsilon=Fraction(5)), records)


def _answering(survey: Survey, days: list[ew.Trajectory]) -> dict[str, float]:
    answering = Answering(survey)
    secrets = [answering.secret(day) for day in days] * 8
    answering.answer(secrets[:100], SystemRandomness(), constant_work=False)
    started = time.process_time()
    answering.answer(secrets, SystemRandomness(), constant_work=False)
    batch = time.process_time() - started
    for _ in range(25):  # until the loop is compiled and loaded
        answering.answer(secrets[:1], SystemRandomness(), constant_work=True)
    started = time.perf_counter()
    for secret in secrets[:100]:
        answering.answer([secret], SystemRandomness(), constant_work=True)
    one = (time.perf_counter() - started) / 100
    return {"per_second": len(secrets) / batch, "one_ms": 1e3 * one}


def _counting(survey: Survey) -> dict[str, float]:
    """A million answers, direct as the survey has them, and hashed."""
    channel = survey.questions[0].channel
    generator = np.random.default_rng(1)
    halves = generator.integers(0, 2, _MANY).astype(np.int32)
    found = {}
    hashed = SetChannel(
        things=channel.things, tables=hashed_answer(Fraction(1), channel.things.count, 4, 15), timesteps=144
    )
    for name, one in (("direct_s", channel), ("hashed_s", hashed)):
        given = np.column_stack(
            [generator.integers(0, one.seeds, _MANY), generator.integers(0, one.odds.candidates, _MANY)]
        ).astype(np.int32)
        counted(one, given[:10], halves[:10])
        started = time.perf_counter()
        counted(one, given, halves)
        found[name] = time.perf_counter() - started
    return found


def _estimating(world: World, days: list[ew.Trajectory]) -> dict[str, float]:
    survey = _survey(world, _SIX)
    answering = Answering(survey)
    rows = np.random.default_rng(2).integers(0, len(days), 100_000)
    pool = [answering.secret(day) for day in days]
    found, _ = answering.answer([pool[row] for row in rows], SeededRandomness(3), constant_work=False)
    counts: list[AnswerCounts] = []
    for number, question in enumerate(survey.questions):
        mine = found[found[:, 0] == number]
        counts.append(counted(question.channel, mine[:, 1:], (np.arange(len(mine)) % 2).astype(np.int32)))
    started = time.perf_counter()
    evidence = Evidence(support_of(world), counts)
    fit = evidence.fit()
    for number in range(len(counts)):
        table_of(evidence, fit, number)
    return {"tilt_s": time.perf_counter() - started, "tau": fit.tau}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        source, world, days = city_with_days(Path(folder), _PLACES)
    one = _survey(world, [("presence", "1", {"grid": 4})])
    report = {
        "source": source,
        "things": one.questions[0].things.count,
        **_answering(one, days),
        **_counting(one),
        **_estimating(world, days),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
