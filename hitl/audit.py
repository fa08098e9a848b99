"""The record as a chain of seals: a line that is changed, dropped or put in between shows.

Each call has a chain of its own, the service's events another (ref ""). What ties a line to the one before it is its
`hash`: a seal over the hash of that line and all that this one says, so that nobody without the keys can write a chain
anew. Lines of the first format have a plain SHA-256 there.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from hitl.canonical import canonical
from hitl.model import Entry, Event, Recorded
from hitl.seals import pack
from hitl.times import micros
from hitl.tokens import Keyring, Purpose, frame

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

#: What stands in place of a hash before the first line of a chain.
FIRST = ""
#: Lines that say how the asking ended.
DECIDED = frozenset(
    {
        *(Event.ALLOWED, Event.DENIED, Event.APPROVED, Event.REJECTED),
        *(Event.EXPIRED, Event.WITHDRAWN, Event.UNDELIVERABLE),
    }
)
_AMENDABLE = frozenset({Event.UNKNOWN, Event.TIMED_OUT})
#: Lines that say how a run ended.
_ENDED = frozenset({Event.SUCCEEDED, Event.FAILED, Event.RELEASED, Event.REFUSED, Event.LAPSED, *_AMENDABLE})
#: What happens once in the life of a call, and the lines that say so.
_STEPS = {"decision": DECIDED, "claim": frozenset({Event.CLAIMED, Event.RELEASED}), "result": _ENDED}


def chain(keys: Keyring, prev: str, seq: int, at: datetime, entry: Entry) -> Recorded:
    """The entry as line `seq` (from 1) of its chain, after the line whose hash is `prev` (or FIRST).

    Raises InvalidConfirmation where the entry's data has no canonical JSON form.
    """
    data = canonical(dict(entry.data)).decode()
    sealed = keys.seal(Purpose.LINE, pack(prev, entry.ref, seq, micros(at), entry.event, entry.actor, data))
    return Recorded(entry.ref, seq, at, entry.event.value, entry.actor, data, prev, sealed)


def verify(keys: Keyring, lines: Iterable[Recorded]) -> int | None:
    """The place (from 1) of the first line of one chain that isn't what was written there, or None.

    Lines missing at the end can't be seen from the chain alone; nor can a chain that was written anew as far as its
    lines have the first format.
    """
    prev, sealed = FIRST, False
    for seq, line in enumerate(lines, start=1):
        first = ":" not in line.hash
        if (line.seq, line.prev) != (seq, prev) or (first and sealed) or not _holds(keys, line):
            return seq
        prev, sealed = line.hash, sealed or not first
    return None


def contradicted(lines: Iterable[tuple[str, str]], entries: Iterable[Entry]) -> bool:
    """Whether a chain says already what the entries say once more: a decision, a claim, or a result.

    `lines` are event and data of each. A row that was set back to an older state would be decided, claimed or run
    again; the chain remembers. A result after `unknown` or `timed_out` is a late report.
    """
    had = steps_held(lines, amendable=True)
    return bool(had & steps_of(entries))


def steps_held(lines: Iterable[tuple[str, str]], *, amendable: bool = False) -> frozenset[str]:
    """Which of decision, claim and result a chain holds; with `amendable`, a result that may be amended is none."""
    had: set[str] = set()
    for event, data in lines:
        had |= _steps(event, claimed='"claimed_by":' in data, explained='"why":' in data)
        if amendable and event in _AMENDABLE:
            had.discard("result")
    return frozenset(had)


def steps_of(entries: Iterable[Entry]) -> frozenset[str]:
    """Which of decision, claim and result the entries say."""
    said = (_steps(e.event, claimed="claimed_by" in e.data, explained="why" in e.data) for e in entries)
    return frozenset().union(*said)


def _steps(event: str, *, claimed: bool, explained: bool) -> set[str]:
    """Which steps of a call's life a line says. Of refusals, only that of a run says why; others are of a reply."""
    if event == Event.REFUSED and not explained:
        return set()
    steps = {step for step, events in _STEPS.items() if event in events}
    return steps | {"claim"} if claimed else steps


def _holds(keys: Keyring, line: Recorded) -> bool:
    if ":" in line.hash:
        said = pack(line.prev, line.ref, line.seq, micros(line.at), line.event, line.actor, line.data)
        return keys.holds(Purpose.LINE, line.hash, said)
    told = (line.prev, line.ref, str(line.seq), str(micros(line.at)), line.event, line.actor, line.data)
    return line.hash == hashlib.sha256(frame(told)).hexdigest()


def with_args(entry: Entry, salt: bytes, args: bytes) -> Entry:
    """The entry, also naming the call's arguments by a salted hash.

    Once salt and arguments are erased, the hash tells nothing; until then it ties the chain to them.
    """
    data = {**entry.data, "args_hash": hashlib.sha256(salt + args).hexdigest()}
    return Entry(entry.ref, entry.event, entry.actor, data)
