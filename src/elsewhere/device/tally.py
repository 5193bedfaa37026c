"""How many days each person of a file has, for millions of people in little memory."""

from __future__ import annotations

import datetime as dt
from collections.abc import Hashable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from elsewhere.arrays import Bools, Counts, Words
from elsewhere.compiled import compiled

_FIRST_SIZE = 1 << 10
_MASK = (1 << 64) - 1
_Numbers = NDArray[np.uint32]


class Tally:
    """Counts of keys, of which only 64-bit hashes are kept: about 30 bytes for each key.

    Open addressing in two flat arrays; Python's own sets and dictionaries take four times as much. That two
    of ten million keys have the same hash happens once in 400,000 files.
    """

    def __init__(self) -> None:
        self._hashes = np.zeros(_FIRST_SIZE, dtype=np.uint64)
        self._counts = np.zeros(_FIRST_SIZE, dtype=np.uint32)
        self._used = 0

    def add(self, key: Hashable) -> int:
        """Count a key once more; returns how often it has come so far."""
        return int(self.add_hashes(np.array([hash(key) & _MASK], dtype=np.uint64))[0])

    def add_hashes(self, hashes: Words) -> Counts:
        """Count keys once more, one after the other; returns how often each has come so far."""
        while 3 * (self._used + len(hashes)) > 2 * len(self._hashes):
            self._grow()
        found = np.empty(len(hashes), dtype=np.int64)
        self._used += _count(self._hashes, self._counts, hashes, found)
        return found

    def _grow(self) -> None:
        hashes, counts = self._hashes, self._counts
        self._hashes = np.zeros(2 * len(hashes), dtype=np.uint64)
        self._counts = np.zeros(2 * len(hashes), dtype=np.uint32)
        _move(hashes, counts, self._hashes, self._counts)


@compiled
def _slot(hashes: Words, counts: _Numbers, hashed: int) -> int:
    """Where a hash is, or where it would go."""
    last = len(hashes) - 1
    slot = np.int64(hashed & np.uint64(last))
    while counts[slot] and hashes[slot] != hashed:
        slot = (slot + 1) & last
    return int(slot)


@compiled
def _count(hashes: Words, counts: _Numbers, added: Words, found: Counts) -> int:
    used = 0
    for i in range(len(added)):
        slot = _slot(hashes, counts, added[i])
        used += counts[slot] == 0
        hashes[slot] = added[i]
        counts[slot] += 1
        found[i] = counts[slot]
    return used


@compiled
def _move(hashes: Words, counts: _Numbers, to: Words, numbers: _Numbers) -> None:
    for i in range(len(hashes)):
        if counts[i]:
            slot = _slot(to, numbers, hashes[i])
            to[slot] = hashes[i]
            numbers[slot] = counts[i]


class DaysOfPeople:
    """Which days of which people a file has had so far, and the most that any person has."""

    def __init__(self) -> None:
        self._days, self._people = Tally(), Tally()
        self.most = 0

    def add(self, uid: str, date: dt.date | int) -> bool:
        """Put down a person's day, by a date or its number; False if it was there before."""
        is_new = self._days.add((uid, date)) == 1
        self.most = max(self.most, self._people.add(uid))
        return is_new

    def add_days(self, uids: pl.Series, dates: Counts) -> Bools:
        """The same of many days, by the numbers of their dates: whether each is new."""
        whose = pl.DataFrame({"uid": uids, "date": dates})
        is_new = self._days.add_hashes(whose.hash_rows().to_numpy()) == 1
        self.most = max(self.most, int(self._people.add_hashes(uids.hash().to_numpy()).max(initial=0)))
        return np.asarray(is_new)
