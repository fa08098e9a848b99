"""Adds the column for the time at which retention erased a call's arguments."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column. It is empty for every existing call, because no existing call was erased."""
    op.add_column("calls", sa.Column("erased_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True))


def downgrade() -> None:
    """Drop the column. Calls that were erased then fail their integrity check."""
    op.drop_column("calls", "erased_at")
