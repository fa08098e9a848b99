"""What people said to the app while nobody listened: it is fetched from Slack's own history."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

import pytest

from hitl.call import Event, Status
from simulators.slack import Refuse
from tests.patience import PATIENCE_S
from tests.scenarios.slack.surface import Room, SlackStage, staged

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def stage() -> AsyncIterator[SlackStage]:
    """The stage, by Socket Mode, which keeps nothing for an app that is away."""
    async with staged("socket") as stage:
        await stage.surface.server.wait_connected()
        yield stage


async def given_up(room: Room) -> None:
    """Slack tries for five minutes to deliver an event."""
    async with asyncio.timeout(PATIENCE_S):
        while any(one.state == "waiting" for one in room.server.platform.deliveries):
            await room.server.advance(60)
            await asyncio.sleep(0.01)


async def missed(stage: SlackStage, text: str, *, edited: str = "", inside: bool = True) -> None:
    """Ann mentions the app while the service is down, in the thread or the channel; then the service is back."""
    room = stage.surface
    async with away(stage):
        said = await room.server.mention(room.people["ann"], room.room, text, thread=room.root if inside else None)
        if edited:
            await room.server.edit(room.people["ann"], said, f"@{room.app.bot.name} {edited}")


@contextlib.asynccontextmanager
async def away(stage: SlackStage) -> AsyncIterator[None]:
    """The service is down meanwhile, until Slack has given up to deliver; then the service is back."""
    room = stage.surface
    await room.settle()
    await stage.halt()
    yield
    await given_up(room)
    await stage.start()
    await room.server.wait_connected()
    await room.settle()


@pytest.mark.parametrize("inside", [True, False])
async def test_a_missed_mention_counts_once_the_service_is_back(stage: SlackStage, *, inside: bool) -> None:
    """In a thread as in the channel, by the name of its call."""
    call = await stage.ask()
    await missed(stage, f"yes {call.short}", inside=inside)

    assert Status.SUCCEEDED == await stage.status(call)
    assert 1 == len(stage.ran())


@pytest.mark.parametrize("refused", ["", "users.conversations", "conversations.history"])
async def test_a_missed_mention_in_an_old_thread_of_a_pending_call_counts(stage: SlackStage, refused: str) -> None:
    """A channel's history lists no thread that began before the gap, so the threads of pending calls are read too.

    They are also read if Slack refuses the list of channels or the history of the channel.
    """
    room = stage.surface
    call = await stage.ask()
    await room.settle()
    await room.server.advance(600)
    await room.server.mention(room.people["uma"], room.room, "hello", thread=None)
    if refused:
        await room.server.fail(refused, Refuse("missing_scope"))
    await missed(stage, f"yes {call.short}")

    assert Status.SUCCEEDED == await stage.status(call)
    assert 1 == len(stage.ran())


@pytest.mark.parametrize(("between", "status"), [("", Status.SUCCEEDED), ("what is this?", Status.PENDING)])
async def test_a_missed_yes_in_the_thread_of_a_pending_call_needs_no_mention(
    stage: SlackStage, between: str, status: Status
) -> None:
    """It counts as it does while the service listens: not if somebody else wrote in between."""
    room = stage.surface
    call = await stage.ask()
    async with away(stage):
        if between:
            await room.server.say(room.people["uma"], room.room, between, thread=room.root)
        await room.server.say(room.people["ann"], room.room, "yes", thread=room.root)

    assert status == await stage.status(call)


async def test_a_missed_yes_without_a_mention_that_was_edited_decides_nothing(stage: SlackStage) -> None:
    """Nobody knows what it said when its author sent it."""
    room = stage.surface
    call = await stage.ask()
    async with away(stage):
        said = await room.server.say(room.people["ann"], room.room, "what is this?", thread=room.root)
        await room.server.edit(room.people["ann"], said, "yes")

    assert Status.PENDING == await stage.status(call)


async def test_missed_words_in_an_older_thread_of_a_direct_conversation_reach_the_agent(stage: SlackStage) -> None:
    """In the views for agents, each conversation is such a thread, and its first message may be hours old."""
    room = stage.surface
    uma = room.people["uma"]
    begun = await room.server.say(uma, room.app, "hello")
    await room.server.advance(3600)
    await room.server.say(room.people["ann"], room.room, "lunch?")
    async with away(stage):
        await room.server.say(uma, room.app, "delete notes.txt", thread=begun)
    (call,) = await stage.store.pending()

    assert f"{room.identities['uma']}/{begun.ts}" == call.origin


async def test_replies_that_are_left_out_are_logged(stage: SlackStage, caplog: pytest.LogCaptureFixture) -> None:
    """An operator learns from the log that a thread had more messages than are fetched after a gap."""
    room = stage.surface
    call = await stage.ask()
    await room.settle()
    await stage.halt()
    for number in range(201):
        await room.server.say(room.people["ann"], room.room, f"talk {number}", thread=room.root)
    await given_up(room)
    await stage.start()
    await room.server.wait_connected()
    await room.settle()

    cut = [record.args for record in caplog.records if record.msg == "slack.history_cut"]
    assert [{"messages", "channel", "thread"}] == [set(facts) for facts in cut if isinstance(facts, dict)]
    assert Status.PENDING == await stage.status(call)


async def test_a_fetched_message_that_was_edited_decides_nothing(stage: SlackStage) -> None:
    """Nobody knows what it said when its author sent it. It is on record as what can't count."""
    call = await stage.ask()
    await missed(stage, "what is this?", edited=f"yes {call.short}")
    service_record = await stage.store.history("")

    assert Status.PENDING == await stage.status(call)
    assert Event.BARRED in {line.event for line in service_record}


async def test_what_came_in_before_is_not_heard_again(stage: SlackStage) -> None:
    """The history also holds what was handled: a request from before the gap stays one request."""
    await stage.surface.say("uma", "delete notes.txt")
    before = await stage.store.pending()
    await missed(stage, "hello", inside=False)

    assert [call.ref for call in before] == [call.ref for call in await stage.store.pending()]


async def test_a_new_installation_reads_no_history() -> None:
    """What was said before Sayso ever heard anything was said to nobody."""
    async with staged("socket") as stage:
        await stage.halt()
        stage.store._inbox.clear()  # noqa: SLF001 - as if nothing had ever come in
        await stage.start()

        assert [] == await stage.surface.server.calls("users.conversations")


async def test_an_app_in_no_channel_has_no_history(caplog: pytest.LogCaptureFixture) -> None:
    """Slack's empty list of channels is an answer, so the start warns of nothing."""
    async with staged("socket") as stage:
        await stage.surface.write("ann", "hello")
        await stage.surface.settle()
        await stage.halt()
        for channel in stage.surface.server.world.channels.values():
            channel.members = [one for one in channel.members if one != stage.surface.app.user_id]
        await stage.start()
        await stage.surface.server.wait_calls("users.conversations", 1, timeout=PATIENCE_S)
        await stage.surface.settle()

        assert "slack.history_not_read" not in caplog.messages


async def test_a_gap_in_the_connections_is_filled_too(stage: SlackStage) -> None:
    """The process lives, but no connection was up when Ann wrote."""
    room = stage.surface
    call = await stage.ask()
    await room.write("ann", "I look at it.")
    await room.server.fail("apps.connections.open", Refuse("internal_error"))
    await room.server.cut()
    await room.server.mention(room.people["ann"], room.room, f"yes {call.short}", thread=room.root)
    await given_up(room)
    await room.server.wait_calls("users.conversations", 1, timeout=PATIENCE_S)
    await room.settle()

    assert Status.SUCCEEDED == await stage.status(call)


@pytest.mark.parametrize("method", ["users.conversations", "conversations.history", "conversations.replies"])
async def test_a_history_that_slack_does_not_give_keeps_nothing_down(stage: SlackStage, method: str) -> None:
    """The service starts, and the next mention counts."""
    call = await stage.ask()
    fault: Any = Refuse("missing_scope")
    await stage.surface.server.fail(method, fault)
    await missed(stage, f"yes {call.short}")
    await stage.surface.say("ann", f"yes {call.short}")

    assert Status.SUCCEEDED == await stage.status(call)
