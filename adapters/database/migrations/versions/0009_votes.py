"""Adds the columns for the account that voted and for the risk that it approved."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_NEW = ("identity", "risk")


def upgrade() -> None:
    """Add the columns. They are empty for every existing vote, and the MACs of existing votes stay valid."""
    for column in _NEW:
        op.add_column("votes", sa.Column(column, sa.String(), nullable=True))


def downgrade() -> None:
    """Drop the columns. Votes that had values in them then fail their integrity check."""
    with op.batch_alter_table("votes") as batch:
        for column in _NEW:
            batch.drop_column(column)
