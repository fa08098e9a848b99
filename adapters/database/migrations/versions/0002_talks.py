"""What we said last in a private conversation."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing is known of what was said before."""
    op.create_table(
        "talks",
        sa.Column("place", sa.String(), nullable=False),
        sa.Column("message", sa.String(), nullable=False),
        sa.Column("ref", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("place"),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    """What isn't known is asked back."""
    op.drop_table("talks")
