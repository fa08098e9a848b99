"""The chat asks Slack only for what it needs, and keeps no data about what it doesn't show."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.slack.chat import SlackChat
from adapters.slack.pace import Pace
from hitl.people import Directory
from hitl.proof.keyring import Keyring


class Status:
    """A client that only shows that an answer is being made, and counts that."""

    def __init__(self) -> None:
        self.shown: list[tuple[str, str]] = []

    async def assistant_threads_setStatus(self, *, channel_id: str, thread_ts: str, status: str) -> None:  # noqa: N802
        """Slack's method."""
        assert status
        self.shown.append((channel_id, thread_ts))


@pytest.mark.parametrize(("route", "shown"), [("slack:T1/C1", []), ("slack:T1/C1/1.0", [("C1", "1.0")])])
async def test_only_a_thread_shows_that_an_answer_is_being_made(route: str, shown: list[tuple[str, str]]) -> None:
    """Slack shows it in threads alone, so nothing is asked or remembered for a channel."""
    client: Any = Status()
    chat = SlackChat(client, Keyring([("k1", b"1" * 32)]), Pace(lambda: 0.0), Directory())
    for _ in range(2):
        await chat.working(route, on=True)

    assert shown == client.shown
    assert [route] * len(shown) == list(chat.agent_view._working)  # noqa: SLF001 - what it remembers
