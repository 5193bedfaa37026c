"""How the three parts of d are put together: √Σ², a sum, the largest, or a function of one's own.

Paper: section 5.10 (ss:distance-function), "any other distance function can be used, without needing to
change the mechanism". Draws, reconstruction, evaluation and audit all come through `put_together`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from elsewhere.arrays import Floats
from elsewhere.compiled import address_of, call_at, compiled
from elsewhere.errors import InputError

OfParts = Callable[[float, float, float], float]

EUCLIDEAN, SUM, LARGEST, REGISTERED = 0, 1, 2, 3
COMBINE = {"euclidean": EUCLIDEAN, "sum": SUM, "largest": LARGEST}
FARTHEST = 1e6
"""What a registered function's NaN or infinity counts as: finite, as Δ must be, and far beyond any city."""

_REGISTERED: dict[str, int] = {}
_NAMES: dict[int, str] = {}


class Measure(NamedTuple):
    """How d is made of d_s, d_t and d_c, as compiled loops take it."""

    is_plain: bool
    """d = √(d_s² + d_t² + d_c²), as in the paper: loops may take short cuts."""
    space: float
    time: float
    category: float
    way: int
    function: int
    """Where the registered function is; 0 for none."""

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process the function is elsewhere: it goes by its name."""
        names = {way: name for name, way in COMBINE.items()}
        name = _NAMES[self.function] if self.way == REGISTERED else names[self.way]
        return measure_of, (name, (self.space, self.time, self.category))


def register_distance(name: str, function: OfParts) -> None:
    """Make a distance known under a name, for ``combine`` in the `[distance]` table of a `world.toml`.

    Every program that reads such a world must register the same function first: a world holds the name alone.

    Parameters
    ----------
    name
        What ``combine`` says.
    function
        Of three numbers, the weighted d_s, d_t and d_c; returns a number, 0 or more. It is compiled where
        there is a compiler, so it may use arithmetic and `math`. A negative result counts as 0, what is no
        finite number as 10⁶: no function can break the promise, but a bad one makes days useless. (Exact
        calibration is refused with it: its proof is about numbers that must not change.)

    Returns
    -------
    None
        From now on, worlds whose ``combine`` says so can be built and loaded.

    Raises
    ------
    InputError
        If the name is one of elsewhere's own, or the function is not one of three numbers that returns a
        number, or cannot be compiled.

    Examples
    --------
    >>> def walking(space, time, category):
    ...     return space + 2 * time + min(category, 5)
    >>> ew.register_distance("walking", walking)
    """
    if name in COMBINE or not name:
        raise InputError("register_distance", f"{name!r} is taken: {', '.join(COMBINE)} are elsewhere's own")
    _REGISTERED[name] = address_of(function)
    _NAMES[_REGISTERED[name]] = name


def distance_names() -> list[str]:
    """What ``combine`` may say."""
    return [*COMBINE, *_REGISTERED]


def is_known_distance(name: str) -> bool:
    """Whether ``combine`` may say so in this program."""
    return name in COMBINE or name in _REGISTERED


def unknown_distance(name: str) -> str:
    """What to say of a distance that nobody has registered."""
    known = ", ".join(distance_names())
    return f"its distance {name!r} is not known here (known are {known}): register_distance comes first"


def measure_of(combine: str, weights: tuple[float, float, float]) -> Measure:
    """The measure that settings describe; raises KeyError for one that nobody has registered."""
    way = COMBINE.get(combine, REGISTERED)
    function = _REGISTERED[combine] if way == REGISTERED else 0
    is_plain = way == EUCLIDEAN and weights == (1, 1, 1)
    space, time, category = map(float, weights)
    return Measure(is_plain, space, time, category, way, function)


PLAIN = measure_of("euclidean", (1, 1, 1))


@compiled
def put_together(measure: Measure, km_squared: float, hours: float, category: float) -> float:
    """D of its parts: d_s², d_t and d_c."""
    if measure.is_plain:
        # Place first, then time: loops that know the places already have the first sum at hand.
        return math.sqrt(km_squared + category * category + hours * hours)
    space, time = measure.space * math.sqrt(km_squared), measure.time * hours
    kind = measure.category * category
    if measure.way == EUCLIDEAN:
        return math.sqrt(space * space + kind * kind + time * time)
    if measure.way == SUM:
        return space + time + kind
    if measure.way == LARGEST:
        return max(space, time, kind)
    far = call_at(measure.function, space, time, kind)
    # Not `far >= FARTHEST`: what is not a number must not pass.
    return max(far, 0.0) if far < FARTHEST else FARTHEST


@compiled
def _each(measure: Measure, squares: Floats, hours: Floats, categories: Floats, found: Floats) -> None:
    for i in range(len(found)):
        found[i] = put_together(measure, squares[i], hours[i], categories[i])


def all_together(measure: Measure, km: Floats, hours: Floats, categories: Floats) -> Floats:
    """The same for arrays, broadcast, from d_s itself."""
    if measure.is_plain:
        return np.asarray(np.sqrt(km**2 + categories**2 + hours**2))
    return all_of_squares(measure, km**2, hours, categories)


def all_of_squares(measure: Measure, squares: Floats, hours: Floats, categories: Floats) -> Floats:
    """`put_together` for arrays, broadcast, number by number: a function of one's own knows no arrays."""
    parts = np.broadcast_arrays(squares, hours, categories)
    found = np.empty(parts[0].size)
    columns = [np.ascontiguousarray(part, dtype=np.float64).ravel() for part in parts]
    _each(measure, columns[0], columns[1], columns[2], found)
    return found.reshape(parts[0].shape)
