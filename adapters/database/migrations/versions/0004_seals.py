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
from hitl.call import Entry, Event, Prompt, PromptKind
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


def upgrade() -> None:
    """Add the columns for the MACs (`_NEW`), and a MAC to every row.

    From then on, a row without a MAC counts as forged.
    """
    for table, columns in _NEW.items():
        for column in columns:
            op.add_column(table, sa.Column(column, sa.String(), nullable=True))
    keys = context.config.attributes["keys"]
    _seal_calls(keys)
    _seal_kept(keys)
    _seal_record(keys)


def _seal_calls(keys: Keyring) -> None:
    """Add MACs to the claims and results in the database."""
    # At this revision the table has no column `erased_at` yet (0008 adds it), so no call is erased.
    columns = ", ".join("null" if name == "erased_at" else name for name in rows.CALL)
    moved = f"select {columns} from calls where claim_owner is not null or result is not null"  # noqa: S608
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
