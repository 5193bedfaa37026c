"""Opening hours in OpenStreetMap's syntax, seen through the timesteps of one day."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping

import numpy as np
import opening_hours
from opening_hours import OpeningHours, State

from elsewhere.arrays import Bools
from elsewhere.knowledge.clock import Clock


def hours_problem(hours: str) -> str | None:
    """What is wrong with an opening_hours string, or None."""
    try:
        OpeningHours(hours)
    except opening_hours.ParserError as error:  # type: ignore[attr-defined]  # the stub forgets it
        example = "OpenStreetMap opening_hours syntax such as 'Mo-Fr 09:00-17:00'"
        place = re.search(r"--> \d+:(\d+)", str(error))
        where = f" (not understood from {hours[int(place[1]) - 1 :]!r} on)" if place else ""
        return f"found {hours!r}, must be {example}{where}"
    return None


def open_timesteps(hours: str, clock: Clock) -> Bools:
    """Which timesteps of the clock's day overlap a time at which the place is, or may be, open.

    Deviation: opening-hours — the paper sets hours by hand per category; here every place may have its
    own, in OpenStreetMap's syntax, and categories give defaults.

    What a Tuesday's "22:00-03:00" leaves over belongs to Wednesday's small hours; a state
    of "unknown" counts as open, since people may well be there.
    """
    midnight = dt.datetime.combine(clock.date, dt.time())
    next_midnight = midnight + dt.timedelta(days=1)
    is_open = np.zeros(clock.timesteps, dtype=np.bool_)
    for start, end, state, _comment in OpeningHours(hours).intervals(midnight, next_midnight):
        if state != State.CLOSED:
            minutes_from = (start - midnight).total_seconds() / 60
            minutes_to = (min(end, next_midnight) - midnight).total_seconds() / 60
            first = int(minutes_from // clock.timestep_minutes)
            last = int(-(-minutes_to // clock.timestep_minutes))
            is_open[first:last] = True
    return is_open


def open_table(hours: Iterable[str], clock: Clock, known: Mapping[str, Bools] | None = None) -> Bools:
    """Row per place, column per timestep; each distinct string is evaluated once, ``known`` ones never."""
    rows_of = dict(known or {})
    rows = []
    for text in hours:
        if text not in rows_of:
            rows_of[text] = open_timesteps(text, clock)
        rows.append(rows_of[text])
    return np.array(rows, dtype=np.bool_).reshape(len(rows), clock.timesteps)
