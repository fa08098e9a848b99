"""Implements `hitl.ports.Turns` on SQLite: the turns of agents, which the service continues after a restart."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING, Any

import msgspec

from adapters.database import statements as sql
from adapters.database.sqlite.parts import Part, intact
from hitl.call import KeptTurn
from hitl.proof import seals
from hitl.records import replace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

#: The columns of a turn, in the order in which `turn_of` reads them.
TURN = ("id", "place", "identity", "requester", "message", "text", "said", "state", "done", "mac")


class SqliteTurns(Part):
    """Stores the turns of agents (`hitl.ports.Turns`)."""

    async def begin_turn(self, turn: KeptTurn) -> bool:
        """Store a new turn. Return False if there is a turn with this id already."""
        values = _values(replace(turn, mac=seals.turn(self.keys, turn)))

        def begin(connection: sqlite3.Connection, _now: datetime) -> bool:
            connection.execute(sql.DROP_TURNS, (turn.place,))
            return connection.execute(sql.BEGIN_TURN, values).rowcount == 1

        return await self._writer.submit(begin)

    async def keep_turn(self, turn: KeptTurn) -> None:
        """Store the new state of a turn, and whether it is done."""
        mac = seals.turn(self.keys, turn)

        def keep(connection: sqlite3.Connection, _now: datetime) -> None:
            connection.execute(sql.KEEP_TURN, (turn.state, turn.done, mac, turn.id))

        await self._writer.submit(keep)

    async def open_turns(self) -> Sequence[KeptTurn]:
        """Return the turns that aren't done, the oldest first."""
        return self._turns(sql.TURNS_OPEN)

    async def last_turn(self, place: str) -> KeptTurn | None:
        """Return the newest finished turn of a conversation, or None."""
        return next(iter(self._turns(sql.LAST_TURN, place)), None)

    def _turns(self, statement: str, *values: object) -> list[KeptTurn]:
        """Return the turns in the rows of this statement. Rows whose MACs are wrong are left out."""
        found = [turn_of(*row) for row in self._read(statement, *values)]
        return [turn for turn in found if intact("turn", turn.id, seals.turn_holds(self.keys, turn))]


def turn_of(*row: Any) -> KeptTurn:
    """Return the agent's turn in a row.

    If the row can't be read, the returned turn has no MAC, so it is ignored like a row that was changed by hand.
    """
    name, place, identity, requester, message, text, said, state, done, mac = row
    with contextlib.suppress(msgspec.MsgspecError, TypeError):
        lines = msgspec.json.decode(said, type=tuple[tuple[str, str], ...])
        if isinstance(state, bytes):
            return KeptTurn(name, place, identity, requester, message, text, lines, state, bool(done), mac)
    return KeptTurn(name, place, identity, requester, message, text)


def _values(turn: KeptTurn) -> tuple[object, ...]:
    said = msgspec.json.encode(turn.said).decode()
    texts = (turn.id, turn.place, turn.identity, turn.requester, turn.message, turn.text, said)
    return (*texts, turn.state, turn.done, turn.mac)
