"""Adds MACs to claims, results, events, cards, prompts, moves and messages.

Until this revision, the hashes of the audit record's lines were made without a key. Therefore the migration adds one
line that holds a digest of all earlier hashes, and has a MAC.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from alembic import context, op

from adapters.database import rows
from adapters.database import statements as sql
from adapters.database.wording import say
from hitl.call import Entry, Event, Prompt, PromptKind
from hitl.errors import Unavailable
from hitl.proof import seals
from hitl.proof.chain import FIRST, chain
from hitl.times import moment

if TYPE_CHECKING:
    from hitl.proof.keyring import Keyring

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_NEW = {"calls": ("claim_mac", "result_mac"), "cards": ("mac",), "inbox": ("mac",), "prompts": ("mac",)}
_NEW |= {"moves": ("mac",), "talks": ("mac",)}
#: The columns of a call that this revision or a later one adds.
_LATER = {"claim_mac", "result_mac", "erased_at"}


def upgrade() -> None:
    """Add the columns for the MACs (`_NEW`), and a MAC to every row.

    From then on, a row without a MAC counts as forged. Raises Unavailable, without a MAC for any row, unless the
    database was really left by an earlier version (`_is_older`).
    """
    keys = context.config.attributes["keys"]
    if not _is_older(keys):
        path = context.config.attributes["database"]
        raise Unavailable(say("database.downgraded", path=path, schema=down_revision))
    for table, columns in _NEW.items():
        for column in columns:
            op.add_column(table, sa.Column(column, sa.String(), nullable=True))
    _seal_calls(keys)
    _seal_kept(keys)
    _seal_record(keys)


def _is_older(keys: Keyring) -> bool:
    """Return whether a version from before this revision left the database, or whether there is nothing to protect.

    Somebody could take the columns with MACs out of a newer database, and write the number of an older revision into
    it. This migration would then make MACs over forged rows, such as an approver's "yes". So it makes MACs only if no
    line of the record has a MAC, and only if each call has a MAC of the first format, which nobody makes without keys.
    """
    if any(":" in line for (line,) in _read("select hash from audit")):
        return False
    calls = [rows.call_of(tuple(row)) for row in _read(f"select {_columns()} from calls")]  # noqa: S608
    if any(call.row_mac.count(":") != 1 or not seals.row_holds(keys, call) for call in calls):
        return False
    return bool(calls) or not any(_read(f"select 1 from {table} limit 1") for table in (*_NEW, "audit"))  # noqa: S608


def _seal_calls(keys: Keyring) -> None:
    """Add MACs to the claims and results in the database."""
    moved = f"select {_columns()} from calls where claim_owner is not null or result is not null"  # noqa: S608
    for row in _read(moved):
        call = rows.call_of(tuple(row))
        claim_mac = seals.claim(keys, call) if call.claim else None
        result_mac = seals.result(keys, call) if call.result else None
        _write("update calls set claim_mac = ?, result_mac = ? where ref = ?", claim_mac, result_mac, call.ref)


def _seal_kept(keys: Keyring) -> None:
    """Add MACs to the events, cards, prompts, moves and latest messages in the database."""
    for seq, source, number, order, body, at in _read("select seq, source, id, ordering, body, received_at from inbox"):
        _write(
            "update inbox set mac = ? where seq = ?", seals.event(keys, source, number, order, body, moment(at)), seq
        )
    for ref, route, message in _read("select ref, route, message from cards where message is not null"):
        mac = seals.card(keys, ref, route, message)
        _write("update cards set mac = ? where ref = ? and route = ?", mac, ref, route)
    for old, new in _read("select old, new from moves"):
        _write("update moves set mac = ? where old = ?", seals.move(keys, old, new), old)
    for place, message, ref in _read("select place, message, ref from talks"):
        _write("update talks set mac = ? where place = ?", seals.talk(keys, place, message, ref), place)
    for ref, principal, kind, at in _read("select ref, principal, kind, at from prompts"):
        mac = seals.prompt(keys, Prompt(ref, principal, PromptKind(kind), moment(at)))
        _write("update prompts set mac = ? where ref = ? and principal = ? and kind = ?", mac, ref, principal, kind)


def _seal_record(keys: Keyring) -> None:
    """Add a line to the audit record that has a MAC, and holds a digest of the hashes of all earlier lines.

    The older hashes were made without a key, so anybody could change the lines and compute the hashes again.
    """
    hashes = [line for (line,) in _read("select hash from audit order by id")]
    if not hashes:
        return
    digest = hashlib.sha256("".join(hashes).encode()).hexdigest()
    last = _read("select seq, hash from audit where ref = '' order by seq desc limit 1")
    seq, prev = tuple(last[0]) if last else (0, FIRST)
    entry = Entry("", Event.SEALED, "service", {"lines": len(hashes), "digest": digest})
    _write(sql.INSERT_LINE, *rows.line_values(chain(keys, prev, seq + 1, datetime.now(UTC), entry)))


def _columns() -> str:
    """Return the columns of a call, with null for the columns that the table doesn't have at this revision."""
    return ", ".join("null" if name in _LATER else name for name in rows.CALL)


def _read(statement: str) -> list[Any]:
    return list(op.get_bind().exec_driver_sql(statement).fetchall())


def _write(statement: str, *values: object) -> None:
    op.get_bind().exec_driver_sql(statement, values)


def downgrade() -> None:
    """Drop the columns for the MACs. The line that `_seal_record` added stays in the audit record."""
    for table, columns in _NEW.items():
        with op.batch_alter_table(table) as batch:
            for column in columns:
                batch.drop_column(column)
