"""Where randomness comes from; no other module may touch numpy.random, random, secrets or os.urandom.

Three kinds, and code can tell them apart by type: `SystemRandomness` for sharing, which nobody can seed
or repeat; `SeededRandomness` for what is public or made up (generated cities, clusters, experiments), which
must never perturb anyone's trajectory for real (R13); and `KeyedRandomness` for batches on many machines,
where a task may run twice and must then draw the same (R23).
"""

from __future__ import annotations

import os

import numpy as np

from elsewhere.arrays import Counts, Floats, Words
from elsewhere.chacha import HalfWords, chacha_words, picked_keys
from elsewhere.compiled import compiled


class SystemRandomness:
    """The operating system's CSPRNG, asked anew for every tape of words.

    Nothing is kept between calls, so there is nothing that forked processes or threads could share.
    """

    __slots__ = ()  # nothing of it can be replaced, so its type says what it is

    @property
    def label(self) -> str:
        """What files say of it."""
        return "system"

    def words(self, count: int) -> Words:
        """Uniform 64-bit words."""
        # Writable as seeded words are: compiled loops would else be compiled for both.
        return np.frombuffer(bytearray(os.urandom(8 * count)), dtype=np.uint64)

    def words_for_rows(self, rows: int, count: int) -> Words:
        """So many words for each row."""
        return self.words(rows * count).reshape(rows, count)

    def stream(self, _number: int) -> SystemRandomness:
        """Randomness for one part of a job: the operating system needs no parts."""
        return self

    def of_rows(self, _rows: Counts) -> SystemRandomness:
        """Randomness for some of the rows of a batch: all rows have the same source."""
        return self


class SeededRandomness:
    """Repeatable words for experiments: the same seed and stream give the same words on every machine."""

    def __init__(self, seed: int, *path: int) -> None:
        self.seed = seed
        self._path = path
        self._generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=path)))

    @property
    def label(self) -> str:
        """What files say of it."""
        return f"seeded ({self.seed})"

    def words(self, count: int) -> Words:
        """Uniform 64-bit words."""
        return self._generator.integers(0, 2**64, size=count, dtype=np.uint64)

    def words_for_rows(self, rows: int, count: int) -> Words:
        """So many words for each row."""
        return self.words(rows * count).reshape(rows, count)

    def stream(self, number: int) -> SeededRandomness:
        """Independent randomness for one part of a job, whoever works on it."""
        return SeededRandomness(self.seed, *self._path, number)

    def of_rows(self, _rows: Counts) -> SeededRandomness:
        """Randomness for some of the rows of a batch: all rows have the same source."""
        return self


class KeyedRandomness:
    """Words that the key of each row gives: the same for the same key, whatever other rows are beside it.

    Each request has a stream of its own, so no word is used twice. The nonce counts the requests of each row
    by itself, in this batch and in all parts of it: a part's words are never those of the whole. To whoever
    does not have the keys the words are as good as random: ε then rests on ChaCha20 (R23).
    """

    __slots__ = ("_keys", "_requests", "_rows")

    def __init__(
        self, keys: HalfWords, requests: HalfWords | None = None, rows: Counts | None = None
    ) -> None:
        self._keys = keys
        # Of the rows of the whole batch, which this may be a part of.
        self._requests = np.zeros(len(keys), dtype=np.uint32) if requests is None else requests
        self._rows = np.arange(len(keys)) if rows is None else rows

    @property
    def label(self) -> str:
        """What files say of it."""
        return KEYED

    def __len__(self) -> int:
        return len(self._keys)

    def __repr__(self) -> str:
        return f"<KeyedRandomness for {len(self)} rows>"

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError("keys stay in the memory of the process that derived them")

    def words_for_rows(self, rows: int, count: int) -> Words:
        """So many words for each row."""
        if rows != len(self):
            raise AssertionError("there is a key for each row, and a row for each key")
        return chacha_words(self._keys, self.next_requests(), count)

    def next_requests(self) -> HalfWords:
        """For each row the number of a stream that nothing has used."""
        found = self._requests[self._rows]
        self._requests[self._rows] += np.uint32(1)
        return found

    def words_of_row(self, row: int, requests: HalfWords, count: int) -> Words:
        """The first words of one row's stream: asked for more, they begin in the same way."""
        one = slice(row, row + 1)
        return np.asarray(chacha_words(self._keys[one], requests[one], count)[0])

    def stream(self, _number: int) -> KeyedRandomness:
        """Randomness for one part of a job: keys are of days, whatever the parts are."""
        return self

    def of_rows(self, rows: Counts) -> KeyedRandomness:
        """Randomness for some of the rows of a batch, each once: their keys, and streams not used so far."""
        if len(np.unique(rows)) != len(rows):
            raise AssertionError("a row that is there twice would have the same words twice")
        return KeyedRandomness(picked_keys(self._keys, rows), self._requests, self._rows[rows])


FreshRandomness = SystemRandomness | SeededRandomness
"""What gives new words whenever it is asked."""
Randomness = FreshRandomness | KeyedRandomness
SYSTEM = SystemRandomness().label
KEYED = "keyed"


def label_of(source: Randomness) -> str:
    """What files say of the randomness that was used; `SYSTEM` and `KEYED` for these two alone.

    By the exact type: whatever was put in its place, in a test or in an experiment, has another label.
    """
    if type(source) in {SystemRandomness, KeyedRandomness}:
        return source.label
    label = str(getattr(source, "label", SYSTEM))
    return label if label not in {SYSTEM, KEYED} else f"{type(source).__name__}, not the operating system's"


def random_bytes(count: int) -> bytes:
    """Bytes of the operating system's randomness: a key, or a token."""
    return os.urandom(count)


def random_id() -> str:
    """128 bits of the operating system's randomness as text: an id that means nothing."""
    return SystemRandomness().words(2).tobytes().hex()


Generator = np.random.Generator


def seeded_generator(seed: int) -> np.random.Generator:
    """Reproducible randomness for public things; PCG64 gives the same stream on every machine."""
    return np.random.Generator(np.random.PCG64(seed))


@compiled
def next_mixed(state: Words) -> int:
    """Next word of a SplitMix64 sequence: for what is done with draws afterwards, never for the draws."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    word = state[0]
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))  # type: ignore[no-any-return]  # a uint64 in compiled code


@compiled
def next_below(state: Words, bound: int) -> int:
    """Uniform integer below ``bound``, exactly."""
    limit = np.uint64(bound)
    mask = limit - np.uint64(1)
    for shift in (1, 2, 4, 8, 16, 32):
        mask |= mask >> np.uint64(shift)
    while True:
        word = np.uint64(next_mixed(state)) & mask
        if word < limit:
            return int(word)


@compiled
def next_float(state: Words) -> float:
    """Uniform number in [0, 1) with 53 bits."""
    return float(np.uint64(next_mixed(state)) >> np.uint64(11)) * 2.0**-53


@compiled
def next_weighted(state: Words, weights: Floats) -> int:
    """Index with a chance in proportion to its weight; at least one weight must be above 0."""
    target = next_float(state) * weights.sum()
    found = 0
    for index in range(len(weights)):
        if weights[index] > 0:
            found = index  # the last with any weight, if rounding leaves none above the target
            target -= weights[index]
            if target < 0:
                break
    return found
