"""Hiding |τ|: randomised response on the length, and days stretched or merged to what it says (R7).

The k-ary randomised response: of the lengths 1 .. cap the true one is e^ε times as likely as each
other. The accepted mass is the same whatever is true, so the whole ε may be used, not half of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from elsewhere.arrays import Counts, Indices
from elsewhere.compiled import compiled
from elsewhere.errors import InputError
from elsewhere.mechanism.budget import Draw, exact_epsilon
from elsewhere.mechanism.listing import Step, scored_step
from elsewhere.mechanism.rejection import NEVER, Coin, each_row, first_accepted, perturb_rows
from elsewhere.mechanism.words import words_for_pick
from elsewhere.randomness import Randomness
from elsewhere.tape import Tape, below


@compiled
def _propose(tape: Tape, tables: tuple[int, Coin], length: Indices) -> None:
    length[0] = 1 + below(tape, tables[0])


@compiled
def _score(_tables: tuple[int, Coin], true_length: int, length: Indices) -> int:
    """0 for the true length, else 1: accepted always, or with probability e^−ε."""
    return int(length[0] != true_length)


draw_length = first_accepted("draw_length", _propose, _score)


@compiled
def _draw_row(
    tape: Tape, tables: tuple[int, Coin], truth: int, is_constant: bool, drawn: Indices, accepted: Counts
) -> None:
    accepted[0] = draw_length(tape, tables[1], tables, truth, is_constant, np.empty_like(drawn), drawn)


_rows = each_row("length_rows", _draw_row)


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenLength:
    """Public choices: no shared day is longer than ``cap``; its length alone costs ``epsilon``."""

    cap: int
    epsilon: Fraction

    def __post_init__(self) -> None:
        if self.cap < 2:
            raise InputError("hide_length", f"found {self.cap}, must be at least 2: lengths 1 to that many")

    @property
    def draw(self) -> Draw:
        """As a spending of ε: it covers no window, only the length."""
        return Draw(start=0, length=0, epsilon=self.epsilon)

    @property
    def coin(self) -> Coin:
        """A length that is not the true one is accepted with probability e^−ε."""
        mass = (1 + (self.cap - 1) * math.exp(-self.epsilon)) / self.cap
        return Coin(self.epsilon.numerator, self.epsilon.denominator, math.ceil(NEVER / mass))

    def draws(self, lengths: Counts, randomness: Randomness, *, constant_work: bool) -> tuple[Counts, Counts]:
        """A length for each true one, and the trial it took."""
        coin = self.coin
        truths = np.minimum(lengths, self.cap)
        drawn, accepted = perturb_rows(
            _rows,
            (self.cap, coin),
            truths,
            width=1,
            draws=1,
            words=words_for_pick(coin, self.cap, 1 - 1 / self.cap, constant_work=constant_work),
            randomness=randomness,
            constant_work=constant_work,
        )
        return drawn[:, 0].astype(np.int64), accepted[:, 0]

    def step(self, length: int) -> Step:
        """The same draw, listed, when ``length`` is true."""
        true_length = min(length, self.cap)
        every = range(1, self.cap + 1)
        return scored_step(
            [(other,) for other in every],
            [Fraction(1, self.cap)] * self.cap,
            [int(other != true_length) for other in every],
            self.coin,
            [(other, 0) for other in every],
        )


def split_off_length(epsilon: Fraction, cap: int, share: Fraction) -> tuple[HiddenLength, Fraction]:
    """The draw of the length with its share of ε, and the ε that is left for the rest (R4)."""
    if not 0 < share < 1:
        raise InputError("length_share", f"found {share}, must be above 0 and below 1")
    hidden = HiddenLength(cap=cap, epsilon=exact_epsilon(epsilon * share))
    left = exact_epsilon(epsilon - hidden.epsilon)
    if hidden.epsilon + left > epsilon:
        raise AssertionError("the draws would spend more than ε")
    return hidden, left


def stretched(row: Indices, length: int) -> Indices:
    """A day as ``length`` visits: repeated evenly if it has fewer; if more, one of every few is kept."""
    return np.asarray(row[stretched_places(len(row), length)])


def stretched_places(count: int, length: int) -> Counts:
    """Which of ``count`` visits each of ``length`` is."""
    return np.asarray((2 * np.arange(length, dtype=np.int64) + 1) * count // (2 * length))
