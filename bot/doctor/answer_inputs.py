"""What `doctor` learns from the record: by which ways answers came in from each platform, and by which none did yet.

A platform doesn't tell a bot whether presses, words or reactions are switched on for it; that they came in does.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hitl.call import ReplyKind
from hitl.errors import Unavailable
from hitl.platforms import Check, Health

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from hitl.surfaces import Surface

#: So many of the latest lines of the record are looked at.
_LATEST = 10_000


def report(database: Path, surfaces: Sequence[Surface]) -> list[Check]:
    """A line for each platform. Buttons are what every card offers: without one press it isn't well yet."""
    seen = dict(_seen(database))
    return [
        _check(surface, {kind: at for (where, kind), at in seen.items() if where == surface.name})
        for surface in surfaces
    ]


def _check(surface: Surface, seen: Mapping[ReplyKind, datetime]) -> Check:
    name = f"{surface.name} answers"
    if not seen:
        text = "none came in yet: ask something, answer it in each way, and look again"
        return Check(name, Health.YELLOW, text)
    came = ", ".join(f"{kind.value} ({at:%Y-%m-%d %H:%M} UTC)" for kind, at in sorted(seen.items()))
    missing = ", ".join(f"{kind.value} ({why})" for kind, why in surface.answers.items() if kind not in seen)
    text = f"came in by {came}" + (f"; not yet by {missing}" if missing else "")
    return Check(name, Health.GREEN if ReplyKind.BUTTON in seen else Health.YELLOW, text)


def _seen(database: Path) -> Iterator[tuple[tuple[str, ReplyKind], datetime]]:
    """Surface and kind of the answers on record, and when the latest came, oldest first."""
    for at, data in reversed(_lines(database)):
        line = json.loads(data)
        if "surface" in line and "kind" in line:
            yield (line["surface"], ReplyKind(line["kind"])), at


def _lines(database: Path) -> Sequence[tuple[datetime, str]]:
    """Nothing where there is no record that can be read; the database's own check says so."""
    from adapters.database.sqlite.survey import surveyed

    try:
        with surveyed(database) as survey:
            return survey.latest_lines(_LATEST)
    except Unavailable:
        return []
