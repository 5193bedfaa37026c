"""Every kind of question through the exact channel, and real answers against the listed ones (T9)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from elsewhere.audit.agreement import agreement
from elsewhere.audit.channel import all_trajectories, largest_loss
from elsewhere.mechanism.listing import Outcome
from elsewhere.randomness import Randomness, SystemRandomness
from elsewhere.survey.answering import Answering
from elsewhere.survey.survey import Survey
from elsewhere.trajectories import Trajectory
from tiny_surveys import tiny_survey

SURVEYS = 60
"""Of each kind."""
SURE = 1e-6
_SAMPLED = (3, 8)
_ANSWERS = 20_000


@dataclass(frozen=True, slots=True)
class QuestionLine:
    """One row of the last table."""

    kind: str
    surveys: int
    largest: float
    """Share of ε that is spent, at most."""
    lowest: float
    """p-value of real answers under the listed ones, times how many were looked at."""

    @property
    def is_good(self) -> bool:
        return self.largest <= 1 + 1e-12 and self.lowest > SURE


class AsMethod:
    """A survey as the checks of methods take it."""

    def __init__(self, answering: Answering) -> None:
        self.core = SimpleNamespace(secret=answering.secret)
        self.step = answering.step
        self._answering = answering

    def outcomes(
        self, day: Trajectory, count: int, randomness: Randomness, *, constant_work: bool = False
    ) -> list[tuple[Outcome, ...]]:
        secrets = [self._answering.secret(day)] * count
        found, _ = self._answering.answer(secrets, randomness, constant_work=constant_work)
        return self._answering.outcomes(found)


def survey_days(survey: Survey) -> list[Trajectory]:
    """All days of one and two visits, at places known and not, and some of three."""
    few = [day for length in (1, 2) for day in all_trajectories(survey.world, length)]
    return [*few[:: max(1, len(few) // 120)], *list(all_trajectories(survey.world, 3))[:3]]


def spent_share(survey: Survey) -> float:
    """T1: the largest log-ratio of any two days, over ε."""
    answering = Answering(survey)
    loss = largest_loss(answering, [answering.secret(day) for day in survey_days(survey)])
    return float(loss.epsilon) / float(survey.epsilon)


def question_line(folder: Path, kind: str) -> QuestionLine:
    """T1 and T4 for one kind of question."""
    shares = [spent_share(tiny_survey(folder, seed, kind=kind)) for seed in range(SURVEYS)]
    values = []
    for seed in _SAMPLED:
        survey = tiny_survey(folder, seed, kind=kind)
        suspect, days = cast("Any", AsMethod(Answering(survey))), survey_days(survey)
        values += [
            agreement(suspect, day, _ANSWERS, SystemRandomness())
            for day in (days[0], days[-1], days[len(days) // 2])
        ]
    return QuestionLine(kind, len(shares), max(shares), min(1.0, min(values) * len(values)))
