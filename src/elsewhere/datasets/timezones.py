"""The time zone of a city, from where its places are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import tzfpy

from elsewhere.errors import InputError


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
