"""Many reports: what is wrong with some is counted by its reason, and nothing else is lost."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import polars as pl
import pytest

import elsewhere as ew
from elsewhere.device.people import dated_days
from elsewhere.device.simulate import simulated_reports
from elsewhere.randomness import SYSTEM, SeededRandomness
from elsewhere.survey.report import report_from_bytes
from elsewhere.survey.reports import frame_of, randomness_of, read_reports, sorted_reports, write_reports
from elsewhere.survey.survey import Period, Survey
from made_surveys import six_places, survey_of

DAY = dt.date(2025, 9, 17)


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Survey:
    period = Period(first=dt.date(2025, 9, 1), last=dt.date(2025, 9, 30))
    world = six_places(tmp_path_factory.mktemp("world"))
    return survey_of(
        world, ("presence", "1/2", {"grid": 2}), ("visits", "1/2", {}), period=period, day_unit=7
    )


@pytest.fixture(scope="module")
def good(survey: Survey) -> pl.DataFrame:
    people = [(DAY, ew.Trajectory([("p0", 60), (f"p{i % 6}", 72)])) for i in range(200)]
    return simulated_reports(survey, dated_days(survey.world, people), SeededRandomness(3))


def test_days_are_told_in_units_from_the_first_on(good: pl.DataFrame) -> None:
    assert good["day"].unique().to_list() == [dt.date(2025, 9, 15)]


def test_reports_come_back_from_parquet(tmp_path: Path, survey: Survey, good: pl.DataFrame) -> None:
    write_reports(tmp_path / "r.parquet", good, randomness=SYSTEM)
    assert read_reports(tmp_path / "r.parquet").equals(good)
    assert randomness_of(tmp_path / "r.parquet") == SYSTEM
    write_reports(tmp_path / "s.parquet", good, randomness="seeded (1)")
    assert randomness_of(tmp_path / "s.parquet") == "seeded (1)"
    ready = sorted_reports(survey, good)
    assert ready.count == 200
    assert ready.left_out == {}
    assert {half for halves in ready.halves for half in halves.tolist()} == {0, 1}


def test_a_table_of_single_reports_is_the_same(good: pl.DataFrame) -> None:
    from elsewhere.survey.report import Report  # noqa: PLC0415 - rows one by one, here alone

    rows = [
        Report(survey=s, report_id=i, question=q, day=d, seed=seed, output=y)
        for s, i, q, d, seed, y in good.iter_rows()
    ]
    assert frame_of(report_from_bytes(row.to_bytes()) for row in rows).equals(good)


def test_bad_reports_are_counted_by_their_reason(survey: Survey, good: pl.DataFrame) -> None:
    def changed(start: int, count: int, **columns: pl.Expr) -> pl.DataFrame:
        return good[start : start + count].with_columns(**columns).cast(good.schema)

    bad = pl.concat(
        [
            good,
            good[:5],
            changed(5, 4, output=(pl.col("output") + 1) % 2),
            changed(0, 3, survey=pl.lit("0" * 64), id=pl.lit("1" * 32)),
            changed(0, 2, question=pl.lit(2), id=pl.lit("2" * 32)),
            changed(0, 2, output=pl.lit(10**6), id=pl.lit("3" * 32)),
            changed(0, 1, seed=pl.lit(1), id=pl.lit("4" * 32)),
            changed(0, 1, output=pl.lit(-1), id=pl.lit("5" * 32)),
            changed(0, 6, id=pl.lit("a report")),
            changed(0, 1, day=pl.lit(None), id=pl.lit("6" * 32)),
            changed(0, 2, day=pl.lit(dt.date(2025, 10, 6)), id=pl.lit("7" * 32)),
        ]
    )
    ready = sorted_reports(survey, bad)
    assert ready.left_out == {
        "not a report at all": 7,
        "of another survey": 3,
        "about a question that is not asked": 2,
        "with an answer out of range": 4,
        "about a day outside the period": 2,
        "sent again": 5,
        "with the id of another report": 8,
    }
    assert ready.count == 196


def test_what_is_no_table_of_reports_is_refused(tmp_path: Path, good: pl.DataFrame) -> None:
    (tmp_path / "text.parquet").write_text("uid,tid")
    with pytest.raises(ew.InputError, match="not a Parquet file"):
        read_reports(tmp_path / "text.parquet")
    with pytest.raises(ew.InputError, match="cannot be read"):
        read_reports(tmp_path / "none.parquet")
    good.drop("seed").write_parquet(tmp_path / "few.parquet")
    with pytest.raises(ew.InputError, match="no column 'seed'"):
        read_reports(tmp_path / "few.parquet")
