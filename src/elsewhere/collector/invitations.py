"""Invitations: codes that let a person answer once, with no link to what was answered.

A store holds a digest of every code that nobody has used yet, and nothing else. In the transaction that keeps
a report its code is deleted: afterwards no row says which code came with which report, or when. SQLite
overwrites what is deleted. PostgreSQL keeps it in dead rows until they are vacuumed, and in its write-ahead
log with the times of commits: whoever holds these could put a digest and a report together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from elsewhere.collector.schema import facts, invitations
from elsewhere.errors import InputError
from elsewhere.survey.codes import plain_code

MOST_CODES = 10_000_000
_INVITED = "invited"
_AT_ONCE = 500


def digest_of(code: str) -> bytes:
    """What a store knows of a code; nothing that a store could hold if it is none."""
    try:
        plain = plain_code(code)
    except InputError:
        return b""
    return hashlib.blake2b(plain.encode(), digest_size=16, person=b"elsewhere code").digest()


def add_codes(connection: sa.Connection, codes: Sequence[str]) -> None:
    """From now on only those who hold a code may answer."""
    rows = [{"code": digest} for digest in sorted(map(digest_of, codes))]
    connection.execute(sa.insert(invitations), rows)
    if not is_by_invitation(connection):
        connection.execute(sa.insert(facts), [{"name": _INVITED, "value": "yes"}])


def is_by_invitation(connection: sa.Connection) -> bool:
    """Whether anybody was ever invited: then nobody else may answer."""
    return connection.scalar(sa.select(facts.c.value).where(facts.c.name == _INVITED)) is not None


def spend(connection: sa.Connection, given: Mapping[bytes, Sequence[bytes]]) -> set[bytes]:
    """Delete one code for each report; returns the ids of those that came without one that was left.

    ``given`` has the digests that each id came with: the first that nobody has used is spent.
    """
    left = _all_of(sa.select(invitations.c.code), connection, given)
    chosen: dict[bytes, bytes] = {}
    for report_id, digests in given.items():
        mine = next((digest for digest in digests if digest in left), None)
        if mine is not None:
            left.remove(mine)
            chosen[report_id] = mine
    # What another collector has spent meanwhile is not there to be deleted.
    delete = sa.delete(invitations).returning(invitations.c.code)
    spent = _all_of(delete, connection, {report_id: [digest] for report_id, digest in chosen.items()})
    return {report_id for report_id in given if chosen.get(report_id) not in spent}


def _all_of(statement: Any, connection: sa.Connection, given: Mapping[bytes, Sequence[bytes]]) -> set[bytes]:
    """The codes among those given that a statement finds; in order, so that nobody waits in a ring."""
    codes = sorted({digest for digests in given.values() for digest in digests})
    found: set[bytes] = set()
    for start in range(0, len(codes), _AT_ONCE):
        some = statement.where(invitations.c.code.in_(codes[start : start + _AT_ONCE]))
        found |= set(map(bytes, connection.scalars(some)))
    return found
