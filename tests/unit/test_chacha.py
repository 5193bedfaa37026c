"""ChaCha20 as the RFC has it: its own vectors, and a plain twin with Python's integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elsewhere.chacha import HalfWords, chacha_block, chacha_words, keys_from_bytes, picked_keys
from elsewhere.compiled import interpreted
from examples import examples

# RFC 8439: key, counter, nonce, and the stream (sections 2.3.2 and 2.4.2, appendix A.1).
_COUNTING = bytes(range(32))
_VECTORS = [
    (
        _COUNTING, 1, "000000090000004a00000000",
        (
            "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
            "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e"
        ),
    ),
    (
        bytes(32), 0, "000000000000000000000000",
        (
            "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
            "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586"
        ),
    ),
    (
        bytes(32), 1, "000000000000000000000000",
        (
            "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
            "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f"
        ),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("key", "counter", "nonce", "stream"), _VECTORS)
@pytest.mark.parametrize("block_of", [chacha_block, interpreted(chacha_block)])
def test_the_vectors_of_the_rfc(key: bytes, counter: int, nonce: str, stream: str, block_of: object) -> None:
    """RFC 8439, 2.3.2: "After performing the block function, the output is serialized"."""
    start = np.zeros(16, dtype=np.uint32)
    start[:4] = np.frombuffer(b"expand 32-byte k", dtype="<u4")
    start[4:12] = keys_from_bytes([key])[0]
    start[12] = counter
    start[13:] = np.frombuffer(bytes.fromhex(nonce), dtype="<u4")
    block = np.empty(16, dtype=np.uint32)
    block_of(start, block)  # type: ignore[operator]  # either of two functions
    assert block.astype("<u4").tobytes().hex() == stream


def _plain_stream(key: bytes, nonce: int, blocks: int) -> bytes:
    """The RFC once more, in Python's integers."""
    mask, found = 0xFFFFFFFF, b""

    def quarter(x: list[int], a: int, b: int, c: int, d: int) -> None:
        for first, second, third, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            x[first] = (x[first] + x[second]) & mask
            turned = x[third] ^ x[first]
            x[third] = ((turned << bits) | (turned >> (32 - bits))) & mask

    for counter in range(blocks):
        start = [
            int.from_bytes(part, "little")
            for whole in (b"expand 32-byte k", key)
            for part in (whole[at : at + 4] for at in range(0, len(whole), 4))
        ]
        start += [counter, nonce, 0, 0]
        x = list(start)
        for _ in range(10):
            for i in range(4):
                quarter(x, i, 4 + i, 8 + i, 12 + i)
            for i in range(4):
                quarter(x, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
        found += b"".join(((a + b) & mask).to_bytes(4, "little") for a, b in zip(x, start, strict=True))
    return found


def _nonces(first: int, count: int) -> HalfWords:
    return np.full(count, first, dtype=np.uint32)


@given(st.lists(st.binary(min_size=32, max_size=32), min_size=1, max_size=3), st.integers(0, 2**32 - 1))
@examples(max_examples=40)
def test_words_are_the_bytes_of_the_stream_eight_at_a_time(keys: list[bytes], nonce: int) -> None:
    words = chacha_words(keys_from_bytes(keys), _nonces(nonce, len(keys)), 21)
    for key, row in zip(keys, words, strict=True):
        assert row.astype("<u8").tobytes() == _plain_stream(key, nonce, 3)[:168]


def test_a_longer_stream_begins_like_a_shorter_one_and_rows_are_picked() -> None:
    keys = keys_from_bytes([_COUNTING, bytes(32), _COUNTING[::-1]])
    seven = _nonces(7, 3)
    long = chacha_words(keys, seven, 40)
    np.testing.assert_array_equal(chacha_words(keys, seven, 13), long[:, :13])
    picked = chacha_words(picked_keys(keys, np.array([2, 0])), seven[:2], 40)
    np.testing.assert_array_equal(picked, long[[2, 0]])
    assert len(np.unique(long)) == long.size
    other = chacha_words(keys, np.array([8, 7, 9], dtype=np.uint32), 40)
    np.testing.assert_array_equal(other[1], long[1])
    assert not np.isin(other[[0, 2]], long).any()
