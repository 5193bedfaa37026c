"""How much one connection may ask for: in memory, forgotten within a minute, never written down (R21)."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from ipaddress import ip_address

from elsewhere.randomness import random_id

PER_MINUTE = 6000
"""Reports from one address in a minute: many people may be behind one."""
_MINUTE = 60.0


class Limits:
    """Counts reports by where they come from, under a key that changes every minute.

    Addresses are not kept: a keyed digest of each is, until the minute is over and the key thrown away.
    """

    def __init__(self, per_minute: int = PER_MINUTE, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = per_minute, clock
        self._ends, self._key = 0.0, b""
        self._seen: dict[bytes, int] = {}

    def allows(self, address: str, reports: int) -> bool:
        """Whether so many more may come from there; if so, they count."""
        now = self._clock()
        if now >= self._ends or not self._key:
            self._ends, self._key, self._seen = now + _MINUTE, bytes.fromhex(random_id()), {}
        mark = hashlib.blake2b(_network(address).encode(), key=self._key, digest_size=8).digest()
        if self._seen.get(mark, 0) + reports > self._most:
            return False
        self._seen[mark] = self._seen.get(mark, 0) + reports
        return True


def _network(address: str) -> str:
    """An address as one asks for it; of IPv6 the first half, since whoever has one has all the others."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    return str(parsed) if parsed.version == 4 else parsed.exploded[:19]
