"""A store brought up to date: one made by an older version is migrated, by a newer one refused."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from elsewhere.errors import InputError

_SCRIPTS = Path(__file__).parent / "migrations"


def migrated(engine: sa.Engine, where: str) -> None:
    """Make all tables, or change them to what this version knows; ``where`` is for messages."""
    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    scripts = ScriptDirectory.from_config(config)
    with engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            # Two collectors may start at once: one makes the tables, the other waits.
            connection.execute(sa.text("SELECT pg_advisory_xact_lock(63)"))
        found = MigrationContext.configure(connection).get_current_revision()
        tables = set(sa.inspect(connection).get_table_names())
        if found is None and tables - {"alembic_version"}:
            raise InputError(where, "not a store of reports, but another database")
        if found is not None and found not in {script.revision for script in scripts.walk_revisions()}:
            raise InputError(where, f"was made by a newer version ({found}): update elsewhere")
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
