"""Times as people write them: ISO, seconds since 1970, Twitter's form, slashes. Messages never quote them."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable
from email.utils import parsedate_to_datetime
from typing import Literal
from zoneinfo import ZoneInfo

DateOrder = Literal["day-first", "month-first"]

EXAMPLE = "2025-09-17T10:30:00"
_MONTHS = {
    name: number
    for number, name in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], start=1
    )
}
# How many digits seconds, milli-, micro- and nanoseconds since 1970 have, from 1973 to 2286.
_EPOCH_UNITS = {9: 1, 10: 1, 12: 1e3, 13: 1e3, 15: 1e6, 16: 1e6, 18: 1e9, 19: 1e9}
_NUMBER = re.compile(r"(\d+)(\.\d*)?")
_YEAR_LAST = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{2}|\d{4})(?:[ T,]+(\S.*))?")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)? ?([AaPp])?\.?[Mm]?\.?")
_ZONE = re.compile(r"(?<=[\d.]) ?(Z|UTC|GMT|[+-]\d{2}:?\d{2})$", re.IGNORECASE)
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}")


class MomentError(ValueError):
    """A text that is no time; its message says what is allowed and nothing of the text."""


class NoTimeError(MomentError):
    """A date alone."""

    def __init__(self) -> None:
        super().__init__(f"is a date without a time: a time is needed, such as {EXAMPLE}")


class UnclearDateError(MomentError):
    """A date whose day and month cannot be told apart."""

    def __init__(self) -> None:
        super().__init__(f"day and month cannot be told apart: write times such as {EXAMPLE}")


def moment_of(text: str, order: DateOrder | None = None) -> dt.datetime:
    """A point in time; with a zone if the text has one, else without.

    ``order`` says how to read 07/04/2012 where the date itself does not. 24:00 is midnight at the end of a
    day.
    """
    text = text.strip()
    try:
        if text[4:5] == "-" and len(text) > 10 and text[11:13] != "24":
            return dt.datetime.fromisoformat(text)  # nearly all are like this, and this is fast
    except ValueError:
        pass
    try:
        return _moment(text, order)
    except MomentError:
        raise
    except (ValueError, OverflowError, TypeError, KeyError, IndexError):
        raise MomentError(f"must be a time such as {EXAMPLE}") from None


def _moment(text: str, order: DateOrder | None) -> dt.datetime:
    if number := _NUMBER.fullmatch(text):
        return _from_number(number[1], number[2] or "")
    if text[:3].isalpha():
        return _in_words(text)
    text, zone = _without_zone(text)
    if date := _DATE.match(text):
        year, month, day = map(int, re.split(r"[-/.]", date[0]))
        return _joined(dt.date(year, month, day), text[date.end() :].lstrip(" T,"), zone)
    if parts := _YEAR_LAST.fullmatch(text):
        day, month = _told_apart(int(parts[1]), int(parts[3]), parts[2], order)
        return _joined(dt.date(_year(parts[4]), month, day), parts[5] or "", zone)
    return dt.datetime.fromisoformat(text).replace(tzinfo=zone)


def _from_number(whole: str, fraction: str) -> dt.datetime:
    """Seconds and finer since 1970, or 20120707153200; told apart by the number of digits."""
    if len(whole) == 14:
        return dt.datetime.strptime(whole, "%Y%m%d%H%M%S")  # noqa: DTZ007 - local time, as written
    if len(whole) == 8:
        raise NoTimeError
    return dt.datetime.fromtimestamp(float(whole + fraction) / _EPOCH_UNITS[len(whole)], tz=dt.UTC)


def _in_words(text: str) -> dt.datetime:
    """``Sat Jul 07 15:32:00 +0000 2012``, ten times as fast as strptime; or as in e-mails."""
    if "," in text:
        return parsedate_to_datetime(text)
    _, month, day, clock, *offset, year = text.split()
    date = dt.date(int(year), _MONTHS[month.lower()], int(day))
    return _joined(date, clock, _zone_of(offset[0]) if offset else None)


def _without_zone(text: str) -> tuple[str, dt.tzinfo | None]:
    found = _ZONE.search(text) if ":" in text else None
    return (text[: found.start()].rstrip(), _zone_of(found[1])) if found else (text, None)


def _zone_of(text: str) -> dt.tzinfo:
    if text.upper() in {"Z", "UTC", "GMT", "+0000"}:
        return dt.UTC
    hours, minutes = int(text[1:3]), int(text[-2:])
    sign = -1 if text[0] == "-" else 1
    return dt.timezone(sign * dt.timedelta(hours=hours, minutes=minutes))


def _joined(date: dt.date, clock: str, zone: dt.tzinfo | None) -> dt.datetime:
    if not clock:
        raise NoTimeError
    parts = _CLOCK.fullmatch(clock)
    if parts is None:
        raise MomentError(f"must be a time such as {EXAMPLE}")
    hour, minute, second = int(parts[1]), int(parts[2]), int(parts[3] or 0)
    if parts[5]:
        hour = _by_halves(hour, parts[5])
    if (hour, minute, second) == (24, 0, 0):
        return dt.datetime.combine(date + dt.timedelta(days=1), dt.time(tzinfo=zone))
    micro = int((parts[4] or "0").ljust(6, "0")[:6])
    return dt.datetime.combine(date, dt.time(hour, minute, second, micro, tzinfo=zone))


def _by_halves(hour: int, half: str) -> int:
    """12 AM is midnight, 12 PM noon."""
    if not 1 <= hour <= 12:
        raise MomentError(f"must be a time such as {EXAMPLE}")
    return hour % 12 + (12 if half in "pP" else 0)


def _told_apart(first: int, second: int, mark: str, order: DateOrder | None) -> tuple[int, int]:
    """Day and month."""
    if first > 12 or (mark == "." and order is None):  # where dots are written, the day comes first
        return first, second
    if second > 12:
        return second, first
    if order is None and first != second:
        raise UnclearDateError
    return (second, first) if order == "month-first" else (first, second)


def _year(text: str) -> int:
    year = int(text)
    return year if len(text) == 4 else year + (2000 if year < 70 else 1900)


def date_order_of(texts: Iterable[str]) -> DateOrder | None:
    """Which comes first in dates with slashes, from the first date that tells; None if none does."""
    for text in texts:
        parts = _YEAR_LAST.match(text.strip())
        if parts is None:
            continue
        if int(parts[1]) > 12:
            return "day-first"
        if int(parts[3]) > 12:
            return "month-first"
    return None


def has_slashes(text: str) -> bool:
    """Whether day and month of a date may have to be told apart."""
    return _YEAR_LAST.match(text.strip()) is not None


def local_moment(moment: dt.datetime, timezone: str) -> dt.datetime:
    """Wall-clock time; a moment without a zone is local already."""
    if moment.tzinfo is None:
        return moment
    return moment.astimezone(ZoneInfo(timezone)).replace(tzinfo=None)
