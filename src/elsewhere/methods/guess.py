"""The best guess of a day from what `codebook` picked: of all public options the least expected error.

A pick says that a day is likelier to be one of those that have it among their nearest. By how much is known,
since the odds are public. So days of the public prior stand for what may have been true, weighed by how well
they explain the pick, and the option with the least error to them is taken. All of it is made of the pick and
of what everybody knows: nothing is spent.
"""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Bools, Indices
from elsewhere.days.candidates import candidate_days
from elsewhere.days.prior import ANY_LENGTH
from elsewhere.days.typical import errors_of_pretend_days, typical_day
from elsewhere.days.visits import Days, joined_days
from elsewhere.files import read_arrays, write_arrays
from elsewhere.mechanism.codebook import CodebookTables, nearest_flags
from elsewhere.world.world import World

ShortFloats = NDArray[np.float32]

CANDIDATE, GUESS = "candidate", "guess"
READINGS = (CANDIDATE, GUESS)
"""What to make of a pick: the picked day itself, or the best guess."""
SAMPLES = 2048
"""Days of the prior that stand for what may have been true; twice as many change errors by less than 1 %."""
# Whole numbers up to here are exact in 32 bits: sums are the same in any order, so on any machine.
_EXACT = 1 << 24
_LARGEST = float(np.finfo(np.float32).max)
_ROWS = 512


class BestGuesses:
    """For each pick in each shard the best guess; all of a shard are worked out when one is asked for."""

    def __init__(self, world: World, cache: Path | None) -> None:
        self._world = world
        self._cache = cache
        self._typical: Days | None = None
        self._found: dict[tuple[int, int], Indices] = {}

    def __len__(self) -> int:
        """How many shards are worked out."""
        return len(self._found)

    def day(self, tables: CodebookTables, length: int, shard: int, picked: int) -> Days:
        """The best guess, as a row of its own, where candidate ``picked`` of a shard was picked."""
        best, book = int(self.rows(tables, length, shard)[picked]), tables.book(shard)
        if best == len(book.lengths):
            return self.typical()
        return Days(*(column[best : best + 1] for column in book))

    def rows(self, tables: CodebookTables, length: int, shard: int) -> Indices:
        """For each candidate of a shard the row of `options` that is the best guess if it was picked."""
        if (length, shard) not in self._found:
            kept = self._kept(tables, length, shard)
            count = tables.odds.candidates
            found = None if kept is None else _read(kept, count, count + self._more(length))
            if found is None:
                options = self.options(tables, length, shard)
                sample = candidate_days(self._world, "guess", SAMPLES, length=length, cache=self._cache)
                errors, near = _errors_and_near(self._world, tables, options, sample)
                found = least_expected(errors, near, float(tables.odds.epsilon))
                if kept is not None:
                    write_arrays(kept, {"best": found})
            self._found[length, shard] = found
        return self._found[length, shard]

    def options(self, tables: CodebookTables, length: int, shard: int) -> Days:
        """What may be guessed: every candidate and, where any number of visits will do, the typical day."""
        book = tables.book(shard)
        return joined_days(book, self.typical()) if self._more(length) else book

    def typical(self) -> Days:
        """The one day that would be the best guess if nobody shared anything."""
        if self._typical is None:
            self._typical = typical_day(self._world)
        return self._typical

    @staticmethod
    def _more(length: int) -> int:
        return int(length == ANY_LENGTH)

    def _kept(self, tables: CodebookTables, length: int, shard: int) -> Path | None:
        """The file for all that guesses depend on."""
        odds = tables.odds
        about = (
            self._world.hash, str(odds.epsilon), odds.nearest, odds.candidates, tables.unmatched,
            length, shard, SAMPLES,
        )  # fmt: skip
        name = hashlib.sha256(json.dumps(about).encode()).hexdigest()[:16]
        return None if self._cache is None else self._cache / f"guess-{name}.npz"


def _read(path: Path, count: int, options: int) -> Indices | None:
    """Guesses as they were kept; None for what does not look right."""
    stored = read_arrays(path, ["best"])
    if stored is None:
        return None
    (best,) = stored
    is_sound = best.shape == (count,) and best.dtype == np.int32
    return best if is_sound and bool((best >= 0).all() and (best < options).all()) else None


def _errors_and_near(
    world: World, tables: CodebookTables, options: Days, sample: Days
) -> tuple[ShortFloats, Bools]:
    """For each sample day its error d of a visit to each option, and which candidates are its nearest."""
    count = tables.odds.candidates
    errors = np.empty((len(sample.lengths), len(options.lengths)), dtype=np.float32)
    near = np.empty((len(sample.lengths), count), dtype=np.bool_)
    for row, (costs, mine) in enumerate(errors_of_pretend_days(world, sample, options, tables.unmatched)):
        errors[row] = np.minimum(mine, _LARGEST)
        near[row] = nearest_flags(costs[:count], tables.odds.nearest)
    return errors, near


def least_expected(errors: ShortFloats, near: Bools, epsilon: float) -> Indices:
    """For each candidate the option with the least expected error if it was picked; ties by index.

    ``errors`` is sample × option, ``near`` is sample × candidate. A sample day leads to the pick of one of
    its nearest e^ε times as likely as to that of another, so it counts e^ε times as much.
    """
    samples, candidates = near.shape
    whole = np.nan_to_num(errors, nan=_LARGEST, posinf=_LARGEST)
    unit = np.float32(float(whole.max()) * (samples / _EXACT))
    whole /= unit or np.float32(1)
    np.rint(whole, out=whole)
    everybody = whole.sum(axis=0, dtype=np.float64)
    more = math.expm1(min(epsilon, 500.0))
    best = np.empty(candidates, dtype=np.int32)
    for start in range(0, candidates, _ROWS):
        rows = near[:, start : start + _ROWS].T.astype(np.float32)
        nearby = (rows @ whole).astype(np.float64)
        best[start : start + _ROWS] = np.argmin(everybody + more * nearby, axis=1)
    return best
