"""Which call each message of ours is about."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table. Messages that were sent before are bound to no call: a reply to one is asked back."""
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
    """Drop the table: replies to those messages are asked back."""
    op.drop_table("messages")
