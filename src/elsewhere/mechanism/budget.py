"""ε as fractions: every draw has its own, and their sum is what is spent."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from elsewhere.errors import InputError

# Past this a fraction's parts would not fit the coin's machine words; ε is rounded down to it.
_FINEST = 1_000_000
_LARGEST = 1_000_000
_LONGEST_NUMBER = 100

Window = tuple[int, int]
"""Where a draw starts in a day, and how many visits it covers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """One spending of ε: a window of the trajectory and the ε' it is perturbed with."""

    start: int
    length: int
    epsilon: Fraction
    what: str = "n-gram of regions"


def short_fraction(text: str) -> Fraction:
    """A number as people write it; "1e10000000", which would fill the memory, is none.

    Raises
    ------
    ValueError
        If it is no number, or one that nobody means.
    """
    if len(text) > _LONGEST_NUMBER or re.search(r"[eE]\s*[+-]?0*[0-9]{4}", text):
        raise ValueError("a number of that size is not meant")
    return Fraction(text)


def exact_epsilon(value: float | str | Fraction | None) -> Fraction:
    """ε as the fraction a person means by it ("0.1" is one tenth), rounded down to a millionth if finer."""
    try:
        written = str(value) if isinstance(value, float) else value
        epsilon = short_fraction(written) if isinstance(written, str) else Fraction(written or 0)
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        raise InputError("epsilon", f"found {value!r}, must be a number above 0") from None
    if not 0 < epsilon <= _LARGEST:
        raise InputError("epsilon", f"found {value!r}, must be above 0 and at most {_LARGEST:,}")
    if epsilon.denominator > _FINEST:
        epsilon = Fraction(epsilon * _FINEST // 1, _FINEST)
    if epsilon == 0:
        raise InputError("epsilon", f"found {value!r}, must be at least a millionth")
    return epsilon


def total(draws: Iterable[Draw]) -> Fraction:
    """What all draws spend together, by sequential composition."""
    return sum((draw.epsilon for draw in draws), start=Fraction(0))


def split_evenly(epsilon: Fraction, parts: Sequence[tuple[Window, str]]) -> tuple[Draw, ...]:
    """The same ε' for each window; that their sum is no more than ε is checked whenever they are made (R4).

    Paper: eq:ngram-perturbation, where ε' = ε / (|τ| + n − 1).
    """
    share = epsilon / len(parts)
    draws = tuple(
        Draw(start=start, length=length, epsilon=share, what=what) for (start, length), what in parts
    )
    if total(draws) > epsilon:
        raise AssertionError("the draws would spend more than ε")
    return draws
