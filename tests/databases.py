"""New databases on a PostgreSQL."""

from __future__ import annotations

import sqlalchemy as sa


def new_database(url: str, name: str) -> str:
    """An empty database of a server; returns its address."""
    engine = sa.create_engine(
        sa.make_url(url).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT"
    )
    with engine.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return sa.make_url(url).set(database=name).render_as_string(hide_password=False)
