"""What a store holds: reports, facts about itself, codes that are left. One schema for SQLite and PostgreSQL.

No address, no user agent, no time of arrival: there is no column for them (R20, R21).
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
)

metadata = MetaData()
reports = Table(
    "reports",
    metadata,
    # A number of its own, so that new reports are written one after the other: random keys are slow.
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("id", LargeBinary(16), nullable=False, unique=True),
    Column("question", SmallInteger, nullable=False),
    Column("day", Integer, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("output", BigInteger, nullable=False),
)
facts = Table(
    "facts",
    metadata,
    Column("name", String(32), primary_key=True),
    Column("value", Text, nullable=False),
)
invitations = Table("invitations", metadata, Column("code", LargeBinary(16), primary_key=True))
"""Digests of codes that nobody has used yet."""
