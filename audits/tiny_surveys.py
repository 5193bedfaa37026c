"""Random surveys on tiny worlds, small enough to list everything: every kind, direct and hashed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from elsewhere.mechanism.answer import AnswerTables, direct_answer, hashed_answer
from elsewhere.survey.channels import SetChannel
from elsewhere.survey.questions.day import Day
from elsewhere.survey.questions.kinds import Kinds
from elsewhere.survey.questions.moves import MovesQuestion
from elsewhere.survey.questions.places import PlacesQuestion
from elsewhere.survey.questions.presence import Presence
from elsewhere.survey.questions.question import QuestionKind
from elsewhere.survey.questions.trips import Trips
from elsewhere.survey.questions.visits import Visits
from elsewhere.survey.survey import Question, Survey, Terms, make_survey
from elsewhere.survey.things import Things
from tiny_worlds import tiny_world

EPSILONS = [Fraction(1, 2), Fraction(1), Fraction(5)]
# k is drawn below; given here, it need not be worked out.
RECORDS: dict[str, QuestionKind] = {
    "presence": Presence(grid=2, hours=12, k=1),
    "presence until next": Presence(grid=2, hours=12, until_next=True, k=1),
    "presence in boxes": Presence(boxes=8, k=1),
    "kinds": Kinds(hours=12, k=1),
    "moves": MovesQuestion(grid=2, k=1),
    "visits": Visits(most=2, k=1),
    "trips": Trips(edges_km=(0.5, 2.0), k=1),
    "places": PlacesQuestion(k=1),
    "day": Day(candidates=6, shards=2, k=2),
}
KINDS = tuple(RECORDS)
_SEEDS = 2
_MOST_PLACES = 3


def tiny_survey(folder: Path, seed: int, *, kind: str | None = None) -> Survey:
    """Survey number ``seed``: one or two questions, any k, few things, both ways to answer."""
    generator = np.random.default_rng(seed)
    world = tiny_world(folder, seed, _MOST_PLACES)
    epsilon = EPSILONS[seed % len(EPSILONS)]
    kinds = [kind or KINDS[seed % len(KINDS)]]
    if kind is None and seed % 4 == 0:
        kinds.append(KINDS[int(generator.integers(len(KINDS)))])
    shares = [Fraction(1)] if len(kinds) == 1 else [Fraction(1, 3), Fraction(2, 3)]
    asked = [(RECORDS[name], share) for name, share in zip(kinds, shares, strict=True)]
    survey = make_survey(world, Terms(epsilon=epsilon), asked)
    questions = tuple(_made_listable(generator, question, epsilon, seed) for question in survey.questions)
    return replace(survey, questions=questions)


def _made_listable(
    generator: np.random.Generator, question: Question, epsilon: Fraction, seed: int
) -> Question:
    """Few seeds, few buckets, any k: so that every answer can be written out."""
    channel = question.channel
    if not isinstance(channel, SetChannel):
        return question
    tables = _tables(generator, channel.things, epsilon, seed)
    return replace(question, channel=replace(channel, tables=tables))


def _tables(generator: np.random.Generator, things: Things, epsilon: Fraction, seed: int) -> AnswerTables:
    kept = int(generator.integers(1, min(3, things.count) + 1))
    if seed % 2:
        return direct_answer(epsilon, things.count, kept)
    buckets = kept + int(generator.integers(1, 4))
    return hashed_answer(epsilon, things.count, kept, buckets, seeds=_SEEDS)
