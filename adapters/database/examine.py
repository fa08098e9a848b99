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
from hitl import seals
from hitl.errors import Unavailable
from hitl.integrity import Flaw, flaws_of, flaws_of_record
from hitl.model import Bound, Prompt, PromptKind
from hitl.outcomes import fact
from hitl.times import moment

if TYPE_CHECKING:
    from pathlib import Path

    from adapters.database.mark import Mark
    from hitl.model import Recorded
    from hitl.outcomes import Fact
    from hitl.tokens import Keyring


#: Which events came?
_ALL_EVENTS = "select source, id, ordering, body, received_at, mac from inbox order by seq"
#: Which cards stand somewhere?
_ALL_CARDS = "select ref, route, message, mac from cards where message is not null order by ref, route"
#: What was left open with whom?
_ALL_PROMPTS = "select ref, principal, kind, at, mac from prompts order by ref, principal, kind"
#: Which messages of ours are about which call?
_ALL_MESSAGES = "select message, ref, asks, mac from messages order by message"
#: What does the record say, all chains together, each from its start?
_ALL_LINES = "select id, ref, seq, at, event, actor, data, prev, hash from audit order by ref, seq"
#: Which calls are there?
_ALL_CALLS = f"select {', '.join(sql.CALL)} from calls order by ref"  # noqa: S608 - ours
_PROMPTS = frozenset(kind.value for kind in PromptKind)


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
    for number, *row in connection.execute(_ALL_LINES):
        line = rows.line_of(row)
        chains.setdefault(line.ref, []).append(line)
        hashes[number] = line.hash
    flaws: list[Fact] = []
    refs: list[str] = []
    for row in connection.execute(_ALL_CALLS):
        refs.append(row[0])
        try:
            call = rows.call_of(row)
        except (ValueError, TypeError, LookupError, AttributeError):
            flaws.append(fact(Flaw.ROW, short=row[1]))
            continue
        votes = [rows.vote_of(vote) for vote in connection.execute(sql.VOTES, (call.ref,))]
        flaws += flaws_of(keys, call, votes, chains.get(call.ref, ()))
    flaws += _kept(connection, keys)
    marked = mark.read()
    flaws += flaws_of_record(keys, chains, refs, hashes, marked or 0)
    return Examined(len(hashes), len(refs), tuple(flaws), bool(marked))


def _kept(connection: sqlite3.Connection, keys: Keyring) -> list[Fact]:
    """Events, cards, prompts and bound messages that aren't as they were kept."""
    flaws: list[Fact] = []
    for source, number, ordering, body, at, mac in connection.execute(_ALL_EVENTS):
        if not seals.event_holds(keys, mac, source, number, ordering, body, moment(at)):
            flaws.append(fact(Flaw.EVENT, source=source, id=number))
    for ref, route, message, mac in connection.execute(_ALL_CARDS):
        if not seals.card_holds(keys, mac, ref, route, message):
            flaws.append(fact(Flaw.CARD, ref=ref, route=route))
    for ref, principal, kind, at, mac in connection.execute(_ALL_PROMPTS):
        known = kind in _PROMPTS
        if not known or not seals.prompt_holds(keys, mac, Prompt(ref, principal, PromptKind(kind), moment(at))):
            flaws.append(fact(Flaw.PROMPT, ref=ref, who=principal))
    for row in connection.execute(_ALL_MESSAGES):
        bound = Bound(*row)
        if not seals.bound_holds(keys, bound):
            flaws.append(fact(Flaw.MESSAGE, message=bound.message, ref=bound.ref))
    return flaws
