"""Adds the table `talks`: the id of the service's latest message in each private conversation."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table. It doesn't have the messages that the service sent before this migration."""
    op.create_table(
        "talks",
        sa.Column("place", sa.String(), nullable=False),
        sa.Column("message", sa.String(), nullable=False),
        sa.Column("ref", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("place"),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    """Drop the table. After that, the service answers a reply in a private conversation by asking for the call."""
    op.drop_table("talks")
