"""Keys for days: noise that is the same whenever a batch is done again, and new for whatever is new (R23).

On a cluster a task may run twice. Noise drawn twice would spend ε twice, so it comes from a secret of the
job: a key for each day, by keyed BLAKE2b, stretched to words by ChaCha20. The key is made of what the noise
is for: the method or survey with its ε, the world, the person, the date, and the day itself. With the day in
it, a corrected day gets noise of its own, and costs ε once more. Without it, two days would share their
noise, and the difference of their outputs would tell far more than 2ε.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from elsewhere.arrays import Counts
from elsewhere.chacha import KEY_BYTES, keys_from_bytes
from elsewhere.randomness import KeyedRandomness
from elsewhere.trajectories import Trajectories

_JOB, _DAY, _READING = b"elsewhere-job", b"elsewhere-day", b"elsewhere-read"


class JobKey:
    """The key of one job, from its secret and its purpose. It stays in memory: no text, no pickle."""

    __slots__ = ("_key",)

    def __init__(self, secret: bytes, purpose: str) -> None:
        if len(secret) != KEY_BYTES:
            raise ValueError(f"a secret has {KEY_BYTES} bytes")
        self._key = _digest(secret, _JOB, purpose.encode())

    def __repr__(self) -> str:
        return "<JobKey>"

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError("a key stays in the memory of the process that derived it")

    def for_reading(self, uids: Sequence[str], dates: Counts) -> KeyedRandomness:
        """For what is done to points before there are days, such as thinning: by person and date alone."""
        names = map(_name, uids, dates.tolist())
        return KeyedRandomness(keys_from_bytes([_digest(self._key, _READING, name) for name in names]))

    def for_days(self, uids: Sequence[str], dates: Counts, days: Trajectories) -> KeyedRandomness:
        """For the draws: by person, date and the day itself."""
        digests = []
        for uid, date, first, end in zip(
            uids, dates.tolist(), days.starts[:-1].tolist(), days.starts[1:].tolist(), strict=True
        ):
            visits = days.places[first:end].tobytes() + days.times[first:end].tobytes()
            digests.append(_digest(self._key, _DAY, _name(uid, date) + visits))
        return KeyedRandomness(keys_from_bytes(digests))


def _name(uid: str, date: int) -> bytes:
    """A person and a date, such that no two pairs are written alike."""
    person = uid.encode()
    return len(person).to_bytes(8, "little") + person + date.to_bytes(8, "little", signed=True)


def _digest(key: bytes, person: bytes, content: bytes) -> bytes:
    return hashlib.blake2b(content, key=key, person=person, digest_size=KEY_BYTES).digest()
