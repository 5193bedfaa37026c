"""The day in timesteps: g_t minutes each, gathered into the intervals that regions are made of."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

MINUTES_PER_DAY = 1440
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
LONG_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# "Wed" alone names no date, but opening hours need one: a plain week, no daylight-saving change in it.
_REFERENCE_MONDAY = dt.date(2025, 9, 15)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """One kind of day, cut into timesteps (t, g_t) and coarser intervals.

    Paper: section 4 (s:definitions), "We quantize the time domain into a series of timesteps".
    """

    timestep_minutes: int = 10
    interval_minutes: int = 60
    day: str = "Wed"
    timezone: str = "UTC"

    @property
    def timesteps(self) -> int:
        """|T|, the number of timesteps of a day."""
        return MINUTES_PER_DAY // self.timestep_minutes

    @property
    def intervals(self) -> int:
        return MINUTES_PER_DAY // self.interval_minutes

    @property
    def timesteps_per_interval(self) -> int:
        return self.interval_minutes // self.timestep_minutes

    @property
    def date(self) -> dt.date:
        return date_of(self.day)

    def hour_of(self, timestep: int) -> int:
        return timestep * self.timestep_minutes // 60

    def label(self, timestep: int) -> str:
        """Start of a timestep as people read it; the end of the day is 24:00."""
        minute = timestep * self.timestep_minutes
        return f"{minute // 60:02d}:{minute % 60:02d}"

    def timestep_at(self, label: str) -> int:
        """Timestep that holds the time of day ``label``, such as "10:30"."""
        hour, minute = label.split(":")
        return (int(hour) * 60 + int(minute)) // self.timestep_minutes

    def datetime_of(self, timestep: int) -> dt.datetime:
        """Local wall-clock time at which a timestep starts."""
        midnight = dt.datetime.combine(self.date, dt.time())
        return midnight + dt.timedelta(minutes=timestep * self.timestep_minutes)


def date_of(day: str) -> dt.date:
    """Calendar date that stands for a weekday name or an ISO date."""
    if day in WEEKDAYS:
        return _REFERENCE_MONDAY + dt.timedelta(days=WEEKDAYS.index(day))
    return dt.date.fromisoformat(day)


def interval_levels(clock: Clock) -> tuple[int, ...]:
    """How many intervals make one block at each level: 1, 2, 4, ... and at last the whole day.

    Paper: section 5.3 (ss:hierarchical-decomposition), merging in the time dimension.
    """
    sizes = [1]
    while sizes[-1] < clock.intervals:
        sizes.append(min(2 * sizes[-1], clock.intervals))
    return tuple(sizes)


def interval_level_names(clock: Clock) -> list[str]:
    """How people call each level of time: "1 h", "2 h", ..., "24 h"."""
    return [f"{size * clock.interval_minutes / 60:g} h" for size in interval_levels(clock)]
