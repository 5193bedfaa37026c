"""That as many candidates are near as the odds say, on the real candidates of a world."""

from __future__ import annotations

import numpy as np

from elsewhere.audit.losses import made_up_days
from elsewhere.errors import InputError
from elsewhere.methods.codebook import ANY_LENGTH, Codebook

_LENGTHS = (1, 2, 5, 8, 9, 40)
_DAYS = 3


def check_flags(core: Codebook, length: int) -> None:
    """Look at made-up days, of many lengths where that is hidden; `bounds` goes by exactly k being near."""
    lengths = [n for n in _LENGTHS if n <= core.world.clock.timesteps] if core.hides_length else [length]
    for size in lengths:
        key, odds = ANY_LENGTH if core.hides_length else size, core.tables(size)
        for number, day in enumerate(made_up_days(core.world, size, _DAYS)):
            secret = np.array(core.secret(day), dtype=np.int32)
            flags = core.near(secret, key, number % core.shards, odds.nearest)
            if int(flags.sum()) != odds.nearest or len(flags) != odds.candidates:
                raise InputError("audit", "not exactly k candidates are near: the claim does not hold")
