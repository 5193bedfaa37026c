"""The time zone of a city, from where its places are."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import tzfpy

from elsewhere.errors import InputError
from elsewhere.knowledge.places import Places


def checked_zone(name: str) -> str:
    """The name of a time zone, if there is one of that name."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InputError("--timezone", f"found {name!r}, must be a zone such as Europe/Helsinki") from None
    return name


def city_zone(
    given: str | None, positions: Iterable[tuple[float, float]], steps: dict[str, int] | None = None
) -> str:
    """The zone that was given, or the one that most positions (latitude, longitude) lie in.

    ``steps`` counts those that lie in another one: days there are read by the wrong clock.
    """
    if given is not None:
        return checked_zone(given)
    zones = Counter(tzfpy.get_tz(longitude, latitude) for latitude, longitude in positions)
    if not zones:
        raise InputError("--timezone", "is needed: there is no position to tell the time zone from")
    zone, count = zones.most_common(1)[0]
    if steps is not None and count < zones.total():
        steps["places in another time zone than most"] = zones.total() - count
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError):
        raise InputError("--timezone", f"is needed: this system does not know {zone!r}") from None
    return zone


_DECIMALS = 2
"""About a kilometre: places so near each other have one clock."""
_NOON = dt.time(12)


def places_by_another_clock(places: Places, date: dt.date) -> int:
    """How many places have another time of day than most: a world tells all hours by one clock."""
    where = np.column_stack([places.latitudes, places.longitudes])[~places.is_anywhere]
    spots, counts = np.unique(where.round(_DECIMALS), axis=0, return_counts=True)
    clocks: Counter[dt.timedelta | None] = Counter()
    for (latitude, longitude), count in zip(spots.tolist(), counts.tolist(), strict=True):
        clocks[_offset(tzfpy.get_tz(longitude, latitude), date)] += count
    return clocks.total() - max(clocks.values(), default=0)


def _offset(zone: str, date: dt.date) -> dt.timedelta | None:
    """How far a zone is from Greenwich at noon; None where this system does not know it."""
    try:
        return ZoneInfo(zone).utcoffset(dt.datetime.combine(date, _NOON))
    except (ZoneInfoNotFoundError, ValueError):
        return None
