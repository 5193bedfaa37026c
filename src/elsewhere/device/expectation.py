"""What to expect of a shared day, in words and before anything is evaluated: from the odds alone."""

from __future__ import annotations

import math

from elsewhere.methods.codebook import Codebook
from elsewhere.methods.guess import GUESS
from elsewhere.methods.sharing import Sharing

SENSE = 20
"""Above this ε a day protects next to nothing."""


def what_to_expect(method: Sharing, length: int) -> str:
    """A few sentences on what a day of ``length`` visits gives away, and what ignoring it would give.

    Where the number of visits is hidden, these are the same for every day.
    """
    epsilon = method.spent_on(length)
    odds = math.exp(min(float(epsilon), 700))
    times = f"{odds:,.0f}" if odds >= 10 else f"{odds:.1f}"
    text = (
        f"Whoever sees it may think any one day up to {times} times as likely, compared with any other day, "
        f"as before (e to the {epsilon})."
    )
    if not isinstance(method.core, Codebook) or method.hidden is not None:
        return f"{text} `elsewhere plan` says how far places and times are off."
    picked = method.core.tables(length).odds
    k, others = picked.nearest, picked.candidates - picked.nearest
    near = k / (k + others * math.exp(-picked.epsilon))
    likely = f"With a chance of {near:.0%} it is"
    if method.core.reading == GUESS:
        likely = f"It is the best guess from a pick that is, with a chance of {near:.0%},"
    return (
        f"{text} {likely} one of the {k:,} made-up days nearest to yours, of "
        f"{picked.candidates:,}; a day that ignores you is so with a chance of {k / picked.candidates:.1%}."
    )
