"""Days of many people who answer a survey: of a file, part by part, or made up."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from elsewhere.arrays import Bools, Counts
from elsewhere.days.prior_days import prior_days
from elsewhere.device.day_columns import (
    DayMatcher,
    PeopleColumns,
    people_in_columns,
    people_of_rows,
)
from elsewhere.device.owner import OWN_DAYS, is_own
from elsewhere.device.point_columns import read_point_columns
from elsewhere.device.reading import trajectories_of
from elsewhere.device.tally import Tally
from elsewhere.errors import InputError
from elsewhere.mechanism.pick import uniform_below
from elsewhere.randomness import FreshRandomness
from elsewhere.survey.survey import Survey, Terms
from elsewhere.trajectories import Trajectories, Trajectory, in_columns, joined_trajectories
from elsewhere.world.world import World

_MADE_UP = 20_000
"""Different days that made-up people have."""
_EPOCH = dt.date(1970, 1, 1)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DatedDays:
    """Days and their dates, in columns; each is as of another person. PRIVATE."""

    dates: Counts
    """Days since 1970."""
    days: Trajectories

    def __len__(self) -> int:
        return len(self.dates)

    def some(self, rows: Counts) -> DatedDays:
        """Some of them."""
        return DatedDays(self.dates[rows], self.days.some(rows))

    def drawn(self, count: int, randomness: FreshRandomness) -> DatedDays:
        """So many, with replacement."""
        return self.some(uniform_below(len(self), count, randomness).astype(np.int64))


def dated_days(world: World, people: Sequence[tuple[dt.date, Trajectory]]) -> DatedDays:
    """Days of single people together."""
    dates = np.array([number_of(date) for date, _ in people], dtype=np.int64)
    return DatedDays(dates, in_columns([trajectory for _, trajectory in people], world.place_index))


def number_of(date: dt.date) -> int:
    """Days since 1970."""
    return (date - _EPOCH).days


def date_of(number: int) -> dt.date:
    """A date, from days since 1970."""
    return _EPOCH + dt.timedelta(days=number)


class AskedDays:
    """Which days a survey asks about: of each person the first within its period, as many as it takes."""

    def __init__(self, terms: Terms, *, is_capped: bool = True) -> None:
        self._terms, self._is_capped = terms, is_capped
        self._answered = Tally()
        self._dates = (0, 0)
        self.asked = 0
        self.others = 0

    def of(self, people: PeopleColumns) -> PeopleColumns:
        """Those of the next people; the rest is counted in `others`."""
        chosen = np.flatnonzero(self._is_asked(people))
        if len(people):
            first, last = int(people.dates.min()), int(people.dates.max())
            seen = self.asked + self.others
            before, after = self._dates if seen else (first, last)
            self._dates = min(before, first), max(after, last)
        self.asked += len(chosen)
        self.others += len(people) - len(chosen)
        return people_of_rows(people, chosen)

    def check_some(self, source: str) -> None:
        """Raise an error if no day was asked about."""
        if self.asked:
            return
        period = self._terms.period
        if period is None or not self.others:
            raise InputError(source, "has no trajectory")
        first, last = map(date_of, self._dates)
        asked = f"the survey asks about {period.first} to {period.last}"
        raise InputError(
            source, f"has no day that is asked about: it has days from {first} to {last}, {asked}"
        )

    def _is_asked(self, people: PeopleColumns) -> Bools:
        period = self._terms.period
        is_asked = np.ones(len(people), dtype=np.bool_)
        if period is not None:
            is_asked = (people.dates >= number_of(period.first)) & (people.dates <= number_of(period.last))
        if self._is_capped:
            rows = np.flatnonzero(is_asked)
            so_far = self._answered.add_hashes(people.uids.gather(rows).hash().to_numpy())
            is_asked[rows] = so_far <= self._terms.days
        return is_asked


def asked_people(
    path: Path, survey: Survey, randomness: FreshRandomness, asked: AskedDays
) -> Iterator[PeopleColumns]:
    """People of a file with the days that a survey asks about, a part of it in memory at a time. PRIVATE."""
    points = read_point_columns(path, survey.world.clock)
    matcher = DayMatcher(survey.world)
    for people in people_in_columns(points, matcher, str(path), lambda *_: randomness):
        if any(map(is_own, people.uids.unique().to_list())):
            raise InputError(str(path), OWN_DAYS)
        yield asked.of(people)


def read_days(
    path: Path, survey: Survey, randomness: FreshRandomness, people: int | None = None
) -> tuple[DatedDays, int]:
    """The days of a file that a survey asks about, and how many there are beside them. PRIVATE.

    With ``people``, so many days are drawn with replacement, each as if of another person.
    """
    asked = AskedDays(survey.terms, is_capped=people is None)
    found = joined_days(asked_people(path, survey, randomness, asked))
    asked.check_some(str(path))
    return (found if people is None else found.drawn(people, randomness)), asked.others


def joined_days(parts: Iterable[PeopleColumns]) -> DatedDays:
    """The days of all parts."""
    found = [DatedDays(part.dates, part.days) for part in parts]
    if not found:
        return DatedDays(np.zeros(0, dtype=np.int64), in_columns([], {}))
    return DatedDays(
        np.concatenate([part.dates for part in found]), joined_trajectories([part.days for part in found])
    )


def made_up_days(survey: Survey, people: int, randomness: FreshRandomness) -> DatedDays:
    """Days of so many people who are made up, as the public prior thinks: for rehearsals."""
    days = trajectories_of(survey.world, prior_days(survey.world, "rehearsal", min(people, _MADE_UP)))
    period = survey.terms.period
    date = survey.world.clock.date if period is None else period.first
    return dated_days(survey.world, [(date, day) for day in days]).drawn(people, randomness)
