"""How many days each person of a file has, for millions of people in little memory."""

from __future__ import annotations

import datetime as dt
from array import array
from collections.abc import Hashable

_FIRST_SIZE = 1 << 10
_MASK = (1 << 64) - 1


class Tally:
    """Counts of keys, of which only 64-bit hashes are kept: about 30 bytes for each key.

    Open addressing in two flat arrays; Python's own sets and dictionaries take four times as much. That two
    of ten million keys have the same hash happens once in 400,000 files.
    """

    def __init__(self) -> None:
        self._hashes = array("Q", bytes(8 * _FIRST_SIZE))
        self._counts = array("I", bytes(array("I").itemsize * _FIRST_SIZE))
        self._used = 0

    def add(self, key: Hashable) -> int:
        """Count a key once more; returns how often it has come so far."""
        if 3 * self._used > 2 * len(self._hashes):
            self._grow()
        slot = self._slot(hash(key) & _MASK)
        self._used += self._counts[slot] == 0
        self._counts[slot] += 1
        return self._counts[slot]

    def _slot(self, hashed: int) -> int:
        """Where a hash is, or where it would go."""
        last = len(self._hashes) - 1
        slot = hashed & last
        while self._counts[slot] and self._hashes[slot] != hashed:
            slot = (slot + 1) & last
        self._hashes[slot] = hashed
        return slot

    def _grow(self) -> None:
        hashes, counts = self._hashes, self._counts
        self._hashes = array("Q", bytes(16 * len(hashes)))
        self._counts = array("I", bytes(2 * counts.itemsize * len(counts)))
        for hashed, count in zip(hashes, counts, strict=True):
            if count:
                self._counts[self._slot(hashed)] = count


class DaysOfPeople:
    """Which days of which people a file has had so far, and the most that any person has."""

    def __init__(self) -> None:
        self._seen = Tally()
        self.most = 0

    def add(self, uid: str, date: dt.date | int) -> bool:
        """Put down a person's day, by a date or its number; False if it was there before."""
        is_new = self._seen.add((uid, date)) == 1
        self.most = max(self.most, self._seen.add(uid))
        return is_new
