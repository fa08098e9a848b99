"""Things that go wrong on the way, scripted: a test says which next calls fare how.

Refuse       the call is refused: status, description, parameters; nothing happens
Garbage      a proxy answers instead, and not in JSON; nothing happens
Hang         the call waits before it is carried out
Reset        the connection breaks before the call is carried out
DropAnswer   the call is carried out and the connection breaks instead of the answer
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from simulators.common.faults import TROUBLES, DropAnswer, Garbage, Hang, Reset, Trouble
from simulators.telegram.errors import Json, Refusal

__all__ = ["KINDS", "DropAnswer", "Fault", "Garbage", "Hang", "Refuse", "Reset"]


@dataclass(frozen=True, slots=True)
class Refuse:
    """The server refuses."""

    status: int
    description: str
    parameters: Json = field(default_factory=dict)

    def refusal(self) -> Refusal:
        """Return the answer."""
        return Refusal(self.status, self.description, self.parameters)


Fault = Refuse | Trouble
KINDS: Final[dict[str, type[Fault]]] = {"refuse": Refuse, **TROUBLES}
