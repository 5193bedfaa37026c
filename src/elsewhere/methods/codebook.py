"""`codebook`: one pick among public candidate days. Far more information at the same ε."""

from __future__ import annotations

import time
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from elsewhere.arrays import Counts, Indices
from elsewhere.days.alignment import UNMATCHED
from elsewhere.days.candidates import candidate_days
from elsewhere.days.prior import ANY_LENGTH, most_visits
from elsewhere.days.visits import Days, check_length, joined_days, visit_distances
from elsewhere.errors import InputError
from elsewhere.mechanism.budget import Draw, exact_epsilon, total
from elsewhere.mechanism.codebook import CodebookTables, perturb_to_candidates, pick_step
from elsewhere.mechanism.listing import AnyStep, Outcome, State, chosen_among
from elsewhere.mechanism.pick import odds_of
from elsewhere.mechanism.secret import NumberedVisits
from elsewhere.methods.guess import CANDIDATE, GUESS, READINGS, BestGuesses
from elsewhere.methods.protocol import Drawn, MethodFacts, Rebuilt
from elsewhere.methods.tuning import CANDIDATES, tuned_nearest
from elsewhere.progress import Progress, no_progress
from elsewhere.randomness import Randomness
from elsewhere.world.world import World

SHARDS = 16


class Codebook:
    """One draw of ε for the whole day; the number of visits is hidden, unless ``same_length`` is wished.

    Each of ``shards`` lists has M candidate days, drawn from the public prior with a seed that the
    world's hash names. A person's shard is chosen by fresh randomness. The k candidates nearest to the
    true day are e^ε times as likely to be picked as each of the others. What is shared is the picked day or,
    with a ``reading`` of "guess", the best guess that can be made of the pick.
    """

    name = "codebook"

    def __init__(
        self,
        world: World,
        *,
        epsilon: float | str | Fraction | None = None,
        candidates: int = CANDIDATES,
        shards: int = SHARDS,
        k: int | None = None,
        same_length: bool = False,
        unmatched: float = UNMATCHED,
        reading: str = CANDIDATE,
        cache: str | Path | None = None,
        progress: Progress = no_progress,
    ) -> None:
        for name, value in (("candidates", candidates), ("shards", shards), ("k", 1 if k is None else k)):
            if type(value) is not int or (name != "k" and not 1 <= value <= 1 << 20):
                raise InputError(name, f"found {value!r}, must be a whole number from 1 to {1 << 20:,}")
        if not 0 <= unmatched < float("inf"):
            raise InputError("unmatched", f"found {unmatched}, must be a number, 0 or more")
        if type(same_length) is not bool:
            raise InputError("same_length", f"found {same_length!r}, must be True or False")
        if reading not in READINGS:
            raise InputError("reading", f"found {reading!r}, must be one of {', '.join(READINGS)}")
        self.world = world
        self.epsilon = exact_epsilon(epsilon)
        self.candidates, self.shards = candidates, shards
        self.hides_length, self.unmatched = not same_length, unmatched
        self.reading = reading
        self.secret = NumberedVisits(world)
        self._cache = None if cache is None else Path(cache)
        self._progress = progress
        self._given_k = k
        self._distances = visit_distances(world)
        self._books: dict[tuple[int, int], Days] = {}
        self._tables: dict[int, CodebookTables] = {}
        self._guesses = BestGuesses(world, self._cache) if reading == GUESS else None
        if k is not None:
            odds_of(self.epsilon, k, candidates)

    def draws_for(self, length: int) -> tuple[Draw, ...]:
        """One draw of everything; it says the length only where that is public."""
        return (Draw(start=0, length=self._key(length), epsilon=self.epsilon, what="candidate day"),)

    def spent_on(self, length: int) -> Fraction:
        """ε, whatever the day."""
        return total(self.draws_for(length))

    def prepare(self, length: int) -> None:
        """Work out k and the first candidates; raises if the length is public and no day is so long."""
        if not self.hides_length:
            check_length(self.world, length)
        self.tables(length)
        self.book(self._key(length), 0)
        if self._guesses is not None and self.hides_length:
            self._guesses.typical()

    def prepare_many(self, length: int) -> None:
        """Make the candidates of every shard for days of ``length`` visits: what many shares will need."""
        for shard in range(self.shards):
            self.book(self._key(length), shard)
            if self._guesses is not None:
                self._guesses.rows(self.tables(length), self._key(length), shard)
                self._tell()

    def tables(self, length: int) -> CodebookTables:
        """How a pick is made for days of ``length`` visits."""
        key = self._key(length)
        if key not in self._tables:
            nearest = self._given_k if self._given_k is not None else self._tuned(key)
            self._tables[key] = CodebookTables(
                odds=odds_of(self.epsilon, nearest, self.candidates),
                shards=self.shards,
                book=partial(self.book, key),
                distances=self._distances,
                unmatched=self.unmatched,
                timesteps=self.world.clock.timesteps,
                is_any_length=self.hides_length,
            )
        return self._tables[key]

    def _tuned(self, key: int) -> int:
        return tuned_nearest(
            self.world,
            self.epsilon,
            self.book(key, 0),
            length=key,
            unmatched=self.unmatched,
            cache=self._cache,
        )

    def _key(self, length: int) -> int:
        return ANY_LENGTH if self.hides_length else length

    def book(self, key: int, shard: int) -> Days:
        """The candidates of a shard, of ``key`` visits or any number: public, made when first asked for."""
        if (key, shard) not in self._books:
            self._books[key, shard] = candidate_days(
                self.world, f"shard {shard}", self.candidates, length=key, cache=self._cache
            )
            self._tell()
        return self._books[key, shard]

    def _tell(self) -> None:
        # Shards are met in no order and by nobody's truth: how many there are by now tells nothing.
        done, parts = len(self._books), 1
        if self._guesses is not None:
            done, parts = done + len(self._guesses), 2
        self._progress(done, max(parts * self.shards, done))

    def perturb(
        self, secrets: Indices, randomness: Randomness, *, constant_work: bool
    ) -> tuple[Drawn, Counts]:
        """A shard at random, then one pick in it, for each day."""
        tables = self.tables(secrets.shape[1])
        values, trials = perturb_to_candidates(secrets, tables, randomness, constant_work=constant_work)
        return Drawn(length=self._key(secrets.shape[1]), values=values), trials

    def rebuild(self, drawn: Drawn, randomness: Randomness) -> Rebuilt:
        """The picked candidates as they are, or the best guesses: every one is feasible and open."""
        del randomness
        started = time.perf_counter()
        read = [self._read(drawn.length, shard, index) for shard, index in drawn.values.tolist()]
        ways = {"places": ["as drawn" if self._guesses is None else "best guess"] * len(read)}
        return Rebuilt(days=joined_days(*read), ways=ways, seconds={"places": time.perf_counter() - started})

    def _read(self, key: int, shard: int, index: int) -> Days:
        """The day that a pick stands for."""
        if self._guesses is not None:
            return self._guesses.day(self.tables(key), key, shard, index)
        return Days(*(np.asarray(column[index : index + 1]) for column in self.book(key, shard)))

    def step(self, secret: Outcome, state: State) -> AnyStep | None:
        """The shard, which has nothing to do with the truth, then the pick."""
        key = self._key(len(secret))
        if state[1] == "picked":
            return None
        if state[1] == "shard":
            return pick_step(self.tables(len(secret)), secret, state[2], (key, "picked"))
        shards = range(self.shards)
        return chosen_among([(shard,) for shard in shards], [(key, "shard", shard) for shard in shards])

    def outcomes(self, drawn: Drawn) -> list[tuple[Outcome, ...]]:
        """For each row the shard and the candidate."""
        return [((shard,), (index,)) for shard, index in drawn.values.tolist()]

    def facts(self) -> MethodFacts:
        """Settings and promise."""
        options: dict[str, Any] = {
            "candidates": self.candidates,
            "shards": self.shards,
            "unmatched": self.unmatched,
            "reading": self.reading,
            "k": self._given_k or "tuned for each length",
        }
        most = None
        if self.hides_length:
            options["k"] = self.tables(1).odds.nearest
            most = most_visits(self.world)
        return MethodFacts(
            method=self.name,
            epsilon=self.epsilon,
            length_is_public=not self.hides_length,
            most_visits=most,
            options=options,
        )
