"""Alembic's way in: migrations run on the connection that `collector.migrate` hands over."""

from __future__ import annotations

from alembic import context

from elsewhere.collector.schema import metadata

if hasattr(context, "config"):  # it is there while Alembic runs this file, and only then
    context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
    with context.begin_transaction():
        context.run_migrations()
