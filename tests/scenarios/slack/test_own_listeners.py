"""An operator's own listeners on the app: they run beside ours, and nothing that they do decides."""

from __future__ import annotations

from typing import Any

from hitl.call import Status, Verb
from tests.scenarios.slack.surface import staged


async def test_a_yes_to_an_operators_own_question_decides_nothing() -> None:
    """They asked one person alone, and a bare yes may answer that. A yes with the name of the call counts."""

    def register(app: Any) -> None:
        async def ask(event: dict[str, Any], client: Any) -> None:
            item = event["item"]
            await client.chat_postEphemeral(channel=item["channel"], user=event["user"], text="Shall I order pizza?")

        app.event("reaction_added")(ask)

    async with staged("socket", register=register) as stage:
        room = stage.surface
        call = await stage.ask()
        await room.server.react(room.people["ann"], room.root, "eyes")
        await room.settle()
        await room.write("ann", "yes")
        asked_back = await stage.status(call)
        await room.write("ann", f"yes {call.short}")

        assert Status.PENDING == asked_back
        assert Status.SUCCEEDED == await stage.status(call)


async def test_a_listener_that_fails_on_everything_keeps_no_press_from_counting() -> None:
    """The press counts once; their failure is tried again and then set aside."""
    failed: list[str] = []

    def register(app: Any) -> None:
        async def fail(body: dict[str, Any]) -> None:
            failed.append(body["type"])
            raise ZeroDivisionError

        app.action("sayso:approve")(fail)

    async with staged("socket", register=register) as stage:
        call = await stage.ask()
        await stage.surface.press("ann", call, Verb.APPROVE)

        assert Status.SUCCEEDED == await stage.status(call)
        assert 1 == len(stage.ran())
        assert failed
