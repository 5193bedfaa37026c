"""How questions are answered: a public seed, then one pick, of whose M outputs exactly k are mine.

A channel is all that a device needs to answer, the audit to list, and an analyst to read answers: which
things an answer points at, and how likely it does if a day has them (p) or not (q).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from elsewhere.arrays import Counts, Indices
from elsewhere.days.visits import Days, numbers_of
from elsewhere.mechanism.answer import (
    AnswerTables,
    answer_step,
    answers,
    chances,
    things_of_secrets,
)
from elsewhere.mechanism.codebook import CodebookTables, pick_step
from elsewhere.mechanism.listing import AnyStep, Outcome, State
from elsewhere.mechanism.pick import Odds, pick_candidates, uniform_below
from elsewhere.randomness import Randomness
from elsewhere.survey.things import NONE, Things


class Channel(Protocol):
    """From what is true to an answer: two whole numbers, a seed and an output."""

    @property
    def things(self) -> Things:
        """What an answer points at."""
        ...

    @property
    def odds(self) -> Odds:
        """Of how many outputs how many are mine, and how much likelier."""
        ...

    @property
    def seeds(self) -> int:
        """How many public seeds there are; 1 where there is nothing to choose."""
        ...

    @property
    def kept(self) -> int:
        """The most things of a day that an answer can tell of."""
        ...

    def answers(
        self, secrets: Indices, randomness: Randomness, *, constant_work: bool
    ) -> tuple[Indices, Counts]:
        """A seed and an output for each row of numbered visits, filled up with −1; the trial each took."""
        ...

    def step(self, secret: Outcome, seed: int, after: State) -> AnyStep:
        """The pick after a seed, listed."""
        ...

    def chances(self) -> tuple[float, float]:
        """How likely an answer points at a thing that was kept, p, and at one that was not, q."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class SetChannel:
    """An answer about the set of things in a day, direct or hashed (`mechanism.answer`)."""

    things: Things
    tables: AnswerTables
    timesteps: int

    @property
    def odds(self) -> Odds:
        return self.tables.odds

    @property
    def seeds(self) -> int:
        return self.tables.seeds if self.tables.is_hashed else 1

    @property
    def kept(self) -> int:
        return self.tables.kept

    def answers(
        self, secrets: Indices, randomness: Randomness, *, constant_work: bool
    ) -> tuple[Indices, Counts]:
        """Look up the things, then answer."""
        things = things_of_secrets(secrets, self.things, self.timesteps)
        return answers(things, self.tables, randomness, constant_work=constant_work)

    def step(self, secret: Outcome, seed: int, after: State) -> AnyStep:
        """Of every choice of k things, written out."""
        row = np.array([secret or (NONE,)], dtype=np.int32)
        things = things_of_secrets(row, self.things, self.timesteps)[0]
        return answer_step(self.tables, things.tolist(), seed, after)

    def chances(self) -> tuple[float, float]:
        return chances(self.tables)


@dataclass(frozen=True, kw_only=True, eq=False)
class DayChannel:
    """`codebook`: a shard of public candidate days, and one of its candidates."""

    tables: CodebookTables

    @property
    def odds(self) -> Odds:
        return self.tables.odds

    @property
    def seeds(self) -> int:
        return self.tables.shards

    @property
    def kept(self) -> int:
        """K candidates of every shard are mine: none is ever left out."""
        return self.tables.odds.nearest * self.tables.shards

    @cached_property
    def things(self) -> Things:
        return CandidateDays(tables=self.tables)

    def answers(
        self, secrets: Indices, randomness: Randomness, *, constant_work: bool
    ) -> tuple[Indices, Counts]:
        """A shard at random, then one pick in it, for each day."""
        tables = self.tables
        shards = uniform_below(tables.shards, len(secrets), randomness)
        flags = np.empty((len(secrets), tables.odds.candidates), dtype=np.bool_)
        compare = tables.near_in_constant_time if constant_work else tables.near
        for row, shard in enumerate(shards.tolist()):
            flags[row] = compare(secrets[row][secrets[row] >= 0], shard)
        picked, trials = pick_candidates(flags, tables.odds, randomness, constant_work=constant_work)
        return np.column_stack([shards, picked[:, 0]]).astype(np.int32), trials

    def step(self, secret: Outcome, seed: int, after: State) -> AnyStep:
        return pick_step(self.tables, secret, seed, after)

    def chances(self) -> tuple[float, float]:
        odds = self.odds
        factor = math.exp(min(float(odds.epsilon), 500.0))
        total = odds.nearest * factor + odds.candidates - odds.nearest
        return factor / total, 1 / total


@dataclass(frozen=True, kw_only=True, eq=False)
class CandidateDays:
    """Candidates of all shards as things: a day has those that are nearest to it."""

    tables: CodebookTables

    @property
    def count(self) -> int:
        return self.tables.shards * self.tables.odds.candidates

    def of(self, days: Days) -> Indices:
        """The k nearest candidates of each shard."""
        tables, nearest = self.tables, self.tables.odds.nearest
        found = np.full((len(days.lengths), tables.shards * nearest), NONE, dtype=np.int32)
        for row, (places, times) in enumerate(days.rows()):
            if not places:
                continue
            secret = numbers_of(np.array(places), np.array(times), tables.timesteps)
            for shard in range(tables.shards):
                near = np.flatnonzero(tables.near(secret, shard)) + shard * tables.odds.candidates
                found[row, shard * nearest : (shard + 1) * nearest] = near
        return found

    def coarser(self) -> list[Indices]:
        return []

    def columns(self) -> dict[str, list[Any]]:
        shards, candidates = self.tables.shards, self.tables.odds.candidates
        return {
            "shard": np.repeat(np.arange(shards), candidates).tolist(),
            "candidate": list(range(candidates)) * shards,
        }


def check_answer(channel: Channel, seed: int, output: int) -> str:
    """What is wrong with an answer, or nothing."""
    if seed >= channel.seeds:
        return f"seed {seed:,} is out of range, must be below {channel.seeds:,}"
    if output >= channel.odds.candidates:
        return f"output {output:,} is out of range, must be below {channel.odds.candidates:,}"
    return ""
