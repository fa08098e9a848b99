"""Adds the table of bearer tokens for the HTTP API."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

#: This type has 64 bits in every database. SQLite needs the type INTEGER.
_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table of bearer tokens."""
    op.create_table(
        "credentials",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=True),
        sa.Column("origins", sa.String(), nullable=False),
        sa.Column("routes", sa.String(), nullable=False),
        sa.Column("created_at", _BIG, nullable=False),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("until", _BIG, nullable=True),
        sa.Column("mac", sa.String(), nullable=False),
        sa.Column("revoked_at", _BIG, nullable=True),
        sa.Column("used_at", _BIG, nullable=True),
        sa.PrimaryKeyConstraint("name"),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    """Drop the table. No token works afterwards."""
    op.drop_table("credentials")
