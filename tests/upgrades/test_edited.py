"""Single fields of a database, edited by hand: whatever is edited, nothing runs that nobody approved as it is."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from sqlmodel import SQLModel

import adapters.database.tables  # noqa: F401 - importing it fills the metadata
from hitl.call import Ran, Result
from hitl.errors import SaysoError
from tests.adapters.database.sqlite.test_every_column import HARMLESS, other
from tests.hitl.world import CLAIM, SECRET
from tests.upgrades.opened import PENDING, Opened
from tests.upgrades.place import LANDED, kind

if TYPE_CHECKING:
    from pathlib import Path

EDITS = 60
#: A field -> the field of its row without which nothing reads it: there is no claim, or the card wasn't posted yet.
UNREAD = {
    **dict.fromkeys(("calls.claim_hash", "calls.claim_until", "calls.claim_mac"), "claim_owner"),
    **dict.fromkeys(("cards.ref", "cards.route"), "message"),
}
#: The newest database, with calls in every state, and their votes, cards, events and lines.
NEWEST = max(LANDED.iterdir())


def edit(database: Path, chance: random.Random) -> str:
    """Change one field of one row. Return the field's name, or '' if nothing reads the field in that row.

    The new value is that of the same field in another row if there is another value: a MAC of one row is then found in
    another row. Otherwise it is a value that the column could hold.
    """
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("pragma foreign_keys = off")
        while True:
            table = chance.choice(SQLModel.metadata.sorted_tables)
            column = chance.choice(list(table.columns))
            connection.row_factory = sqlite3.Row
            rows = connection.execute(f"select * from {table.name}").fetchall()  # noqa: S608
            if not rows:
                continue
            found = chance.choice(rows)
            before = found[column.name]
            others = sorted({row[column.name] for row in rows} - {before}, key=repr)
            after = chance.choice(others) if others else other(before, column.type.python_type)
            keys = [key.name for key in table.primary_key.columns]
            where = " and ".join(f"{key} = ?" for key in keys)
            statement = f'update or ignore {table.name} set "{column.name}" = ? where {where}'  # noqa: S608
            if connection.execute(statement, (after, *(found[key] for key in keys))).rowcount:
                name = f"{table.name}.{column.name}"
                needs = UNREAD.get(name)
                return name if needs is None or found[needs] is not None else ""


async def attempts(old: Opened) -> dict[str, list[tuple[bytes, str]]]:
    """Approve and run what can be, all of it twice. Return what ran: name -> arguments and tool of each run."""
    ran: dict[str, list[tuple[bytes, str]]] = {}
    for name in [*old.calls, *old.calls]:
        ref = old.calls[name]["ref"]
        try:
            if name in PENDING:
                await old.approve(name)
            lease = await old.gate.claim(ref, "ada", CLAIM)
            await old.gate.finish(ref, SECRET, Ran(Result.SUCCEEDED))
        except SaysoError:
            continue
        ran.setdefault(name, []).append((lease.call.args, lease.call.tool))
    return ran


@pytest.mark.parametrize("number", range(EDITS))
async def test_an_edited_field_lets_nothing_else_run(tmp_path: Path, number: int) -> None:
    """No call runs with other arguments or a second time, and none that was over or claimed. `audit verify` names it.

    A field that it doesn't name is on the list of fields whose change does no harm.
    """
    old = Opened(NEWEST, tmp_path / "state")
    database = tmp_path / "state" / "sayso.db"
    with closing(sqlite3.connect(database)) as connection:
        stored = {ref: (args, tool) for ref, args, tool in connection.execute("select ref, args, tool from calls")}
    may_run = {
        name: [stored[row["ref"]]]
        for name, row in old.calls.items()
        if name in PENDING or kind(row) == "executing, unclaimed"
    }
    name = edit(database, random.Random(number))  # noqa: S311 - the same edits each time
    try:
        async with old:
            flaws = old.examined().flaws
            ran = await attempts(old)
    except SaysoError:
        return  # The service doesn't start on this database.

    assert bool(flaws) or not name or name in HARMLESS
    assert {} == {name: runs for name, runs in ran.items() if runs != may_run.get(name)}
