"""An operator's own handlers on the bot: they run beside ours, and nothing that they do decides."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest
from telegram import Update
from telegram.ext import ApplicationHandlerStop, TypeHandler

from bot.workers.inbox import ASIDE_AFTER
from hitl.call import Status, Verb
from simulators.telegram import TelegramServer
from tests.scenarios.telegram.surface import Group, TelegramStage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable


@contextlib.asynccontextmanager
async def staged(register: Callable[[Any], None]) -> AsyncIterator[TelegramStage]:
    """A stage whose bot has these handlers, too."""
    async with TelegramServer() as server:
        stage = TelegramStage(await Group.gather(server), "polling", register=register)
        async with stage.played():
            yield stage


async def test_a_yes_to_an_operators_own_question_decides_nothing() -> None:
    """In private a bare yes answers the latest message there, and that is theirs. By the name of its call it counts."""
    apps: list[Any] = []
    async with staged(apps.append) as stage:
        group = stage.surface
        room = await group.server.private(group.people["ann"], group.bot.id)
        group.conversation, group.room = f"telegram:{room.id}", room
        call = await stage.ask()
        await apps[0].bot.send_message(room.id, "Shall I order pizza?")
        await group.server.say(group.people["ann"], room, "yes")
        await group.settle()
        asked_back = await stage.status(call)
        await group.server.say(group.people["ann"], room, f"yes {call.short}")

        assert Status.PENDING == asked_back
        assert Status.SUCCEEDED == await stage.status(call)


async def test_a_handler_that_fails_on_everything_keeps_no_press_from_counting(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The press counts once, and its handler isn't called again. An event about no request is tried five times."""
    failed: list[str] = []

    def register(app: Any) -> None:
        async def fail(update: Update, context: Any) -> None:
            del context
            failed.append("press" if update.callback_query else "text")
            raise ZeroDivisionError

        app.add_handler(TypeHandler(Update, fail), group=-1000)

    async with staged(register) as stage:
        call = await stage.ask()
        failed.clear()
        await stage.surface.press("ann", call, Verb.APPROVE)
        await stage.surface.say("sam", "hello")

        assert Status.SUCCEEDED == await stage.status(call)
        assert 1 == len(stage.ran())
        assert ["press", *["text"] * ASIDE_AFTER] == failed
        assert {"telegram"} == not_retried(caplog)


def not_retried(caplog: pytest.LogCaptureFixture) -> set[str]:
    """The sources of the events that the log says aren't tried again."""
    facts = (record.args for record in caplog.records if record.msg == "intake.not_retried")
    return {str(each["source"]) for each in facts if isinstance(each, dict)}


async def test_a_handler_that_stops_all_others_stops_none_of_ours() -> None:
    """`ApplicationHandlerStop` is for their own handlers."""

    def register(app: Any) -> None:
        async def stop(update: Update, context: Any) -> None:
            del update, context
            raise ApplicationHandlerStop

        app.add_handler(TypeHandler(Update, stop), group=-1000)

    async with staged(register) as stage:
        call = await stage.ask()
        await stage.surface.press("ann", call, Verb.APPROVE)

        assert Status.SUCCEEDED == await stage.status(call)
