"""Exact decisions from uniform words: whole numbers and coins, with no floating point in between (R14).

Words stand on a *tape*: an array and a cursor. A tape that runs out says so by a cursor past its end. The
caller then repeats the same work on a longer tape with the same beginning, which changes nothing in
distribution.

Bernoulli(e^−γ) is drawn as in Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential Privacy"
(2020).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from elsewhere.arrays import Counts, Words
from elsewhere.compiled import compiled
from elsewhere.randomness import KeyedRandomness, Randomness

_MOST_WORDS = 1 << 20


class Tape(NamedTuple):
    """Uniform words and how many of them are used up."""

    words: Words
    cursor: Counts


def new_tape(words: Words) -> Tape:
    """A tape of which nothing is used up."""
    return Tape(words, np.zeros(1, dtype=np.int64))


@compiled
def take(tape: Tape) -> np.uint64:
    """Next word, or 0 past the end."""
    position = tape.cursor[0]
    tape.cursor[0] += 1
    return tape.words[position] if position < len(tape.words) else np.uint64(0)


@compiled
def ran_out(tape: Tape) -> bool:
    """Whether more words were taken than there are."""
    return bool(tape.cursor[0] > len(tape.words))


@compiled
def below(tape: Tape, bound: int) -> int:
    """Uniform integer in [0, bound): words cut to as many bits as needed, until one fits."""
    limit = np.uint64(bound)
    mask = limit - np.uint64(1)
    mask |= mask >> np.uint64(1)
    mask |= mask >> np.uint64(2)
    mask |= mask >> np.uint64(4)
    mask |= mask >> np.uint64(8)
    mask |= mask >> np.uint64(16)
    mask |= mask >> np.uint64(32)
    while True:
        value = take(tape) & mask
        if value < limit:
            return np.int64(value)  # type: ignore[return-value]  # an int in compiled code


@compiled
def accepts_exp(tape: Tape, numerator: int, denominator: int) -> bool:
    """True with probability exactly e^−(numerator / denominator); both below 2⁶², neither negative."""
    whole = numerator // denominator
    for _ in range(whole):
        if not _accepts_exp_up_to_one(tape, 1, 1):
            return False
    return _accepts_exp_up_to_one(tape, numerator - whole * denominator, denominator)


@compiled
def _accepts_exp_up_to_one(tape: Tape, numerator: int, denominator: int) -> bool:
    """e^−γ for γ ≤ 1: the parity of the first K at which a coin of γ/K fails; γ/K is two coins, γ and 1/K."""
    k = 1
    while not ran_out(tape):
        is_gamma = below(tape, denominator) < numerator
        if not is_gamma or (k > 1 and below(tape, k) > 0):
            break
        k += 1
    return k % 2 == 1


def finish_rows(
    work: Callable[[Tape, int, int], tuple[int, int]],
    count: int,
    words_per_row: int,
    randomness: Randomness,
) -> None:
    """Do ``count`` rows of work; ``work(tape, start, stop)`` does rows from ``start`` on, before ``stop``.

    It says how many of them it finished and the words they used. The unfinished row is begun again on the
    same words followed by new ones: the outcome is that of an endless tape. With keys each row has a tape of
    its own.
    """
    if isinstance(randomness, KeyedRandomness):
        _finish_each_row(work, count, words_per_row, randomness)
        return
    done, words = 0, randomness.words(_tape_length(words_per_row, count))
    while done < count:
        finished, used = work(new_tape(words), done, count)
        done += int(finished)
        if done < count:
            more = randomness.words(_tape_length(words_per_row, count - done))
            words = np.concatenate([words[int(used) :], more])


def _finish_each_row(
    work: Callable[[Tape, int, int], tuple[int, int]],
    count: int,
    words_per_row: int,
    randomness: KeyedRandomness,
) -> None:
    """A tape for each row: nothing of its outcome hangs on the rows beside it (R23)."""
    requests, usual = randomness.next_requests(), _tape_length(words_per_row, 1)
    for row in range(count):
        length = usual
        while not work(new_tape(randomness.words_of_row(row, requests, length)), row, row + 1)[0]:
            length *= 2


def _tape_length(words_per_row: int, count: int) -> int:
    """Words to ask for: enough for all, or for one, or as many as memory bears."""
    return min(words_per_row * count, max(words_per_row, _MOST_WORDS)) + 64
