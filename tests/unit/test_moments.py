"""Times as people write them, and what is said of those that are none."""

from __future__ import annotations

import datetime as dt

import pytest

from elsewhere.inputs.moments import (
    MomentError,
    NoTimeError,
    UnclearDateError,
    date_order_of,
    local_moment,
    moment_of,
)

SEVENTH = dt.datetime(2012, 7, 7, 15, 32)  # noqa: DTZ001 - local time
UTC = SEVENTH.replace(tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2012-07-07T15:32:00", SEVENTH),
        ("2012-07-07 15:32:00", SEVENTH),
        ("2012-07-07 15:32", SEVENTH),
        ("2012/07/07 15:32:00", SEVENTH),
        ("20120707T153200", SEVENTH),
        ("20120707153200", SEVENTH),
        ("7/7/12 15:32", SEVENTH),
        ("07/07/2012 3:32 PM", SEVENTH),
        ("07.07.2012 15:32", SEVENTH),
        ("Sat Jul  7 15:32:00 2012", SEVENTH),
        ("2012-07-07T15:32:00Z", UTC),
        ("2012-07-07 15:32:00 UTC", UTC),
        ("2012-07-07 15:32:00 +0000", UTC),
        ("2012-07-07T17:32:00+02:00", UTC),
        ("1341675120", UTC),
        ("1341675120.0", UTC),
        ("1341675120000", UTC),
        ("Sat Jul 07 15:32:00 +0000 2012", UTC),
        ("Sat Jul 07 11:32:00 -0400 2012", UTC),
        ("Sat, 07 Jul 2012 15:32:00 +0000", UTC),
    ],
)
def test_usual_forms_are_read(text: str, expected: dt.datetime) -> None:
    found = moment_of(text)
    assert found == expected
    assert (found.tzinfo is None) == (expected.tzinfo is None)


def test_midnight_at_the_end_of_a_day_is_the_next_day() -> None:
    assert moment_of("2012-07-07T24:00:00") == dt.datetime(2012, 7, 8)  # noqa: DTZ001 - local time
    assert moment_of("07/13/2012 12:00 AM") == dt.datetime(2012, 7, 13)  # noqa: DTZ001 - local time


def test_day_and_month_are_told_by_the_column_or_by_the_caller() -> None:
    assert moment_of("4/17/13 0:19") == dt.datetime(2013, 4, 17, 0, 19)  # noqa: DTZ001 - local time
    with pytest.raises(UnclearDateError, match="cannot be told apart"):
        moment_of("07/04/2012 15:32")
    assert moment_of("07/04/2012 15:32", "day-first").month == 4
    assert moment_of("07/04/2012 15:32", "month-first").month == 7
    assert date_order_of(["07/04/2012 15:32", "07/17/2012 15:32"]) == "month-first"
    assert date_order_of(["07/04/2012 15:32", "17/07/2012 15:32"]) == "day-first"
    assert date_order_of(["07/04/2012 15:32"]) is None


@pytest.mark.parametrize("text", ["2012-07-07", "20120707", "07/07/2012", "2012/7/7"])
def test_a_date_alone_needs_a_time(text: str) -> None:
    with pytest.raises(NoTimeError, match="a time is needed"):
        moment_of(text)


@pytest.mark.parametrize(
    "text",
    ["", "noon", "2012-07-07T24:01", "2012-07-07 25:00", "2012-13-07 10:00", "13:99", "12", "7/7/12 13 PM"],
)
def test_what_is_no_time_is_refused_without_being_quoted(text: str) -> None:
    with pytest.raises(MomentError, match=r"must be a time such as 2025-09-17T10:30:00") as caught:
        moment_of(text)
    assert not text or text not in str(caught.value)


def test_moments_become_local() -> None:
    assert local_moment(UTC, "Asia/Tokyo") == dt.datetime(2012, 7, 8, 0, 32)  # noqa: DTZ001 - local time
    assert local_moment(SEVENTH, "Asia/Tokyo") == SEVENTH
