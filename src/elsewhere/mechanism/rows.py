"""Rows of draws on tapes of words: a tape that runs out is made longer, and nothing changes by it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from elsewhere.mechanism.coin import Tape, new_tape
from elsewhere.randomness import Randomness

_MOST_WORDS = 1 << 20


def finish_rows(
    work: Callable[[Tape, int], tuple[int, int]], count: int, words_per_row: int, randomness: Randomness
) -> None:
    """Do ``count`` rows of work; ``work(tape, done)`` says how many more it finished and the words they used.

    The unfinished row is begun again on the same words followed by new ones: the outcome is that of
    an endless tape.
    """
    done, words = 0, randomness.words(_tape_length(words_per_row, count))
    while done < count:
        finished, used = work(new_tape(words), done)
        done += int(finished)
        if done < count:
            more = randomness.words(_tape_length(words_per_row, count - done))
            words = np.concatenate([words[int(used) :], more])


def _tape_length(words_per_row: int, count: int) -> int:
    """Words to ask for: enough for all, or for one, or as many as memory bears."""
    return min(words_per_row * count, max(words_per_row, _MOST_WORDS)) + 64
