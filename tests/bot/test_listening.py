"""`sayso chat`: what the service says is shown when it comes, and every end of it ends the command."""

from __future__ import annotations

import queue
from typing import cast

import pytest

from bot.cli.running import Listening
from sayso_client.client import Client
from sayso_client.errors import ClientError


class Line:
    """The service at the other end: what it shows, None where a line is answered, or what it raises."""

    def __init__(self, *says: str | BaseException | None) -> None:
        self.says: queue.SimpleQueue[str | BaseException | None] = queue.SimpleQueue()
        self.told: list[str] = []
        for each in says:
            self.says.put(each)

    def tell(self, line: str) -> None:
        """Take a line."""
        self.told.append(line)

    def shown(self) -> str | None:
        """The next of what it says."""
        said = self.says.get(timeout=60)
        if isinstance(said, BaseException):
            raise said
        return said

    def leave(self) -> None:
        """Nobody listens any more."""
        self.says.put(ClientError("UNAVAILABLE", "left"))


def test_texts_are_shown_as_they_come_and_lines_wait_for_their_answers() -> None:
    """Also a text that no line asked for."""
    line, shown = Line("a card", None, "an outcome", None), list[str]()
    Listening(cast("Client", line), shown.append).talk(["one", "two"])

    assert ["one", "two"] == line.told
    assert ["a card", "an outcome"] == shown


def test_what_the_service_refuses_ends_the_conversation() -> None:
    """It is raised to whoever talks."""
    with pytest.raises(ClientError, match="gone"):
        Listening(cast("Client", Line(ClientError("NOT_APPROVER", "gone"))), print).talk(["one"])


def test_a_screen_that_is_gone_ends_the_conversation() -> None:
    """As with `sayso chat | head -1`: nobody waits for an answer that can't be shown."""

    def broken(_text: str) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        Listening(cast("Client", Line("a card", None)), broken).talk(["one", "two"])
