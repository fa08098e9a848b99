"""Examines a whole database, without the service and without changes, and names the rows that were tampered with."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from adapters.database import rows
from adapters.database.sqlite.credentials import CREDENTIAL, credential_of_row
from adapters.database.sqlite.snapshot import Snapshot
from adapters.database.sqlite.turns import TURN, turn_of
from hitl.call import Bound, Prompt, PromptKind
from hitl.outcomes import fact
from hitl.proof import seals
from hitl.proof.chain import verify
from hitl.proof.integrity import Examined, Flaw, flaws_of, flaws_of_record
from hitl.times import moment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from hitl.call import Recorded, Vote
    from hitl.outcomes import Fact
    from hitl.proof.keyring import Keyring


#: SQLite names at most this many faults of the file.
_MOST_FAULTS = 5


class Examination(Snapshot):
    """The part of a survey that verifies everything."""

    def examine(self, keys: Keyring, marked: tuple[int, str] | None) -> Examined:
        """Verify every call, vote, line and other row that has a MAC. `hitl.ports.Survey` states the contract."""
        self.must_be_current()
        return _examined(self, keys, marked or (0, ""))


def _examined(snapshot: Snapshot, keys: Keyring, marked: tuple[int, str]) -> Examined:
    flaws: list[Fact] = []
    chains: dict[str, list[Recorded]] = {}
    hashes: dict[int, str] = {}
    for number, *stored in snapshot.stored("audit", ("id", *rows.LINE), ("ref", "seq")):
        hashes[number] = str(stored[rows.LINE.index("hash")])
        line = rows.line_of(stored)
        chains.setdefault(line.ref, []).append(line)
    votes: dict[str, list[Vote]] = {}
    for row in snapshot.stored("votes", rows.VOTE, ("ref", "seq")):
        try:
            votes.setdefault(row[0], []).append(rows.vote_of(row))
        except rows.UNREADABLE:
            flaws.append(fact(Flaw.VOTES, short=row[0]))
    refs: list[str] = []
    archived = erased = 0
    for row in snapshot.stored("calls", rows.CALL, ("ref",)):
        refs.append(row[0])
        try:
            call = rows.listed_call_of(row)
            found = flaws_of(keys, call, votes.get(call.ref, ()), chains.get(call.ref, ()))
            flaws += found
            archived += call.archived and not found
            erased += call.erased_at is not None and not found
        except rows.UNREADABLE:
            flaws.append(fact(Flaw.ROW, short=row[1]))
            if seq := verify(keys, chains.get(row[0], ())):
                flaws.append(fact(Flaw.LINE, short=row[1], seq=seq))
    flaws += _kept(snapshot, keys)
    flaws += flaws_of_record(keys, chains, refs, hashes, marked)
    flaws = [*_keyless(keys, hashes.values()), *_of_file(snapshot), *flaws]
    return Examined(len(hashes), len(refs), tuple(flaws), bool(marked[0]), archived, erased)


def _of_file(snapshot: Snapshot) -> list[Fact]:
    """Return a flaw for each of the first faults that SQLite finds in the file.

    The service finds the lines of a call by an index. Somebody could take a line out of the index and leave it in the
    table, so that the service doesn't find the line.
    """
    found = snapshot.session.connection().exec_driver_sql(f"PRAGMA integrity_check({_MOST_FAULTS})")
    return [fact(Flaw.FILE, why=why) for (why,) in found if why != "ok"]


def _keyless(keys: Keyring, hashes: Iterable[str]) -> list[Fact]:
    """Return a flaw for each key id that lines of the audit record name and the key file doesn't hold."""
    named = Counter(kid for kid, colon, _ in (each.partition(":") for each in hashes) if colon)
    return [fact(Flaw.NO_KEY, kid=kid, count=count) for kid, count in named.items() if kid not in keys.ids]


def _kept(snapshot: Snapshot, keys: Keyring) -> list[Fact]:
    """Return a flaw for each row whose MAC is wrong, in the tables of `_KEPT`: events, cards, tokens and others."""
    return [
        kind.flaw(*row)
        for kind in _KEPT
        for row in snapshot.stored(kind.table, kind.columns, kind.order)
        if not _holds(kind, keys, row)
    ]


def _holds(kind: _Kept, keys: Keyring, row: Sequence[Any]) -> bool:
    try:
        return kind.holds(keys, *row)
    except rows.UNREADABLE:
        return False


class _Kept(NamedTuple):
    """A table whose rows each have a MAC."""

    table: str
    #: The columns to read from the table.
    columns: tuple[str, ...]
    #: The columns by which the rows are ordered.
    order: tuple[str, ...]
    #: A function that returns whether the MAC of a row is valid.
    holds: Callable[..., bool]
    #: A function that returns the flaw to report for a row whose MAC is wrong.
    flaw: Callable[..., Fact]


def _event_holds(keys: Keyring, source: str, number: str, ordering: str, body: bytes, at: int, mac: str) -> bool:
    return seals.event_holds(keys, mac, source, number, ordering, body, moment(at))


def _card_holds(keys: Keyring, ref: str, route: str, message: str | None, mac: str | None) -> bool:
    return mac is None if message is None else seals.card_holds(keys, mac, ref, route, message)


def _prompt_holds(keys: Keyring, ref: str, principal: str, kind: str, at: int, mac: str) -> bool:
    return seals.prompt_holds(keys, mac, Prompt(ref, principal, PromptKind(kind), moment(at)))


def _bound_holds(keys: Keyring, message: str, ref: str, asks: str, mac: str) -> bool:
    return seals.bound_holds(keys, Bound(message, ref, asks, mac))


def _turn_holds(keys: Keyring, *row: Any) -> bool:
    return seals.turn_holds(keys, turn_of(*row))


def _move_holds(keys: Keyring, old: str, new: str, mac: str) -> bool:
    return seals.move_holds(keys, mac, old, new)


def _talk_holds(keys: Keyring, place: str, message: str, ref: str | None, mac: str) -> bool:
    return seals.talk_holds(keys, mac, place, message, ref)


def _credential_holds(keys: Keyring, *row: Any) -> bool:
    return seals.credential_holds(keys, credential_of_row(row))


_KEPT = (
    _Kept(
        "credentials",
        CREDENTIAL,
        ("name",),
        _credential_holds,
        lambda name, *_: fact(Flaw.CREDENTIAL, name=name),
    ),
    _Kept(
        "inbox",
        ("source", "id", "ordering", "body", "received_at", "mac"),
        ("seq",),
        _event_holds,
        lambda source, number, *_: fact(Flaw.EVENT, source=source, id=number),
    ),
    _Kept(
        "cards",
        ("ref", "route", "message", "mac"),
        ("ref", "route"),
        _card_holds,
        lambda ref, route, *_: fact(Flaw.CARD, ref=ref, route=route),
    ),
    _Kept(
        "prompts",
        ("ref", "principal", "kind", "at", "mac"),
        ("ref", "principal", "kind"),
        _prompt_holds,
        lambda ref, who, *_: fact(Flaw.PROMPT, ref=ref, who=who),
    ),
    _Kept(
        "messages",
        ("message", "ref", "asks", "mac"),
        ("message",),
        _bound_holds,
        lambda message, ref, *_: fact(Flaw.MESSAGE, message=message, ref=ref),
    ),
    _Kept("turns", TURN, ("seq",), _turn_holds, lambda number, *_: fact(Flaw.TURN, id=number)),
    _Kept("moves", ("old", "new", "mac"), ("old",), _move_holds, lambda old, new, _: fact(Flaw.MOVE, old=old, new=new)),
    _Kept(
        "talks",
        ("place", "message", "ref", "mac"),
        ("place",),
        _talk_holds,
        lambda place, *_: fact(Flaw.TALK, place=place),
    ),
)
