"""Random surveys on tiny worlds, small enough to list everything: every kind, direct and hashed."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from elsewhere.mechanism.answer import AnswerTables, direct_answer, hashed_answer
from elsewhere.survey.questions.spaces import cells_of, kinds_of, single_places
from elsewhere.survey.survey import Question, Survey
from elsewhere.survey.things import GroupHours, Moves, Things, TripLengths, VisitNumber
from elsewhere.world.world import World
from tiny_worlds import tiny_world

EPSILONS = [Fraction(1, 2), Fraction(1), Fraction(5)]
KINDS = ("presence", "presence until next", "kinds", "moves", "visits", "trips", "places")
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
    questions = tuple(
        Question(kind=name, share=share, things=things, tables=_tables(generator, things, epsilon, seed))
        for name, share in zip(kinds, shares, strict=True)
        for things in [things_of(world, name)]
    )
    return Survey(world=world, questions=questions, epsilon=epsilon)


def things_of(world: World, kind: str) -> Things:
    """What a kind of question asks about, as coarse as can be."""
    hourly: dict[str, Any] = {"timestep_minutes": world.clock.timestep_minutes, "hours": 12}
    cells = cells_of(world, grid=2, h3=None)
    made: dict[str, Things] = {
        "presence": GroupHours(groups=cells, **hourly),
        "presence until next": GroupHours(groups=cells, **hourly, until_next=True),
        "kinds": GroupHours(groups=kinds_of(world, 1), **hourly),
        "moves": Moves(groups=cells),
        "visits": VisitNumber(most=2, places=len(world.places)),
        "trips": TripLengths(edges_km=(0.5, 2.0), vectors=world.places.vectors),
        "places": GroupHours(groups=single_places(world), **{**hourly, "hours": 24}),
    }
    return made[kind]


def _tables(generator: np.random.Generator, things: Things, epsilon: Fraction, seed: int) -> AnswerTables:
    kept = int(generator.integers(1, min(3, things.count) + 1))
    if seed % 2:
        return direct_answer(epsilon, things.count, kept)
    buckets = kept + int(generator.integers(1, 4))
    return hashed_answer(epsilon, things.count, kept, buckets, seeds=_SEEDS)
