"""The definitions of all SQL statements, in SQLAlchemy Core over the tables of `tables.py`.

`python -m adapters.database.definitions` compiles the definitions for SQLite and writes `statements.py`; it also writes
`sqlite/schema.sql`, the schema that all migrations together give an empty database. Only that command and the tests
import this module. Importing SQLAlchemy takes longer than the service may take to start. Running a statement through
SQLAlchemy takes as long as writing its result to the disk.

A bound parameter with a value is a constant and is written into the SQL text. A bound parameter without a value is a
parameter of the statement. Parameters are numbered in the order in which they first occur in the SQL text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlalchemy import (
    ColumnElement,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    insert,
    literal,
    literal_column,
    null,
    select,
    union,
    update,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.sqlite.base import SQLiteCompiler
from sqlalchemy.ext.compiler import compiles
from sqlmodel import SQLModel

from adapters.database.rows import ASKED, CALL, ERASED, FIXED, LINE, MUTABLE, VOTE
from adapters.database.sqlite.turns import TURN
from adapters.database.tables import DUE, OPEN, WAITING
from adapters.database.turn_tables import OPEN_TURN
from hitl.call import Event, PostKind, State

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import ModuleType

    from sqlalchemy import ClauseElement, Insert, Select, Table, TextClause
    from sqlalchemy.sql.compiler import SQLCompiler
    from sqlalchemy.sql.selectable import NamedFromClause

#: A statement in SQLAlchemy Core, or one statement for each value of `hitl.ports.Expect.overdue`.
Core: TypeAlias = "ClauseElement | dict[bool | None, ClauseElement]"
Where: TypeAlias = "ColumnElement[bool] | TextClause"
Upsert: TypeAlias = "Callable[..., Any]"

_COMMENT_WIDTH = 117
_STATEMENTS = Path(__file__).with_name("statements.py")
_HEADER = '''\
"""All SQL statements of the service. The comment above a statement says what it returns or changes.

This file is generated: `definitions.py` defines the statements, and `python -m adapters.database.definitions` compiles
them for SQLite and writes them here.
"""
'''


@dataclass(frozen=True, slots=True)
class Definition:
    """The definition of one statement in `statements.py`."""

    #: Says what the statement returns or changes. This text becomes the comment above the statement.
    says: str
    core: Core
    #: The names of the parameters in the order in which callers give them. Empty if callers give them in the order of
    #: the SQL text.
    order: Sequence[str] = ()


class Sqlite(ColumnElement[Any]):
    """An SQL expression with keywords that only SQLite has. Only SQLite's dialect can compile it."""

    inherit_cache = False

    def __init__(self, *parts: str | ClauseElement) -> None:
        self.parts = parts


@compiles(Sqlite, "sqlite")
def _written(element: Sqlite, compiler: SQLCompiler, **options: Any) -> str:
    return "".join(part if isinstance(part, str) else compiler.process(part, **options) for part in element.parts)


class _Compiler(SQLiteCompiler):
    def visit_bindparam(self, bindparam: Any, *args: Any, **options: Any) -> Any:
        options["literal_binds"] = not bindparam.required
        return super().visit_bindparam(bindparam, *args, **options)  # type: ignore[no-untyped-call]

    def limit_clause(self, select: Any, **options: Any) -> str:
        # SQLAlchemy adds OFFSET 0 to every LIMIT. It has no effect, and SQLite would spend time on it in each query.
        return str(super().limit_clause(select, **options)).removesuffix(" OFFSET 0")  # type: ignore[no-untyped-call]


def compiled(core: ClauseElement, order: Sequence[str] = ()) -> str:
    """Return the SQL of a statement for SQLite, on one line.

    `order` names the parameters in the order in which callers give them. If this is the order in the SQL text, each
    parameter becomes `?`. Otherwise each becomes `?N`.
    """
    found = _Compiler(sqlite.dialect(), core)
    text, named = " ".join(str(found).split()), found.positiontup or []
    order = order or list(dict.fromkeys(named))
    if named == order:
        return text
    numbers = iter(named)
    return re.sub(r"\?", lambda _: f"?{order.index(next(numbers)) + 1}", text)


def _given(name: str) -> ColumnElement[Any]:
    return bindparam(name)


_TABLES = SQLModel.metadata.tables
_calls, _votes, _audit, _prompts = (_TABLES[name].c for name in ("calls", "votes", "audit", "prompts"))
_cards, _outbox, _inbox = (_TABLES[name].c for name in ("cards", "outbox", "inbox"))
_moves, _talks, _messages, _keys = (_TABLES[name].c for name in ("moves", "talks", "messages", "keys"))
#: The columns by which an upsert finds an existing row, for the tables in which these aren't the primary key.
_KEYS = {"inbox": ["source", "id"], "turns": ["id"]}
_ONE: ColumnElement[Any] = literal_column("1")
_LIMIT, _NOW = _given("limit"), _given("now")
_LATEST_LINES = 1000
_CREDENTIAL = ("name", "hash", "scope", "owner", "origins", "routes", "created_at", "created_by", "until", "mac")


def _rowid(of: Table | NamedFromClause[Any]) -> Sqlite:
    return Sqlite(f"{of.name}.rowid")


def _is(*columns: ColumnElement[Any]) -> ColumnElement[bool]:
    """Return the condition that each column equals the parameter with the column's name."""
    return and_(*(column == _given(f"{column.key}") for column in columns))


def _set(*columns: ColumnElement[Any]) -> list[tuple[ColumnElement[Any], Any]]:
    """Return the assignments that set each column NAME to the parameter `new_NAME`."""
    return [(column, _given(f"new_{column.key}")) for column in columns]


def _values(*columns: str, **constants: object) -> dict[str, Any]:
    return {name: _given(name) for name in columns} | constants


def _new(*columns: str) -> dict[str, Any]:
    """Return, by column, the expression for the value that an upsert tried to insert (`excluded.COLUMN`)."""
    return {name: literal_column(f"excluded.{name}") for name in columns}


def _upsert(
    dialect: ModuleType, table: str, *columns: str, over: Mapping[str, Any] | None = None, **constants: object
) -> Any:
    """Return the statement that inserts a row: `columns` are parameters, and `constants` are fixed values by column.

    If a row with the same key exists already, the statement updates this row with the values in `over`. By default
    `over` has the new values of all `columns` that aren't in the key. If `over` is empty, an existing row stays
    unchanged.
    """
    new = dialect.insert(_TABLES[table]).values(_values(*columns, **constants)).inline()
    key = _KEYS.get(table) or [column.name for column in _TABLES[table].primary_key]
    over = _new(*(name for name in columns if name not in key)) if over is None else over
    if not over:
        return new.on_conflict_do_nothing(index_elements=key)
    return new.on_conflict_do_update(index_elements=key, set_=over)


def _call(*where: Where) -> Select[Any]:
    return select(*(_calls[name] for name in CALL)).where(*where)


def _oldest(*where: Where) -> Select[Any]:
    return _call(*where).order_by(_calls.created_at, _rowid(_TABLES["calls"]))


def _key_id(mac: ColumnElement[Any]) -> ColumnElement[Any]:
    return func.substr(mac, 1, Sqlite("instr(", mac, ", ':') - 1"))


def _of_calls() -> dict[str, Definition]:
    calls = _TABLES["calls"]
    this_version = _is(_calls.ref, _calls.version)
    time_tests: dict[bool | None, list[ColumnElement[bool]]] = {
        None: [],
        False: [_calls.due_at > _NOW],
        True: [_calls.due_at <= _NOW],
    }
    swap = update(calls).ordered_values(*_set(*(_calls[name] for name in MUTABLE)))
    owner = _given("owner")
    return {
        "INSERT_CALL": Definition(
            "Insert a new call.",
            insert(calls).values(_values(*FIXED, *MUTABLE, "salt", "args")),
            (*FIXED, *MUTABLE, "salt", "args"),
        ),
        "SWAP_CALL": Definition(
            "Update a call if it still has this version. The keys are the values of `hitl.ports.Expect.overdue`:"
            " for False, `due_at` must be after the given time; for True, `due_at` must have passed; None has no"
            " such test.",
            {overdue: swap.where(this_version, *test) for overdue, test in time_tests.items()},
        ),
        "ERASE_CALL": Definition(
            "Erase a call's arguments and the texts made from them, if the call still has this version and no unsent"
            " message.",
            update(calls)
            .ordered_values(*_set(*(_calls[name] for name in ERASED)), (_calls.salt, null()))
            .where(this_version, ~exists().where(_TABLES["outbox"].c.ref == _calls.ref)),
        ),
        "HOLDS": Definition(
            "Return 1 if the call still has this version. The dictionary has the same keys as SWAP_CALL.",
            {overdue: select(_ONE).where(this_version, *test) for overdue, test in time_tests.items()},
        ),
        "CALL_BY_REF": Definition("Return the call with this ref.", _call(_is(_calls.ref))),
        "CALL_BY_SHORT": Definition("Return the call with this short ref.", _call(_is(_calls.short))),
        "CALL_BY_KEY": Definition(
            "Return the requester's call with this idempotency key.", _call(_is(_calls.requester, _calls.key))
        ),
        "CALLS_BEFORE": Definition(
            "Return the calls that are older than this call, the newest first.",
            _call(_calls.ref < _given("before")).order_by(_calls.ref.desc()).limit(_LIMIT),
        ),
        "CALLS_WAITING": Definition(
            "Return the pending calls among those with these refs (a JSON list), the oldest first.",
            _oldest(WAITING, Sqlite("calls.ref IN (SELECT value FROM json_each(", _given("refs"), "))")).limit(_LIMIT),
        ),
        "ASKED": Definition(
            "Return the columns `rows.ASKED` of each pending call, the oldest call first. `due_at is not null`"
            " lets SQLite use an index; every pending call has a `due_at`.",
            select(*(_calls[name] for name in ASKED)).where(DUE, WAITING).order_by(_calls.created_at, _rowid(calls)),
        ),
        "CALLS_DUE": Definition(
            "Return the calls that are due, the most overdue first.",
            _call(_calls.due_at <= _NOW).order_by(_calls.due_at).limit(_LIMIT),
        ),
        "NEXT_DUE": Definition(
            "Return the time at which the next call is due.", select(func.min(_calls.due_at)).where(DUE)
        ),
        "CALLS_LEASED": Definition(
            "Return the open claimed calls whose claimant's name begins with this text, the oldest first.",
            _oldest(DUE, func.substr(_calls.claim_owner, 1, func.length(owner)) == owner).limit(_LIMIT),
            ("owner", "limit"),
        ),
        "CALLS_OPEN": Definition("Return the open calls, the oldest first.", _oldest(DUE).limit(_LIMIT)),
        "OPEN_KEY_IDS": Definition(
            "Return the ids of the keys that made the MACs of the open calls.",
            union(
                select(_key_id(_calls.row_mac)).where(DUE),
                select(_key_id(_calls.decision_mac)).where(DUE, _calls.decision_mac.is_not(None)),
            ),
        ),
    }


def _of_records(upsert: Upsert) -> dict[str, Definition]:
    # The vote's number comes from a subquery in VALUES. INSERT ... SELECT would be slower: SQLite first copies the
    # selected rows into a temporary table if they come from the table that it inserts into.
    place = select(func.coalesce(func.max(_votes.seq), 0) + 1).where(_is(_votes.ref)).scalar_subquery()
    line = [_audit[name] for name in LINE]
    newest = select(func.max(_audit.id)).correlate(None).scalar_subquery()
    return {
        "INSERT_VOTE": Definition(
            "Insert a vote, numbered after the call's other votes.",
            insert(_TABLES["votes"]).values(_values(*VOTE) | {"seq": place}).inline(),
            VOTE,
        ),
        "VOTES": Definition(
            "Return the call's votes, the oldest first.",
            select(*(_votes[name] for name in VOTE)).where(_is(_votes.ref)).order_by(_votes.seq),
        ),
        "LAST_LINE": Definition(
            "Return the number and hash of the last line of a call's chain.",
            select(_audit.seq, _audit.hash).where(_is(_audit.ref)).order_by(_audit.seq.desc()).limit(1),
        ),
        "CHAIN": Definition(
            "Return the number, hash, event and data of each line of a call's chain, first line first.",
            select(_audit.seq, _audit.hash, _audit.event, _audit.data).where(_is(_audit.ref)).order_by(_audit.seq),
        ),
        "POSITION": Definition(
            "Return the position of the last line of the whole record, and the number of its lines.",
            select(func.coalesce(func.max(_audit.id), 0), func.count()).select_from(_TABLES["audit"]),
        ),
        "LAST": Definition(
            "Return the position and hash of the last line of the whole record.",
            select(_audit.id, _audit.hash).where(_audit.id == newest),
        ),
        "HASH_AT": Definition(
            "Return the hash of the line at this position of the audit record.",
            select(_audit.hash).where(_is(_audit.id)),
        ),
        "NEWEST": Definition(
            "Return the latest lines of the audit record, the line with the newest time first. The last line may have"
            " an earlier time: older versions wrote such a line if their clock had been set back.",
            select(*line).where(_audit.id > newest - _LATEST_LINES).order_by(_audit.at.desc()),
        ),
        "ROLLED_BACK": Definition(
            "Return the lines that say that the open calls of an older database were ended, the latest line first.",
            select(*line)
            .where(_audit.ref == literal(""), _audit.event == literal(Event.ROLLED_BACK.value))
            .order_by(_audit.seq.desc()),
        ),
        "INSERT_LINE": Definition(
            "Insert a line of the audit record.", insert(_TABLES["audit"]).values(_values(*LINE)).inline()
        ),
        "MOVE_LINE": Definition(
            "Give a line of the audit record another position in the whole record.",
            update(_TABLES["audit"]).ordered_values(*_set(_audit.id)).where(_is(_audit.id)),
        ),
        "LINES": Definition(
            "Return the lines of a call's chain, first line first.",
            select(*line).where(_is(_audit.ref)).order_by(_audit.seq),
        ),
        "LINES_AFTER": Definition(
            "Return the lines of the whole record after this position.",
            select(_audit.id, *line).where(_audit.id > _given("after")).order_by(_audit.id).limit(_LIMIT),
        ),
        "KEEP_PROMPT": Definition(
            "Store the open question to a person about a call. It replaces an earlier question of the same kind.",
            upsert("prompts", "ref", "principal", "kind", "at", "mac"),
        ),
        "PROMPT": Definition(
            "Return the open question of this kind to this person about this call.",
            select(_prompts.at, _prompts.mac).where(_is(_prompts.ref, _prompts.principal, _prompts.kind)),
        ),
    }


def _of_cards(upsert: Upsert) -> dict[str, Definition]:
    cards, here = _TABLES["cards"], _is(_cards.ref, _cards.route)
    gone = dict.fromkeys(("message", "mac", "failed_at", "error"), null())
    well = dict.fromkeys(("failed_at", "error"), null())
    stands, new = ("ref", "route", "message", "mac"), _new("message", "mac")
    pending = select(_calls.ref).where(DUE, WAITING)
    return {
        "KEEP_CARD": Definition(
            "Store that a card is to be posted on a route. If an earlier attempt failed, the failure is deleted.",
            upsert("cards", "ref", "route", over=well),
        ),
        "CARD_STANDS": Definition(
            "Store the message id of a card that was found to be posted already.",
            upsert("cards", *stands, over=new | well),
        ),
        "CARD_SENT": Definition(
            "Store the message id of a card that was posted. An id that is stored already stays.",
            upsert(
                "cards",
                *stands,
                over={
                    "message": func.coalesce(_cards.message, new["message"]),
                    "mac": case((_cards.message.is_(None), new["mac"]), else_=_cards.mac),
                    **well,
                },
            ),
        ),
        "CARD_FAILED": Definition(
            "Store that the card can't be posted on its route, and why.",
            update(cards).ordered_values(*_set(_cards.failed_at, _cards.error)).where(here),
        ),
        "EDIT_FAILED": Definition(
            "Store why the last edit of the card couldn't be sent.",
            update(cards).ordered_values(*_set(_cards.error)).where(here),
        ),
        "CARDS": Definition(
            "Return the routes on which the card of this call is, or will be posted.",
            select(_cards.route, _cards.message, _cards.mac)
            .where(_is(_cards.ref), _cards.failed_at.is_(None))
            .order_by(_cards.route),
        ),
        "CARD_OF_MESSAGE": Definition(
            "Return the call and the route of the card that is the message with this id.",
            select(_cards.ref, _cards.route, _cards.mac).where(_is(_cards.message)),
        ),
        "CARDS_LOST": Definition(
            "Clear the message ids of pending calls' cards on a route whose conversation was moved. REQUEUE_CARDS then"
            " queues these cards, so that they are posted again.",
            update(cards).values(gone).where(_is(_cards.route), _cards.ref.in_(pending)),
        ),
    }


def _of_outbox() -> dict[str, Definition]:
    outbox, this = _TABLES["outbox"], _is(_outbox.id)
    here = _is(_outbox.ref, _outbox.route)
    is_edit, is_card = (_outbox.kind == kind.value for kind in (PostKind.EDIT, PostKind.CARD))
    row = ["ref", "route", "kind", "attempts", "not_before"]
    ref, route, now = _given("ref"), _given("route"), _given("now")

    def queue(kind: PostKind) -> Insert:
        return insert(outbox).values(_values("ref", "route", "not_before", kind=kind.value, attempts=0)).inline()

    edit = select(ref, route, literal(PostKind.EDIT.value), literal(0), now).where(
        _cards.ref == ref, _cards.route == route, _cards.failed_at.is_(None)
    )
    queued = exists(_ONE).where(_outbox.ref == _cards.ref, _outbox.route == _cards.route, is_card)
    again = (
        select(_cards.ref, route, literal(PostKind.CARD.value), literal(0), now)
        .join_from(_TABLES["cards"], _TABLES["calls"], _calls.ref == _cards.ref)
        .where(_cards.route == route, DUE, WAITING, ~queued)
    )
    o, c, e = outbox.alias("o"), _TABLES["cards"].alias("c"), outbox.alias("e")
    free = Sqlite(o.c.route, " NOT IN (SELECT value FROM json_each(", _given("busy"), "))")
    calm = Sqlite(o.c.route, " IN (SELECT value FROM json_each(", _given("calm"), "))")
    refreshes = and_(o.c.kind == PostKind.EDIT.value, _calls.state == State.AWAITING.value)
    urgency = func.min(case((refreshes, literal_column(str(1 << 62))), else_=literal_column("0")) + o.c.id)
    earlier = exists(_ONE).where(e.c.ref == o.c.ref, e.c.route == o.c.route, e.c.id < o.c.id)
    to_send = (
        select(urgency, o.c.id, o.c.ref, o.c.route, o.c.kind, o.c.attempts, c.c.message, c.c.mac)
        .outerjoin_from(o, c, and_(c.c.ref == o.c.ref, c.c.route == o.c.route))
        .outerjoin(_TABLES["calls"], _calls.ref == o.c.ref)
        .where(o.c.not_before <= _NOW, free, ~and_(refreshes, calm), ~earlier)
        .group_by(o.c.route)
        .order_by(_ONE)
        .limit(_LIMIT)
    )
    return {
        "QUEUE_CARD": Definition("Queue the posting of a card.", queue(PostKind.CARD)),
        "QUEUE_EDIT": Definition(
            "Queue an edit of a card, unless posting the card on that route failed.",
            insert(outbox).from_select(row, edit),
        ),
        "QUEUE_NOTICE": Definition(
            "Queue a notice about the end of a call, also on a route without a card of the call.",
            queue(PostKind.NOTICE),
        ),
        "REQUEUE_CARDS": Definition(
            "Queue the posting of all pending calls' cards on a route whose conversation was moved.",
            insert(outbox).from_select(row, again),
        ),
        "ANYTHING_TO_SEND": Definition(
            "Return 1 if there is an outbox row that may be sent now.",
            select(_ONE).where(_outbox.not_before <= _NOW).limit(1),
        ),
        "TO_SEND": Definition(
            "Return the outbox rows that may be sent now: one row for each route that isn't busy, and only the"
            " oldest row of a card, so that a card's messages keep their order. New cards, notices and edits of"
            " decided calls come first. Refreshes of pending calls' cards come last; routes in `calm` get no"
            " refreshes. (The first column is a minimum: SQLite takes the other columns from the row with the"
            " minimum.)",
            to_send,
        ),
        "LEASE_SENDING": Definition(
            "Lease an outbox row: no other sender may take it before the given time.",
            update(outbox)
            .ordered_values(
                *_set(_outbox.not_before), (_outbox.attempts, _outbox.attempts + 1), (_outbox.error, null())
            )
            .where(this),
        ),
        "FREE_EDITS": Definition(
            "End the leases and the retry pauses of all queued edits.",
            update(outbox).values(not_before=0).where(is_edit, _outbox.not_before > 0),
        ),
        "DROP_LATER_EDITS": Definition(
            "Delete the later edits of a card, because the edit that is being sent shows the newest state.",
            delete(outbox).where(here, is_edit, _outbox.id > _given("id")),
        ),
        "DROP_SENDING": Definition("Delete an outbox row that was sent or given up.", delete(outbox).where(this)),
        "PUT_OFF_SENDING": Definition(
            "Put an outbox row off until a later time, and store the error.",
            update(outbox).ordered_values(*_set(_outbox.not_before, _outbox.error)).where(this),
        ),
        "HASTEN": Definition(
            "End the wait before a retry for all outbox rows of a platform, so that they may be sent now.",
            update(outbox)
            .values(not_before=0)
            .where(
                _outbox.not_before > _NOW,
                _outbox.error.is_not(None),
                _outbox.route >= _given("first"),
                _outbox.route < _given("last"),
            ),
        ),
        "DROP_EDITS": Definition(
            "Delete the queued edits of a card that can't be posted on its route.", delete(outbox).where(here, is_edit)
        ),
        "DROP_POSTING": Definition(
            "Delete the queued posting of a card that is posted already.", delete(outbox).where(here, is_card)
        ),
    }


def _of_conversations(upsert: Upsert) -> dict[str, Definition]:
    talk = ("place", "message", "ref", "mac")
    message = ("message", "ref", "asks", "mac")
    return {
        "MOVES": Definition(
            "Return the old and the new place of each conversation that its platform moved.",
            select(_moves.old, _moves.new, _moves.mac),
        ),
        "KEEP_MOVE": Definition("Store the new place of a conversation.", upsert("moves", "old", "new", "mac")),
        "TALKS": Definition(
            "Return the service's latest message in each private conversation for which that message is known.",
            select(*(_talks[name] for name in talk)),
        ),
        "KEEP_TALK": Definition(
            "Store which message of the service is the latest in a private conversation, and which call it is about.",
            upsert("talks", *talk),
        ),
        "DROP_TALK": Definition(
            "Delete the row of a private conversation whose latest message of the service is no longer known.",
            delete(_TABLES["talks"]).where(_is(_talks.place)),
        ),
        "KEEP_MESSAGE": Definition(
            "Store which call a message of the service is about. A message that is stored already keeps its call.",
            upsert("messages", *message, over={}),
        ),
        "MESSAGE": Definition(
            "Return the call that this message of the service is about.",
            select(*(_messages[name] for name in message)).where(_is(_messages.message)),
        ),
    }


def _of_inbox(upsert: Upsert) -> dict[str, Definition]:
    inbox, this = _TABLES["inbox"], _is(_inbox.source, _inbox.id)
    event = ("source", "id", "ordering", "body", "received_at")
    failures = _inbox.failures + 1
    aside_at = case((failures >= _given("aside_after"), _given("now")))
    failed = update(inbox).ordered_values((_inbox.failures, failures), *_set(_inbox.error), (_inbox.aside_at, aside_at))
    heads = select(func.min(_inbox.seq)).where(OPEN).group_by(_inbox.source, _inbox.ordering)
    return {
        "INSERT_EVENT": Definition(
            "Insert an inbox event, unless it is stored already.",
            upsert("inbox", *event, "mac", over={}, failures=0),
        ),
        "EVENTS_OPEN": Definition(
            "Return, for each conversation, the oldest inbox event that was neither handled nor set aside.",
            select(*(_inbox[name] for name in (*event, "failures", "mac")))
            .where(_inbox.seq.in_(heads.correlate(None)))
            .order_by(_inbox.seq)
            .limit(_LIMIT),
        ),
        "NEWEST_EVENT": Definition(
            "Return the event of this source that was stored last.",
            select(*(_inbox[name] for name in (*event, "failures", "mac")))
            .where(_is(_inbox.source))
            .order_by(_inbox.seq.desc())
            .limit(1),
        ),
        "EVENTS_FROM": Definition(
            "Return the inbox events after this event, and when each was received.",
            select(_inbox.seq, _inbox.received_at)
            .where(_inbox.seq > _given("after"))
            .order_by(_inbox.seq)
            .limit(_LIMIT),
        ),
        "DROP_EVENTS": Definition(
            "Delete these inbox events if they were handled or set aside by the given time.",
            delete(inbox).where(
                _inbox.seq > _given("after"),
                _inbox.seq <= _given("last"),
                func.coalesce(_inbox.handled_at, _inbox.aside_at) <= _given("by"),
            ),
        ),
        "EVENT_HANDLED": Definition(
            "Store that the inbox event was handled.",
            update(inbox).ordered_values(*_set(_inbox.handled_at)).where(this, _inbox.handled_at.is_(None)),
        ),
        "EVENT_FAILED": Definition(
            "Count a failure to handle the event, and set the event aside after the given number of failures. The"
            " statement returns `aside_at` and not `aside_at is not null`, because SQLite 3.40 would return 1 for"
            " a value that is null.",
            failed.where(this, OPEN).returning(_inbox.aside_at),
        ),
    }


def _of_turns(upsert: Upsert) -> dict[str, Definition]:
    turns, columns = _TABLES["turns"], _TABLES["turns"].c
    turn = select(*(columns[name] for name in TURN))
    newest = select(func.max(columns.seq)).where(_is(columns.place), columns.done).scalar_subquery()
    return {
        "BEGIN_TURN": Definition(
            "Insert a new turn of an agent, unless it is stored already.", upsert("turns", *TURN, over={})
        ),
        "KEEP_TURN": Definition(
            "Store the new state of a turn, and whether it is done.",
            update(turns).ordered_values(*_set(columns.state, columns.done, columns.mac)).where(_is(columns.id)),
        ),
        "TURNS_OPEN": Definition(
            "Return the open turns of agents, the oldest first.", turn.where(OPEN_TURN).order_by(columns.seq)
        ),
        "LAST_TURN": Definition(
            "Return the newest finished turn in this conversation.",
            turn.where(_is(columns.place), columns.done).order_by(columns.seq.desc()).limit(literal(1)),
        ),
        "DROP_TURNS": Definition(
            "Delete the finished turns of a conversation, except the newest.",
            delete(turns).where(_is(columns.place), columns.done, columns.seq < newest),
        ),
    }


def _of_keys(upsert: Upsert) -> dict[str, Definition]:
    return {
        "KEY_IDS": Definition("Return the key ids that may occur in the MACs of rows.", select(_keys.kid)),
        "KEEP_KEY_ID": Definition(
            "Store a key id, unless it is stored already.", upsert("keys", "kid", "seen_at", over={})
        ),
    }


def _of_credentials(upsert: Upsert) -> dict[str, Definition]:
    credentials, columns = _TABLES["credentials"], _TABLES["credentials"].c
    return {
        "CREDENTIALS": Definition(
            "Return all bearer tokens, including revoked tokens.",
            select(*(columns[name] for name in (*_CREDENTIAL, "revoked_at", "used_at"))).order_by(columns.name),
        ),
        "CREDENTIALS_REVOKED": Definition(
            "Return the bearer tokens that were revoked according to the audit record, and when.",
            select(_audit.at, _audit.data).where(
                _audit.ref == literal(""), _audit.event == literal(Event.CREDENTIAL_REVOKED.value)
            ),
        ),
        "KEEP_CREDENTIAL": Definition(
            "Insert a bearer token, unless its name was used before.", upsert("credentials", *_CREDENTIAL, over={})
        ),
        "REVOKE_CREDENTIAL": Definition(
            "Revoke a bearer token.",
            update(credentials).ordered_values(*_set(columns.revoked_at, columns.mac)).where(_is(columns.name)),
        ),
        "CREDENTIAL_USED": Definition(
            "Store the time of a bearer token's latest use.",
            update(credentials).ordered_values(*_set(columns.used_at)).where(_is(columns.name)),
        ),
    }


def definitions(dialect: ModuleType = sqlite) -> dict[str, Definition]:
    """Return every statement by its name. The dialect (one of `sqlalchemy.dialects`) matters for upserts only."""
    upsert = partial(_upsert, dialect)
    return {
        **_of_calls(),
        **_of_records(upsert),
        **_of_cards(upsert),
        **_of_outbox(),
        **_of_conversations(upsert),
        **_of_inbox(upsert),
        **_of_keys(upsert),
        **_of_turns(upsert),
        **_of_credentials(upsert),
    }


def _quoted(text: str) -> str:
    """Return the text as a Python string literal, in the kind of quotes that needs fewer escapes."""
    return f"'{text}'" if '"' in text and "'" not in text else '"' + text.replace('"', '\\"') + '"'


def generated() -> str:
    """Return the text of `statements.py`."""
    parts = [_HEADER]
    for name, found in definitions().items():
        parts += [f"#: {line}" for line in wrap(found.says, _COMMENT_WIDTH)]
        if isinstance(found.core, dict):
            texts = [f"    {test}: {_quoted(compiled(core, found.order))}," for test, core in found.core.items()]
            parts.append("\n".join([f"{name} = {{", *texts, "}"]))
        else:
            parts.append(f"{name} = {_quoted(compiled(found.core, found.order))}")
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    from adapters.database.migrations.upgrade import new_schema
    from adapters.database.sqlite.schema import NEW_SCHEMA

    _STATEMENTS.write_text(generated())
    NEW_SCHEMA.write_text(new_schema())
