"""What a proof takes for granted of a method's tables, looked at on the real tables of a world."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from elsewhere.audit.made_up import made_up_days
from elsewhere.errors import InputError
from elsewhere.mechanism.codebook import CodebookTables
from elsewhere.methods.protocol import Core

_LENGTHS = (1, 2, 5, 8, 9, 40)
_DAYS = 3


@singledispatch
def check_claim(tables: object, core: Core, length: int) -> None:
    """Raise an error if the claim cannot hold for days of ``length`` visits; most proofs ask for nothing."""
    del tables, core, length


@check_claim.register
def _exactly_k_are_near(tables: CodebookTables, core: Core, length: int) -> None:
    """Look at made-up days, of many lengths where that is hidden; `bounds` goes by exactly k being near."""
    lengths = [length]
    if tables.is_any_length:
        lengths = [n for n in _LENGTHS if n <= tables.timesteps]
    for size in lengths:
        for number, day in enumerate(made_up_days(core.world, size, _DAYS)):
            secret = np.array(core.secret(day), dtype=np.int32)
            flags = tables.near(secret, number % tables.shards)
            if int(flags.sum()) != tables.odds.nearest or len(flags) != tables.odds.candidates:
                raise InputError("audit", "not exactly k candidates are near: the claim does not hold")
