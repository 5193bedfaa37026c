"""`codebook`: one pick among public candidate days; the k nearest are e^ε times as likely as all others.

The normaliser k e^ε + M − k is the same for every input, so this is exactly ε-LDP and no factor 2 is lost. A
candidate is proposed uniformly; one of the k nearest is always accepted, any other with a chance of e^−ε. How
often nothing is accepted does not depend on the truth either. All that the proof asks for is that exactly k
candidates are near, whatever is true: that is checked before every pick.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from elsewhere.arrays import Bools, Counts, Floats, Indices
from elsewhere.compiled import compiled, interpreted, patient
from elsewhere.days.alignment import day_costs
from elsewhere.days.visits import Days, VisitDistances, parts_of
from elsewhere.errors import InputError
from elsewhere.mechanism.length import stretched
from elsewhere.mechanism.listing import Outcome, State, Step, scored_step
from elsewhere.mechanism.rejection import NEVER, Coin, each_row, first_accepted, perturb_rows
from elsewhere.mechanism.words import words_for_pick
from elsewhere.randomness import Randomness
from elsewhere.tape import Tape, below

_MOST_TRIALS = 5_000_000


class Odds(NamedTuple):
    """How a pick is made: public, the same for everybody."""

    candidates: int
    """How many there are, M."""
    nearest: int
    """How many of them count as near, k."""
    numerator: int
    denominator: int
    """Any other candidate is accepted with a chance of e^−(numerator / denominator)."""
    trials: int

    @property
    def epsilon(self) -> Fraction:
        return Fraction(self.numerator, self.denominator)

    @property
    def coin(self) -> Coin:
        """Score 0 for what is near, 1 for what is not."""
        return Coin(self.numerator, self.denominator, self.trials)


def odds_of(epsilon: Fraction, nearest: int, candidates: int) -> Odds:
    """Odds of e^ε for the ``nearest``, and the public number of trials that a pick gets."""
    if not 1 <= nearest <= candidates:
        raise InputError("k", f"found {nearest}, must be 1 to {candidates:,}, the number of candidates")
    accepted = (nearest + (candidates - nearest) * math.exp(-epsilon)) / candidates
    trials = math.ceil(NEVER / -math.log1p(-accepted)) if accepted < 1 else 1
    if trials > _MOST_TRIALS:
        raise InputError(
            "k", f"found {nearest} of {candidates:,} candidates: takes too long to sample, use a larger k"
        )
    return Odds(candidates, nearest, epsilon.numerator, epsilon.denominator, trials)


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


@compiled
def _propose(tape: Tape, odds: Odds, candidate: Indices) -> None:
    candidate[0] = below(tape, odds.candidates)


@compiled
def _score(_odds: Odds, is_near: Bools, candidate: Indices) -> int:
    """0 for one of the nearest, else 1: accepted always, or with probability e^−ε."""
    return 0 if is_near[candidate[0]] else 1


draw_candidate = first_accepted("draw_candidate", _propose, _score)


@compiled
def _pick_row(
    tape: Tape, odds: Odds, is_near: Bools, is_constant: bool, picked: Indices, accepted: Counts
) -> None:
    # All that the proof asks for, looked at where the pick is made: nothing can come in between (R19).
    if len(is_near) != odds.candidates or is_near.sum() != odds.nearest:
        raise AssertionError("not exactly k candidates are near: the pick would spend more than ε")
    coin = Coin(odds.numerator, odds.denominator, odds.trials)
    candidate = np.empty(1, dtype=np.int32)
    accepted[0] = draw_candidate(tape, coin, odds, is_near, is_constant, candidate, picked)
    if accepted[0] and not is_constant:
        below(tape, odds.candidates)  # one spare proposal for each day, as seeded files always had it


_compiled_rows = each_row("codebook_rows", _pick_row)
_rows = patient(_compiled_rows, interpreted(_compiled_rows), calls=20)


def pick_candidates(
    is_near: Bools, odds: Odds, randomness: Randomness, *, constant_work: bool
) -> tuple[Indices, Counts]:
    """One pick for each row of flags, and the trial it took.

    That exactly k are near, whatever is true, is all that the proof asks for: it is checked for every row.
    """
    far = 1 - odds.nearest / odds.candidates
    return perturb_rows(
        _rows if len(is_near) == 1 else _compiled_rows,
        odds,
        is_near,
        width=1,
        draws=1,
        words=words_for_pick(odds.coin, odds.candidates, far, constant_work=constant_work),
        randomness=randomness,
        constant_work=constant_work,
    )


def uniform_below(bound: int, count: int, randomness: Randomness) -> Indices:
    """Whole numbers below ``bound``, each as likely: words that would favour some are drawn again."""
    limit = (1 << 64) - (1 << 64) % bound
    found: list[int] = []
    while len(found) < count:
        found += [word % bound for word in randomness.words(count).tolist() if word < limit]
    return np.array(found[:count], dtype=np.int32)


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
