"""`global` and its variants: one draw of the exponential mechanism over whole feasible days.

The paper calls this infeasible, as there are some 10²⁰ candidates; by rejection from uniform proposals
(`days.feasible`) it takes milliseconds. The variants it discusses as ways out, the subsampled mechanism and
permute-and-flip, draw from a list of all days: only for worlds small enough to list, to show what it says of
them.
"""

from __future__ import annotations

import decimal
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from elsewhere.arrays import Counts, Indices
from elsewhere.compiled import compiled
from elsewhere.days.feasible import DayTables, propose_day, words_per_proposal
from elsewhere.days.visits import VisitDistances, visit_distance, visit_parts
from elsewhere.mechanism.rejection import Coin, each_row, first_accepted, perturb_rows, score_of
from elsewhere.randomness import Randomness
from elsewhere.tape import Tape, accepts_exp, below, ran_out

_WORDS_PER_TRIAL = 14


class WholeDayTables(NamedTuple):
    """What a draw of a whole day goes by: public, the same for everybody with a day of that length."""

    days: DayTables
    distances: VisitDistances
    sensitivity: float
    """Largest d between two visits."""


class ListedDays(NamedTuple):
    """The same where all days are listed."""

    tables: WholeDayTables
    days: Indices
    """Every feasible day, a row of numbered visits each."""
    coin: Coin


@compiled
def day_score(tables: WholeDayTables, truth: Indices, visits: Indices) -> int:
    """Σ d between two days over |τ| times the largest d, in steps of 2⁻²⁰, clamped (R2)."""
    day = tables.days.places.is_open.shape[1]
    total = 0.0
    for i in range(len(visits)):
        true_place, true_time = visit_parts(truth[i], day)
        place, time = visit_parts(visits[i], day)
        total += visit_distance(tables.distances, true_place, true_time, place, time)
    return score_of(total, len(visits) * tables.sensitivity)


@compiled
def day_scores(tables: WholeDayTables, truth: Indices, days: Indices) -> Counts:
    """Score of each of some days, a row each."""
    scores = np.empty(len(days), dtype=np.int64)
    for row in range(len(days)):
        scores[row] = day_score(tables, truth, days[row])
    return scores


@compiled
def _propose(tape: Tape, tables: WholeDayTables, visits: Indices) -> None:
    propose_day(tape, tables.days, visits)


draw_day = first_accepted("draw_day", _propose, day_score)


@compiled
def _draw_day(
    tape: Tape,
    tables: tuple[WholeDayTables, Coin],
    truth: Indices,
    is_constant: bool,
    drawn: Indices,
    accepted: Counts,
) -> None:
    accepted[0] = draw_day(tape, tables[1], tables[0], truth, is_constant, np.empty_like(drawn), drawn)


_rows = each_row("whole_day_rows", _draw_day)


def perturb_days(
    true_visits: Indices, tables: WholeDayTables, coin: Coin, randomness: Randomness, *, constant_work: bool
) -> tuple[Indices, Counts]:
    """One draw for each row of true visits, and the trial it took.

    Paper: section 5.1 (eq:global-mechanism).
    Deviation: global-by-rejection — the paper calls the global solution infeasible.
    """
    length = true_visits.shape[1]
    trials = coin.trials if constant_work else -(-coin.trials // 20)
    return perturb_rows(
        _rows,
        (tables, coin),
        true_visits,
        width=length,
        draws=1,
        words=words_per_proposal(length) * trials,
        randomness=randomness,
        constant_work=constant_work,
    )


@compiled
def _propose_from(tape: Tape, tables: tuple[ListedDays, Indices], choice: Indices) -> None:
    choice[0] = tables[1][below(tape, len(tables[1]))]


@compiled
def _score_listed(tables: tuple[ListedDays, Indices], truth: Indices, choice: Indices) -> int:
    return day_score(tables[0].tables, truth, tables[0].days[choice[0]])


draw_from_sample = first_accepted("draw_from_sample", _propose_from, _score_listed)


@compiled
def _draw_subsampled(
    tape: Tape, listed: ListedDays, truth: Indices, is_constant: bool, drawn: Indices, accepted: Counts
) -> None:
    """A sample of days, whatever is true, and at the end of the row the one that is drawn from it."""
    sample = drawn[:-1]
    for i in range(len(sample)):
        sample[i] = below(tape, len(listed.days))
    choice = np.empty(1, dtype=np.int32)
    accepted[0] = draw_from_sample(
        tape, listed.coin, (listed, sample), truth, is_constant, choice, drawn[-1:]
    )


_subsampled_rows = each_row("subsampled_rows", _draw_subsampled)


def perturb_subsampled(
    true_visits: Indices, listed: ListedDays, sample_size: int, randomness: Randomness, *, constant_work: bool
) -> tuple[Indices, Counts]:
    """For each row ``sample_size`` days, whatever is true, and one of them by the exponential mechanism.

    Returns rows of ``listed.days``, that of the draw last, and the trial each draw took.

    Paper: section 5.1 (sss:global-solution-analysis), subsampled exponential mechanism.
    """
    coin = listed.coin
    trials = coin.trials if constant_work else -(-coin.trials // 20)
    return perturb_rows(
        _subsampled_rows,
        listed,
        true_visits,
        width=sample_size + 1,
        draws=1,
        words=2 * sample_size + _WORDS_PER_TRIAL * trials,
        randomness=randomness,
        constant_work=constant_work,
    )


@compiled
def _flip(
    tape: Tape, listed: ListedDays, truth: Indices, is_constant: bool, drawn: Indices, accepted: Counts
) -> None:
    """Days in random order: the first whose coin e^(−ε (s − least s) / 2) comes up."""
    days, coin = listed.days, listed.coin
    order = np.arange(len(days))
    scores = day_scores(listed.tables, truth, days)
    least = scores.min()
    accepted[0] = 0
    for trial in range(len(days)):
        place = trial + below(tape, len(days) - trial)
        order[trial], order[place] = order[place], order[trial]
        far = scores[order[trial]] - least
        if accepts_exp(tape, coin.numerator * far, coin.denominator) and not accepted[0]:
            accepted[0] = trial + 1
            drawn[0] = order[trial]
            if not is_constant:
                return
        if ran_out(tape):
            return


_flip_rows = each_row("flip_rows", _flip)


def permute_and_flip(
    true_visits: Indices, listed: ListedDays, randomness: Randomness, *, constant_work: bool
) -> tuple[Indices, Counts]:
    """One of ``listed.days`` for each row, as the row it is there, and the trial it took.

    Paper: section 5.1 (sss:global-solution-analysis), permute and flip.
    """
    return perturb_rows(
        _flip_rows,
        listed,
        true_visits,
        width=1,
        draws=1,
        words=_WORDS_PER_TRIAL * len(listed.days),
        randomness=randomness,
        constant_work=constant_work,
    )


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
