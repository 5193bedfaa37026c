"""A device answers: charged first, one report a day, and no more days than the survey says."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import elsewhere as ew
from device_answers import device_objections
from elsewhere.device.answer import answer_days
from elsewhere.survey.file import survey_hash
from elsewhere.survey.survey import Period, Survey, Terms
from elsewhere.world.settings import SAME_PEOPLE
from made_surveys import six_places, survey_of
from worlds import build, place

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


@pytest.mark.audit
def test_five_thousand_reports_of_each_day_are_as_listed(tmp_path: Path) -> None:
    """`make test` looks at 300 of them."""
    assert device_objections(tmp_path, samples=5000) == {}


def test_no_hour_is_told_twice_in_two_time_zones(tmp_path: Path) -> None:
    """Noon of one day in London is the day after on Kiritimati: the collector chooses the world."""
    surveys = []
    for zone in ("Europe/London", "Pacific/Kiritimati"):
        folder = tmp_path / zone.replace("/", "-")
        rows = [place("p0", 50, 10, hours="24/7"), place("p1", 50.01, 10, hours="24/7")]
        world = build(folder, rows, {"kappa": 1, "timezone": zone})
        surveys.append(survey_of(world, ("visits", "1", {}), days=5))
    ledger = ew.Ledger(tmp_path / "my.ledger", cap=100)
    answer_days(ledger, surveys[0], {DAYS[2]: DAY})
    for day in (DAYS[2], DAYS[3]):
        with pytest.raises(ew.InputError, match=r"another sharing|no hour is told twice"):
            answer_days(ledger, surveys[1], {day: DAY})
    assert ledger.spent == 5
    answer_days(ledger, surveys[1], {DAYS[4]: DAY})
    with pytest.raises(ew.InputError, match="2025-09-04 has hours of 2025-09-05"):
        answer_days(ledger, surveys[0], {DAYS[3]: DAY})
    method = ew.method("codebook", surveys[0].world, epsilon=5, candidates=16, shards=1, k=3)
    with pytest.raises(ew.InputError, match="has hours of"):
        ledger.share("2025-09-04", DAY, method)
    answer_days(ledger, surveys[0], {DAYS[1]: DAY})  # the day before is another day
    assert ledger.spent == 15


@pytest.mark.parametrize("day", ["1999-12-31", "2000-01-02", "2179-06-07", "9999-12-31"])
def test_days_that_no_report_can_tell_are_refused_before_they_are_paid(tmp_path: Path, day: str) -> None:
    weekly = survey_of(six_places(tmp_path), ("visits", "1", {}), day_unit=7)
    ledger = ew.Ledger(tmp_path / "my.ledger", cap=100)
    with pytest.raises(ew.InputError, match="days from 2000-01-01 to 2179-06-06"):
        answer_days(ledger, weekly, {dt.date.fromisoformat(day): DAY})
    assert ledger.spent == 0


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ({"day_unit": 367}, "1 to 366"),
        ({"days": 10_000}, "1 to 366"),
        ({"purpose": "Ask \x1b[1A\x1b[2K"}, "control characters"),
        ({"purpose": "\x9b2J"}, "control characters"),
    ],
)
def test_terms_of_strangers_are_plain(terms: dict[str, object], words: str) -> None:
    with pytest.raises(ew.InputError, match=words):
        Terms(epsilon=Fraction(5), **terms)  # type: ignore[arg-type]
    assert Terms(epsilon=Fraction(5), purpose="Two\nlines, naïve").purpose


def test_nothing_is_promised_to_the_people_a_world_is_made_of(survey: Survey) -> None:
    """R12, however the survey came about."""
    same = replace(survey.world, settings=replace(survey.world.settings, popularity_from=SAME_PEOPLE))
    with pytest.raises(ew.InputError, match="nothing can be promised"):
        replace(survey, world=same)
