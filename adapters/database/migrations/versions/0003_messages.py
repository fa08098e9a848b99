"""Adds the table of the service's own messages. The table says which call each message is about."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table. It has no older messages, so the service answers a reply to those by asking for the call."""
    op.create_table(
        "messages",
        sa.Column("message", sa.String(), nullable=False),
        sa.Column("ref", sa.String(), nullable=False),
        sa.Column("asks", sa.String(), nullable=False),
        sa.Column("mac", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["ref"], ["calls.ref"]),
        sa.PrimaryKeyConstraint("message"),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    """Drop the table. After that, the service answers a reply to its message by asking which call is meant."""
    op.drop_table("messages")
