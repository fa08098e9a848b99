"""The first schema of the database."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _text(name: str, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.String(), nullable=nullable)


def _int(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), nullable=False)


def _big(name: str, *, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(name, _BIG, nullable=nullable)


def _bool(name: str) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean(), nullable=False)


def _blob(name: str, *, nullable: bool = False) -> sa.Column[bytes]:
    return sa.Column(name, sa.LargeBinary(), nullable=nullable)


def _partial(table: str, name: str, columns: list[str], where: str, *, unique: bool = False) -> None:
    rows = sa.text(where)
    op.create_index(name, table, columns, unique=unique, sqlite_where=rows, postgresql_where=rows)


def _create_audit() -> None:
    op.create_table(
        "audit",
        _big("id"),
        _text("ref"),
        _int("seq"),
        _big("at"),
        _text("event"),
        _text("actor"),
        _text("data"),
        _text("prev"),
        _text("hash"),
        _text("sealed_by", nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("ref", "seq", name="audit_place"),
    )


def _create_calls() -> None:
    op.create_table(
        "calls",
        _text("ref"),
        _text("short"),
        _text("digest"),
        _text("tools"),
        _text("tool"),
        _text("executor"),
        _text("definition"),
        _text("cwd", nullable=True),
        _text("preconditions"),
        _text("sentence"),
        _text("preview"),
        _text("notes"),
        _text("note"),
        _text("requester"),
        _text("agent"),
        _text("session"),
        _text("origin"),
        _text("runs"),
        _text("key", nullable=True),
        _text("previous", nullable=True),
        _text("action"),
        _text("risk"),
        _text("rule", nullable=True),
        _text("policy"),
        _int("timeout_s"),
        _int("execution_s"),
        _bool("require_reason"),
        _text("terms"),
        _text("approvers"),
        _text("routes"),
        _big("created_at"),
        _big("deadline"),
        _text("row_mac"),
        _text("state"),
        _int("version"),
        _text("decision", nullable=True),
        _big("decided_at", nullable=True),
        _text("decided_by", nullable=True),
        _text("reason", nullable=True),
        _text("decision_mac", nullable=True),
        _text("claim_owner", nullable=True),
        _text("claim_hash", nullable=True),
        _big("claim_until", nullable=True),
        _text("result", nullable=True),
        _big("finished_at", nullable=True),
        _big("due_at", nullable=True),
        _bool("archived"),
        _text("error", nullable=True),
        _text("output", nullable=True),
        _blob("salt", nullable=True),
        _blob("args"),
        sa.PrimaryKeyConstraint("ref"),
        sa.UniqueConstraint("short", name="calls_short"),
    )
    _partial("calls", "calls_due", ["due_at"], "due_at is not null")
    _partial("calls", "calls_key", ["requester", "key"], '"key" is not null', unique=True)
    _partial("calls", "calls_waiting_digest", ["digest"], "state = 'awaiting_confirmation'")
    _partial("calls", "calls_waiting_origin", ["origin", "created_at"], "state = 'awaiting_confirmation'")
    _partial("calls", "calls_waiting_requester", ["requester"], "state = 'awaiting_confirmation'")


def _create_inbox() -> None:
    op.create_table(
        "inbox",
        _big("seq"),
        _text("source"),
        _text("id"),
        _text("ordering"),
        _blob("body"),
        _big("received_at"),
        _big("handled_at", nullable=True),
        _int("failures"),
        _text("error", nullable=True),
        _big("aside_at", nullable=True),
        sa.PrimaryKeyConstraint("seq"),
        sa.UniqueConstraint("source", "id", name="inbox_event"),
    )
    _partial("inbox", "inbox_open", ["source", "ordering", "seq"], "handled_at is null and aside_at is null")


def _create_keys() -> None:
    op.create_table("keys", _text("kid"), _big("seen_at"), sa.PrimaryKeyConstraint("kid"), sqlite_with_rowid=False)


def _create_cards() -> None:
    op.create_table(
        "cards",
        _text("ref"),
        _text("route"),
        _text("message", nullable=True),
        _big("failed_at", nullable=True),
        _text("error", nullable=True),
        sa.ForeignKeyConstraint(["ref"], ["calls.ref"]),
        sa.PrimaryKeyConstraint("ref", "route"),
        sqlite_with_rowid=False,
    )
    _partial("cards", "cards_message", ["message"], "message is not null")
    op.create_table("moves", _text("old"), _text("new"), sa.PrimaryKeyConstraint("old"), sqlite_with_rowid=False)


def _create_outbox() -> None:
    op.create_table(
        "outbox",
        _big("id"),
        _text("ref"),
        _text("route"),
        _text("kind"),
        _int("attempts"),
        _big("not_before"),
        _text("error", nullable=True),
        sa.ForeignKeyConstraint(["ref"], ["calls.ref"]),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_index("outbox_card", "outbox", ["ref", "route"])
    op.create_index("outbox_not_before", "outbox", ["not_before"])


def _create_prompts() -> None:
    op.create_table(
        "prompts",
        _text("ref"),
        _text("principal"),
        _text("kind"),
        _big("at"),
        sa.ForeignKeyConstraint(["ref"], ["calls.ref"]),
        sa.PrimaryKeyConstraint("ref", "principal", "kind"),
        sqlite_with_rowid=False,
    )


def _create_votes() -> None:
    op.create_table(
        "votes",
        _text("ref"),
        _int("seq"),
        _text("principal"),
        _bool("approve"),
        _text("reason", nullable=True),
        _text("surface"),
        _big("pressed_at", nullable=True),
        _big("at"),
        _text("mac"),
        sa.ForeignKeyConstraint(["ref"], ["calls.ref"]),
        sa.PrimaryKeyConstraint("ref", "seq"),
        sqlite_with_rowid=False,
    )


def upgrade() -> None:
    """Create the tables of the first schema."""
    _create_audit()
    _create_calls()
    _create_inbox()
    _create_keys()
    _create_cards()
    _create_outbox()
    _create_prompts()
    _create_votes()


def downgrade() -> None:
    """Drop all tables."""
    for table in ("votes", "prompts", "outbox", "moves", "cards", "keys", "inbox", "calls", "audit"):
        op.drop_table(table)
