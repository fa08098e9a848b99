"""Things that go wrong on the way, scripted: a test says which next calls fare how.

Refuse       the call is refused: error code, status, Retry-After; nothing happens
Garbage      something else answers instead: a page, a word, or JSON that is no answer of Slack's; nothing happens
Hang         the call waits before it is carried out
Reset        the connection breaks before the call is carried out
DropAnswer   the call is carried out and the connection breaks instead of the answer
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from simulators.common.faults import TROUBLES, DropAnswer, Garbage, Hang, Reset, Trouble
from simulators.slack.errors import Json, Refusal

__all__ = ["KINDS", "DropAnswer", "Fault", "Garbage", "Hang", "Refuse", "Reset"]


@dataclass(frozen=True, slots=True)
class Refuse:
    """The server refuses. A `ratelimited` with `retry_after` wants the status 429."""

    error: str
    status: int = 200
    retry_after: int | None = None
    fields: Json = field(default_factory=dict)

    def refusal(self) -> Refusal:
        """Return the answer."""
        return Refusal(self.error, self.status, self.fields, self.retry_after)


Fault = Refuse | Trouble
KINDS: Final[dict[str, type[Fault]]] = {"refuse": Refuse, **TROUBLES}
