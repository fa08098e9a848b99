"""Things that go wrong on the way, scripted: a test says which next calls fare how.

Refuse       the call is refused: error code, status, Retry-After; nothing happens
Garbage      something else answers instead: a page, a word, or JSON that is no answer of Slack's; nothing happens
Hang         the call waits before it is carried out
Reset        the connection breaks before the call is carried out
DropAnswer   the call is carried out and the connection breaks instead of the answer
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from .errors import Json, Refusal

ANY_METHOD: Final = "*"


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


@dataclass(frozen=True, slots=True)
class Garbage:
    """A proxy in between answers."""

    status: int = 503
    body: str = "<html><head><title>503 Service Unavailable</title></head></html>"
    content_type: str = "text/html"


@dataclass(frozen=True, slots=True)
class Hang:
    """The server takes so many real seconds, then carries the call out."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Reset:
    """The connection breaks; nothing happened."""


@dataclass(frozen=True, slots=True)
class DropAnswer:
    """The connection breaks; it happened."""


Fault = Refuse | Garbage | Hang | Reset | DropAnswer
KINDS: Final[dict[str, type[Fault]]] = {
    "refuse": Refuse,
    "garbage": Garbage,
    "hang": Hang,
    "reset": Reset,
    "drop_answer": DropAnswer,
}


def fault(kind: str, **fields: Any) -> Fault:
    """Return a fault by the name of its kind, for callers over HTTP.

    Raises `KeyError` for an unknown kind and `TypeError` for wrong fields.
    """
    return KINDS[kind](**fields)


class FaultPlan:
    """What the next calls meet, in the order in which it was scripted."""

    def __init__(self) -> None:
        self._planned: list[tuple[str, Fault]] = []

    def add(self, method: str, one: Fault, times: int = 1) -> None:
        """Plan a fault for the next calls of a method, or of any ("*")."""
        self._planned.extend([(method, one)] * times)

    def clear(self) -> None:
        """Plan nothing any more."""
        self._planned.clear()

    def left(self) -> int:
        """Return how many planned faults did not happen yet."""
        return len(self._planned)

    def next_for(self, method: str) -> Fault | None:
        """Return the fault that this call meets, and strike it off."""
        for index, (wanted, one) in enumerate(self._planned):
            if wanted in {method, ANY_METHOD}:
                del self._planned[index]
                return one
        return None
