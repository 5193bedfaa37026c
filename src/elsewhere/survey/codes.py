"""Codes of invitations, as people type them: read alike on a device and by a collector."""

from __future__ import annotations

from elsewhere.errors import InputError
from elsewhere.randomness import random_id

HEADER = "Elsewhere-Code"
"""Where a code stands in a request."""
LONGEST = 64
"""Letters that are looked at, with all that people add."""
_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's: none that is mistaken for another."""
_LOOK_ALIKE = str.maketrans("OIL", "011", "- \t\u2010\u2011\u2012\u2013\u2014\u2212\u00a0")
"""What people and their word processors make of a code."""
_LENGTH = 16


def new_code() -> str:
    """80 random bits, in four groups of four letters."""
    number = int(random_id()[: _LENGTH * 5 // 4], 16)
    letters = "".join(_LETTERS[number >> 5 * place & 31] for place in range(_LENGTH))
    return "-".join(letters[start : start + 4] for start in range(0, _LENGTH, 4))


def plain_code(text: str) -> str:
    """A code without what people add to it; refused if it cannot be one."""
    plain = text.strip().upper().translate(_LOOK_ALIKE)
    if len(plain) != _LENGTH or any(letter not in _LETTERS for letter in plain):
        raise InputError("--code", "is no code: must have 16 letters or digits, as in K7QD-9XWM-2F4T-HB3R")
    return plain
