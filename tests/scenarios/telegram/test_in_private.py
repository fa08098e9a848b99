"""A private chat, where a bare word may decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hitl.model import Status
from tests.scenarios.harness import Stage

if TYPE_CHECKING:
    from tests.scenarios.telegram.surface import TelegramStage
    from tests.wire.telegram import Chat


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
    assert any(f"yes {call.short}" in message.text for message in group.posted())


@pytest.mark.parametrize("text", ["hm", "what a day", "yes but not now"])
async def test_an_unclear_word_is_asked_about(stage: TelegramStage, text: str) -> None:
    """And decides nothing."""
    room = await private(stage)
    call = await stage.ask()
    await stage.surface.server.say(stage.surface.people["ann"], room, text)

    assert Status.PENDING == await stage.status(call)
    assert "Nothing was decided" in stage.surface.posted()[-1].text
