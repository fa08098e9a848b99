"""The sessions of agents that have pending requests, as data and in words.

A session is, for example, one run of an agent. An agent chooses the name of its session, so two agents may choose the
same name. Calls belong to one session only if both the session's name and the requester are the same.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hitl.cards.card import headline
from hitl.cards.redaction import mask
from hitl.cards.text import one_line, quoted
from hitl.cards.wording import IN_ENGLISH, SIGNS
from hitl.people.names import NOBODY, Names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hitl.call import Call
    from hitl.cards.wording import Wording

#: The highest numbers of characters shown: of a name (of an agent, a project or a session), and of a folder.
_NAME, _FOLDER = 60, 120
_SEPARATORS = re.compile(r"[/\\]+")


class WaitingSession(Struct, frozen=True):
    """An agent's session with its pending calls, oldest first. There is at least one call."""

    calls: tuple[Call, ...]

    @property
    def newest(self) -> Call:
        """The newest call of the session.

        Its working folder counts as the session's folder, because an agent may change folders.
        """
        return self.calls[-1]

    @property
    def project(self) -> str:
        """The name of the session's working folder, without its path, or '' if the folder isn't known."""
        return next(filter(None, reversed(_SEPARATORS.split(self.newest.cwd or ""))), self.newest.cwd or "")


def waiting_sessions(pending: Iterable[Call]) -> list[WaitingSession]:
    """Return the sessions of these pending calls. The calls must be in the order of their age, oldest first.

    The session that has waited longest is first. Calls without a session are left out.
    """
    found: dict[tuple[str, str, str], list[Call]] = {}
    for call in pending:
        if call.session:
            found.setdefault((call.requester, call.agent, call.session), []).append(call)
    return [WaitingSession(tuple(calls)) for calls in found.values()]


def session_view(session: WaitingSession, names: Names = NOBODY) -> dict[str, Any]:
    """Return a session as JSON types, with secrets masked. The reader must be permitted to see its calls."""
    newest = session.newest
    return {
        "agent": _told(newest.agent),
        "session": _told(newest.session),
        "project": _told(session.project),
        "cwd": mask(newest.cwd) if newest.cwd else None,
        "requester": newest.requester,
        "requester_name": names.of(newest.requester),
        "pending": len(session.calls),
        "since": session.calls[0].created_at.isoformat(),
        "newest": newest.ref,
        "newest_short": newest.short,
        "headline": headline(newest, names),
        "text": session_text(session, names),
    }


def session_text(session: WaitingSession, names: Names = NOBODY, wording: Wording = IN_ENGLISH) -> str:
    """Return two lines about a session: agent, project, name, number of calls and start; then its newest request."""
    say, newest, count = wording.say, session.newest, len(session.calls)
    folder = say("session.folder", folder=quoted(mask(newest.cwd), _FOLDER)) if newest.cwd else ""
    first = say(
        "session.waits",
        agent=_quoted(newest.agent or names.of(newest.requester)),
        project=_quoted(session.project or "-"),
        session=_quoted(newest.session),
        requests=count,
        since=f"{session.calls[0].created_at:%Y-%m-%d %H:%M}",
        folder=folder,
    )
    sign = SIGNS[newest.verdict.risk]
    told = say("session.newest", short=newest.short, sign=sign, headline=headline(newest, names, wording))
    return f"{first}\n{told}"


def _told(text: str) -> str:
    """Return a name that an agent chose, on one line.

    It is masked before it is cut, so that no part of a secret shows.
    """
    return one_line(mask(text), _NAME)


def _quoted(text: str) -> str:
    """Return a name that an agent chose, for use in a sentence: in quotation marks unless it is plain."""
    return quoted(mask(text), _NAME)
