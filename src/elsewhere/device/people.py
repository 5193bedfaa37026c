"""Days of many people for simulations: of a file, each once or drawn with replacement, or made up."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from pathlib import Path

from elsewhere.days.prior_days import prior_days
from elsewhere.device.matching import Matcher, people_of
from elsewhere.device.points import read_points
from elsewhere.device.reading import trajectories_of
from elsewhere.errors import InputError
from elsewhere.mechanism.pick import uniform_below
from elsewhere.randomness import FreshRandomness
from elsewhere.survey.survey import Period, Survey
from elsewhere.trajectories import Trajectory

_MADE_UP = 20_000
"""Different days that made-up people have."""


def read_days(
    path: Path, survey: Survey, randomness: FreshRandomness, people: int | None = None
) -> tuple[list[tuple[dt.date, Trajectory]], int]:
    """Date and trajectory of each day that a survey takes, and how many it does not. PRIVATE.

    Of each person no more days than the survey asks for, none outside its period. With ``people``, so many
    days are drawn with replacement, each as if of another person.
    """
    terms = survey.terms
    matcher = Matcher(survey.world.places, survey.world.clock, randomness)
    days, others = [], 0
    dates: set[dt.date] = set()
    answered: Counter[str] = Counter()
    for person in people_of(read_points(path, survey.world.clock), matcher, path):
        dates.add(person.date)
        is_asked = terms.period is None or terms.period.holds(person.date)
        if not is_asked or (people is None and answered[person.uid] >= terms.days):
            others += 1
            continue
        answered[person.uid] += 1
        days.append((person.date, person.trajectory))
    if not days:
        raise InputError(str(path), _none_asked(terms.period, dates))
    if people is None:
        return days, others
    return [days[row] for row in uniform_below(len(days), people, randomness).tolist()], others


def _none_asked(period: Period | None, dates: set[dt.date]) -> str:
    if period is None or not dates:
        return "has no trajectory"
    asked = f"the survey asks about {period.first} to {period.last}"
    return f"has no day that is asked about: it has days from {min(dates)} to {max(dates)}, {asked}"


def made_up_days(
    survey: Survey, people: int, randomness: FreshRandomness
) -> list[tuple[dt.date, Trajectory]]:
    """Days of so many people who are made up, as the public prior thinks: for rehearsals."""
    days = trajectories_of(survey.world, prior_days(survey.world, "rehearsal", min(people, _MADE_UP)))
    period = survey.terms.period
    date = survey.world.clock.date if period is None else period.first
    return [(date, days[row]) for row in uniform_below(len(days), people, randomness).tolist()]
