"""An in-memory copy of parts of the database: the pending calls, and the ends of the calls' audit chains.

The service is the only writer, so the copy can follow the service's writes. It shows only writes that are on disk. The
writer commits several units (writes) together, as a group (`writer.py`). `noted` collects the writes of each unit. When
the group is on disk, `settled` makes them visible; if the group fails, `undone` drops them. The copy replaces indexes
on pending calls, which would cost three more pages in each commit.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

from cachetools import FIFOCache
from msgspec import Struct

from hitl.call import State
from hitl.proof.chain import FIRST, NO_STEPS, Steps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from hitl.call import Call

#: The ends of at most this many audit chains are kept (600 bytes each), and the recorded steps of at most this many
#: calls.
_ENDS, _DONE = 1_000, 10_000
#: The number of a digest's first characters that are kept, to save memory. The caller of `same` must compare the whole
#: digests.
_MARK = 12


class End(Struct, frozen=True):
    """The last line of a call's audit chain, which the next line continues."""

    #: The number of the last line in its chain (`seq`).
    seq: int
    #: The hash of the last line.
    hash: str
    #: The steps of the call that its chain records so far (decision, claim, result).
    steps: Steps


#: The end of an audit chain that has no lines yet.
BEGINNING = End(0, FIRST, NO_STEPS)


class PendingCall(Struct, frozen=True, gc=False):
    """The fields of a pending call that are kept in memory to find the call."""

    #: The first characters of the call's digest.
    mark: str
    requester: str
    origin: str
    agent: str
    routes: tuple[str, ...]


def asked(requester: str, origin: str, digest: str, agent: str, routes: tuple[str, ...]) -> PendingCall:
    """Return the fields of a pending call that are kept in memory.

    Calls with equal names share one string for the name, to save memory.

    Raises TypeError if a name isn't text.
    """
    name = sys.intern
    return PendingCall(digest[:_MARK], name(requester), name(origin), name(agent), _shared(routes))


@lru_cache(maxsize=1024)
def _shared(routes: tuple[str, ...]) -> tuple[str, ...]:
    """Return one shared tuple for equal routes, to save memory: most calls have the same routes."""
    return tuple(map(sys.intern, routes))


class Known:
    """Keeps in memory the pending calls of one database, and the ends of its audit chains."""

    def __init__(self, waiting: Iterable[tuple[str, PendingCall]]) -> None:
        """Begin with the pending calls in the database, `waiting`, the oldest first."""
        self._ends: FIFOCache[str, End] = FIFOCache(_ENDS)
        #: The call's ref -> the steps (decision, claim, result) that this process wrote. The steps stay known even if
        #: somebody deletes the end of a chain.
        self._done: FIFOCache[str, frozenset[str]] = FIFOCache(_DONE)
        self._waiting: dict[str, PendingCall] = {}
        #: (requester, agent) -> the number of their pending calls. With None as agent, the number counts all calls of
        #: the requester.
        self._of: Counter[tuple[str, str | None]] = Counter()
        self._same, self._places = _Refs(), _Refs()
        self._new_ends: dict[str, End] = {}
        self._moved: list[tuple[str, PendingCall | None]] = []
        for ref, asked in waiting:
            self._add(ref, asked)

    # -- reads: these methods change nothing ----------------------------------------------------------------

    def end(self, ref: str) -> End | None:
        """Return the end of a call's chain of lines, or None if it isn't in memory.

        The end includes lines that `noted` got and that aren't on disk yet.
        """
        return self._new_ends.get(ref) or self._ends.get(ref)

    def done(self, ref: str) -> frozenset[str]:
        """Return the steps (decision, claim, result) that this process wrote into a call's chain.

        Only the last `_DONE` calls are in memory. For an older call, the result is empty.
        """
        return self._done.get(ref, NO_STEPS.done)

    def waiting(self, limit: int) -> list[str]:
        """Return the refs of the pending calls, the oldest first."""
        return list(itertools.islice(self._waiting, limit))

    def asked_in(self, origin: str, limit: int) -> list[str]:
        """Return the refs of the pending calls that were asked in a conversation, the oldest first."""
        here = (ref for ref in self._places.of(origin) if self._waiting[ref].origin == origin)
        return list(itertools.islice(here, limit))

    def standing_in(self, place: str, limit: int) -> list[str]:
        """Return the refs of the pending calls that were asked in `place` or have a card there, the oldest first."""
        return list(itertools.islice(self._places.of(place), limit))

    def waits(self, ref: str) -> bool:
        """Return whether the call is pending."""
        return ref in self._waiting

    def count(self, requester: str, agent: str | None = None) -> int:
        """Return the number of the requester's pending calls. With `agent`, count only that agent's pending calls."""
        return self._of[requester, agent]

    def same(self, digest: str, agent: str) -> list[str]:
        """Return the refs of the agent's pending calls, oldest first.

        Only the first `_MARK` characters of `digest` are compared.
        """
        return [ref for ref in self._same.of(digest[:_MARK]) if self._waiting[ref].agent == agent]

    # -- writes: these methods follow the commits of the writer ----------------------------------------------

    def noted(self, call: Call | None, ends: Mapping[str, End]) -> None:
        """Collect the writes of one unit (`hitl.ports.Unit`): the changed call, and the new ends of chains.
        `settled` makes them visible.

        Raises TypeError for a call whose names aren't text.
        """
        if call is not None and call.state is State.AWAITING:
            waits = asked(call.requester, call.origin, call.digest, call.agent, call.routes)
            self._moved.append((call.ref, waits))
        elif call is not None:
            self._moved.append((call.ref, None))
        self._new_ends.update(ends)

    def doubted(self, ref: str) -> None:
        """Forget the end of a chain to which another program added a line.

        The next write reads the end from the database.
        """
        self._ends.pop(ref, None)

    def settled(self) -> None:
        """Make the writes that `noted` collected visible, because their group is on disk now."""
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
        """Drop the collected writes of the group.

        Call this when the group was rolled back, and when `settled` has made its writes visible.
        """
        self._new_ends.clear()
        self._moved.clear()

    def _add(self, ref: str, asked: PendingCall) -> None:
        self._waiting[ref] = asked
        self._of.update(((asked.requester, None), (asked.requester, asked.agent)))
        self._same.add(asked.mark, ref)
        for place in {asked.origin, *asked.routes}:
            self._places.add(place, ref)

    def _drop(self, ref: str) -> None:
        asked = self._waiting.pop(ref)
        for whose in ((asked.requester, None), (asked.requester, asked.agent)):
            self._of[whose] -= 1
            if not self._of[whose]:
                del self._of[whose]
        self._same.drop(asked.mark, ref)
        for place in {asked.origin, *asked.routes}:
            self._places.drop(place, ref)


class _Refs:
    """A dictionary from a key to the refs of its calls, in the order in which they were added.

    To save memory, a key with a single ref has the ref itself as its value.
    """

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
