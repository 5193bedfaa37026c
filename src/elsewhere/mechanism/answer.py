"""Answers about the *set of things* in a day: one pick, of whose M outputs exactly k are mine.

Two ways to make outputs of D things, both public; `better_answer` takes the one that tells more.

- *direct*: the D things themselves, and k blanks. A day with fewer than k things is filled up with blanks.
- *hashed*: g buckets, into which a fresh public seed puts the things. Mine are the buckets of my things,
  filled up with others at random.

Of a day with more than k things, k are kept at random. So exactly k outputs are mine for every day, of none,
few or many things (R19), and the pick's proof holds: given any choice of mine, an output's chance lies
between 1/Z and e^ε/Z with the same Z for everybody, and so does the mean over choices.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple, Protocol

import numpy as np

from elsewhere.arrays import Bools, Counts, Indices
from elsewhere.compiled import compiled, interpreted, patient
from elsewhere.days.visits import Days, parts_of
from elsewhere.errors import InputError
from elsewhere.mechanism.listing import GivenStep, Outcome, State
from elsewhere.mechanism.pick import Odds, odds_of, pick_one
from elsewhere.mechanism.rejection import each_row, perturb_rows
from elsewhere.mechanism.words import of_below, words_for_pick
from elsewhere.randomness import Randomness
from elsewhere.tape import Tape, below, ran_out

DIRECT = 0
"""In place of a number of seeds: things are not hashed."""
SEEDS = 1 << 31
MOST_THINGS = 1 << 22


class AnswerTables(NamedTuple):
    """All that an answer goes by: public, the same for everybody."""

    things: int
    """How many there are, D."""
    odds: Odds
    seeds: int
    """How many ways there are to put things into buckets; 0: direct."""

    @property
    def is_hashed(self) -> bool:
        return self.seeds != DIRECT

    @property
    def kept(self) -> int:
        """How many things of a day are kept, k."""
        return self.odds.nearest


def direct_answer(epsilon: Fraction, things: int, kept: int) -> AnswerTables:
    """Outputs are things, and blanks."""
    return AnswerTables(things, odds_of(epsilon, kept, things + kept), DIRECT)


def hashed_answer(
    epsilon: Fraction, things: int, kept: int, buckets: int, *, seeds: int = SEEDS
) -> AnswerTables:
    """Outputs are buckets."""
    return AnswerTables(things, odds_of(epsilon, kept, buckets), seeds)


def better_answer(epsilon: Fraction, things: int, kept: int) -> AnswerTables:
    """The answer with the smaller variance for a rare thing, from public numbers alone."""
    if not 1 <= things <= MOST_THINGS:
        raise InputError("question", f"has {things:,} things, must have 1 to {MOST_THINGS:,}")
    if not 1 <= kept <= things:
        raise InputError("k", f"found {kept}, must be 1 to {things:,}, the number of things")
    direct = direct_answer(epsilon, things, kept)
    buckets = best_buckets(epsilon, kept)
    if buckets >= direct.odds.candidates:
        return direct  # as many outputs, and buckets that things share: never better, and slower
    hashed = hashed_answer(epsilon, things, kept, buckets)
    return direct if rare_variance(direct) <= rare_variance(hashed) else hashed


def best_buckets(epsilon: Fraction, kept: int) -> int:
    """G with the least variance; it grows with k e^ε, whatever the number of things.

    The variance (x + k − 1)(k e^ε + x)² / x² of x = g − k has its one minimum where its derivative is 0:
    x² − k e^ε x − 2 (k − 1) k e^ε = 0.
    """
    odds = kept * math.exp(min(float(epsilon), 40.0))
    least = (odds + math.sqrt(odds**2 + 8 * (kept - 1) * odds)) / 2

    def variance(others: int) -> float:
        return (others + kept - 1) * ((odds + others) / others) ** 2

    below = max(1, math.floor(least))
    return kept + min((below, below + 1), key=variance)


def chances(tables: AnswerTables) -> tuple[float, float]:
    """How likely an answer points at a thing that was kept, p, and at one that was not, q."""
    odds, count = math.exp(float(tables.odds.epsilon)), tables.odds.candidates
    total = tables.kept * odds + count - tables.kept
    return odds / total, 1 / count if tables.is_hashed else 1 / total


def rare_variance(tables: AnswerTables) -> float:
    """Variance of one answer about a thing that hardly anybody has: q (1 − q) / (p − q)²."""
    p, q = chances(tables)
    return q * (1 - q) / (p - q) ** 2 if p > q else math.inf


_32_BITS = np.uint64(0xFFFFFFFF)


@compiled
def _stirred(word: np.uint64) -> np.uint64:
    """MurmurHash3's last step on 32 bits: no product leaves 64 bits, here or in a browser."""
    word = ((word ^ (word >> np.uint64(16))) * np.uint64(0x85EBCA6B)) & _32_BITS
    word = ((word ^ (word >> np.uint64(13))) * np.uint64(0xC2B2AE35)) & _32_BITS
    return word ^ (word >> np.uint64(16))


@compiled
def bucket_of(seed: int, thing: int, buckets: int) -> int:
    """Where a seed puts a thing: whole numbers only, the same on every machine."""
    spread = np.uint64(thing) * np.uint64(0x9E3779B1)
    word = _stirred((_stirred(np.uint64(seed)) + spread) & _32_BITS)
    return np.int64(word % np.uint64(buckets))  # type: ignore[return-value]  # an int in compiled code


@compiled
def _keep(tape: Tape, things: Indices, is_constant: bool, kept: Indices) -> int:
    """Fill ``kept`` with things of a day, at random if there are more; returns how many there are.

    Every later thing takes the place of an earlier one with the chance that makes all as likely. With
    ``is_constant`` as many words are drawn for places of the row that hold no thing; else none, so that how
    wide rows are makes no difference.
    """
    count = 0
    for thing in things:
        count += thing >= 0
        if (thing >= 0 and count > len(kept)) or is_constant:
            place = below(tape, max(count, 1))
            if thing >= 0 and count > len(kept) and place < len(kept):
                kept[place] = thing
        if thing >= 0 and count <= len(kept):
            kept[count - 1] = thing
    return min(count, len(kept))


@compiled
def _mark_direct(things: int, kept: Indices, count: int, is_mine: Bools) -> None:
    for i in range(count):
        is_mine[kept[i]] = True
    is_mine[things : things + len(kept) - count] = True  # blanks


@compiled
def _mark_hashed(tape: Tape, seed: int, kept: Indices, count: int, is_constant: bool, is_mine: Bools) -> None:
    marked, drawn = 0, 0
    for i in range(count):
        bucket = bucket_of(seed, kept[i], len(is_mine))
        marked += not is_mine[bucket]
        is_mine[bucket] = True
    while marked < len(kept) and not ran_out(tape):
        bucket = below(tape, len(is_mine))
        marked += not is_mine[bucket]
        is_mine[bucket] = True
        drawn += 1
    if is_constant:
        # A day with few things needs many others to fill up: draw as many for a day that needs none.
        for _ in range(drawn, 2 * len(kept)):
            below(tape, len(is_mine))


@compiled
def _answer_row(
    tape: Tape, tables: AnswerTables, things: Indices, is_constant: bool, answer: Indices, accepted: Counts
) -> None:
    odds = tables.odds
    kept, is_mine = np.empty(odds.nearest, dtype=np.int32), np.zeros(odds.candidates, dtype=np.bool_)
    count = _keep(tape, things, is_constant, kept)
    if tables.seeds:
        answer[0] = below(tape, tables.seeds)
        _mark_hashed(tape, answer[0], kept, count, is_constant, is_mine)
    else:
        answer[0] = 0
        _mark_direct(tables.things, kept, count, is_mine)
    if not ran_out(tape):
        accepted[0] = pick_one(tape, odds, is_mine, is_constant, answer[1:])


_compiled_rows = each_row("answer_rows", _answer_row)
_rows = patient(_compiled_rows, interpreted(_compiled_rows), calls=20)


class SetOfThings(Protocol):
    """A public rule from days to the things in each of them (`survey.things`)."""

    def of(self, days: Days) -> Indices:
        """The distinct things of each day, a row each, filled up with −1."""
        ...


def things_of_secrets(secrets: Indices, rule: SetOfThings, timesteps: int) -> Indices:
    """The things of days whose visits are numbered, rows filled up with −1 where a day is shorter.

    Whatever the rule makes of a day costs nothing; the answer checks that exactly k outputs are mine.
    """
    places, times = parts_of(secrets, timesteps)
    lengths = (secrets >= 0).sum(axis=1).astype(np.int32)
    return rule.of(Days(np.asarray(places), np.where(secrets >= 0, times, np.int32(-1)), lengths))


def distinct(rows: Indices) -> Indices:
    """Rows with every number once, the largest first, filled up with −1."""
    ordered = -np.sort(-rows, axis=1)
    ordered[:, 1:][ordered[:, 1:] == ordered[:, :-1]] = -1
    return np.asarray(-np.sort(-ordered, axis=1), dtype=np.int32)


def answers(
    things: Indices, tables: AnswerTables, randomness: Randomness, *, constant_work: bool
) -> tuple[Indices, Counts]:
    """A seed (0 if direct) and an output for each row of things, filled up with −1; the trial each took.

    What comes twice counts once, and what is no thing at all not at all: no row is refused (R10).
    """
    known = distinct(np.where((things >= 0) & (things < tables.things), things, np.int32(-1)))
    words = words_for_answer(tables, things.shape[1], constant_work=constant_work)
    return perturb_rows(
        _rows if len(things) == 1 else _compiled_rows,
        tables,
        known,
        width=2,
        draws=1,
        words=words,
        randomness=randomness,
        constant_work=constant_work,
    )


def words_for_answer(tables: AnswerTables, width: int, *, constant_work: bool) -> int:
    """Words for an answer about a row of so many things; public, and the same in a browser."""
    odds = tables.odds
    far = 1 - odds.nearest / odds.candidates
    words = words_for_pick(odds.coin, odds.candidates, far, constant_work=constant_work)
    # Keeping, hashing and filling up take a few words more, of which some may not fit.
    return words + math.ceil(4 * width + 8 * (odds.nearest + 1) * of_below(odds.candidates).first)


def answer_step(tables: AnswerTables, things: Sequence[int], seed: int, after: State) -> GivenStep:
    """The pick, listed, when a day has these things; every output leads to ``after``."""
    odds, count = tables.odds, tables.odds.candidates
    with decimal.localcontext(decimal.Context(prec=50)):
        pass_far = (-Decimal(odds.numerator) / odds.denominator).exp()
        mass = (odds.nearest + (count - odds.nearest) * pass_far) / count
        missed = (1 - mass) ** odds.trials
        listed = []
        for chance in chances_of_mine(tables, things, seed):
            mine = Decimal(chance.numerator) / chance.denominator
            accepted = mine + (1 - mine) * pass_far
            listed.append((accepted * (1 - missed) / mass + missed) / count)
    outcomes: list[Outcome] = [(output,) for output in range(count)]
    return GivenStep(outcomes=outcomes, chances=listed, states=[after] * count)


def chances_of_mine(tables: AnswerTables, things: Sequence[int], seed: int) -> list[Fraction]:
    """How likely each output is to be mine, in a plain way: every choice of k things, written out."""
    count, k = tables.odds.candidates, tables.kept
    distinct = sorted({thing for thing in things if thing >= 0})
    choices = list(combinations(distinct, k)) if len(distinct) > k else [tuple(distinct)]
    total = [Fraction(0)] * count
    for choice in choices:
        if tables.is_hashed:
            sure = {int(bucket_of(seed, thing, count)) for thing in choice}
            left = Fraction(k - len(sure), count - len(sure)) if count > len(sure) else Fraction(0)
        else:
            sure = {*choice, *range(tables.things, tables.things + k - len(choice))}
            left = Fraction(0)
        for output in range(count):
            total[output] += Fraction(1) if output in sure else left
    return [chance / len(choices) for chance in total]
