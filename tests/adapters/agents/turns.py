"""A turn in a test's own hands: calls end as the test says, and what the agent keeps is there for the next process."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field

from hitl.call import Call, Result, State
from hitl.cards.wording import IN_ENGLISH, Wording
from hitl.ports import Offer
from hitl.testing import a_call
from tests.hitl.world import NOON

Ends = Callable[[str, Mapping[str, object]], Call]
PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
OFFERS = (Offer("files", "delete", "Deletes a file.", PATH), Offer("files", "list", "Lists files.", {}))


async def offers() -> tuple[Offer, ...]:
    """Two tools."""
    return OFFERS


def ran(tool: str, args: Mapping[str, object]) -> Call:
    """Every call is allowed and runs."""
    return a_call(
        NOON, tool=tool, args=str(args).encode(), state=State.COMPLETED, result=Result.SUCCEEDED, output="done"
    )


@dataclass
class ATurn:
    """Implements `hitl.ports.StoredTurn`."""

    text: str = "clean up"
    on_behalf_of: str = "uma"
    asked_by: str = "uma"
    said: tuple[tuple[str, str], ...] = ()
    state: bytes = b""
    wording: Wording = IN_ENGLISH
    before: bytes = b""
    ends: Ends = ran
    words: list[str] = field(default_factory=list)
    calls: dict[str, tuple[str, str, Mapping[str, object]]] = field(default_factory=dict)
    kept: list[bytes] = field(default_factory=list)

    async def keep(self, state: bytes) -> None:
        """What the next process finds."""
        self.state = state
        self.kept.append(state)

    async def say(self, text: str) -> None:
        """What people read."""
        self.words.append(text)

    @contextlib.asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """Nobody looks."""
        yield

    async def call(self, tools: str, tool: str, args: Mapping[str, object], *, name: str) -> Call:
        """The call, as the test has it end."""
        assert name not in self.calls
        self.calls[name] = tools, tool, args
        return self.ends(tool, args)
