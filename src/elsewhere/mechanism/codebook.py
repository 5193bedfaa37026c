"""`codebook`: one pick among public candidate days, the k nearest of which are mine (`mechanism.pick`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from elsewhere.arrays import Bools, Counts, Floats, Indices
from elsewhere.days.comparison import DayColumns, day_columns, day_costs, prefix_costs
from elsewhere.days.visits import Days, VisitDistances, parts_of
from elsewhere.mechanism.length import stretched
from elsewhere.mechanism.listing import Outcome, State, Step, scored_step
from elsewhere.mechanism.pick import Odds, pick_candidates, uniform_below
from elsewhere.randomness import Randomness

# One cost of so many is looked at for a first bound on the k-th least.
_EVERY = 16


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

    kept: dict[int, DayColumns] = field(default_factory=dict)
    """Candidates of shards so far, column by column."""

    def columns(self, shard: int) -> DayColumns:
        """The candidates of a shard, as they are compared."""
        if shard not in self.kept:
            self.kept[shard] = day_columns(self.book(shard))
        return self.kept[shard]

    def near(self, secret: Indices, shard: int) -> Bools:
        """Which candidates of a shard are the nearest to a day.

        Of a day with more visits than any candidate, one of every few is kept (R10: a total rule).
        """
        columns = self.columns(shard)
        row = stretched(secret, min(len(secret), columns.most_visits))
        places, times = parts_of(row, self.timesteps)
        costs = day_costs(columns, self.distances, self.unmatched, places, times)
        return nearest_flags(costs, self.odds.nearest)

    def near_in_constant_time(self, secret: Indices, shard: int) -> Bools:
        """The same, but days of every length are compared, so that time does not tell the length.

        To the visits of the day its last one is added until there are as many as candidates can have. Then
        its first visit alone is compared, its first two, ... and all: one of these is the day itself.
        """
        if not self.is_any_length:
            return self.near(secret, shard)
        columns = self.columns(shard)
        most = columns.most_visits
        length = min(len(secret), most)
        filled = stretched(secret, length)[np.minimum(np.arange(most), length - 1)]
        places, times = parts_of(filled, self.timesteps)
        costs = prefix_costs(columns, self.distances, self.unmatched, places, times)
        return nearest_flags(costs[length - 1], self.odds.nearest)


def nearest_flags(costs: Floats, nearest: int) -> Bools:
    """Exactly ``nearest`` of the candidates: the least cost, ties by index; what is no number is farthest."""
    known = np.fmin(costs, np.inf)
    # A bound from a few of them leaves little to look at; if it was too low, all are looked at.
    few = np.sort(known[::_EVERY])
    few = known[known <= few[min(2 * nearest // _EVERY + _EVERY, len(few) - 1)]]
    limit = np.partition(few if len(few) >= nearest else known, nearest - 1)[nearest - 1]
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
