"""Adds the table of agents' turns, so that the service continues them after a restart."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

#: This type has 64 bits in every database. SQLite needs the type INTEGER for a key that is the row id.
_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the table of agents' turns."""
    op.create_table(
        "turns",
        sa.Column("seq", _BIG, nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("place", sa.String(), nullable=False),
        sa.Column("identity", sa.String(), nullable=False),
        sa.Column("requester", sa.String(), nullable=False),
        sa.Column("message", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("said", sa.String(), nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.Column("done", sa.Boolean(), nullable=False),
        sa.Column("mac", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("seq"),
        sa.UniqueConstraint("id", name="turns_id"),
    )
    still = sa.text("not done")
    op.create_index("turns_open", "turns", ["seq"], sqlite_where=still, postgresql_where=still)
    op.create_index("turns_place", "turns", ["place", "seq"])


def downgrade() -> None:
    """Drop the table. Turns that agents had begun aren't continued."""
    op.drop_table("turns")
