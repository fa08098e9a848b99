"""The record as a chain of seals: a line that is changed, dropped or put in between shows.

Each call has a chain of its own, the service's events another (ref ""). What ties a line to the one before it is its
`hash`: a seal over the hash of that line and all that this one says, so that nobody without the keys can write a chain
anew. Lines of the first format have a plain SHA-256 there.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from msgspec import Struct

from hitl.call import Entry, Event, Recorded
from hitl.proof.canonical import canonical
from hitl.proof.keyring import Keyring, Purpose, frame
from hitl.proof.seals import pack
from hitl.times import micros

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
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
_DECISION, _CLAIM, _RESULT = (frozenset({step}) for step in ("decision", "claim", "result"))
_NOTHING: frozenset[str] = frozenset()
#: What happens once in the life of a call, by the lines that say so.
_STEPS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(DECIDED, _DECISION),
    Event.CLAIMED: _CLAIM,
    Event.RELEASED: _CLAIM | _RESULT,
    **dict.fromkeys((Event.SUCCEEDED, Event.FAILED, Event.REFUSED, Event.LAPSED, *_AMENDABLE), _RESULT),
}


class Steps(Struct, frozen=True):
    """What a chain says was done of decision, claim and result."""

    done: frozenset[str]
    #: What of it can't be done again. A result after `unknown` or `timed_out` is a late report.
    final: frozenset[str]

    def after(self, event: str, *, claimed: bool, explained: bool) -> Steps:
        """The steps of the chain with one more line."""
        said = _steps(event, claimed=claimed, explained=explained)
        if not said:
            return self
        final = self.final | said
        return Steps(self.done | said, final - _RESULT if event in _AMENDABLE else final)

    def with_entry(self, entry: Entry) -> Steps:
        """The steps of the chain with that entry as its next line."""
        return self.after(entry.event, claimed="claimed_by" in entry.data, explained="why" in entry.data)


#: What a chain without a line says.
NO_STEPS = Steps(_NOTHING, _NOTHING)


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


def contradicted(steps: Steps, entries: Iterable[Entry]) -> bool:
    """Whether a chain with those steps says already what the entries say once more: a decision, a claim, or a result.

    A row that was set back to an older state would be decided, claimed or run again; the chain remembers.
    """
    return not steps.final.isdisjoint(steps_of(entries))


def steps_held(lines: Iterable[tuple[str, str]]) -> Steps:
    """Which steps a chain holds. `lines` are event and data of each."""
    steps = NO_STEPS
    for event, data in lines:
        steps = steps.after(event, claimed='"claimed_by":' in data, explained='"why":' in data)
    return steps


def steps_of(entries: Iterable[Entry]) -> frozenset[str]:
    """Which of decision, claim and result the entries say."""
    said = _NOTHING
    for entry in entries:
        said |= _steps(entry.event, claimed="claimed_by" in entry.data, explained="why" in entry.data)
    return said


def _steps(event: str, *, claimed: bool, explained: bool) -> frozenset[str]:
    """Which steps of a call's life a line says. Of refusals, only that of a run says why; others are of a reply."""
    if event == Event.REFUSED and not explained:
        return _NOTHING
    said = _STEPS.get(event, _NOTHING)
    return said | _CLAIM if claimed else said


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
