"""The tables: the schema for migrations and for programs that read the database. The classes have only columns.

All times are whole microseconds since 1970-01-01T00:00:00Z (`hitl.times`) in 64 bits. Such a time is exact, small in an
index, and the same in every database. SQLModel doesn't check the values of a table model. Therefore no code fills these
models: `rows.py` makes rows from the frozen objects of `hitl.call`, and checks their values.

The code that handles calls doesn't import this module, because importing SQLModel takes longer than the whole service
may take to start. Tests check that the statements of `statements.py` fit these tables.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sqlalchemy import BigInteger, Index, Integer, PrimaryKeyConstraint, TextClause, UniqueConstraint, text
from sqlmodel import Field, SQLModel

from adapters.database.turn_tables import TurnRow  # noqa: F401 - the import registers the table `turns`

#: This type has 64 bits in every database. SQLite needs the type INTEGER for a key that is the row id.
_BIG = BigInteger().with_variant(Integer(), "sqlite")

WAITING = text("state = 'awaiting_confirmation'")
DUE = text("due_at is not null")
KEYED = text('"key" is not null')
OPEN = text("handled_at is null and aside_at is null")


def _partial(name: str, *columns: str, where: TextClause, unique: bool = False) -> Index:
    return Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where)


class CallRow(SQLModel, table=True):
    """A call. The parts of the verdict that queries use have columns; `terms` is canonical JSON of the other parts.

    The audit chain holds a hash of `args` that is salted with `salt`, so the chain stays valid if `args` and `salt` are
    erased. `erased_at` is the time at which retention erased them.
    """

    __tablename__: ClassVar[Any] = "calls"
    __table_args__: ClassVar[Any] = (
        UniqueConstraint("short", name="calls_short"),
        _partial("calls_key", "requester", "key", where=KEYED, unique=True),
        _partial("calls_due", "due_at", where=DUE),
    )

    ref: str = Field(primary_key=True)
    short: str
    digest: str
    tools: str
    tool: str
    executor: str
    definition: str
    cwd: str | None
    preconditions: str
    sentence: str
    preview: str
    notes: str
    note: str
    requester: str
    agent: str
    session: str
    origin: str
    runs: str
    key: str | None
    previous: str | None
    action: str
    risk: str
    rule: str | None
    policy: str
    timeout_s: int
    execution_s: int
    require_reason: bool
    terms: str
    approvers: str
    routes: str
    created_at: int = Field(sa_type=_BIG)
    deadline: int = Field(sa_type=_BIG)
    row_mac: str
    state: str
    version: int
    decision: str | None
    decided_at: int | None = Field(sa_type=_BIG)
    decided_by: str | None
    reason: str | None
    decision_mac: str | None
    claim_owner: str | None
    claim_hash: str | None
    claim_until: int | None = Field(sa_type=_BIG)
    result: str | None
    finished_at: int | None = Field(sa_type=_BIG)
    due_at: int | None = Field(sa_type=_BIG)
    archived: bool
    error: str | None
    output: str | None
    salt: bytes | None
    args: bytes
    claim_mac: str | None
    result_mac: str | None
    erased_at: int | None = Field(sa_type=_BIG)


class VoteRow(SQLModel, table=True):
    """A vote. `seq` is its number among the votes on its call."""

    __tablename__: ClassVar[Any] = "votes"
    __table_args__: ClassVar[Any] = (PrimaryKeyConstraint("ref", "seq"), {"sqlite_with_rowid": False})

    ref: str = Field(foreign_key="calls.ref")
    seq: int
    principal: str
    approve: bool
    reason: str | None
    surface: str
    pressed_at: int | None = Field(sa_type=_BIG)
    at: int = Field(sa_type=_BIG)
    mac: str
    identity: str | None
    risk: str | None


class CardRow(SQLModel, table=True):
    """A call's card on one route.

    `message` is set when the platform has taken the card. `failed_at` is set when posting the card has failed and isn't
    retried.
    """

    __tablename__: ClassVar[Any] = "cards"
    __table_args__: ClassVar[Any] = (
        PrimaryKeyConstraint("ref", "route"),
        _partial("cards_message", "message", where=text("message is not null")),
        {"sqlite_with_rowid": False},
    )

    ref: str = Field(foreign_key="calls.ref")
    route: str
    message: str | None
    failed_at: int | None = Field(sa_type=_BIG)
    error: str | None
    mac: str | None


class MoveRow(SQLModel, table=True):
    """A conversation that its platform moved, and its new place."""

    __tablename__: ClassVar[Any] = "moves"
    __table_args__: ClassVar[Any] = ({"sqlite_with_rowid": False},)

    old: str = Field(primary_key=True)
    new: str
    mac: str | None


class TalkRow(SQLModel, table=True):
    """The service's latest message in a private conversation, and the call that the message is about.

    A conversation without a row has no known latest message.
    """

    __tablename__: ClassVar[Any] = "talks"
    __table_args__: ClassVar[Any] = ({"sqlite_with_rowid": False},)

    place: str = Field(primary_key=True)
    message: str
    ref: str | None
    mac: str | None


class MessageRow(SQLModel, table=True):
    """A message of the service that isn't a card, and the call that it is about. `mac` covers the row.

    `asks` is the identity of the person whom the message asks for a reason, or ''.
    """

    __tablename__: ClassVar[Any] = "messages"
    __table_args__: ClassVar[Any] = ({"sqlite_with_rowid": False},)

    message: str = Field(primary_key=True)
    ref: str = Field(foreign_key="calls.ref")
    asks: str
    mac: str


class OutboxRow(SQLModel, table=True):
    """A message that is still to be sent to a route.

    The row is deleted after the message was sent, or when sending was given up.

    `not_before` is the time from which a sender may take the row. A new row may be taken immediately. A sender that
    takes the row sets the end of its lease; a sender that fails sets the end of a pause. Ids are never reused, so a
    late report about a deleted row can't be taken for a report about a newer row.
    """

    __tablename__: ClassVar[Any] = "outbox"
    __table_args__: ClassVar[Any] = (
        Index("outbox_card", "ref", "route"),
        Index("outbox_not_before", "not_before"),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(sa_type=_BIG, primary_key=True)
    ref: str = Field(foreign_key="calls.ref")
    route: str
    kind: str
    attempts: int
    not_before: int = Field(sa_type=_BIG)
    error: str | None


class InboxRow(SQLModel, table=True):
    """A raw event as a platform sent it. Events of one `ordering` (a conversation) are handled in order."""

    __tablename__: ClassVar[Any] = "inbox"
    __table_args__: ClassVar[Any] = (
        UniqueConstraint("source", "id", name="inbox_event"),
        _partial("inbox_open", "source", "ordering", "seq", where=OPEN),
    )

    seq: int | None = Field(sa_type=_BIG, primary_key=True)
    source: str
    id: str
    ordering: str
    body: bytes
    received_at: int = Field(sa_type=_BIG)
    handled_at: int | None = Field(sa_type=_BIG)
    failures: int
    error: str | None
    aside_at: int | None = Field(sa_type=_BIG)
    mac: str | None


class AuditRow(SQLModel, table=True):
    """A line of the audit record. Each `ref` has its own chain; the service's own events have the ref ''.

    `id` orders all lines. No code writes or reads `sealed_by`.
    """

    __tablename__: ClassVar[Any] = "audit"
    __table_args__: ClassVar[Any] = (UniqueConstraint("ref", "seq", name="audit_place"),)

    id: int | None = Field(sa_type=_BIG, primary_key=True)
    ref: str
    seq: int
    at: int = Field(sa_type=_BIG)
    event: str
    actor: str
    data: str
    prev: str
    hash: str
    sealed_by: str | None


class PromptRow(SQLModel, table=True):
    """The latest open question of one kind to one person about one call."""

    __tablename__: ClassVar[Any] = "prompts"
    __table_args__: ClassVar[Any] = (
        PrimaryKeyConstraint("ref", "principal", "kind"),
        {"sqlite_with_rowid": False},
    )

    ref: str = Field(foreign_key="calls.ref")
    principal: str
    kind: str
    at: int = Field(sa_type=_BIG)
    mac: str | None


class CredentialRow(SQLModel, table=True):
    """The hash of a bearer token, and the token's rights. Origins and routes are JSON lists.

    `mac` covers all columns except `used_at`.
    """

    __tablename__: ClassVar[Any] = "credentials"
    __table_args__: ClassVar[Any] = ({"sqlite_with_rowid": False},)

    name: str = Field(primary_key=True)
    hash: str
    scope: str
    owner: str | None
    origins: str
    routes: str
    created_at: int = Field(sa_type=_BIG)
    created_by: str
    until: int | None = Field(sa_type=_BIG)
    mac: str
    revoked_at: int | None = Field(sa_type=_BIG)
    used_at: int | None = Field(sa_type=_BIG)


class KeyRow(SQLModel, table=True):
    """The id of a master key that may have made MACs in this database. The key itself is never stored."""

    __tablename__: ClassVar[Any] = "keys"
    __table_args__: ClassVar[Any] = ({"sqlite_with_rowid": False},)

    kid: str = Field(primary_key=True)
    seen_at: int = Field(sa_type=_BIG)
