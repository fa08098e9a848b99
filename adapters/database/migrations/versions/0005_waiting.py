"""Removes the indexes on pending calls, because the service keeps those calls in memory."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_WAITING = sa.text("state = 'awaiting_confirmation'")
_INDEXES = {
    "calls_waiting_digest": ["digest"],
    "calls_waiting_origin": ["origin", "created_at"],
    "calls_waiting_requester": ["requester"],
}


def upgrade() -> None:
    """Drop the indexes, because every commit wrote a page of each index."""
    for index in _INDEXES:
        op.drop_index(index, "calls")


def downgrade() -> None:
    """Create the indexes again."""
    for index, columns in _INDEXES.items():
        op.create_index(index, "calls", columns, sqlite_where=_WAITING, postgresql_where=_WAITING)
