"""Invitations: codes that let a person answer once, with no link to what was answered.

A store holds a digest of every code that nobody has used yet, and nothing else. In the transaction that keeps
a report its code is deleted: afterwards no row says which code came with which report, or when. SQLite
overwrites what is deleted. PostgreSQL keeps it in dead rows until they are vacuumed, and in its write-ahead
log with the times of commits: whoever holds these could put a digest and a report together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import sqlalchemy as sa

from elsewhere.collector.schema import facts, invitations
from elsewhere.randomness import random_id

MOST_CODES = 10_000_000
_INVITED = "invited"
_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's: none that is mistaken for another."""
_LOOK_ALIKE = str.maketrans("OIL", "011", "- ")
_LENGTH = 16
_AT_ONCE = 500


def new_code() -> str:
    """80 random bits, in four groups of four letters."""
    number = int(random_id()[: _LENGTH * 5 // 4], 16)
    letters = "".join(_LETTERS[number >> 5 * place & 31] for place in range(_LENGTH))
    return "-".join(letters[start : start + 4] for start in range(0, _LENGTH, 4))


def digest_of(code: str) -> bytes:
    """What a store knows of a code, however it was typed."""
    plain = code.upper().translate(_LOOK_ALIKE)
    return hashlib.blake2b(plain.encode(), digest_size=16, person=b"elsewhere code").digest()


def add_codes(connection: sa.Connection, codes: Sequence[str]) -> None:
    """From now on only those who hold a code may answer."""
    rows = [{"code": digest} for digest in sorted(map(digest_of, codes))]
    connection.execute(sa.insert(invitations), rows)
    before = connection.scalar(sa.select(facts.c.value).where(facts.c.name == _INVITED))
    total = {"name": _INVITED, "value": str(int(before or 0) + len(codes))}
    if before is None:
        connection.execute(sa.insert(facts), [total])
    else:
        connection.execute(sa.update(facts).where(facts.c.name == _INVITED).values(value=total["value"]))


def is_by_invitation(connection: sa.Connection) -> bool:
    """Whether anybody was ever invited: then nobody else may answer."""
    return connection.scalar(sa.select(facts.c.value).where(facts.c.name == _INVITED)) is not None


def spend(connection: sa.Connection, digests: Iterable[bytes]) -> set[bytes]:
    """Delete codes; returns those that were there."""
    given = sorted(set(digests))
    spent: set[bytes] = set()
    for start in range(0, len(given), _AT_ONCE):
        some = invitations.c.code.in_(given[start : start + _AT_ONCE])
        spent |= set(
            map(bytes, connection.scalars(sa.delete(invitations).where(some).returning(invitations.c.code)))
        )
    return spent
