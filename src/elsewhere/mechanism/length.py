"""Hiding |τ|: randomised response on the length, and days stretched or merged to what it says (R7).

The k-ary randomised response: of the lengths 1 .. cap the true one is e^ε times as likely as each
other. The accepted mass is the same whatever is true, so the whole ε may be used, not half of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Indices
from elsewhere.compiled import compiled
from elsewhere.errors import InputError
from elsewhere.mechanism.budget import Draw, exact_epsilon
from elsewhere.mechanism.coin import Tape, accepts_exp, below, ran_out
from elsewhere.mechanism.draw import NEVER, Coin
from elsewhere.mechanism.rows import finish_rows
from elsewhere.mechanism.step import Step
from elsewhere.randomness import Randomness

_WORDS_PER_TRIAL = 8


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

    def draws(
        self, lengths: NDArray[np.int64], randomness: Randomness, *, constant_work: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """A length for each true one, and the trial it took."""
        drawn, accepted = np.zeros_like(lengths), np.zeros_like(lengths)
        coin = self.coin

        def work(tape: Tape, done: int) -> tuple[int, int]:
            return _draw_lengths(
                tape, self.cap, coin, lengths[done:], constant_work, drawn[done:], accepted[done:]
            )

        finish_rows(work, len(lengths), _WORDS_PER_TRIAL * coin.trials, randomness)
        return drawn, accepted

    def step(self, length: int) -> Step:
        """The same draw, listed, when ``length`` is true."""
        coin = self.coin
        true_length = min(length, self.cap)
        every = range(1, self.cap + 1)
        return Step(
            outcomes=[(other,) for other in every],
            proposal=[Fraction(1, self.cap)] * self.cap,
            numerators=[0 if other == true_length else coin.numerator for other in every],
            denominator=coin.denominator,
            trials=coin.trials,
            states=[(other, 0) for other in every],
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
    positions = (2 * np.arange(length) + 1) * len(row) // (2 * length)
    return np.asarray(row[positions])


@compiled
def _draw_lengths(
    tape: Tape,
    cap: int,
    coin: Coin,
    lengths: NDArray[np.int64],
    is_constant: bool,
    drawn: NDArray[np.int64],
    accepted: NDArray[np.int64],
) -> tuple[int, int]:
    """How many rows were finished before the tape ran out, and the words they used."""
    for row in range(len(lengths)):
        before = tape.cursor[0]
        accepted[row] = _draw_length(
            tape, cap, coin, min(lengths[row], cap), is_constant, drawn[row : row + 1]
        )
        if ran_out(tape):
            return row, before
    return len(lengths), tape.cursor[0]


@compiled
def _draw_length(
    tape: Tape, cap: int, coin: Coin, true_length: int, is_constant: bool, drawn: NDArray[np.int64]
) -> int:
    """First accepted of the proposed lengths, else one more; returns the trial, 0 if none was accepted."""
    accepted = 0
    for trial in range(coin.trials):
        length = 1 + below(tape, cap)
        numerator = coin.numerator if length != true_length else 0
        if accepts_exp(tape, numerator, coin.denominator) and not accepted:
            accepted = trial + 1
            drawn[0] = length
            if not is_constant:
                return accepted
    length = 1 + below(tape, cap)
    if not accepted:
        drawn[0] = length
    return accepted
