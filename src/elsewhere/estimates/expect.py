"""What to expect of a survey before anyone is asked, by simulation on the public prior.

A made-up city that is not quite as the prior thinks answers the survey. What is estimated is held against
what is so, which here is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from elsewhere.arrays import Counts, Floats
from elsewhere.estimates.counts import HALVES, AnswerCounts
from elsewhere.estimates.shuffling import shuffled_epsilon
from elsewhere.estimates.support import support_of
from elsewhere.estimates.tables import table_of
from elsewhere.estimates.tilt import Evidence
from elsewhere.progress import Progress, no_progress
from elsewhere.randomness import Generator, seeded_generator
from elsewhere.survey.channels import Channel, DayChannel
from elsewhere.survey.survey import Survey

PEOPLE = (1_000, 10_000, 100_000, 1_000_000)
BUSY = 20
DELTA = 1e-6
_UNLIKE = 0.1
_SEED = 2021
_GOOD, _USABLE = 0.15, 0.4
_GAIN = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """One question, answered by so many people in all."""

    question: str
    people: int
    reports: int
    error: float
    """Of the busiest things, relative to how many people have them."""
    prior_error: float
    """The same if nobody were asked."""
    interval: float
    """Mean half-length of their 95 % intervals, relative to what is so."""
    central_epsilon: float | None
    """What anonymity adds: ε against whoever sees only the mixed reports, with δ = 10⁻⁶.

    Of one report among those with its question and its day, which both are told in the clear, if people
    answer as often about each day of the period. None if there is no period.
    """

    @property
    def verdict(self) -> str:
        """Whether the question is too fine for so many people."""
        if self.error > _GAIN * self.prior_error:
            return "no better than not asking"
        if self.error <= _GOOD:
            return "good"
        return "usable" if self.error <= _USABLE else "too fine for so few people"

    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__} | {"verdict": self.verdict}


def expectations(
    survey: Survey, people: tuple[int, ...] = PEOPLE, progress: Progress = no_progress
) -> list[Expected]:
    """For each number of people and each question how far estimates will be off."""
    support, generator = support_of(survey.world, survey.believed), seeded_generator(_SEED)
    shares = [float(question.share) for question in survey.questions]
    asked = Evidence(support, [_no_answers(question.channel) for question in survey.questions])
    truth = _unlike_the_prior(asked, generator)
    shares_so = [whole @ truth for whole in asked.whole]
    found = []
    for number, count in enumerate(people):
        evidence = asked.with_counts(
            [
                _simulated(one, told @ truth, round(count * share), generator)
                for one, told, share in zip(asked.counts, asked.told, shares, strict=True)
            ]
        )
        fit = evidence.fit()
        for at, name in enumerate(survey.names):
            table = table_of(evidence, fit, at)
            so = shares_so[at]
            busy = np.argsort(-so)[:BUSY].astype(np.int64)
            reports = round(count * shares[at])
            found.append(
                Expected(
                    question=name,
                    people=count,
                    reports=reports,
                    error=_off(table.estimate - so, so, busy),
                    prior_error=_off(asked.whole[at] @ support.prior - so, so, busy),
                    interval=_off((table.high - table.low) / 2, so, busy),
                    central_epsilon=_when_mixed(survey, reports),
                )
            )
        progress(number + 1, len(people))
    return found


def _when_mixed(survey: Survey, reports: int) -> float | None:
    """Only reports that tell the same question and day can be taken for each other."""
    days = survey.terms.told_days
    return None if days is None else shuffled_epsilon(float(survey.epsilon), DELTA, max(reports // days, 1))


def _off(differences: Floats, so: Floats, busy: Counts) -> float:
    return float(np.abs(differences)[busy].sum() / so[busy].sum())


def _no_answers(channel: Channel) -> AnswerCounts:
    nothing = np.zeros((HALVES, channel.things.count), dtype=np.int64)
    return AnswerCounts(channel=channel, pointed=nothing, asked=nothing)


def _unlike_the_prior(evidence: Evidence, generator: Generator) -> Floats:
    """A population that differs from the prior as cities do: by any feature, more or less."""
    tilted = evidence.tilt.weights(generator.standard_normal(evidence.tilt.features), _UNLIKE)
    found = tilted * evidence.support.is_prior
    return np.asarray(found / found.sum())


def _simulated(one: AnswerCounts, told: Floats, reports: int, generator: Generator) -> AnswerCounts:
    """How often things would be pointed at if so much of each is told, drawn as counts: no answer is made."""
    channel = one.channel
    p, q = channel.chances()
    seen = reports // channel.seeds if isinstance(channel, DayChannel) else reports
    asked = np.full((HALVES, channel.things.count), seen // HALVES, dtype=np.int64)
    pointed = generator.binomial(asked, np.clip(q + (p - q) * told, 0, 1))
    return AnswerCounts(channel=channel, pointed=pointed, asked=asked)
