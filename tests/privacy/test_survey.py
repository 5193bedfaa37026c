"""T9: T1 and T4 for every question, on hundreds of tiny surveys."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from elsewhere.audit.agreement import agreement
from elsewhere.mechanism.answer import distinct, things_of_secrets
from elsewhere.randomness import SeededRandomness
from elsewhere.survey.answering import Answering
from elsewhere.survey.questions.registry import QUESTIONS
from survey_audit import AsMethod, spent_share, survey_days
from tiny_surveys import KINDS, RECORDS, tiny_survey

SURVEYS = 224
_PARTS = 8


# An eighth of them in `make test`, all in `make audit`.
@pytest.mark.parametrize("part", [0, *(pytest.param(n, marks=pytest.mark.audit) for n in range(1, _PARTS))])
def test_no_pair_of_days_differs_by_more_than_epsilon(tmp_path: Path, part: int) -> None:
    """T1: every day of tiny surveys of every kind, against every other."""
    largest = 0.0
    for seed in range(part, SURVEYS, _PARTS):
        share = spent_share(tiny_survey(tmp_path, seed))
        assert share <= 1 + 1e-12
        largest = max(largest, share)
    assert largest > 0.999  # all of ε is used somewhere


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [3, 8])
def test_real_answers_follow_the_listed_ones(tmp_path: Path, kind: str, seed: int) -> None:
    """T4: 20,000 answers of a day; 30 % more of ε is rejected where the day has a thing."""
    survey = tiny_survey(tmp_path, seed, kind=kind)
    answering, days = Answering(survey), survey_days(survey)
    for day in (days[0], days[-1], days[len(days) // 2]):
        suspect = cast("Any", AsMethod(answering))
        assert agreement(suspect, day, 20_000, SeededRandomness(seed)) > 1e-5
        assert agreement(suspect, day, 1000, SeededRandomness(seed), constant_work=True) > 1e-5


@pytest.mark.parametrize("kind", KINDS)
def test_every_day_has_a_set_of_things_by_a_rule_that_never_fails(tmp_path: Path, kind: str) -> None:
    """R19: unknown places, late times, no visit at all; every thing once, all below D."""
    survey = tiny_survey(tmp_path, 3, kind=kind)
    answering, question = Answering(survey), survey.questions[0]
    rows = answering.rows([answering.secret(day) for day in survey_days(survey)] + [()], constant_work=False)
    things = things_of_secrets(rows, question.things, survey.world.clock.timesteps)
    assert things.shape[0] == len(rows)
    assert things.min() >= -1
    assert things.max() < question.things.count
    for row in things.tolist():
        known = [thing for thing in row if thing >= 0]
        assert len(set(known)) == len(known)
    assert (things[-1] == -1).all()


def test_the_question_is_chosen_by_its_share_whatever_is_true(tmp_path: Path) -> None:
    survey = next(
        s for s in (tiny_survey(tmp_path, seed) for seed in range(0, 40, 4)) if len(s.questions) == 2
    )
    answering, days = Answering(survey), survey_days(survey)
    for day in (days[0], days[-1]):
        secrets = [answering.secret(day)] * 30_000
        found, _ = answering.answer(secrets, SeededRandomness(5), constant_work=False)
        assert (found[:, 0] == 0).mean() == pytest.approx(float(survey.questions[0].share), abs=0.015)


def test_the_same_day_costs_the_same_whatever_it_holds(tmp_path: Path) -> None:
    survey = tiny_survey(tmp_path, 3)
    assert [draw.epsilon for draw in Answering(survey).draws()] == [survey.epsilon]
    assert survey.epsilon in {Fraction(1, 2), Fraction(1), Fraction(5)}


def test_distinct_keeps_every_thing_once() -> None:
    rows = np.array([[3, 1, 3, -1], [-1, -1, -1, -1], [2, 2, 2, 2]], dtype=np.int32)
    assert distinct(rows).tolist() == [[3, 1, -1, -1], [-1, -1, -1, -1], [2, -1, -1, -1]]


def test_every_kind_of_question_is_among_those_that_are_audited() -> None:
    assert {record.kind for record in RECORDS.values()} == set(QUESTIONS)


def test_the_first_place_at_midnight_is_a_visit_like_any_other(tmp_path: Path) -> None:
    """Its number is 0, which is not nothing."""
    survey = tiny_survey(tmp_path, 3, kind="presence until next")
    things = survey.questions[0].things
    noon = survey.world.clock.timesteps // 2
    rows = np.array([[0, noon, -1], [0, -1, -1]], dtype=np.int32)
    found = things_of_secrets(rows, things, survey.world.clock.timesteps)
    assert [(row >= 0).sum() for row in found] == [2, 1]  # both halves of the day, and the first alone
