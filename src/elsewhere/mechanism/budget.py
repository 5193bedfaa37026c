"""ε as fractions: every draw has its own, and their sum is what is spent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from elsewhere.errors import InputError

# Past this a fraction's parts would not fit the coin's machine words; ε is rounded down to it.
_FINEST = 1_000_000
_LARGEST = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """One spending of ε: a window of the trajectory and the ε' it is perturbed with."""

    start: int
    length: int
    epsilon: Fraction
    what: str = "n-gram of regions"


def exact_epsilon(value: float | str | Fraction) -> Fraction:
    """ε as the fraction a person means by it ("0.1" is one tenth), rounded down to a millionth if finer."""
    try:
        epsilon = Fraction(str(value)) if isinstance(value, float) else Fraction(value)
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


def windows(length: int, n: int) -> list[tuple[int, int]]:
    """Where the draws of a trajectory start and how long they are: every position is covered n times.

    First the shorter windows at the start, then the main ones, then the shorter ones at the end. A
    trajectory shorter than n is perturbed with n = |τ|.

    Paper: section 5.4 (ss:ngram-perturbation), fig:perturbation.
    """
    n = min(n, length)
    prefixes = [(0, size) for size in range(1, n)]
    main = [(start, n) for start in range(length - n + 1)]
    suffixes = [(length - size, size) for size in range(n - 1, 0, -1)]
    return prefixes + main + suffixes


def split_evenly(epsilon: Fraction, length: int, n: int) -> tuple[Draw, ...]:
    """ε' = ε / (|τ| + n − 1) for each draw; their sum is asserted to be ε (R4).

    Paper: eq:ngram-perturbation.
    """
    places = windows(length, n)
    draws = tuple(Draw(start=s, length=size, epsilon=epsilon / len(places)) for s, size in places)
    if total(draws) > epsilon:
        raise AssertionError("the draws would spend more than ε")
    return draws
