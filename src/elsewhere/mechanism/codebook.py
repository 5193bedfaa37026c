"""One pick among public candidate days: the k nearest are e^ε times as likely as all others.

The normaliser k e^ε + M − k is the same for every input, so this is exactly ε-LDP and no factor 2 is lost. A
candidate is proposed uniformly; one of the k nearest is always accepted, any other with a chance of e^−ε. How
often nothing is accepted does not depend on the truth either.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Bools, Floats, Indices
from elsewhere.compiled import compiled
from elsewhere.errors import InputError
from elsewhere.mechanism.coin import Tape, accepts_exp, below, ran_out
from elsewhere.mechanism.draw import NEVER
from elsewhere.mechanism.rows import finish_rows
from elsewhere.randomness import Randomness
from elsewhere.world.alignment import least_sum
from elsewhere.world.visits import VisitDistances, place_distance_squared, time_distance

Counts = NDArray[np.int64]

_WORDS_PER_TRIAL = 8
_MOST_TRIALS = 5_000_000


class Candidates(NamedTuple):
    """Public days, a row each; rows of fewer visits are filled up with −1."""

    places: Indices
    times: Indices
    lengths: Indices


class Odds(NamedTuple):
    """How a pick is made: public, the same for everybody."""

    candidates: int
    """M."""
    nearest: int
    """K."""
    numerator: int
    denominator: int
    """Any other candidate is accepted with a chance of e^−(numerator / denominator)."""
    trials: int

    @property
    def epsilon(self) -> Fraction:
        return Fraction(self.numerator, self.denominator)


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
def day_costs(
    candidates: Candidates, distances: VisitDistances, unmatched: float, places: Indices, times: Indices
) -> Floats:
    """Distance of a day to each candidate: Σ d of visits matched in order, more for those left over."""
    book_places, book_times, lengths = candidates.places, candidates.times, candidates.lengths
    length, known, most = len(places), len(distances.kinds), max(len(places), book_places.shape[1])
    squares = np.zeros((length, known))
    for i in range(length):
        # A place nobody knows differs from none, after as much work as any other.
        weight = 1.0 if places[i] < known else 0.0
        for place in range(known):
            squares[i, place] = weight * place_distance_squared(distances, min(places[i], known - 1), place)
    band, best, costs = np.empty((most, most)), np.empty((most, most)), np.empty(len(lengths))
    for row in range(len(lengths)):
        rows = min(length, lengths[row])
        spare = max(length, lengths[row]) - rows
        # k visits of the longer day are passed over before the partner of visit i of the shorter one.
        for i in range(rows):
            for k in range(spare + 1):
                mine, theirs = (i, i + k) if rows == length else (i + k, i)
                hours = time_distance(distances, times[mine], book_times[row, theirs])
                band[i, k] = math.sqrt(squares[mine, book_places[row, theirs]] + hours * hours)
        costs[row] = least_sum(band, rows, spare, best) + spare * unmatched
    return costs


@compiled
def nearest_flags(costs: Floats, nearest: int) -> Bools:
    """Exactly ``nearest`` of the candidates: the least cost, ties by index; what is no number is farthest."""
    known = np.where(np.isnan(costs), np.inf, costs)
    limit = np.partition(known, nearest - 1)[nearest - 1]
    flags: Bools = known < limit
    missing = nearest - flags.sum()
    for index in range(len(known)):
        if missing > 0 and known[index] == limit:
            flags[index] = True
            missing -= 1
    return flags


def pick_candidates(
    is_near: Bools, odds: Odds, randomness: Randomness, *, constant_work: bool
) -> tuple[Indices, Counts]:
    """One pick for each row of flags, and the trial it took.

    That exactly k are near, whatever is true, is all that the proof asks for: it is checked here (R4).
    """
    if not (is_near.shape[1] == odds.candidates and (is_near.sum(axis=1) == odds.nearest).all()):
        raise AssertionError("not exactly k candidates are near: the pick would spend more than ε")
    picked = np.zeros((len(is_near), 1), dtype=np.int32)
    accepted = np.zeros((len(is_near), 1), dtype=np.int64)

    def work(tape: Tape, done: int) -> tuple[int, int]:
        return _pick_rows(tape, odds, is_near[done:], constant_work, picked[done:], accepted[done:])

    trials = odds.trials if constant_work else -(-odds.trials // 20)
    finish_rows(work, len(is_near), _WORDS_PER_TRIAL * trials, randomness)
    return picked, accepted


@compiled
def _pick_rows(
    tape: Tape, odds: Odds, is_near: Bools, is_constant: bool, picked: Indices, accepted: Counts
) -> tuple[int, int]:
    """How many rows were finished before the tape ran out, and the words they used."""
    count = is_near.shape[1]
    for row in range(len(is_near)):
        before = tape.cursor[0]
        for trial in range(odds.trials):
            candidate = below(tape, count)
            exponent = 0 if is_near[row, candidate] else odds.numerator
            is_accepted = accepts_exp(tape, exponent, odds.denominator)
            if is_accepted and not accepted[row, 0]:
                accepted[row, 0] = trial + 1
                picked[row, 0] = candidate
                if not is_constant:
                    break
            if ran_out(tape):
                break
        if ran_out(tape):
            accepted[row, 0] = 0
            return row, before
        candidate = below(tape, count)
        if not accepted[row, 0]:
            picked[row, 0] = candidate
        if ran_out(tape):
            accepted[row, 0] = 0
            return row, before
    return len(is_near), tape.cursor[0]


def uniform_below(bound: int, count: int, randomness: Randomness) -> Indices:
    """Whole numbers below ``bound``, each as likely: words that would favour some are drawn again."""
    limit = (1 << 64) - (1 << 64) % bound
    found: list[int] = []
    while len(found) < count:
        found += [word % bound for word in randomness.words(count).tolist() if word < limit]
    return np.array(found[:count], dtype=np.int32)
