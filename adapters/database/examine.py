"""Reads a whole database, without the service and without changing anything, and says what isn't as it was written."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adapters.database import rows
from adapters.database import statements as sql
from adapters.database.failures import unavailable
from adapters.database.schema import REVISIONS
from hitl.errors import Unavailable
from hitl.integrity import Flaw, flaws_of, flaws_of_record
from hitl.outcomes import fact

if TYPE_CHECKING:
    from pathlib import Path

    from adapters.database.mark import Mark
    from hitl.model import Recorded
    from hitl.outcomes import Fact
    from hitl.tokens import Keyring


@dataclass(frozen=True, slots=True)
class Examined:
    """What was looked at, and what isn't as it was written. `marked`: there is a mark that the end was held to."""

    lines: int
    calls: int
    flaws: tuple[Fact, ...]
    marked: bool


def examine(database: Path, keys: Keyring, mark: Mark) -> Examined:
    """Look at every call, vote and line. Raises Unavailable for a database that can't be read, or of another schema."""
    try:
        with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            if connection.execute("select version_num from alembic_version").fetchall() != [(REVISIONS[-1],)]:
                raise Unavailable(f"{database} has an older schema. Start the service once: it brings it up to date.")
            connection.execute("begin")
            return _examined(connection, keys, mark)
    except sqlite3.Error as error:
        raise unavailable(error, str(database)) from error


def _examined(connection: sqlite3.Connection, keys: Keyring, mark: Mark) -> Examined:
    chains: dict[str, list[Recorded]] = {}
    hashes: dict[int, str] = {}
    for number, *row in connection.execute(sql.ALL_LINES):
        line = rows.line_of(row)
        chains.setdefault(line.ref, []).append(line)
        hashes[number] = line.hash
    flaws: list[Fact] = []
    refs: list[str] = []
    for row in connection.execute(sql.ALL_CALLS):
        refs.append(row[0])
        try:
            call = rows.call_of(row)
        except (ValueError, TypeError, LookupError, AttributeError):
            flaws.append(fact(Flaw.ROW, short=row[1]))
            continue
        votes = [rows.vote_of(vote) for vote in connection.execute(sql.VOTES, (call.ref,))]
        flaws += flaws_of(keys, call, votes, chains.get(call.ref, ()))
    marked = mark.read()
    flaws += flaws_of_record(keys, chains, refs, hashes, marked or 0)
    return Examined(len(hashes), len(refs), tuple(flaws), bool(marked))
