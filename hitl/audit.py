"""The record as a hash chain: a line that is changed, dropped or put in between shows.

Each call has a chain of its own, the service's events another (ref ""). A line's hash is SHA-256 over the
hash of the line before it and all that the line says, framed so that no two lines give the same bytes.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from hitl.canonical import canonical
from hitl.model import Entry, Recorded
from hitl.times import micros
from hitl.tokens import frame

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

#: What stands in place of a hash before the first line of a chain.
FIRST = ""


def chain(prev: str, seq: int, at: datetime, entry: Entry) -> Recorded:
    """The entry as line `seq` (from 1) of its chain, after the line whose hash is `prev` (or FIRST).

    Raises InvalidConfirmation where the entry's data has no canonical JSON form.
    """
    data = canonical(dict(entry.data)).decode()
    own = _hash(prev, entry.ref, str(seq), str(micros(at)), entry.event, entry.actor, data)
    return Recorded(entry.ref, seq, at, entry.event.value, entry.actor, data, prev, own)


def verify(lines: Iterable[Recorded]) -> int | None:
    """The place (from 1) of the first line of one chain that isn't what was written there, or None.

    Lines missing at the end can't be seen from the chain alone.
    """
    prev = FIRST
    for seq, line in enumerate(lines, start=1):
        own = _hash(prev, line.ref, str(seq), str(micros(line.at)), line.event, line.actor, line.data)
        if (line.seq, line.prev, line.hash) != (seq, prev, own):
            return seq
        prev = line.hash
    return None


def with_args(entry: Entry, salt: bytes, args: bytes) -> Entry:
    """The entry, also naming the call's arguments by a salted hash.

    Once salt and arguments are erased, the hash tells nothing; until then it ties the chain to them.
    """
    data = {**entry.data, "args_hash": hashlib.sha256(salt + args).hexdigest()}
    return Entry(entry.ref, entry.event, entry.actor, data)


def _hash(*told: str) -> str:
    return hashlib.sha256(frame(told)).hexdigest()
