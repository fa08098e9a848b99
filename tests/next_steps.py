"""Each line of `sayso doctor` that isn't green names the next step."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hitl.platforms import Health

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hitl.platforms import Check

#: What a person can do, as the sentence or the part of a sentence that begins with it.
_VERBS = (
    "add allow ask compare correct export fix free give install invite keep let list look make map mend move name open"
    " put read remove replace restart restore run see send set start stop switch take turn unarchive use write"
)
_STEP = re.compile(rf"(?:^|[.;:,] |\bor |\bthen )(?:{'|'.join(_VERBS.split())})\b|\bmust send\b", re.IGNORECASE)


def without_a_step(checks: Iterable[Check]) -> list[str]:
    """The lines that aren't green and name no next step."""
    wrong = (check for check in checks if check.state is not Health.GREEN)
    return [f"{check.name}: {check.text}" for check in wrong if not _STEP.search(check.text)]
