"""Reads a whole database, without the service and without changing anything, and says what isn't as it was written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import type_coerce
from sqlalchemy.types import NullType
from sqlmodel import SQLModel, select

from adapters.database import rows
from adapters.database.schema import REVISIONS
from adapters.database.survey import surveyed
from hitl import seals
from hitl.errors import Unavailable
from hitl.integrity import Flaw, flaws_of, flaws_of_record
from hitl.model import Bound, Prompt, PromptKind
from hitl.outcomes import fact
from hitl.times import moment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from sqlmodel import Session

    from adapters.database.mark import Mark
    from hitl.model import Recorded, Vote
    from hitl.outcomes import Fact
    from hitl.tokens import Keyring


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
    with surveyed(database) as survey:
        if survey.schema != REVISIONS[-1]:
            raise Unavailable(f"{database} has an older schema. Start the service once: it brings it up to date.")
        return _examined(survey.session, keys, mark)


def _examined(session: Session, keys: Keyring, mark: Mark) -> Examined:
    chains: dict[str, list[Recorded]] = {}
    hashes: dict[int, str] = {}
    for number, *line_row in _stored(session, "audit", ("id", *rows.LINE), ("ref", "seq")):
        line = rows.line_of(line_row)
        chains.setdefault(line.ref, []).append(line)
        hashes[number] = line.hash
    votes: dict[str, list[Vote]] = {}
    for row in _stored(session, "votes", rows.VOTE, ("ref", "seq")):
        votes.setdefault(row[0], []).append(rows.vote_of(row))
    flaws: list[Fact] = []
    refs: list[str] = []
    for row in _stored(session, "calls", rows.CALL, ("ref",)):
        refs.append(row[0])
        try:
            call = rows.call_of(row)
        except (ValueError, TypeError, LookupError, AttributeError):
            flaws.append(fact(Flaw.ROW, short=row[1]))
            continue
        flaws += flaws_of(keys, call, votes.get(call.ref, ()), chains.get(call.ref, ()))
    flaws += _kept(session, keys)
    marked = mark.read()
    flaws += flaws_of_record(keys, chains, refs, hashes, marked or 0)
    return Examined(len(hashes), len(refs), tuple(flaws), bool(marked))


def _kept(session: Session, keys: Keyring) -> list[Fact]:
    """Events, cards, prompts and bound messages that aren't as they were kept."""
    flaws: list[Fact] = []
    events = ("source", "id", "ordering", "body", "received_at", "mac")
    for source, number, ordering, body, at, mac in _stored(session, "inbox", events, ("seq",)):
        if not seals.event_holds(keys, mac, source, number, ordering, body, moment(at)):
            flaws.append(fact(Flaw.EVENT, source=source, id=number))
    for ref, route, message, mac in _stored(session, "cards", ("ref", "route", "message", "mac"), ("ref", "route")):
        if message is not None and not seals.card_holds(keys, mac, ref, route, message):
            flaws.append(fact(Flaw.CARD, ref=ref, route=route))
    prompts = ("ref", "principal", "kind", "at", "mac")
    for ref, principal, kind, at, mac in _stored(session, "prompts", prompts, prompts[:3]):
        known = kind in _PROMPTS
        if not known or not seals.prompt_holds(keys, mac, Prompt(ref, principal, PromptKind(kind), moment(at))):
            flaws.append(fact(Flaw.PROMPT, ref=ref, who=principal))
    for row in _stored(session, "messages", ("message", "ref", "asks", "mac"), ("message",)):
        bound = Bound(*row)
        if not seals.bound_holds(keys, bound):
            flaws.append(fact(Flaw.MESSAGE, message=bound.message, ref=bound.ref))
    return flaws


def _stored(session: Session, table: str, names: tuple[str, ...], order: tuple[str, ...]) -> Iterator[Sequence[Any]]:
    """All rows of a table, with values as they are in the file.

    The types of the columns would convert the values, and fail at the first value that somebody put in by hand.
    """
    columns = SQLModel.metadata.tables[table].c
    asked: Any = select(*(type_coerce(columns[name], NullType()) for name in names))
    yield from session.exec(asked.order_by(*(columns[name] for name in order)))
