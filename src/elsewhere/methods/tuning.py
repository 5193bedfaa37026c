"""How to set `codebook`, by simulation on the public prior: no shared or private day is ever looked at."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from elsewhere.arrays import Floats
from elsewhere.days.alignment import UNMATCHED
from elsewhere.days.candidates import candidate_days
from elsewhere.days.prior import ANY_LENGTH
from elsewhere.days.typical import PRETEND, errors_of_pretend_days
from elsewhere.days.visits import Days
from elsewhere.errors import InputError
from elsewhere.files import write_text
from elsewhere.mechanism.budget import exact_epsilon
from elsewhere.world.world import World

CANDIDATES = 8192
_AS_GOOD = 1.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """Settings with the least expected error, and what others would give."""

    candidates: int
    k: int
    expected_error: float
    """Error d of a visit, for a day drawn from the prior."""
    without_sharing: float
    """The same for a candidate that has nothing to do with the day."""
    by_candidates: dict[int, tuple[int, float]]
    """For each number of candidates the best k, and its expected error."""


def tune(
    world: World,
    epsilon: float | str | Fraction,
    *,
    candidates: Sequence[int] = (1024, 2048, 4096, CANDIDATES),
    length: int | None = None,
) -> Tuning:
    """M and k of `codebook` for ε with the least expected error of a visit.

    Parameters
    ----------
    world
        The public world.
    epsilon
        ε of a whole day.
    candidates
        Numbers of candidates, M, to choose from.
    length
        For days of so many visits; all lengths together if not given.

    Returns
    -------
    Tuning
        The best settings, and the expected error d of a visit with them.

    Examples
    --------
    >>> best = ew.tune(world, 5, candidates=[64])
    >>> method = ew.method("codebook", world, epsilon=5, candidates=best.candidates, k=best.k)
    """
    if not candidates:
        raise InputError("candidates", "must name at least one number")
    exact, key = exact_epsilon(epsilon), length or ANY_LENGTH
    book = candidate_days(world, "shard 0", max(candidates), length=key)
    expected = {
        count: expected_errors(world, exact, Days(*(column[:count] for column in book)), length=key)
        for count in sorted(set(candidates))
    }
    found = {count: _best(errors) for count, errors in expected.items()}
    least = min(error for _, error in found.values())
    # Errors hardly depend on M; more candidates keep what many shared days say of a city closer to it.
    best = max(count for count, (_, error) in found.items() if error <= _AS_GOOD * least)
    return Tuning(
        candidates=best,
        k=found[best][0],
        expected_error=found[best][1],
        without_sharing=float(expected[best][-1]),
        by_candidates=found,
    )


def tuned_nearest(
    world: World, epsilon: Fraction, book: Days, *, length: int, unmatched: float, cache: Path | None
) -> int:
    """The best k for a list of candidates; kept in ``cache``, if there is one."""
    count = len(book.lengths)
    about = (world.hash, str(epsilon), count, unmatched, length)
    name = hashlib.sha256(json.dumps(about).encode()).hexdigest()[:16]
    path = None if cache is None else cache / f"codebook-{name}.json"
    kept = None if path is None else _read(path)
    if kept is None or not 1 <= kept <= count:
        kept = _best(expected_errors(world, epsilon, book, length=length, unmatched=unmatched))[0]
        if path is not None:
            with suppress(InputError):  # what cannot be kept is found again next time
                write_text(path, json.dumps({"k": kept}) + "\n")
    return kept


def _read(path: Path) -> int | None:
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))["k"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return kept if type(kept) is int else None


def _best(expected: Floats) -> tuple[int, float]:
    k = int(np.argmin(expected)) + 1
    return k, float(expected[k - 1])


def expected_errors(
    world: World, epsilon: Fraction, book: Days, *, length: int, unmatched: float = UNMATCHED
) -> Floats:
    """For k = 1, 2, ... the expected error d of a visit, of days drawn from the prior.

    Nothing is sampled: the k nearest candidates have e^ε parts each, the others one.
    """
    count = len(book.lengths)
    factor, nearest = math.exp(min(float(epsilon), 500.0)), np.arange(1, count + 1)
    expected = np.zeros(count)
    pretend = candidate_days(world, "pretend", PRETEND, length=length)
    for costs, errors in errors_of_pretend_days(world, pretend, book, unmatched):
        near = np.cumsum(errors[np.argsort(costs, kind="stable")])
        expected += (factor * near + near[-1] - near) / (nearest * factor + count - nearest)
    return expected / PRETEND
