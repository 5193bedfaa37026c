"""`day`: a whole day, as `codebook` shares it; its report is a shard and a candidate."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import numpy as np

from elsewhere.days.alignment import UNMATCHED
from elsewhere.days.candidates import candidate_days, checked_days
from elsewhere.days.prior import ANY_LENGTH
from elsewhere.days.visits import Days, joined_days, visit_distances
from elsewhere.errors import InputError
from elsewhere.mechanism.codebook import CodebookTables
from elsewhere.mechanism.pick import odds_of
from elsewhere.methods.tuning import tuned_nearest
from elsewhere.survey.channels import CandidateDays, Channel, DayChannel
from elsewhere.survey.questions.question import PublicMap, QuestionKind, whole
from elsewhere.survey.things import Things
from elsewhere.world.world import World


@dataclass(frozen=True, kw_only=True)
class Day(QuestionKind):
    """One of the public candidate days, one of the nearest k likelier than the others."""

    kind: ClassVar[str] = "day"
    what: ClassVar[str] = "whole days, as codebook shares them"
    has_table: ClassVar[bool] = False

    candidates: int = 1024
    shards: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("candidates", self.candidates, 2, 1 << 14)
        whole("shards", self.shards, 1, 64)
        if self.k is not None:
            whole("k", self.k, 1, self.candidates - 1)

    def public_map(self, world: World, epsilon: Fraction, folder: Path) -> PublicMap:
        """The candidates of every shard."""
        del epsilon, folder
        books = [candidate_days(world, f"shard {shard}", self.candidates) for shard in range(self.shards)]
        return PublicMap(arrays=joined_days(*books)._asdict())

    def things(self, world: World, public: PublicMap) -> Things:
        return CandidateDays(tables=self._tables(world, public, Fraction(1), self.k or 1))

    def kept_of(self, world: World, things: Things, epsilon: Fraction, believed: Days) -> int:
        """K with the least expected error of a visit, as `codebook` finds it."""
        del things, believed
        if self.k is not None:
            return self.k
        book = candidate_days(world, "shard 0", self.candidates)
        return tuned_nearest(world, epsilon, book, length=ANY_LENGTH, unmatched=UNMATCHED, cache=None)

    def channel(self, world: World, public: PublicMap, epsilon: Fraction, kept: int) -> Channel:
        return DayChannel(tables=self._tables(world, public, epsilon, kept))

    def _tables(self, world: World, public: PublicMap, epsilon: Fraction, kept: int) -> CodebookTables:
        days = self._days(world, public)

        def book(shard: int) -> Days:
            rows = slice(shard * self.candidates, (shard + 1) * self.candidates)
            return Days(*(column[rows] for column in days))

        return CodebookTables(
            odds=odds_of(epsilon, kept, self.candidates),
            shards=self.shards,
            book=book,
            distances=visit_distances(world),
            unmatched=UNMATCHED,
            timesteps=world.clock.timesteps,
            is_any_length=True,
        )

    def _days(self, world: World, public: PublicMap) -> Days:
        """Candidates of a survey's file, from anybody: checked."""
        nothing = np.zeros(0, dtype=np.int32)
        found = Days(*(public.arrays.get(name, nothing) for name in Days._fields))
        days = checked_days(found, world, self.candidates * self.shards)
        if days is None or days.places.shape[1] > world.clock.timesteps:
            raise InputError("survey", "candidates of a question are missing or damaged")
        return days
