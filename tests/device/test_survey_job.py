"""A survey answered for a whole file: in parts, in the order of ids, going on where a run was stopped."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from elsewhere.device import survey_job
from elsewhere.device.owner import own_uid
from elsewhere.device.people import AskedDays, asked_people, date_of, joined_days, read_days
from elsewhere.device.simulate import simulated_reports
from elsewhere.device.survey_job import answer_file
from elsewhere.errors import InputError
from elsewhere.randomness import SeededRandomness, SystemRandomness
from elsewhere.survey.reports import randomness_of, read_reports
from elsewhere.survey.survey import Period, Survey
from made_surveys import six_places, survey_of

_PERIOD = Period(first=dt.date(2025, 9, 2), last=dt.date(2025, 9, 5))


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Survey:
    world = six_places(tmp_path_factory.mktemp("world"))
    return survey_of(world, ("presence", "1/2", {"grid": 2}), ("visits", "1/2", {}), period=_PERIOD, days=2)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Forty people on the first six days of September, day after day: nobody's days stand together."""
    rows = [
        f"u{person},2025-09-0{day}T{hour:02}:00:00,p{(person + hour) % 6}"
        for day in range(1, 7)
        for person in range(40)
        for hour in (8, 12, 17)
    ]
    path = tmp_path / "days.csv"
    path.write_text("\n".join(["uid,datetime,place_id", *rows]) + "\n")
    return path


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of seven days, which are sorted ten at a time."""
    monkeypatch.setattr(survey_job, "BATCH", 7)
    monkeypatch.setattr(survey_job, "_SORTED_AT_ONCE", 10)


def test_each_person_answers_the_first_days_of_the_period(survey: Survey, source: Path) -> None:
    asked = AskedDays(survey.terms)
    people = list(asked_people(source, survey, SystemRandomness(), asked))
    dates = [date_of(number).day for part in people for number in part.dates.tolist()]
    assert Counter(dates) == {2: 40, 3: 40}  # the survey takes two days of each
    assert (asked.asked, asked.others) == (80, 160)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_file_in_parts_is_answered_in_the_order_of_ids(
    survey: Survey, source: Path, tmp_path: Path, workers: int
) -> None:
    output = tmp_path / "r.parquet"
    found = answer_file(source, output, survey, workers=workers, seed=3)
    reports = read_reports(output)
    assert sum(found.by_question.values()) == reports.height == reports["id"].n_unique() == 80
    assert found.others == 160
    assert reports["id"].is_sorted()
    assert randomness_of(output) == "seeded (3)"
    assert [path.name for path in tmp_path.iterdir() if path.name not in {"days.csv", "r.parquet"}] == []
    whole = _whole(survey, source, tmp_path, workers=3 - workers)
    assert reports.equals(whole)


def _whole(survey: Survey, source: Path, folder: Path, workers: int) -> pl.DataFrame:
    """The same parts, sorted all at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(survey_job, "_SORTED_AT_ONCE", 10**9)
        answer_file(source, folder / "whole.parquet", survey, workers=workers, seed=3)
    return read_reports(folder / "whole.parquet")


def test_reports_say_what_they_say_in_one_go(survey: Survey, source: Path, tmp_path: Path) -> None:
    """One part, whose chance is that of the first stream."""
    answer_file(source, tmp_path / "r.parquet", survey, seed=3)
    asked = AskedDays(survey.terms)
    people = joined_days(asked_people(source, survey, SeededRandomness(3).stream(0), asked))
    here = simulated_reports(survey, people, SeededRandomness(3).stream(1))
    assert read_reports(tmp_path / "r.parquet").equals(here)


class _StoppedError(Exception):
    pass


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("after", [1, 5, 11])
def test_a_run_that_was_stopped_goes_on_and_answers_nobody_twice(
    survey: Survey, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    output, keep, kept = tmp_path / "r.parquet", survey_job._keep, []

    def stopped(folder: Path, number: int, frame: pl.DataFrame) -> Path:
        if number == after:
            raise _StoppedError
        return keep(folder, number, frame)

    with monkeypatch.context() as patch:
        patch.setattr(survey_job, "_keep", stopped)
        with pytest.raises(_StoppedError):
            answer_file(source, output, survey)
    waiting = tmp_path / "r.parquet.PRIVATE.partial"
    assert not output.exists()
    for part in sorted(waiting.glob("part-*.parquet")):
        kept += pl.read_parquet(part).rows()
    answer_file(source, output, survey)
    rows = read_reports(output).rows()
    assert len(kept) == 7 * after
    assert set(kept) <= set(rows)
    assert len(rows) == 80
    assert not waiting.exists()


def test_an_output_that_is_there_stays_as_it_is(survey: Survey, source: Path, tmp_path: Path) -> None:
    output = tmp_path / "r.parquet"
    output.write_bytes(b"reports of yesterday")
    with pytest.raises(InputError, match="answering again would spend ε again"):
        answer_file(source, output, survey)
    assert output.read_bytes() == b"reports of yesterday"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("a,2025-08-01T10:00,p1\na,2025-10-01T10:00,p2\n", "from 2025-08-01 to 2025-10-01, the survey asks"),
        ("", "has no trajectory"),
        ("a,2025-09-03T10:00,p1\na,noon,p2\n,2025-09-03T10:00,p1\n", "row 3, column datetime"),
    ],
)
def test_nothing_is_drawn_for_a_file_that_is_wrong(
    survey: Survey, tmp_path: Path, rows: str, said: str
) -> None:
    source = tmp_path / "days.csv"
    source.write_text("uid,datetime,place_id\n" + rows)
    with pytest.raises(InputError, match=said):
        answer_file(source, tmp_path / "r.parquet", survey)
    assert [path.name for path in tmp_path.iterdir()] == ["days.csv"]


@pytest.mark.usefixtures("small")
def test_a_file_that_changes_under_way_ends_the_run(
    survey: Survey, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is drawn of another file would wait among parts of this one, and its people come again later."""
    output, keep, before = tmp_path / "r.parquet", survey_job._keep, source.read_text()
    header, *rows = before.splitlines()

    def changing(folder: Path, number: int, frame: pl.DataFrame) -> Path:
        if number == 1:
            source.write_text("\n".join([header, *reversed(rows)]))
        return keep(folder, number, frame)

    with monkeypatch.context() as patch:
        patch.setattr(survey_job, "_keep", changing)
        with pytest.raises(InputError, match="has changed since this job began"):
            answer_file(source, output, survey)
    waiting = tmp_path / "r.parquet.PRIVATE.partial"
    assert len(list(waiting.glob("part-*.parquet"))) == 2
    assert not output.exists()
    with pytest.raises(InputError, match="belongs to another job"):
        answer_file(source, output, survey)
    source.write_text(before)
    answer_file(source, output, survey)
    assert read_reports(output).height == 80


def test_own_days_are_not_answered_past_their_ledger(survey: Survey, tmp_path: Path) -> None:
    source = tmp_path / "days.csv"
    source.write_text(
        f"uid,datetime,place_id\na,2025-09-03T10:00,p1\n{own_uid('0' * 32)},2025-09-03T10:00,p1\n"
    )
    with pytest.raises(InputError, match="share them there, where a ledger counts"):
        answer_file(source, tmp_path / "r.parquet", survey)
    with pytest.raises(InputError, match="share them there, where a ledger counts"):
        read_days(source, survey, SystemRandomness(), people=5)
    assert [path.name for path in tmp_path.iterdir()] == ["days.csv"]
