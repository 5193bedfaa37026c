"""The one trusted pick: of M public outputs exactly k are "mine", and each of these is e^ε times as likely.

The normaliser k e^ε + M − k is the same for every input, so this is exactly ε-LDP and no factor 2 is lost. An
output is proposed uniformly; one of mine is always accepted, any other with a chance of e^−ε. How often
nothing is accepted does not depend on the truth either. All that the proof asks for is that exactly k are
mine, whatever is true: that is checked before every pick. `codebook` picks days in this way, and a survey's
questions whatever they ask for.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from elsewhere.arrays import Bools, Counts, Indices, Words
from elsewhere.compiled import compiled, interpreted, patient
from elsewhere.errors import InputError
from elsewhere.mechanism.rejection import NEVER, Coin, each_row, first_accepted, perturb_rows
from elsewhere.mechanism.words import words_for_pick
from elsewhere.randomness import KeyedRandomness, Randomness
from elsewhere.tape import Tape, below

_MOST_TRIALS = 5_000_000
# Bounds are below 2³², so one word in 2³² at most does not fit.
_WORDS_FOR_ONE = 4


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


@compiled
def _propose(tape: Tape, odds: Odds, candidate: Indices) -> None:
    candidate[0] = below(tape, odds.candidates)


@compiled
def _score(_odds: Odds, is_near: Bools, candidate: Indices) -> int:
    """0 for one of the nearest, else 1: accepted always, or with probability e^−ε."""
    return 0 if is_near[candidate[0]] else 1


draw_candidate = first_accepted("draw_candidate", _propose, _score)


@compiled
def pick_one(tape: Tape, odds: Odds, is_mine: Bools, is_constant: bool, picked: Indices) -> int:
    """The pick, into ``picked``; returns the trial it took, 0 if the tape ran out."""
    # All that the proof asks for, looked at where the pick is made: nothing can come in between (R19).
    if len(is_mine) != odds.candidates or is_mine.sum() != odds.nearest:
        raise AssertionError("not exactly k outputs are mine: the pick would spend more than ε")
    coin = Coin(odds.numerator, odds.denominator, odds.trials)
    candidate = np.empty(1, dtype=np.int32)
    return draw_candidate(tape, coin, odds, is_mine, is_constant, candidate, picked)


@compiled
def _pick_row(
    tape: Tape, odds: Odds, is_near: Bools, is_constant: bool, picked: Indices, accepted: Counts
) -> None:
    accepted[0] = pick_one(tape, odds, is_near, is_constant, picked)
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
    return perturb_rows(
        _rows if len(is_near) == 1 else _compiled_rows,
        odds,
        is_near,
        width=1,
        draws=1,
        words=words_for_candidates(odds, constant_work=constant_work),
        randomness=randomness,
        constant_work=constant_work,
    )


def words_for_candidates(odds: Odds, *, constant_work: bool) -> int:
    """Words for one pick; public, and the same in a browser."""
    far = 1 - odds.nearest / odds.candidates
    return words_for_pick(odds.coin, odds.candidates, far, constant_work=constant_work)


def uniform_below(bound: int, count: int, randomness: Randomness) -> Indices:
    """Whole numbers below ``bound``, each as likely: words that would favour some are drawn again."""
    limit = (1 << 64) - (1 << 64) % bound
    if isinstance(randomness, KeyedRandomness):
        return _uniform_for_rows(bound, limit, randomness.words_for_rows(count, _WORDS_FOR_ONE))
    found: list[int] = []
    while len(found) < count:
        found += [word % bound for word in randomness.words(count).tolist() if word < limit]
    return np.array(found[:count], dtype=np.int32)


def _uniform_for_rows(bound: int, limit: int, words: Words) -> Indices:
    """The same of each row's own words: of a few the first that fits, and they all but surely do."""
    found = [next((word % bound for word in row if word < limit), None) for row in words.tolist()]
    if None in found:
        raise AssertionError("so many words that do not fit come once in 2¹²⁸ rows")
    return np.array(found, dtype=np.int32)
