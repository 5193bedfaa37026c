"""The one loop of the trusted core: of N public proposals the first that a coin accepts, else one more.

For any public proposal π and any score s in [0, 1], Pr(y | x) ∝ π(y) e^(−ε' s(x, y) / 2) is ε'-LDP, and so is
the first accepted of N proposals, else one more. Hence all that must be right is the clamp of the score, the
coin, and that N and the proposal know nothing of x (docs/explanation/privacy).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from elsewhere.arrays import Counts, Indices
from elsewhere.compiled import compiled, compiled_as
from elsewhere.errors import InputError
from elsewhere.randomness import Randomness
from elsewhere.tape import Tape, accepts_exp, finish_rows, ran_out

SCORE_STEPS = 1 << 20
LARGEST_EPSILON = 16
_LARGEST_WORD = 1 << 62
# Chance that no trial accepts, at worst 2⁻⁶⁴; the draw then falls back to a proposal, and stays ε'-LDP.
NEVER = 64 * math.log(2)

Draw = Callable[..., int]
"""(tape, coin, tables, truth, is_constant, candidate, drawn) → the trial that was accepted, 0 if none was."""
Rows = Callable[..., tuple[int, int]]
"""(tape, tables, truths, is_constant, drawn, accepted) → rows finished, and the words they used."""


class Coin(NamedTuple):
    """Acceptance of a score k: probability e^−(k · numerator / denominator), as whole numbers."""

    numerator: int
    denominator: int
    trials: int
    """N: how many proposals are made at most, the same whatever is true."""


def coin_of(epsilon: Fraction) -> Coin:
    """The coin of a draw with ε', e^(−ε' k / 2²¹), and the public number of trials it gets."""
    if epsilon > LARGEST_EPSILON:
        raise InputError(
            "epsilon", f"{float(epsilon):g} for one draw takes too long to sample: at most {LARGEST_EPSILON}"
        )
    trials = math.ceil(NEVER * math.exp(epsilon / 2))
    coin = Coin(epsilon.numerator, epsilon.denominator * 2 * SCORE_STEPS, trials)
    if max(coin.numerator * SCORE_STEPS, coin.denominator) >= _LARGEST_WORD:
        # Compiled loops would wrap around without a word, and the audit would not see it.
        raise InputError("epsilon", "has too many digits to be drawn exactly: use a rounder number")
    return coin


@compiled
def score_of(distance: float, sensitivity: float) -> int:
    """⌈2²⁰ d / Δ⌉ clamped to [0, 2²⁰]; whatever is not a number counts as farthest (R2)."""
    if sensitivity <= 0:
        return 0
    scaled = np.ceil(distance / sensitivity * SCORE_STEPS)
    if not scaled < SCORE_STEPS:
        return SCORE_STEPS
    return max(0, int(scaled))


def first_accepted(name: str, propose: Callable[..., None], score: Callable[..., int]) -> Draw:
    """The loop for a public ``propose(tape, tables, candidate)`` and a ``score(tables, truth, candidate)``.

    Compiled for each pair of functions, so that calling them costs nothing. With ``is_constant`` all trials
    are made, whatever was accepted: the same work for every truth (R15), the same draws.
    """

    def draw(
        tape: Tape, coin: Coin, tables: Any, truth: Any, is_constant: bool, candidate: Any, drawn: Any
    ) -> int:
        accepted = 0
        for trial in range(coin.trials):
            propose(tape, tables, candidate)
            if ran_out(tape):
                return 0  # what was proposed past the end may be anything; whoever asked begins again
            far = score(tables, truth, candidate)
            is_accepted = accepts_exp(tape, coin.numerator * far, coin.denominator)
            if ran_out(tape):
                return 0
            if is_accepted and not accepted:
                accepted = trial + 1
                drawn[:] = candidate
                if not is_constant:
                    return accepted
        propose(tape, tables, candidate)
        if ran_out(tape):
            return 0
        if not accepted:
            drawn[:] = candidate
        return accepted

    return compiled_as(name, draw)


def each_row(name: str, draw_row: Callable[..., None]) -> Rows:
    """Rows of ``draw_row(tape, tables, truth, is_constant, drawn, accepted)``, as far as a tape reaches."""

    def rows(
        tape: Tape, tables: Any, truths: Any, is_constant: bool, drawn: Any, accepted: Any
    ) -> tuple[int, int]:
        for row in range(len(truths)):
            before = tape.cursor[0]
            draw_row(tape, tables, truths[row], is_constant, drawn[row], accepted[row])
            if ran_out(tape):
                return row, before
        return len(truths), tape.cursor[0]

    return compiled_as(name, rows)


def perturb_rows(
    rows: Rows,
    tables: Any,
    truths: Any,
    *,
    width: int,
    draws: int,
    words: int,
    randomness: Randomness,
    constant_work: bool,
) -> tuple[Indices, Counts]:
    """What is drawn for each row of ``truths``, and the trial that each of its draws took.

    A row has ``width`` numbers from ``draws`` draws, and takes about ``words`` words of randomness.
    """
    drawn = np.zeros((len(truths), width), dtype=np.int32)
    accepted = np.zeros((len(truths), draws), dtype=np.int64)

    def work(tape: Tape, start: int, stop: int) -> tuple[int, int]:
        some = slice(start, stop)
        return rows(tape, tables, truths[some], constant_work, drawn[some], accepted[some])

    finish_rows(work, len(truths), words, randomness)
    return drawn, accepted
