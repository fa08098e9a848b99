"""What the service knows of its database without asking it: which calls wait for people, and where chains end.

The service is the only writer, so memory can follow what it writes. It follows commits only: what a group of units
wrote is `noted`, and is known to all once that group is durable (`settled`) or forgotten with it (`undone`). Questions
that would need an index on the calls that wait, three more pages for each commit, are answered from here.
"""

from __future__ import annotations

import itertools
import sys
from typing import TYPE_CHECKING

from cachetools import FIFOCache
from msgspec import Struct

from hitl.call import State
from hitl.proof.chain import FIRST, NO_STEPS, Steps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from hitl.call import Call

#: Of so many calls it is remembered where their chains end (600 bytes each), and of so many what was done with them.
_ENDS, _DONE = 1_000, 10_000
#: So many characters of a digest tell calls apart, in less memory than all 64. The call itself is compared whole.
_MARK = 12


class End(Struct, frozen=True):
    """Where a chain ends: place and hash of its last line, and what the chain says was done."""

    seq: int
    hash: str
    steps: Steps


#: The end of a chain without a line.
BEGINNING = End(0, FIRST, NO_STEPS)


class PendingCall(Struct, frozen=True, gc=False):
    """What is asked about a call that waits. `mark` is the start of its digest."""

    mark: str
    requester: str
    origin: str
    agent: str
    routes: tuple[str, ...]


def asked(requester: str, origin: str, digest: str, agent: str, routes: tuple[str, ...]) -> PendingCall:
    """What is asked about a call, each name kept once however many calls hold it. Raises TypeError for no text."""
    name = sys.intern
    return PendingCall(digest[:_MARK], name(requester), name(origin), name(agent), tuple(map(name, routes)))


class Known:
    """The memory of one store."""

    def __init__(self, waiting: Iterable[tuple[str, PendingCall]]) -> None:
        """`waiting`: the calls in the database that wait for people, the oldest first."""
        self._ends: FIFOCache[str, End] = FIFOCache(_ENDS)
        #: So that nobody makes the service forget what it did by cutting a chain.
        self._done: FIFOCache[str, frozenset[str]] = FIFOCache(_DONE)
        self._waiting: dict[str, PendingCall] = {}
        self._of: dict[str, int] = {}
        self._same, self._places = _Refs(), _Refs()
        self._new_ends: dict[str, End] = {}
        self._moved: list[tuple[str, PendingCall | None]] = []
        for ref, asked in waiting:
            self._add(ref, asked)

    # -- what is asked --------------------------------------------------------------------------------------

    def end(self, ref: str) -> End | None:
        """Where the chain of a call ends, as of this unit; None if that isn't known."""
        return self._new_ends.get(ref) or self._ends.get(ref)

    def done(self, ref: str) -> frozenset[str]:
        """Which of decision, claim and result this process wrote into the chain of a call, as far as it remembers."""
        return self._done.get(ref, NO_STEPS.done)

    def waiting(self, limit: int) -> list[str]:
        """The calls that wait, the oldest first."""
        return list(itertools.islice(self._waiting, limit))

    def asked_in(self, origin: str, limit: int) -> list[str]:
        """Those of them that were asked in a conversation, the oldest first."""
        here = (ref for ref in self._places.of(origin) if self._waiting[ref].origin == origin)
        return list(itertools.islice(here, limit))

    def standing_in(self, place: str, limit: int) -> list[str]:
        """Those of them that were asked in a conversation or have their card there, the oldest first."""
        return list(itertools.islice(self._places.of(place), limit))

    def waits(self, ref: str) -> bool:
        """Whether the call waits."""
        return ref in self._waiting

    def count(self, requester: str) -> int:
        """How many calls of the requester wait."""
        return self._of.get(requester, 0)

    def same(self, digest: str, agent: str) -> list[str]:
        """The waiting calls from that agent whose digests begin as this one, the oldest first."""
        return [ref for ref in self._same.of(digest[:_MARK]) if self._waiting[ref].agent == agent]

    # -- what is written ------------------------------------------------------------------------------------

    def noted(self, call: Call | None, ends: Mapping[str, End]) -> None:
        """One unit of the group wrote this. Raises TypeError for a call whose names aren't text."""
        if call is not None and call.state is State.AWAITING:
            waits = asked(call.requester, call.origin, call.digest, call.agent, call.routes)
            self._moved.append((call.ref, waits))
        elif call is not None:
            self._moved.append((call.ref, None))
        self._new_ends.update(ends)

    def doubted(self, ref: str) -> None:
        """The database holds a line of somebody else where the next one belongs: read the chain again."""
        self._ends.pop(ref, None)

    def settled(self) -> None:
        """The group is durable."""
        for ref, end in self._new_ends.items():
            self._ends[ref] = end
            if end.steps.done:
                self._done[ref] = end.steps.done
        for ref, waits in self._moved:
            if (waits is not None) is (ref in self._waiting):
                continue
            if waits is None:
                self._drop(ref)
            else:
                self._add(ref, waits)
        self.undone()

    def undone(self) -> None:
        """Nothing of the group was written."""
        self._new_ends.clear()
        self._moved.clear()

    def _add(self, ref: str, asked: PendingCall) -> None:
        self._waiting[ref] = asked
        self._of[asked.requester] = self._of.get(asked.requester, 0) + 1
        self._same.add(asked.mark, ref)
        for place in {asked.origin, *asked.routes}:
            self._places.add(place, ref)

    def _drop(self, ref: str) -> None:
        asked = self._waiting.pop(ref)
        self._of[asked.requester] -= 1
        if not self._of[asked.requester]:
            del self._of[asked.requester]
        self._same.drop(asked.mark, ref)
        for place in {asked.origin, *asked.routes}:
            self._places.drop(place, ref)


class _Refs:
    """The refs under each key, in the order in which they came. Most keys have one, which needs no dictionary."""

    def __init__(self) -> None:
        self._under: dict[str, str | dict[str, None]] = {}

    def of(self, key: str) -> Iterator[str]:
        found = self._under.get(key, {})
        return iter((found,) if isinstance(found, str) else found)

    def add(self, key: str, ref: str) -> None:
        found = self._under.setdefault(key, ref)
        if isinstance(found, dict):
            found[ref] = None
        elif found != ref:
            self._under[key] = {found: None, ref: None}

    def drop(self, key: str, ref: str) -> None:
        found = self._under[key]
        if isinstance(found, dict):
            del found[ref]
        if found == ref or not found:
            del self._under[key]
