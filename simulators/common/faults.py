"""Things that go wrong on the way, scripted: a test says which next calls fare how.

Garbage      something else answers instead: a page, a word, or JSON that is no answer; nothing happens
Hang         the call waits before it is carried out
Reset        the connection breaks before the call is carried out
DropAnswer   the call is carried out and the connection breaks instead of the answer

How a call is refused is a platform's own affair: its `faults` adds that, and names them all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

ANY_METHOD: Final = "*"

F = TypeVar("F")


@dataclass(frozen=True, slots=True)
class Garbage:
    """Something else answers: by default a proxy in between, that reaches nobody."""

    status: int = 502
    body: str = "<html><head><title>502 Bad Gateway</title></head></html>"
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


Trouble = Garbage | Hang | Reset | DropAnswer
TROUBLES: Final[dict[str, type[Trouble]]] = {
    "garbage": Garbage,
    "hang": Hang,
    "reset": Reset,
    "drop_answer": DropAnswer,
}


class FaultPlan(Generic[F]):
    """What the next calls meet, in the order in which it was scripted.

    `kinds` makes a fault by the name of its kind, for callers over HTTP. A method's name counts in any case.
    """

    def __init__(self, kinds: Mapping[str, Callable[..., F]]) -> None:
        self._kinds = kinds
        self._planned: list[tuple[str, F]] = []

    def add(self, method: str, one: F, times: int = 1) -> None:
        """Plan a fault for the next calls of a method, or of any ("*")."""
        self._planned.extend([(method.lower(), one)] * times)

    def named(self, kind: str, **fields: Any) -> F:
        """Return a fault by the name of its kind.

        Raises `KeyError` for an unknown kind and `TypeError` for wrong fields.
        """
        return self._kinds[kind](**fields)

    def clear(self) -> None:
        """Plan nothing any more."""
        self._planned.clear()

    def left(self) -> int:
        """Return how many planned faults did not happen yet."""
        return len(self._planned)

    def next_for(self, method: str) -> F | None:
        """Return the fault that this call meets, and strike it off."""
        for index, (wanted, one) in enumerate(self._planned):
            if wanted in {method.lower(), ANY_METHOD}:
                del self._planned[index]
                return one
        return None
