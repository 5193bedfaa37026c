"""One-time codes that nobody has used yet."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table("invitations", sa.Column("code", sa.LargeBinary(16), primary_key=True))
