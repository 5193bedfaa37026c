"""`codebook`: one pick among public candidate days. Far more information at the same ε."""

from __future__ import annotations

import hashlib
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from elsewhere.arrays import Bools, Indices
from elsewhere.errors import InputError
from elsewhere.mechanism.budget import Draw, exact_epsilon, total
from elsewhere.mechanism.codebook import (
    Candidates,
    Odds,
    day_costs,
    nearest_flags,
    odds_of,
    pick_candidates,
    uniform_below,
)
from elsewhere.mechanism.length import stretched
from elsewhere.mechanism.step import AnyStep, Outcome, State, Step
from elsewhere.mechanism.whole_days import propose_days
from elsewhere.methods.day_counts import DayCounts
from elsewhere.methods.protocol import Drawn, Rebuilt, Trials
from elsewhere.methods.visit_rows import VisitRows
from elsewhere.randomness import Randomness, SeededRandomness
from elsewhere.trajectories import SharedTrajectory, Trajectory
from elsewhere.world.alignment import UNMATCHED
from elsewhere.world.likely_days import likely_days, world_prior
from elsewhere.world.visits import place_world, visit_distances
from elsewhere.world.world import World

CANDIDATES = 8192
SHARDS = 16
ANY_LENGTH = 0
"""In place of a number of visits: candidates of all lengths together."""


class Codebook:
    """One draw of ε for the whole day; the number of visits is hidden, unless ``same_length`` is wished.

    Public: in each of several shards M candidate days, drawn from the public prior with a seed that the
    world's hash names. A person's shard is chosen by fresh randomness. The k candidates nearest to the
    true day are e^ε times as likely to be shared as each of the others.
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
        cache: str | Path | None = None,
    ) -> None:
        for name, value in (("candidates", candidates), ("shards", shards), ("k", 1 if k is None else k)):
            if type(value) is not int or (name != "k" and not 1 <= value <= 1 << 20):
                raise InputError(name, f"found {value!r}, must be a whole number from 1 to {1 << 20:,}")
        if not 0 <= unmatched < float("inf"):
            raise InputError("unmatched", f"found {unmatched}, must be a number, 0 or more")
        if type(same_length) is not bool:
            raise InputError("same_length", f"found {same_length!r}, must be True or False")
        self.world = world
        self.epsilon = exact_epsilon(epsilon)  # type: ignore[arg-type]  # None is refused there
        self.candidates, self.shards = candidates, shards
        self.hides_length, self.unmatched = not same_length, unmatched
        self.cache = None if cache is None else Path(cache)
        self._given_k = k
        self._rows = VisitRows(world)
        self._places = place_world(world)
        self.distances = visit_distances(world)
        self._hash = world.hash
        self._books: dict[tuple[int, int], Candidates] = {}
        self._odds: dict[int, Odds] = {}
        if k is not None:
            odds_of(self.epsilon, k, candidates)

    def draws_for(self, length: int) -> tuple[Draw, ...]:
        """One draw of everything; it says the length only where that is public."""
        return (Draw(start=0, length=self._key(length), epsilon=self.epsilon, what="candidate day"),)

    def spent_on(self, length: int) -> Fraction:
        return total(self.draws_for(length))

    def prepare(self, length: int) -> None:
        """Work out k and the first candidates; raises if the length is public and no day is so long."""
        if not self.hides_length:
            self._rows.check_length(length)
        self.tables(length)
        self.book(self._key(length), 0)

    def tables(self, length: int) -> Odds:
        """How a pick is made for days of ``length`` visits."""
        key = self._key(length)
        if key not in self._odds:
            from elsewhere.methods.tuning import tuned_nearest  # noqa: PLC0415 - it makes use of this class

            nearest = self._given_k if self._given_k is not None else tuned_nearest(self, key)
            self._odds[key] = odds_of(self.epsilon, nearest, self.candidates)
        return self._odds[key]

    def _key(self, length: int) -> int:
        return ANY_LENGTH if self.hides_length else length

    def book(self, key: int, shard: int) -> Candidates:
        """The candidates of a shard, of ``key`` visits or any number: public, made when first asked for."""
        if (key, shard) not in self._books:
            self._books[key, shard] = self.public_days(key, f"shard {shard}", self.candidates)
        return self._books[key, shard]

    def make_books(self, length: int) -> None:
        """Make the candidates of every shard for days of ``length`` visits: what many shares will need."""
        for shard in range(self.shards):
            self.book(self._key(length), shard)

    def public_days(self, key: int, label: str, count: int) -> Candidates:
        """Days of the prior, the same for everybody: the seed is the world's hash and a ``label``."""
        name = f"{self._hash} {key} visits, {label}"
        seed = np.frombuffer(hashlib.sha256(name.encode()).digest()[:8], dtype="<u8").astype(np.uint64)
        prior = world_prior(self.world, None if key == ANY_LENGTH else key)
        days = Candidates(*likely_days(prior, self._places, count, max(key, 1), seed))
        return days if days.lengths.all() else self._feasible_days(key, count, int(seed[0]))

    def _feasible_days(self, length: int, count: int, seed: int) -> Candidates:
        """Any feasible days, each as likely: where those of ``length`` visits are too rare for the prior."""
        tables = DayCounts(self.world, self.cache, None).tables(length)
        days = propose_days(tables, count, SeededRandomness(seed))
        times, places = np.divmod(days, np.int32(len(self.world.places)))
        return Candidates(places, times, np.full(count, length, dtype=np.int32))

    def secret(self, trajectory: Trajectory) -> Outcome:
        """Each visit as a number."""
        return self._rows.secret(trajectory)

    def near(self, secret: Indices, key: int, shard: int, nearest: int) -> Bools:
        """Which candidates of a shard are the nearest to a day.

        Of a day with more visits than any candidate, one of every few is kept (R10: a total rule).
        """
        book = self.book(key, shard)
        row = stretched(secret, min(len(secret), book.places.shape[1]))
        places, times = np.divmod(row, np.int32(self.world.clock.timesteps))
        return nearest_flags(day_costs(book, self.distances, self.unmatched, places, times), nearest)

    def _near_in_constant_time(self, secret: Indices, key: int, shard: int, nearest: int) -> Bools:
        """The same, but days of every length are compared, so that time does not tell the length."""
        if not self.hides_length:
            return self.near(secret, key, shard, nearest)
        most = int(self.book(key, shard).places.shape[1])
        flags = [self.near(stretched(secret, n), key, shard, nearest) for n in range(1, most + 1)]
        return flags[min(len(secret), most) - 1]

    def perturb(
        self, secrets: Indices, randomness: Randomness, *, constant_work: bool
    ) -> tuple[Drawn, Trials]:
        """A shard at random, then one pick in it, for each day."""
        key, odds = self._key(secrets.shape[1]), self.tables(secrets.shape[1])
        shards = uniform_below(self.shards, len(secrets), randomness)
        flags = np.empty((len(secrets), self.candidates), dtype=np.bool_)
        compare = self._near_in_constant_time if constant_work else self.near
        for row, shard in enumerate(shards.tolist()):
            flags[row] = compare(secrets[row], key, shard, odds.nearest)
        picked, trials = pick_candidates(flags, odds, randomness, constant_work=constant_work)
        return Drawn(length=key, values=np.column_stack([shards, picked[:, 0]]).astype(np.int32)), trials

    def rebuild(self, drawn: Drawn, randomness: Randomness) -> Rebuilt:
        """The picked candidates as they are: every one is feasible and open."""
        del randomness
        started = time.perf_counter()
        ids = self.world.places.ids
        shared = []
        for shard, index in drawn.values.tolist():
            book = self.book(drawn.length, shard)
            length = int(book.lengths[index])
            places, times = book.places[index, :length].tolist(), book.times[index, :length].tolist()
            shared.append(SharedTrajectory(zip([ids[place] for place in places], times, strict=True)))
        ways = {"places": ["as drawn"] * len(shared)}
        return Rebuilt(shared=shared, ways=ways, seconds={"places": time.perf_counter() - started})

    def step(self, secret: Outcome, state: State) -> AnyStep | None:
        """The shard, which has nothing to do with the truth, then the pick."""
        key, odds = self._key(len(secret)), self.tables(len(secret))
        if state[1] == "picked":
            return None
        if state[1] != "shard":
            return _chosen_among([(key, "shard", shard) for shard in range(self.shards)])
        flags = self.near(np.array(secret, dtype=np.int32), key, state[2], odds.nearest)
        return Step(
            outcomes=[(index,) for index in range(self.candidates)],
            proposal=[Fraction(1, self.candidates)] * self.candidates,
            numerators=[0 if is_near else odds.numerator for is_near in flags.tolist()],
            denominator=odds.denominator,
            trials=odds.trials,
            states=[(key, "picked")] * self.candidates,
        )

    def outcomes(self, drawn: Drawn) -> list[tuple[Outcome, ...]]:
        """For each row the shard and the candidate."""
        return [((shard,), (index,)) for shard, index in drawn.values.tolist()]

    def describe(self) -> dict[str, Any]:
        """Settings and promise, for the metadata of a file."""
        facts = {
            "method": self.name,
            "is_ldp": True,
            "epsilon": str(self.epsilon),
            "candidates": self.candidates,
            "shards": self.shards,
            "unmatched": self.unmatched,
            "k": self._given_k or "tuned for each length",
        }
        if self.hides_length:
            facts["k"] = self.tables(1).nearest
            facts["hide_length"] = len(world_prior(self.world).lengths)
        return facts


def _chosen_among(states: list[State]) -> Step:
    """One of several, each as likely, whatever is true."""
    count = len(states)
    return Step(
        outcomes=[(index,) for index in range(count)],
        proposal=[Fraction(1, count)] * count,
        numerators=[0] * count,
        denominator=1,
        trials=1,
        states=states,
    )
