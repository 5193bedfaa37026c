"""ChaCha20 as in RFC 8439: from a key and a nonce to words that nobody without the key can tell from chance.

Only the stream is needed, never a cipher: its bytes, eight at a time, are the words of a tape.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Counts, Words
from elsewhere.compiled import compiled

HalfWords = NDArray[np.uint32]

KEY_BYTES = 32
_WORDS_OF_BLOCK = 8
_32_BITS = np.uint64(0xFFFFFFFF)
# "expand 32-byte k", as the RFC has it.
_CONSTANTS = (0x61707865, 0x3320646E, 0x79622D32, 0x6B206574)


@compiled
def _added(one: int, other: int) -> int:
    """A sum of half words that wraps around."""
    return np.uint32((np.uint64(one) + np.uint64(other)) & _32_BITS)  # type: ignore[return-value]


@compiled
def _add_rotated(state: HalfWords, a: int, b: int, d: int, bits: int) -> None:
    """A third of a quarter round: a += b, d ^= a, and d is turned by so many bits."""
    state[a] = _added(state[a], state[b])
    mixed = np.uint64(state[d] ^ state[a])
    turned = (mixed << np.uint64(bits)) | (mixed >> np.uint64(32 - bits))
    state[d] = np.uint32(turned & _32_BITS)


@compiled
def _quarter_round(state: HalfWords, a: int, b: int, c: int, d: int) -> None:
    _add_rotated(state, a, b, d, 16)
    _add_rotated(state, c, d, b, 12)
    _add_rotated(state, a, b, d, 8)
    _add_rotated(state, c, d, b, 7)


@compiled
def chacha_block(start: HalfWords, block: HalfWords) -> None:
    """Section 2.3 of the RFC: 16 half words from constants, key, counter and nonce."""
    block[:] = start
    for _ in range(10):
        _quarter_round(block, 0, 4, 8, 12)
        _quarter_round(block, 1, 5, 9, 13)
        _quarter_round(block, 2, 6, 10, 14)
        _quarter_round(block, 3, 7, 11, 15)
        _quarter_round(block, 0, 5, 10, 15)
        _quarter_round(block, 1, 6, 11, 12)
        _quarter_round(block, 2, 7, 8, 13)
        _quarter_round(block, 3, 4, 9, 14)
    for i in range(16):
        block[i] = _added(block[i], start[i])


@compiled
def _fill(start: HalfWords, words: Words) -> None:
    """Words of one stream, block by block; the counter counts blocks."""
    block = np.empty(16, dtype=np.uint32)
    for first in range(0, len(words), _WORDS_OF_BLOCK):
        start[12] = np.uint32(first // _WORDS_OF_BLOCK)
        chacha_block(start, block)
        for i in range(min(_WORDS_OF_BLOCK, len(words) - first)):
            words[first + i] = np.uint64(block[2 * i]) | (np.uint64(block[2 * i + 1]) << np.uint64(32))


@compiled
def _fill_rows(keys: HalfWords, constants: HalfWords, nonces: HalfWords, words: Words) -> None:
    start = np.zeros(16, dtype=np.uint32)
    start[:4] = constants
    for row in range(len(keys)):
        start[4:12] = keys[row]
        start[13] = nonces[row]
        _fill(start, words[row])


def chacha_words(keys: HalfWords, nonces: HalfWords, count: int) -> Words:
    """The first words of the stream of each key and its nonce, a row each; other nonces, other streams."""
    words = np.empty((len(keys), count), dtype=np.uint64)
    _fill_rows(keys, np.array(_CONSTANTS, dtype=np.uint32), nonces, words)
    return words


def keys_from_bytes(digests: list[bytes]) -> HalfWords:
    """Keys of 32 bytes as rows of eight half words, the lowest byte first."""
    return np.frombuffer(b"".join(digests), dtype="<u4").astype(np.uint32).reshape(-1, KEY_BYTES // 4)


def picked_keys(keys: HalfWords, rows: Counts) -> HalfWords:
    """The keys of some rows."""
    return np.ascontiguousarray(keys[rows])
