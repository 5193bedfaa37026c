"""What many people say together, against what is so: one way to know it, on the days of one data set.

The people of a simulation are drawn with replacement from real days. What is so is the exact share of those
days that have each thing; what was not kept in an answer counts as well.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from elsewhere.arrays import Floats, Indices
from elsewhere.days.popular import popularity_by_timestep
from elsewhere.days.visits import Days, parts_of
from elsewhere.errors import InputError
from elsewhere.estimates.counts import AnswerCounts, counted
from elsewhere.estimates.population import population_of
from elsewhere.estimates.rounds import asked_again, believed_days
from elsewhere.estimates.support import Support, incidence, support_of
from elsewhere.estimates.tables import EstimateTable, table_of
from elsewhere.estimates.tilt import Evidence
from elsewhere.experiments.cells import (
    ANYWHERE,
    CODEBOOK,
    NEIGHBOURS,
    POPULARITY,
    PRIOR,
    SECOND_ROUND,
    SIX_QUESTIONS,
    PopulationCell,
)
from elsewhere.experiments.closeness import closeness, cover
from elsewhere.experiments.ldptrace import next_to, told_model, walks_of
from elsewhere.mechanism.listing import Outcome
from elsewhere.mechanism.secret import NumberedVisits
from elsewhere.methods.registry import method
from elsewhere.randomness import Generator, SeededRandomness, seeded_generator
from elsewhere.survey.answering import Answering
from elsewhere.survey.questions.registry import question_of
from elsewhere.survey.survey import Survey, Terms, make_survey
from elsewhere.survey.things import GroupHours, Moves, Things
from elsewhere.trajectories import SharedTrajectory, Trajectory
from elsewhere.world.world import World

Result = dict[str, Any]

_GRID = 4
_PRESENCE = ("presence", {"grid": _GRID, "hours": 1})
_Asked = tuple[tuple[Fraction, str, dict[str, Any]], ...]
_ONE: _Asked = ((Fraction(1), *_PRESENCE),)
_SIX: _Asked = (
    (Fraction(35, 100), *_PRESENCE),
    (Fraction(20, 100), "presence", {"grid": _GRID, "hours": 24}),
    (Fraction(15, 100), "kinds", {}),
    (Fraction(20, 100), "moves", {"grid": _GRID}),
    (Fraction(5, 100), "visits", {}),
    (Fraction(5, 100), "trips", {}),
)
_COMPARED = {"presence": 0, "kinds": 2, "moves": 3}
"""What is compared, and where it stands among the six questions."""
_BATCH = 50_000
_MOST_WALKS = 100_000
# So many of the real days have no more visits than a walk may tell.
_LONG = 0.9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Known:
    """What a method says: people per person who have each thing, by what is asked."""

    shares: dict[str, Floats]
    tables: dict[str, EstimateTable] = field(default_factory=dict)
    """With intervals, where there are any."""
    population: Floats | None = None
    """Presence in the made-up population that agrees with the answers, where there is one."""
    tau: float | None = None


class Pool:
    """Real days that people of simulations are drawn from, and all that is public beside them."""

    def __init__(self, world: World, trajectories: Sequence[Trajectory], support: int) -> None:
        self.world, self.trajectories = world, trajectories
        self._number = NumberedVisits(world)
        self._support = support
        self.secrets = [self._number(day) for day in trajectories]
        self.days = self._days(self.secrets)

    @cached_property
    def support(self) -> Support:
        broad = self._support // 4
        return support_of(self.world, days=self._support - broad, broad=broad)

    @cached_property
    def things(self) -> dict[str, Things]:
        """What is asked about."""
        six = self.survey(_SIX, 1.0)
        return {name: six.questions[at].things for name, at in _COMPARED.items()}

    @cached_property
    def presence(self) -> GroupHours:
        things = self.things["presence"]
        if not isinstance(things, GroupHours):
            raise InputError("presence", "must be about cells by the hour")
        return things

    @cached_property
    def truth(self) -> dict[str, Floats]:
        """The share of days that have each thing."""
        return self.shares_of(self.days)

    @cached_property
    def prior(self) -> dict[str, Floats]:
        """What is believed before anybody answers."""
        return self.shares_of(self.support.days, self.support.prior)

    def survey(self, asked: Sequence[tuple[Fraction, str, dict[str, Any]]], epsilon: float) -> Survey:
        questions = [(question_of(kind, options), share) for share, kind, options in asked]
        return make_survey(self.world, Terms(epsilon=Fraction(epsilon)), questions)

    def shares_of(self, days: Days, weights: Floats | None = None) -> dict[str, Floats]:
        """People per person who have each thing, if they live these days."""
        chances = np.full(len(days.lengths), 1 / len(days.lengths)) if weights is None else weights
        return {
            name: np.asarray(incidence(things.of(days), things.count).T @ chances)
            for name, things in self.things.items()
        }

    def shares_of_shared(self, shared: Sequence[SharedTrajectory]) -> dict[str, Floats]:
        """The same of days that were shared, as if they were true."""
        return self.shares_of(self._days([self._number.of(day.visits) for day in shared]))

    def people(self, count: int, generator: Generator) -> Indices:
        """Who takes part in a simulation: rows of real days, some of them more than once."""
        return generator.integers(len(self.secrets), size=count).astype(np.int32)

    def by_hours_of_prior(self, visits: Floats) -> Floats:
        """Presence in cells by the hour, of a method that knows visits to cells and no hours."""
        by_hour = self.prior["presence"].reshape(len(visits), -1) + 1e-12
        return np.asarray((visits[:, None] * by_hour / by_hour.sum(axis=1, keepdims=True)).ravel())

    def _days(self, secrets: Sequence[Outcome]) -> Days:
        width = max([2, *map(len, secrets)])
        rows = np.full((len(secrets), width), -1, dtype=np.int32)
        for row, secret in zip(rows, secrets, strict=True):
            row[: len(secret)] = secret
        places, times = parts_of(rows, self.world.clock.timesteps)
        is_visit = rows >= 0
        return Days(
            np.where(is_visit, places, -1).astype(np.int32),
            np.where(is_visit, times, -1).astype(np.int32),
            is_visit.sum(axis=1).astype(np.int32),
        )


def population_result(cell: PopulationCell, pool: Pool) -> Result:
    """How far from what is so a method is; the same people for every method."""
    seed = seed_of_people(cell)
    known = _known(cell, pool, seed)
    measures = measures_of(pool, known.shares)
    for name, table in known.tables.items():
        measures[name] |= cover(table, pool.truth[name])
    if known.population is not None:
        measures["population"] = closeness(known.population, pool.truth["presence"])
    hours = {name: shares["presence"] for name, shares in
             {"true": pool.truth, "prior": pool.prior, "estimated": known.shares}.items()}  # fmt: skip
    if known.population is not None:
        hours["population"] = known.population
    return {
        "cell": cell.key(),
        "label": cell.label,
        "world": pool.world.hash,
        "days": len(pool.trajectories),
        "seed": seed,
        "tau": known.tau,
        "measures": measures,
        "hours": {name: _by_hour(pool, shares).tolist() for name, shares in hours.items()},
    }


def seed_of_people(cell: PopulationCell) -> int:
    """Of who takes part and what they draw, whatever the method."""
    about = {"dataset": cell.setting.dataset, "epsilon": cell.epsilon, "people": cell.people, "run": cell.run}
    return int(hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:8], 16)


def measures_of(pool: Pool, shares: dict[str, Floats]) -> dict[str, dict[str, float]]:
    """How close shares of things are, and those of cells at any hour."""
    found = {name: closeness(mine, pool.truth[name]) for name, mine in shares.items()}
    cells, true_cells = (
        _by_cell(pool, presence) for presence in (shares["presence"], pool.truth["presence"])
    )
    return {**found, "density": closeness(cells, true_cells)}


def _by_cell(pool: Pool, presence: Floats) -> Floats:
    return np.asarray(presence.reshape(-1, pool.presence.blocks).sum(axis=1))


def _by_hour(pool: Pool, presence: Floats) -> Floats:
    hours = np.maximum(presence, 0.0).reshape(-1, pool.presence.blocks).sum(axis=0)
    return np.asarray(hours / hours.sum())


def _known(cell: PopulationCell, pool: Pool, seed: int) -> Known:
    if cell.method == PRIOR:
        return Known(shares=pool.prior)
    if cell.method == POPULARITY:
        return Known(shares=_popular_shares(pool))
    generator = seeded_generator(seed)
    who = pool.people(cell.people, generator)
    if cell.method == CODEBOOK:
        return Known(shares=_counted_days(cell, pool, who, seed))
    if cell.method in (NEIGHBOURS, ANYWHERE):
        return Known(shares=_walked(cell, pool, who, generator))
    survey = pool.survey(_SIX if cell.method == SIX_QUESTIONS else _ONE, cell.epsilon)
    people = [pool.secrets[person] for person in who]
    counts = _answered(survey, people, seed, generator)
    if cell.method == SECOND_ROUND:
        others = pool.people(cell.people, generator)
        return _next_round(pool, survey, counts, [pool.secrets[person] for person in others], seed, generator)
    return _estimated(pool, survey, counts, pool.support)


def _answered(
    survey: Survey, secrets: Sequence[Outcome], seed: int, generator: Generator
) -> list[AnswerCounts]:
    """Answers of everybody, counted, for each question."""
    answering, randomness = Answering(survey), SeededRandomness(seed)
    found = np.concatenate(
        [
            answering.answer(secrets[start : start + _BATCH], randomness, constant_work=False)[0]
            for start in range(0, len(secrets), _BATCH)
        ]
    )
    halves = generator.integers(2, size=len(found)).astype(np.int32)
    return [
        counted(question.channel, found[found[:, 0] == at][:, 1:], halves[found[:, 0] == at])
        for at, question in enumerate(survey.questions)
    ]


def _next_round(
    pool: Pool,
    survey: Survey,
    counts: Sequence[AnswerCounts],
    people: Sequence[Outcome],
    seed: int,
    generator: Generator,
) -> Known:
    """What other people say in a second round, which starts from the population of the first."""
    weights = Evidence(pool.support, counts).fit().weights
    found = population_of(pool.world, pool.support.days, weights)
    believed = believed_days(found, int(pool.support.is_prior.sum()))
    again = asked_again(survey, believed)
    broad = pool.support.count - len(believed.lengths)
    support = support_of(pool.world, believed, broad=broad)
    return _estimated(pool, again, _answered(again, people, seed + 1, generator), support)


def _estimated(pool: Pool, survey: Survey, counts: Sequence[AnswerCounts], support: Support) -> Known:
    """As a collector would: questions with too few reports are left out."""
    used = [at for at, one in enumerate(counts) if one.reports >= survey.terms.least]
    evidence = Evidence(support, [counts[at] for at in used])
    fit = evidence.fit()
    tables = {name: table_of(evidence, fit, used.index(at)) for name, at in _COMPARED.items() if at in used}
    return Known(
        shares={name: table.estimate for name, table in tables.items()},
        tables=tables,
        population=pool.shares_of(support.days, fit.weights)["presence"],
        tau=fit.tau,
    )


def _counted_days(cell: PopulationCell, pool: Pool, who: Indices, seed: int) -> dict[str, Floats]:
    """Days shared by `codebook`, counted as if they were true."""
    shared_by = method("codebook", pool.world, epsilon=cell.epsilon)
    people = [pool.trajectories[person] for person in who]
    return pool.shares_of_shared(shared_by.share_batch(people, randomness=SeededRandomness(seed)).shared)


def _popular_shares(pool: Pool) -> dict[str, Floats]:
    """Public popularity of the places of each cell by the hour, in all as much as the prior thinks."""
    popularity = popularity_by_timestep(pool.world)
    hours = np.arange(popularity.shape[1]) * pool.world.clock.timestep_minutes // 60
    found = {}
    for name in ("presence", "kinds"):
        things = pool.things[name]
        if isinstance(things, GroupHours):
            shares = np.zeros((things.groups.count, 24))
            np.add.at(shares, (things.groups.members[0][:, None], hours[None, :]), popularity)
            found[name] = shares.ravel() / shares.sum() * pool.prior[name].sum()
    return found


def _walked(cell: PopulationCell, pool: Pool, who: Indices, generator: Generator) -> dict[str, Floats]:
    """Walks made up from what is told; they have no hours, so each cell gets those of the prior."""
    groups = pool.presence.groups
    walks = groups.of_places(pool.days.places)[who]
    touching = next_to(groups.columns)
    reachable = touching if cell.method == NEIGHBOURS else np.ones_like(touching)
    most = max(2, math.ceil(np.quantile(pool.days.lengths, _LONG)))
    model = told_model(walks, reachable, most, cell.epsilon, generator)
    made_up = walks_of(model, min(cell.people, _MOST_WALKS), generator)
    visits = np.bincount(made_up[made_up >= 0], minlength=groups.count) / len(made_up)
    return {"presence": pool.by_hours_of_prior(visits), "moves": _moves_of(pool, made_up)}


def _moves_of(pool: Pool, walks: Indices) -> Floats:
    """The share of walks that make each move; places stand for the cells they are in."""
    things = pool.things["moves"]
    if not isinstance(things, Moves):
        raise InputError("moves", "must be about moves from cell to cell")
    stands_for = np.zeros(things.groups.count + 1, dtype=np.int32)
    stands_for[things.groups.members[0]] = np.arange(things.groups.members.shape[1])
    stands_for[-1] = -1
    lengths = (walks >= 0).sum(axis=1).astype(np.int32)
    days = Days(stands_for[walks], np.where(walks >= 0, 0, -1).astype(np.int32), lengths)
    found = things.of(days)
    return np.asarray(incidence(found, things.count).mean(axis=0)).ravel()
