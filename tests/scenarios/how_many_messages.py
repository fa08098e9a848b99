"""How much a request writes into a conversation: what is the same on every platform. Each platform imports it."""

from __future__ import annotations

from typing import Any

from hitl.call import Status


async def test_an_expiry_is_one_message(stage: Any) -> None:
    """The card says that nobody answered."""
    call = await stage.ask()
    await stage.wait(301)

    assert Status.EXPIRED == await stage.status(call)
    assert 1 == len(stage.surface.posted())
