"""What a ledger is charged for: a day, or a part of one, and no hour twice."""

from __future__ import annotations

import datetime as dt
import re
from contextlib import suppress
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from elsewhere.errors import InputError

_TIME = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]")


class Charge(NamedTuple):
    """What is paid for: nothing else may be drawn under it."""

    day: str
    epsilon: str
    method: str
    world: str
    hours: tuple[int, int]
    """When the day begins and ends, in seconds of UTC: worlds have time zones, and so have their days."""


def hours_of(day: dt.date, timezone: str) -> tuple[int, int]:
    """When a day begins and ends somewhere, in seconds of UTC."""
    return hours_of_part(day, 0, 24 * 60, timezone)


def hours_of_part(day: dt.date, begins_at: int, minutes: int, timezone: str) -> tuple[int, int]:
    """When a part of a day begins and ends somewhere, by the clock on the wall, in seconds of UTC."""
    try:
        midnight = dt.datetime.combine(day, dt.time())
        marks = [midnight + dt.timedelta(minutes=at) for at in (begins_at, begins_at + minutes)]
        zone = ZoneInfo(timezone)
        begins, ends = (_seconds(mark.replace(tzinfo=zone)) for mark in marks)
    except (OSError, OverflowError, ValueError, ZoneInfoNotFoundError):
        raise InputError("day", f"found {day}, which has no hours in time zone {timezone!r}") from None
    return begins, ends


def _seconds(moment: dt.datetime) -> int:
    """Seconds of UTC of a time on the wall; one that a clock leaps over in spring is when it leaps."""
    early, late = (int(moment.replace(fold=fold).timestamp()) for fold in (1, 0))
    back = dt.datetime.fromtimestamp(late, moment.tzinfo)
    if back.replace(tzinfo=None) == moment.replace(tzinfo=None):
        return late
    before = dt.datetime.fromtimestamp(early, moment.tzinfo).utcoffset()
    while late - early > 1:
        middle = (early + late) // 2
        is_before = dt.datetime.fromtimestamp(middle, moment.tzinfo).utcoffset() == before
        early, late = (middle, late) if is_before else (early, middle)
    return late


def date_of(day: str) -> dt.date:
    """One way to write each day, so that none can be paid for twice under two names."""
    with suppress(ValueError):
        date = dt.date.fromisoformat(day)
        if date.isoformat() == day:
            return date
    raise InputError("day", f"found {day!r}, must be a date such as 2025-09-17")


def check_name(name: str) -> None:
    """A day, or a part of one under the time at which it begins, as in 2025-09-17T09:00."""
    day, _, time = name.partition("T")
    date_of(day)
    if day != name and not _TIME.fullmatch(time):
        raise InputError("day", f"found {name!r}, must be a date, or one with a time such as T09:00")
