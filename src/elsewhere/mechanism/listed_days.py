"""Draws from a list of all feasible days: the subsampled exponential mechanism, and permute-and-flip.

Only for worlds small enough to list. The paper discusses both as ways out of the cost of the global
solution; they are here to show what it says of them.
"""

from __future__ import annotations

import decimal
from collections.abc import Sequence
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Indices
from elsewhere.compiled import compiled
from elsewhere.mechanism.coin import Tape, accepts_exp, below, ran_out
from elsewhere.mechanism.draw import Coin
from elsewhere.mechanism.rows import finish_rows
from elsewhere.mechanism.whole_days import DayTables, day_score, day_scores
from elsewhere.randomness import Randomness

Counts = NDArray[np.int64]

_WORDS_PER_TRIAL = 14


def perturb_subsampled(
    true_visits: Indices,
    tables: DayTables,
    days: Indices,
    sample_size: int,
    coin: Coin,
    randomness: Randomness,
    *,
    constant_work: bool,
) -> tuple[Indices, Counts, Counts]:
    """For each row ``sample_size`` days, whatever is true, and one of them by the exponential mechanism.

    Returns the samples and the choices as rows of ``days``, and the trial each took.

    Paper: section 5.1 (sss:global-solution-analysis), subsampled exponential mechanism.
    """
    samples = np.zeros((len(true_visits), sample_size), dtype=np.int32)
    chosen = np.zeros((len(true_visits), 1), dtype=np.int64)
    accepted = np.zeros((len(true_visits), 1), dtype=np.int64)

    def work(tape: Tape, done: int) -> tuple[int, int]:
        rows = true_visits[done:], constant_work, samples[done:], chosen[done:], accepted[done:]
        return _subsampled_rows(tape, tables, days, coin, *rows)

    trials = coin.trials if constant_work else -(-coin.trials // 20)
    finish_rows(work, len(true_visits), 2 * sample_size + _WORDS_PER_TRIAL * trials, randomness)
    return samples, chosen, accepted


@compiled
def _subsampled_rows(
    tape: Tape,
    tables: DayTables,
    days: Indices,
    coin: Coin,
    true_visits: Indices,
    is_constant: bool,
    samples: Indices,
    chosen: Counts,
    accepted: Counts,
) -> tuple[int, int]:
    """How many rows were finished before the tape ran out, and the words they used."""
    for row in range(len(true_visits)):
        before = tape.cursor[0]
        sample = samples[row]
        for i in range(len(sample)):
            sample[i] = below(tape, len(days))
        accepted[row, 0] = 0
        for trial in range(coin.trials):
            candidate = sample[below(tape, len(sample))]
            far = day_score(tables, true_visits[row], days[candidate])
            if accepts_exp(tape, coin.numerator * far, coin.denominator) and not accepted[row, 0]:
                accepted[row, 0] = trial + 1
                chosen[row, 0] = candidate
                if not is_constant:
                    break
            if ran_out(tape):
                return row, before
        if is_constant or not accepted[row, 0]:
            candidate = sample[below(tape, len(sample))]
            if not accepted[row, 0]:
                chosen[row, 0] = candidate
        if ran_out(tape):
            return row, before
    return len(true_visits), tape.cursor[0]


def permute_and_flip(
    true_visits: Indices,
    tables: DayTables,
    days: Indices,
    coin: Coin,
    randomness: Randomness,
    *,
    constant_work: bool,
) -> tuple[Counts, Counts]:
    """One of ``days`` for each row: in random order, the first whose coin e^(−ε (s − least s) / 2) comes up.

    Returns rows of ``days`` and the trial each took.

    Paper: section 5.1 (sss:global-solution-analysis), permute and flip.
    """
    chosen = np.zeros((len(true_visits), 1), dtype=np.int64)
    accepted = np.zeros((len(true_visits), 1), dtype=np.int64)

    def work(tape: Tape, done: int) -> tuple[int, int]:
        rows = true_visits[done:], constant_work, chosen[done:], accepted[done:]
        return _flipped_rows(tape, tables, days, coin, *rows)

    finish_rows(work, len(true_visits), _WORDS_PER_TRIAL * len(days), randomness)
    return chosen, accepted


@compiled
def _flipped_rows(
    tape: Tape,
    tables: DayTables,
    days: Indices,
    coin: Coin,
    true_visits: Indices,
    is_constant: bool,
    chosen: Counts,
    accepted: Counts,
) -> tuple[int, int]:
    """How many rows were finished before the tape ran out, and the words they used."""
    order = np.arange(len(days))
    for row in range(len(true_visits)):
        before = tape.cursor[0]
        scores = day_scores(tables, true_visits[row], days)
        least = scores.min()
        accepted[row, 0] = 0
        order[:] = np.arange(len(days))
        for trial in range(len(days)):
            place = trial + below(tape, len(days) - trial)
            order[trial], order[place] = order[place], order[trial]
            far = scores[order[trial]] - least
            if accepts_exp(tape, coin.numerator * far, coin.denominator) and not accepted[row, 0]:
                accepted[row, 0] = trial + 1
                chosen[row, 0] = order[trial]
                if not is_constant:
                    break
            if ran_out(tape):
                return row, before
        if ran_out(tape):
            return row, before
    return len(true_visits), tape.cursor[0]


def flip_chances(scores: Sequence[int], coin: Coin) -> list[Decimal]:
    """Chance of each outcome of permute-and-flip: p_y ∫₀¹ Π_{z ≠ y} (1 − u p_z) du, p the coins' chances.

    (A day is output if all before it in the order fail; u is where it stands in the order.)
    """
    # Coefficients of the product grow like binomials and nearly cancel: more digits for more days.
    with decimal.localcontext(decimal.Context(prec=60 + len(scores))):
        least = min(scores)
        coins = [(Decimal(-coin.numerator * (s - least)) / coin.denominator).exp() for s in scores]
        product = [Decimal(1)]
        for p in coins:
            shifted = [Decimal(0), *product]
            product = [a - p * b for a, b in zip([*product, Decimal(0)], shifted, strict=True)]
        chances = []
        for p in coins:
            # Divide (1 − u p) out of the product again, from the constant term up.
            rest: list[Decimal] = []
            for coefficient in product[:-1]:
                rest.append(coefficient + (p * rest[-1] if rest else 0))
            chances.append(p * sum((c / (k + 1) for k, c in enumerate(rest)), start=Decimal(0)))
        return chances
