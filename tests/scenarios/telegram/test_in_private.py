"""A private chat, where a bare word may decide."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

from hitl.call import Status
from hitl.outcomes import Told
from hitl.ports import PlatformError
from simulators.telegram import DropAnswer, Refuse
from tests.scenarios.harness import Stage, saying
from tests.sentences import says

if TYPE_CHECKING:
    from simulators.telegram import Chat
    from simulators.telegram.faults import Fault
    from tests.scenarios.telegram.surface import TelegramStage

REFUSED = Refuse(400, "Bad Request: message is too long")


async def private(stage: TelegramStage, who: str = "ann") -> Chat:
    """Somebody's chat with the bot; calls are asked there from now on."""
    group = stage.surface
    room = await group.server.private(group.people[who], group.bot.id)
    group.conversation, group.room = f"telegram:{room.id}", room
    return room


async def test_a_word_right_below_the_card_decides(stage: TelegramStage) -> None:
    """It can mean nothing else."""
    room = await private(stage)
    call = await stage.ask()
    await stage.surface.server.say(stage.surface.people["ann"], room, "yes")

    assert Status.SUCCEEDED == await stage.status(call)


async def test_typing_is_no_message(stage: TelegramStage) -> None:
    """While the bot shows that it works, its card stays the latest message, and a word right below it decides."""
    room = await private(stage)
    call = await stage.ask()
    wires = stage.surface.wires
    assert wires is not None
    await wires.chat.working(stage.surface.conversation, on=True)
    await stage.surface.server.say(stage.surface.people["ann"], room, "yes")

    assert "sendChatAction" in [one.method for one in stage.surface.server.platform.calls]
    assert Status.SUCCEEDED == await stage.status(call)


@pytest.mark.parametrize("whose", ["her own", "ours"])
async def test_a_yes_in_answer_to_another_message_decides_nothing(stage: TelegramStage, whose: str) -> None:
    """A text that answers a message which is about no call doesn't count as one that answers nothing."""
    room = await private(stage)
    group = stage.surface
    said = await group.server.say(group.people["ann"], room, "/help")
    await group.settle()
    helped = await group.server.wait_message(room, "/whoami")
    call = await stage.ask()
    await group.server.say(group.people["ann"], room, "yes", reply_to=helped if whose == "ours" else said)

    assert Status.PENDING == await stage.status(call)


async def test_a_word_sent_before_the_card_was_there_does_not(stage: TelegramStage) -> None:
    """It was said to something else, and came late only to us."""
    room = await private(stage)
    group = stage.surface
    await stage.halt()
    await group.server.say(group.people["ann"], room, "yes")
    call = await Stage.ask(stage)
    await stage.start()
    await group.settle()

    assert Status.PENDING == await stage.status(call)
    assert saying((message.text for message in group.posted()), Told.POINT, short=call.short)


@pytest.mark.parametrize("text", ["hm", "what a day", "yes but not now"])
async def test_an_unclear_word_is_asked_about(stage: TelegramStage, text: str) -> None:
    """And decides nothing."""
    room = await private(stage)
    call = await stage.ask()
    await stage.surface.server.say(stage.surface.people["ann"], room, text)

    assert Status.PENDING == await stage.status(call)
    assert says(stage.surface.posted()[-1].text, Told.UNCLEAR, short=call.short)


async def test_a_word_below_the_card_decides_after_a_restart(stage: TelegramStage) -> None:
    """Nobody but the two of us writes there, and what we wrote last is kept."""
    room = await private(stage)
    call = await stage.ask()
    await stage.halt()
    await stage.start()
    await stage.surface.server.say(stage.surface.people["ann"], room, "yes")

    assert Status.SUCCEEDED == await stage.status(call)


async def test_so_does_one_that_telegram_kept_while_we_were_down(stage: TelegramStage) -> None:
    """It was said right below the card."""
    room = await private(stage)
    call = await stage.ask()
    await stage.halt()
    await stage.surface.server.say(stage.surface.people["ann"], room, "yes")
    await stage.start()

    assert Status.SUCCEEDED == await stage.status(call)


async def test_what_we_say_to_what_was_kept_comes_after_all_of_it(stage: TelegramStage) -> None:
    """The answer to her first word stands below her second: what that was said to isn't known any more."""
    room = await private(stage)
    call = await stage.ask()
    await stage.halt()
    for text in ("/whoami", "yes"):
        await stage.surface.server.say(stage.surface.people["ann"], room, text)
    await stage.start()

    assert Status.PENDING == await stage.status(call)


async def test_a_word_below_something_else_does_not_after_a_restart(stage: TelegramStage) -> None:
    """What we said last was about another thing."""
    room = await private(stage)
    call = await stage.ask()
    await stage.surface.server.say(stage.surface.people["ann"], room, "/whoami")
    await stage.surface.settle()
    await stage.halt()
    await stage.start()
    await stage.surface.server.say(stage.surface.people["ann"], room, "yes")

    assert Status.PENDING == await stage.status(call)
    assert says(stage.surface.posted()[-1].text, Told.POINT, short=call.short)


@pytest.mark.parametrize(("fault", "then"), [(DropAnswer(), Status.PENDING), (REFUSED, Status.SUCCEEDED)])
async def test_what_may_be_there_stands_between(stage: TelegramStage, fault: Fault, then: Status) -> None:
    """A message of ours whose answer was lost, just before we went down; one that was refused is surely not there."""
    room = await private(stage)
    call = await stage.ask()
    assert stage.surface.wires is not None
    await stage.surface.server.fail("sendMessage", fault)
    with contextlib.suppress(PlatformError):
        await stage.surface.wires.chat.tell(f"telegram:{room.id}", "about something else")
    await stage.halt()
    await stage.start()
    await stage.surface.server.say(stage.surface.people["ann"], room, "yes")

    assert then == await stage.status(call)
