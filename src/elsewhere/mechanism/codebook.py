"""`codebook`: one pick among public candidate days, the k nearest of which are mine (`mechanism.pick`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from elsewhere.arrays import Bools, Counts, Floats, Indices
from elsewhere.days.alignment import day_costs
from elsewhere.days.visits import Days, VisitDistances, parts_of
from elsewhere.mechanism.length import stretched
from elsewhere.mechanism.listing import Outcome, State, Step, scored_step
from elsewhere.mechanism.pick import Odds, pick_candidates, uniform_below
from elsewhere.randomness import Randomness


@dataclass(frozen=True, slots=True, kw_only=True)
class CodebookTables:
    """All that a pick goes by: public, the same for everybody (or for everybody with a day of one length)."""

    odds: Odds
    shards: int
    book: Callable[[int], Days]
    """The candidates of a shard."""
    distances: VisitDistances
    unmatched: float
    timesteps: int
    is_any_length: bool
    """Candidates of all lengths together, so that a pick hides the number of visits."""

    def near(self, secret: Indices, shard: int) -> Bools:
        """Which candidates of a shard are the nearest to a day.

        Of a day with more visits than any candidate, one of every few is kept (R10: a total rule).
        """
        book = self.book(shard)
        row = stretched(secret, min(len(secret), book.places.shape[1]))
        places, times = parts_of(row, self.timesteps)
        return nearest_flags(
            day_costs(book, self.distances, self.unmatched, places, times), self.odds.nearest
        )

    def near_in_constant_time(self, secret: Indices, shard: int) -> Bools:
        """The same, but days of every length are compared, so that time does not tell the length."""
        if not self.is_any_length:
            return self.near(secret, shard)
        most = int(self.book(shard).places.shape[1])
        flags = [self.near(stretched(secret, length), shard) for length in range(1, most + 1)]
        return flags[min(len(secret), most) - 1]


def nearest_flags(costs: Floats, nearest: int) -> Bools:
    """Exactly ``nearest`` of the candidates: the least cost, ties by index; what is no number is farthest."""
    known = np.where(np.isnan(costs), np.inf, costs)
    limit = np.partition(known, nearest - 1)[nearest - 1]
    flags: Bools = known < limit
    ties = np.flatnonzero(known == limit)
    flags[ties[: nearest - int(flags.sum())]] = True
    return flags


def perturb_to_candidates(
    secrets: Indices, tables: CodebookTables, randomness: Randomness, *, constant_work: bool
) -> tuple[Indices, Counts]:
    """For each day a shard at random and a pick in it, and the trial it took."""
    shards = uniform_below(tables.shards, len(secrets), randomness)
    flags = np.empty((len(secrets), tables.odds.candidates), dtype=np.bool_)
    compare = tables.near_in_constant_time if constant_work else tables.near
    for row, shard in enumerate(shards.tolist()):
        flags[row] = compare(secrets[row], shard)
    picked, trials = pick_candidates(flags, tables.odds, randomness, constant_work=constant_work)
    return np.column_stack([shards, picked[:, 0]]).astype(np.int32), trials


def pick_step(tables: CodebookTables, secret: Outcome, shard: int, after: State) -> Step:
    """The pick in a shard, listed, when ``secret`` is true; every outcome leads to ``after``."""
    count = tables.odds.candidates
    flags = tables.near(np.array(secret, dtype=np.int32), shard)
    return scored_step(
        [(index,) for index in range(count)],
        [Fraction(1, count)] * count,
        [0 if is_near else 1 for is_near in flags.tolist()],
        tables.odds.coin,
        [after] * count,
    )
