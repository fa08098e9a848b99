"""Reads the record for `sayso history`, `audit` and `stats`, also while the service runs. Changes nothing.

Each call (in texts for people: a request) is verified too. The output names the parts of a call that were changed after
they were written.
"""

from __future__ import annotations

import itertools
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlmodel import col

from adapters.database import rows
from adapters.database.sqlite.snapshot import Snapshot
from adapters.database.tables import DUE, AuditRow, CallRow, VoteRow
from hitl.cards.data import view
from hitl.history import counted, told
from hitl.people.names import NOBODY
from hitl.proof import seals
from hitl.proof.chain import verify
from hitl.proof.integrity import Flaw, flaws_of
from hitl.times import micros

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime

    from hitl.call import Call, Recorded
    from hitl.history import RecordQuery
    from hitl.people.names import Names
    from hitl.proof.keyring import Keyring


class _Case(NamedTuple):
    """A call with the results of its verification."""

    #: The call, or None if there is no readable call with this ref.
    call: Call | None
    #: The codes of the parts that were changed after they were written, such as `flaw.row` or `flaw.votes`.
    flaws: tuple[str, ...]


class History(Snapshot):
    """The part of a survey that lists, counts and verifies requests and lines of the audit record."""

    def lines(
        self, keys: Keyring, asked: RecordQuery, *, newest_first: bool = False, limit: int | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yield the lines of the audit record that match `asked`, at most `limit`, each as a dictionary.

        The lines come in the order of the audit record, or in the opposite order with `newest_first`.
        """
        self.must_be_current()
        case = lru_cache(maxsize=4096)(lambda ref: _case(self, keys, ref))
        found = (told for line in _lines(self, asked, newest_first) if asked.takes(told := _told(line, case)))
        yield from itertools.islice(found, limit)

    def requests(
        self, keys: Keyring, asked: RecordQuery, *, limit: int | None = None, names: Names | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yield the calls that match `asked`, at most `limit`, the newest first.

        Each is a dictionary: the call's view (`hitl.cards.data.view`), and under `flaws` the codes of its changed
        parts. After the matching calls come the calls that can't be read because somebody changed them.
        """
        self.must_be_current()
        wanted = _between(col(CallRow.created_at), asked.since, asked.until)
        changed: list[dict[str, Any]] = []
        stored = _readable(self.stored("calls", rows.CALL, ("ref",), *wanted, newest_first=True), changed)
        found = (shown for shown in _shown(stored, names or NOBODY, changed) if asked.takes_request(shown))
        for shown in itertools.islice(found, limit):
            yield shown | {"flaws": list(_case(self, keys, shown["ref"]).flaws)}
        yield from changed

    def statistics(self, since: datetime | None, until: datetime | None) -> dict[str, Any]:
        """Return the statistics of the calls in a period, from `hitl.history.counted`.

        `unreadable` lists the calls that can't be read because somebody changed them. The numbers don't include these
        calls.
        """
        self.must_be_current()
        asked = _between(col(CallRow.created_at), since, until)
        changed: list[dict[str, Any]] = []
        numbers = counted(_readable(self.stored("calls", rows.CALL, ("ref",), *asked), changed))
        return numbers | {"unreadable": changed}

    def sound_calls(self, keys: Keyring, since: datetime | None) -> list[Call]:
        """Return the calls made at or after `since`, except calls with a wrong MAC or erased arguments."""
        self.must_be_current()
        asked = _between(col(CallRow.created_at), since, None)
        calls = _readable(self.stored("calls", rows.CALL, ("ref",), *asked), [])
        return [call for call in calls if call.erased_at is None and not seals.broken(keys, call)]

    def open_flaws(self, keys: Keyring, limit: int) -> tuple[list[str], int | None]:
        """Verify the oldest `limit` calls that haven't ended, and the service's own chain in the audit record.

        Return the short refs of the changed calls, and the number of the first line of that chain that was changed or
        is missing. Without such a line, the number is None.
        """
        self.must_be_current()
        refs = [(str(ref), str(short)) for ref, short in self.stored("calls", ("ref", "short"), ("ref",), DUE)]
        changed = [short for ref, short in refs[:limit] if _case(self, keys, ref).flaws]
        return changed, verify(keys, _chain(self, ""))


def _readable(stored: Iterable[Sequence[Any]], changed: list[dict[str, Any]]) -> Iterator[Call]:
    """Yield the calls in these rows. Add the calls that can't be read to `changed`."""
    for row in stored:
        try:
            call = rows.listed_call_of(row)
        except rows.UNREADABLE:
            changed.append(_unreadable(row[0], row[1]))
        else:
            yield call


def _shown(calls: Iterable[Call], names: Names, changed: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the view of each call. Add the calls that can't be shown to `changed`."""
    for call in calls:
        try:
            shown = view(call, names)
        except rows.UNREADABLE:
            changed.append(_unreadable(call.ref, call.short))
        else:
            yield shown


def _unreadable(ref: object, short: object) -> dict[str, Any]:
    return {"ref": str(ref), "short": str(short), "flaws": [str(Flaw.ROW)]}


def _lines(snapshot: Snapshot, asked: RecordQuery, newest_first: bool) -> Iterator[Recorded]:  # noqa: FBT001
    wanted = _between(col(AuditRow.at), asked.since, asked.until)
    if asked.events:
        wanted.append(col(AuditRow.event).in_(sorted(asked.events)))
    for row in snapshot.stored("audit", rows.LINE, ("id",), *wanted, newest_first=newest_first):
        yield rows.line_of(row)


def _between(at: Any, since: datetime | None, until: datetime | None) -> list[Any]:
    """Return the conditions that a time is at or after `since` and before `until`."""
    return [*([at >= micros(since)] if since else []), *([at < micros(until)] if until else [])]


def _told(line: Recorded, case: Callable[[str], _Case]) -> dict[str, Any]:
    about = case(line.ref)
    try:
        return told(line, about.call, about.flaws)
    except rows.UNREADABLE:
        return told(line, None, about.flaws)


def _chain(snapshot: Snapshot, ref: str) -> list[Recorded]:
    return [rows.line_of(row) for row in snapshot.stored("audit", rows.LINE, ("seq",), col(AuditRow.ref) == ref)]


def _case(snapshot: Snapshot, keys: Keyring, ref: str) -> _Case:
    """Verify a call, its votes and its chain, and return the call with the flaws that were found.

    The ref '' names no call. It names the chain with the service's own events. For this ref, verify only the chain.
    """
    lines = _chain(snapshot, ref)
    if not ref:
        return _Case(None, (Flaw.LINE,) if verify(keys, lines) else ())
    try:
        votes = [rows.vote_of(row) for row in snapshot.stored("votes", rows.VOTE, ("seq",), col(VoteRow.ref) == ref)]
        calls = [
            rows.listed_call_of(row) for row in snapshot.stored("calls", rows.CALL, ("ref",), col(CallRow.ref) == ref)
        ]
    except rows.UNREADABLE:
        return _Case(None, (Flaw.ROW,))
    if not calls:
        return _Case(None, (Flaw.NO_CALL,))
    return _Case(calls[0], tuple(flaw.what for flaw in flaws_of(keys, calls[0], votes, lines)))
