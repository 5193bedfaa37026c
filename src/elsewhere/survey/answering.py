"""Answering a survey: a question by public chances, whatever is true, then one pick with the whole of ε.

A question that is chosen with fresh randomness, without a look at the day, costs nothing. So a survey with
any questions is ε-LDP if the pick is (docs/explanation/privacy).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

import numpy as np

from elsewhere.arrays import Counts, Indices
from elsewhere.mechanism.budget import Draw
from elsewhere.mechanism.listing import AnyStep, Outcome, State, Step, chosen_among
from elsewhere.mechanism.pick import uniform_below
from elsewhere.mechanism.secret import NumberedVisits
from elsewhere.randomness import Randomness
from elsewhere.survey.survey import Survey, shares_denominator

_NOBODY = -1


class Answering:
    """A survey as devices answer it, and as the audit lists it."""

    hides_length = True

    def __init__(self, survey: Survey) -> None:
        self.survey = survey
        self.secret = NumberedVisits(survey.world)
        self._parts = shares_denominator(survey.questions)
        self._ends = list(accumulate(int(question.share * self._parts) for question in survey.questions))

    def draws(self) -> tuple[Draw, ...]:
        """One draw of everything, whatever the day."""
        return (Draw(start=0, length=0, epsilon=self.survey.epsilon, what="answer"),)

    def answer(
        self, secrets: Sequence[Outcome], randomness: Randomness, *, constant_work: bool
    ) -> tuple[Indices, Counts]:
        """Question, seed and output for each day; the trial each took, which stays on the device."""
        return self.answer_rows(
            self.rows(secrets, constant_work=constant_work), randomness, constant_work=constant_work
        )

    def answer_rows(
        self, rows: Indices, randomness: Randomness, *, constant_work: bool
    ) -> tuple[Indices, Counts]:
        """The same of numbered visits, a row each, filled up with −1."""
        picked = uniform_below(self._parts, len(rows), randomness)
        chosen = np.searchsorted(self._ends, picked, side="right")
        found = np.zeros((len(rows), 3), dtype=np.int32)
        trials = np.zeros(len(rows), dtype=np.int64)
        for number, question in enumerate(self.survey.questions):
            mine = np.flatnonzero(chosen == number)
            if len(mine):
                source = randomness.of_rows(mine)
                drawn, took = question.channel.answers(rows[mine], source, constant_work=constant_work)
                found[mine, 0], found[mine, 1:], trials[mine] = number, drawn, took[:, 0]
        return found, trials

    def rows(self, secrets: Sequence[Outcome], *, constant_work: bool) -> Indices:
        """Numbered visits, a row each; on a device as wide for every day, so that time does not tell."""
        day = self.survey.world.clock.timesteps
        width = max([day if constant_work else 2, *map(len, secrets)])
        rows = np.full((len(secrets), width), _NOBODY, dtype=np.int32)
        for row, secret in zip(rows, secrets, strict=True):
            row[: len(secret)] = secret
        return rows

    def step(self, secret: Outcome, state: State | None) -> AnyStep | None:
        """The next draw after ``state``, listed: the question, a seed if things are hashed, the pick."""
        if state is None:
            return self._question_step()
        if state[0] == "answered":
            return None
        channel = self.survey.questions[state[1]].channel
        if channel.seeds > 1 and state[0] == "asked":
            seeds = range(channel.seeds)
            return chosen_among([(seed,) for seed in seeds], [("seeded", state[1], seed) for seed in seeds])
        return channel.step(secret, state[2] if state[0] == "seeded" else 0, ("answered",))

    def _question_step(self) -> Step:
        numbers = range(len(self.survey.questions))
        return Step(
            outcomes=[(number,) for number in numbers],
            proposal=[Fraction(question.share) for question in self.survey.questions],
            numerators=[0] * len(numbers),
            denominator=1,
            trials=1,
            states=[("asked", number) for number in numbers],
        )

    def outcomes(self, found: Indices) -> list[tuple[Outcome, ...]]:
        """Answers as the audit lists them: for each row the outcome of each step."""
        rows: list[tuple[Outcome, ...]] = []
        for question, seed, output in found.tolist():
            is_seeded = self.survey.questions[question].channel.seeds > 1
            rows.append(((question,), (seed,), (output,)) if is_seeded else ((question,), (output,)))
        return rows
