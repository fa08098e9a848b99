"""For `sayso doctor`: finds in the audit record which kinds of answers have arrived from each platform.

The kinds are presses, texts and reactions. A platform doesn't say which of them it sends to a bot. So the audit record
is the only proof: if an answer of one kind has arrived, the platform sends that kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.database import surveyed
from bot.wording import say
from hitl.call import ReplyKind
from hitl.errors import Unavailable
from hitl.platforms import Check, Health
from hitl.proof.chain import data_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from hitl.surfaces import Surface

#: At most this many of the latest lines of the audit record are read.
_LATEST = 10_000
_KINDS = [kind.value for kind in ReplyKind]


def report(database: Path, surfaces: Sequence[Surface]) -> list[Check]:
    """Return a check for each platform: the kinds of answers that have arrived from it.

    The check is yellow until a press has arrived: every card has buttons, so presses are the first kind to expect.
    """
    seen = dict(_seen(database))
    return [
        _check(surface, {kind: at for (where, kind), at in seen.items() if where == surface.name})
        for surface in surfaces
    ]


def _check(surface: Surface, seen: Mapping[ReplyKind, datetime]) -> Check:
    name = f"{surface.name} answers"
    if not seen:
        return Check(name, Health.YELLOW, say("doctor.answers.none"))
    came = ", ".join(
        say("doctor.answers.came", kind=kind.value, at=f"{at:%Y-%m-%d %H:%M}") for kind, at in sorted(seen.items())
    )
    missing = ", ".join(
        say("doctor.answers.not_yet", kind=kind.value, why=why)
        for kind, why in surface.answers.items()
        if kind not in seen
    )
    text = say("doctor.answers.missing", came=came, missing=missing) if missing else say("doctor.answers", came=came)
    return Check(name, Health.GREEN if ReplyKind.BUTTON in seen else Health.YELLOW, text)


def _seen(database: Path) -> Iterator[tuple[tuple[str, ReplyKind], datetime]]:
    """Yield ((surface, kind of answer), time) for each recorded answer, oldest first."""
    for at, data in reversed(_lines(database)):
        line = data_of(data)
        if line.get("kind") in _KINDS and isinstance(line.get("surface"), str):
            yield (line["surface"], ReplyKind(line["kind"])), at


def _lines(database: Path) -> Sequence[tuple[datetime, str]]:
    """Return the time and the data of each of the latest lines of the audit record, newest first.

    Return [] if the audit record can't be read, because the check of the database reports that.
    """
    try:
        with surveyed(database) as survey:
            return survey.latest_lines(_LATEST)
    except Unavailable:
        return []
