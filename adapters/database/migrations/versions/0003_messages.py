"""Adds the table of the service's own messages. The table says which call each message is about."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table. Older messages are bound to no call, so a reply to such a message gets a question back."""
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
    """Drop the table. After that, a reply to a message of the table gets a question back."""
    op.drop_table("messages")
