"""How to set `codebook`, by simulation on the public prior: no shared or private day is ever looked at."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from elsewhere.arrays import Floats, Indices
from elsewhere.errors import InputError
from elsewhere.io.files import write_text
from elsewhere.mechanism.codebook import Candidates, day_costs
from elsewhere.methods.codebook import ANY_LENGTH, CANDIDATES, Codebook
from elsewhere.world.world import World

_AS_GOOD = 1.01
PRETEND = 256
"""Days drawn from the prior that stand for what people might have done."""


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
    """M and k of `codebook` for ε with the least expected error of a visit; for one ``length``, if given.

    >>> best = ew.tune(world, 5)
    >>> ew.method("codebook", world, epsilon=5, candidates=best.candidates, k=best.k)
    """
    if not candidates:
        raise InputError("candidates", "must name at least one number")
    core = Codebook(world, epsilon=epsilon, candidates=max(candidates), same_length=length is not None)
    key = length or ANY_LENGTH
    found = {count: _best(expected_errors(core, key, count)) for count in sorted(set(candidates))}
    least = min(error for _, error in found.values())
    # Errors hardly depend on M; more candidates keep what many shared days say of a city closer to it.
    best = max(count for count, (_, error) in found.items() if error <= _AS_GOOD * least)
    return Tuning(
        candidates=best,
        k=found[best][0],
        expected_error=found[best][1],
        without_sharing=float(expected_errors(core, key, best)[-1]),
        by_candidates=found,
    )


def tuned_nearest(core: Codebook, key: int) -> int:
    """The best k for a codebook as it is; kept in its cache, if it has one."""
    if core.cache is None:
        return _best(expected_errors(core, key, core.candidates))[0]
    path = _kept(core, key)
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))["k"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        kept = None
    if type(kept) is not int or not 1 <= kept <= core.candidates:
        kept = _best(expected_errors(core, key, core.candidates))[0]
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, json.dumps({"k": kept}) + "\n")
    return int(kept)


def _kept(core: Codebook, key: int) -> Path:
    about = (core.world.hash, str(core.epsilon), core.candidates, core.unmatched, key)
    name = hashlib.sha256(json.dumps(about).encode()).hexdigest()[:16]
    assert core.cache is not None  # noqa: S101 - asked for only if there is one
    return core.cache / f"codebook-{name}.json"


def _best(expected: Floats) -> tuple[int, float]:
    k = int(np.argmin(expected)) + 1
    return k, float(expected[k - 1])


def expected_errors(core: Codebook, key: int, count: int) -> Floats:
    """For k = 1, 2, ... the expected error d of a visit, of days drawn from the prior.

    Nothing is sampled: the k nearest of ``count`` candidates have e^ε parts each, the others one.
    """
    book = Candidates(*(column[:count] for column in core.book(key, 0)))
    factor, nearest = math.exp(min(float(core.epsilon), 500.0)), np.arange(1, count + 1)
    expected = np.zeros(count)
    for costs, errors in _pretend_errors(core, key, book):
        near = np.cumsum(errors[np.argsort(costs, kind="stable")])
        expected += (factor * near + near[-1] - near) / (nearest * factor + count - nearest)
    return expected / PRETEND


def typical_day(world: World) -> tuple[Indices, Indices]:
    """Of some days of the prior the one with the least mean error to others: places and timesteps."""
    core = Codebook(world, epsilon=1)
    options = core.public_days(ANY_LENGTH, "typical", 2 * PRETEND)
    total = np.zeros(len(options.lengths))
    for _, errors in _pretend_errors(core, ANY_LENGTH, options):
        total += errors
    best = int(np.argmin(total))
    length = int(options.lengths[best])
    return options.places[best, :length], options.times[best, :length]


def _pretend_errors(core: Codebook, key: int, book: Candidates) -> Iterator[tuple[Floats, Floats]]:
    """For each pretend-truth its distance to each candidate, and that as the error d of a visit."""
    truths = core.public_days(key, "pretend", PRETEND)
    for row in range(PRETEND):
        length = int(truths.lengths[row])
        places, times = truths.places[row, :length], truths.times[row, :length]
        costs = day_costs(book, core.distances, core.unmatched, places, times)
        yield costs, costs / np.maximum(book.lengths, length)
