"""Surveys that break the promise, each in one way; the exact channel must say so (T9)."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

import numpy as np

from elsewhere.audit.channel import all_trajectories, largest_loss
from elsewhere.mechanism.answer import bucket_of, things_of_secrets
from elsewhere.mechanism.listing import AnyStep, GivenStep, Outcome, State
from elsewhere.survey.answering import Answering
from elsewhere.survey.channels import SetChannel
from elsewhere.survey.survey import Survey
from tiny_surveys import tiny_survey

_SEEDS = (1, 3, 4, 8, 12, 20)


def survey_objections(folder: Path, broken: Callable[[Survey], Answering]) -> dict[str, str]:
    """What the exact channel says of a survey, on the first tiny one where it says anything."""
    for seed in _SEEDS:
        survey = tiny_survey(folder, seed, kind="presence" if seed % 2 else None)
        answering = broken(survey)
        days = [day for length in (1, 2) for day in all_trajectories(survey.world, length)]
        secrets = [answering.secret(day) for day in days[:: max(1, len(days) // 60)]]
        spent = float(largest_loss(answering, secrets).epsilon)
        if spent > float(survey.epsilon) + 1e-12:
            return {"exact channel": f"spends {spent:.3g} where {float(survey.epsilon):g} is promised"}
    return {}


class QuestionByTheDay(Answering):
    """Who was out a lot is asked another question: which one is asked tells of the day."""

    def step(self, secret: Outcome, state: State | None) -> AnyStep | None:
        if state is None and len(self.survey.questions) > 1:
            asked = len(secret) % 2
            return GivenStep(outcomes=[(asked,)], chances=[Decimal(1)], states=[("asked", asked)])
        return super().step(secret, state)


class SeedByTheDay(Answering):
    """The seed is not fresh: it is made of the day."""

    def step(self, secret: Outcome, state: State | None) -> AnyStep | None:
        if state is not None and state[0] == "asked":
            seeds = self.survey.questions[state[1]].channel.seeds
            if seeds > 1:
                seed = sum(secret) % seeds
                return GivenStep(
                    outcomes=[(seed,)], chances=[Decimal(1)], states=[("seeded", state[1], seed)]
                )
        return super().step(secret, state)


@dataclass(frozen=True, kw_only=True, eq=False)
class _OwnNumberOfMine(SetChannel):
    """As many outputs are mine as a day has things: how many depends on the truth."""

    is_filled_up_to: int = 0
    """So many at least."""

    def step(self, secret: Outcome, seed: int, after: State) -> AnyStep:
        row = np.array([secret], dtype=np.int32)
        found = things_of_secrets(row, self.things, self.timesteps)[0]
        count = self.odds.candidates
        things = sorted({int(thing) for thing in found if thing >= 0})
        if self.tables.is_hashed:
            mine = {int(bucket_of(seed, thing, count)) for thing in things}
        else:
            mine = set(things)
        spare = (output for output in reversed(range(count)) if output not in mine)
        while len(mine) < self.is_filled_up_to:
            mine = {*mine, next(spare)}
        with decimal.localcontext(decimal.Context(prec=50)):
            factor = (Decimal(self.odds.numerator) / self.odds.denominator).exp()
            total = len(mine) * factor + count - len(mine)
            chances = [(factor if output in mine else Decimal(1)) / total for output in range(count)]
        outcomes: list[Outcome] = [(output,) for output in range(count)]
        return GivenStep(outcomes=outcomes, chances=chances, states=[after] * count)


def _with_mine(least: int) -> Callable[[Survey], Answering]:
    def broken(survey: Survey) -> Answering:
        questions = tuple(
            replace(
                question,
                channel=_OwnNumberOfMine(
                    things=question.channel.things,
                    tables=question.channel.tables,
                    timesteps=question.channel.timesteps,
                    is_filled_up_to=least,
                ),
            )
            if isinstance(question.channel, SetChannel)
            else question
            for question in survey.questions
        )
        return Answering(replace(survey, questions=questions))

    return broken


BROKEN_SURVEYS: dict[str, Callable[[Survey], Answering]] = {
    "question by the day": QuestionByTheDay,
    "seed by the day": SeedByTheDay,
    "days with few things not filled up": _with_mine(0),
    "days with many things not cut": _with_mine(1),
}
SURVEY_FAULTS: dict[str, Callable[[Path], dict[str, str]]] = {
    name: (lambda folder, broken=broken: survey_objections(folder, broken))  # type: ignore[misc]
    for name, broken in BROKEN_SURVEYS.items()
}
