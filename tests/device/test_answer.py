"""A device answers: charged first, one report a day, and no more days than the survey says."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

import elsewhere as ew
from elsewhere.device.answer import answer_days
from elsewhere.survey.file import survey_hash
from elsewhere.survey.survey import Period, Survey
from made_surveys import six_places, survey_of

DAYS = [dt.date(2025, 9, day) for day in range(1, 8)]
DAY = ew.Trajectory([("p0", 60), ("p5", 80)])


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Survey:
    period = Period(first=DAYS[0], last=DAYS[4])
    world = six_places(tmp_path_factory.mktemp("world"))
    return survey_of(world, ("presence", "1", {"grid": 2}), days=2, period=period)


def test_the_same_day_gives_the_same_report_and_costs_once(tmp_path: Path, survey: Survey) -> None:
    ledger = ew.Ledger(tmp_path / "my.ledger", cap=20)
    first = answer_days(ledger, survey, {DAYS[0]: DAY})[DAYS[0]]
    again = answer_days(ledger, survey, {DAYS[0]: ew.Trajectory([("p1", 3)])})[DAYS[0]]
    assert (first.is_again, again.is_again) == (False, True)
    assert first.report == again.report
    assert first.report.survey == survey_hash(survey)
    assert first.report.day == DAYS[0]
    assert ledger.spent == 5
    assert [entry.method for entry in ledger.entries()] == ["survey"]


def test_no_more_days_are_answered_than_the_survey_says(tmp_path: Path, survey: Survey) -> None:
    ledger = ew.Ledger(tmp_path / "my.ledger", cap=100)
    answer_days(ledger, survey, {DAYS[0]: DAY})
    with pytest.raises(ew.InputError, match="1 of 2 days"):
        answer_days(ledger, survey, {DAYS[1]: DAY, DAYS[2]: DAY})
    assert ledger.spent == 5
    answer_days(ledger, survey, {DAYS[1]: DAY})
    with pytest.raises(ew.InputError, match="2 of 2 days"):
        answer_days(ledger, survey, {DAYS[2]: DAY})
    answer_days(ledger, survey, {DAYS[1]: DAY})  # the same again is no new day
    assert ledger.spent == 10


def test_a_day_that_was_shared_is_not_answered_as_well(tmp_path: Path, survey: Survey) -> None:
    ledger = ew.Ledger(tmp_path / "my.ledger", cap=100)
    codebook = ew.method("codebook", survey.world, epsilon=5, candidates=16, shards=1, k=3)
    ledger.share(DAYS[0].isoformat(), DAY, codebook)
    with pytest.raises(ew.InputError, match="charged for another sharing"):
        answer_days(ledger, survey, {DAYS[0]: DAY})
    answer_days(ledger, survey, {DAYS[1]: DAY})
    with pytest.raises(ew.InputError, match="charged for another sharing"):
        ledger.share(DAYS[1].isoformat(), DAY, codebook)


def test_a_period_that_is_over_and_a_cap_are_kept(tmp_path: Path, survey: Survey) -> None:
    ledger = ew.Ledger(tmp_path / "my.ledger", cap=4)
    with pytest.raises(ew.InputError, match="asks about 2025-09-01 to 2025-09-05"):
        answer_days(ledger, survey, {DAYS[5]: DAY})
    with pytest.raises(ew.BudgetError):
        answer_days(ledger, survey, {DAYS[0]: DAY})
    assert ledger.spent == 0
