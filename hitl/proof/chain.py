"""The audit record as hash chains.

A chain reveals every line that was changed, removed or inserted, except lines that are missing at its end. Each call
has its own chain. The events of the service have a chain with the ref "". The field `hash` connects a line to the line
before it: it is a MAC over the earlier line's `hash` and over everything in this line. So nobody without the keys can
forge a chain. In lines of the first format, which an old record may still hold, `hash` is a plain SHA-256.

The chain also protects a call against replay. The MACs of a row are valid even after somebody puts an older copy of the
row back into the database. But the chain still says that the call was decided or claimed, so a second decision or claim
contradicts the chain and is refused (`contradicted`).
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from hitl.call import Entry, Event, Recorded
from hitl.errors import InvalidConfirmation
from hitl.proof.canonical import canonical
from hitl.proof.keyring import Keyring, Purpose, frame
from hitl.proof.seals import pack
from hitl.times import micros

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

#: The value of `prev` in the first line of a chain.
FIRST = ""
#: The events of lines that report a decision.
DECIDED = frozenset(
    {
        *(Event.ALLOWED, Event.DENIED, Event.APPROVED, Event.REJECTED),
        *(Event.EXPIRED, Event.WITHDRAWN, Event.UNDELIVERABLE),
    }
)
_AMENDABLE = frozenset({Event.UNKNOWN, Event.TIMED_OUT})
_DECISION, _CLAIM, _RESULT = (frozenset({step}) for step in ("decision", "claim", "result"))
_NOTHING: frozenset[str] = frozenset()
#: Event -> the steps that its line of the audit record reports. Each step happens only once in the life of a call.
_STEPS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(DECIDED, _DECISION),
    Event.CLAIMED: _CLAIM,
    Event.RELEASED: _CLAIM | _RESULT,
    **dict.fromkeys((Event.SUCCEEDED, Event.FAILED, Event.REFUSED, Event.LAPSED, *_AMENDABLE), _RESULT),
}


class Steps(Struct, frozen=True):
    """The steps (decision, claim, result) that the lines of a chain report, and the chat events that the lines name."""

    done: frozenset[str]
    #: The steps that can't happen again. The results `unknown` and `timed_out` aren't final, because a late report may
    #: replace them.
    final: frozenset[str]
    #: The inbox events that the lines name, as `SOURCE:ID`. Each event was handled for this call, so it can't count
    #: again.
    heard: frozenset[str]

    def after(self, event: str, *, claimed: bool, explained: bool, heard: str | None = None) -> Steps:
        """Return the steps of the chain after one more line with this event.

        `claimed` says whether the line's data have `claimed_by`. `explained` says whether they have `why`. `heard` is
        the inbox event that the line names, or None.
        """
        said = _steps(event, claimed=claimed, explained=explained)
        if not said and heard is None:
            return self
        final = self.final | said
        events = self.heard if heard is None else self.heard | {heard}
        return Steps(self.done | said, final - _RESULT if event in _AMENDABLE else final, events)

    def with_entry(self, entry: Entry) -> Steps:
        """Return the steps of the chain after one more line that is made from this entry."""
        claimed, explained, heard = "claimed_by" in entry.data, "why" in entry.data, entry.data.get("event")
        return self.after(entry.event, claimed=claimed, explained=explained, heard=str(heard) if heard else None)


class _Said(Struct):
    """The only field of a line's data that is decoded here: the inbox event that the line names, or None."""

    event: str | None = None


#: The steps of an empty chain.
NO_STEPS = Steps(_NOTHING, _NOTHING, _NOTHING)
_SAID = msgspec.json.Decoder(_Said)


def chain(keys: Keyring, prev: str, seq: int, at: datetime, entry: Entry) -> Recorded:
    """Return the entry as line `seq` (from 1) of its chain. `prev` is the hash of the line before it, or FIRST.

    Raises InvalidConfirmation if the entry's data has no canonical JSON form.
    """
    data = canonical(dict(entry.data)).decode()
    sealed = keys.seal(Purpose.LINE, pack(prev, entry.ref, seq, micros(at), entry.event, entry.actor, data))
    return Recorded(entry.ref, seq, at, entry.event.value, entry.actor, data, prev, sealed)


def data_of(data: str) -> dict[str, Any]:
    """Return the decoded data of a line. If somebody made the data unreadable, return {"unreadable": the stored text}.

    This function detects no other change of the data. `verify` does.
    """
    try:
        said = json.loads(data)
        canonical(said)
    except (ValueError, TypeError, RecursionError, InvalidConfirmation):
        said = None
    return said if isinstance(said, dict) else {"unreadable": data}


def verify(keys: Keyring, lines: Iterable[Recorded]) -> int | None:
    """Return the number (from 1) of the first wrong line of a chain, or None if all lines are right.

    The chain alone doesn't reveal that lines are missing at its end. It doesn't reveal forged lines of the first format
    at its beginning either, because that format needs no key.
    """
    prev, sealed = FIRST, False
    for seq, line in enumerate(lines, start=1):
        first = ":" not in line.hash
        if (line.seq, line.prev) != (seq, prev) or (first and sealed) or not is_intact(keys, line):
            return seq
        prev, sealed = line.hash, sealed or not first
    return None


def contradicted(steps: Steps, entries: Iterable[Entry]) -> bool:
    """Return whether new entries repeat a step (decision, claim, result) or a chat event that is in the chain.

    If somebody restores an older state of a call's row, the call could be decided, claimed or run again. If somebody
    marks a handled inbox event as not handled, one press could count twice. But the chain still holds the lines about
    the first decision, claim, run or press.
    """
    if not steps.final.isdisjoint(steps_of(entries)):
        return True
    return bool(steps.heard) and any(entry.data.get("event") in steps.heard for entry in entries)


def steps_held(lines: Iterable[tuple[str, str]]) -> Steps:
    """Return the steps that a chain reports. `lines` holds the event and the data of each line."""
    steps = NO_STEPS
    for event, data in lines:
        heard = _event_of(data) if '"event":' in data else None
        steps = steps.after(event, claimed='"claimed_by":' in data, explained='"why":' in data, heard=heard)
    return steps


def _event_of(data: str) -> str | None:
    """Return the id of the inbox event in a line's data, or None if the data has no event or can't be read."""
    try:
        return _SAID.decode(data).event
    except msgspec.DecodeError:
        return None


def steps_of(entries: Iterable[Entry]) -> frozenset[str]:
    """Return the steps (decision, claim, result) that these entries report."""
    said = _NOTHING
    for entry in entries:
        said |= _steps(entry.event, claimed="claimed_by" in entry.data, explained="why" in entry.data)
    return said


def _steps(event: str, *, claimed: bool, explained: bool) -> frozenset[str]:
    """Return the steps that a line with this event reports. `claimed` and `explained` are as in `Steps.after`.

    Lines about a refused run and lines about a refused reply both have the event `refused`. Only a refused run is a
    result, and only its line has a reason (`explained`).
    """
    if event == Event.REFUSED and not explained:
        return _NOTHING
    said = _STEPS.get(event, _NOTHING)
    return said | _CLAIM if claimed else said


def is_intact(keys: Keyring, line: Recorded) -> bool:
    """Return whether the hash of a line is right: its MAC, or in the first format the plain hash over its fields."""
    if ":" in line.hash:
        said = pack(line.prev, line.ref, line.seq, micros(line.at), line.event, line.actor, line.data)
        return keys.holds(Purpose.LINE, line.hash, said)
    told = (line.prev, line.ref, str(line.seq), str(micros(line.at)), line.event, line.actor, line.data)
    return line.hash == hashlib.sha256(frame(told)).hexdigest()


def with_args(entry: Entry, salt: bytes, args: bytes) -> Entry:
    """Return the entry with a salted hash of the call's arguments, so that changed arguments contradict the chain.

    After the salt and the arguments are erased, the hash reveals nothing about the arguments.
    """
    data = {**entry.data, "args_hash": hashlib.sha256(salt + args).hexdigest()}
    return Entry(entry.ref, entry.event, entry.actor, data)
