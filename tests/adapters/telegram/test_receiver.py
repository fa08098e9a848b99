"""Our own getUpdates loop, against a server: recorded before acknowledged, one poller, quick to stop."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from adapters.telegram.platform import make_bot
from adapters.telegram.receiver import Poller, UpdateRecorder
from hitl.cards.wording import say
from hitl.testing import SetClock
from simulators.telegram import Garbage, Refuse, Reset, TelegramServer
from tests.adapters.disk import Disk
from tests.hitl.world import NOON
from tests.sentences import says
from tests.wired import telegram_settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from telegram import Bot

    from simulators.telegram import Chat, User


@dataclass
class Line:
    """A server with Ann on it, and what receives from it."""

    server: TelegramServer
    bot: Bot
    store: Disk
    poller: Poller
    ann: User
    room: Chat

    @contextlib.asynccontextmanager
    async def polling(self) -> AsyncIterator[None]:
        """While the poller runs."""
        running = asyncio.create_task(self.poller.run())
        try:
            yield
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    async def kept(self, count: int) -> list[str]:
        """The texts that were recorded, once there are so many conversations with one."""

        def found() -> bool:
            return len(self.store._inbox) >= count  # noqa: SLF001 - the port tells only the oldest

        await self.server.wait_for(found, what="records")
        rows = [event.incoming.body for event in self.store._inbox.values()]  # noqa: SLF001
        return [str(json.loads(body).get("message", {}).get("text")) for body in rows]


@pytest.fixture
async def line() -> AsyncIterator[Line]:
    """All of it, nothing running."""
    async with TelegramServer() as server:
        account = await server.bot()
        ann = await server.user("Ann")
        store = Disk(SetClock(NOON))
        async with make_bot(telegram_settings(server, account)) as bot:
            poller = Poller(bot, UpdateRecorder(store, lambda: None), poll_s=5)
            yield Line(server, bot, store, poller, ann, await server.private(ann, account.id))


async def test_what_is_not_recorded_is_not_acknowledged(line: Line) -> None:
    """The store is in trouble: Telegram keeps the update, readiness says why, and later it is recorded."""
    line.store.full = True
    await line.server.say(line.ann, line.room, "yes")
    async with line.polling():
        await line.server.wait_for(lambda: "record" in (line.poller.trouble or ""), what="trouble")
        waiting = len(await line.server.pending())
        line.store.full = False

        assert 1 == waiting
        assert ["yes"] == await line.kept(1)
    assert line.poller.trouble is None


async def test_readiness_comes_with_the_first_answer(line: Line) -> None:
    """Not after a long poll in which nothing happened."""
    assert say("trouble.telegram.silent") == line.poller.trouble
    async with line.polling():
        await line.server.wait_polling()

        assert line.poller.trouble is None


async def test_a_second_poller_is_said_for_as_long_as_it_is_there(line: Line) -> None:
    """The newer kills the older with 409: one of them is too many, and answers may go astray."""
    async with line.polling():
        await line.server.wait_polling()
        await line.bot.get_updates(timeout=1, read_timeout=5)
        await line.server.wait_for(lambda: "another poller" in (line.poller.trouble or ""), what="trouble")
        await line.server.wait_polling()
        stays = line.poller.trouble
        await line.server.say(line.ann, line.room, "yes")
        await line.server.wait_for(lambda: line.poller.trouble is None, what="peace")

    assert "another poller" in str(stays)


async def test_a_webhook_in_the_way_is_said(line: Line) -> None:
    """With what Telegram says about it."""
    await line.bot.set_webhook("http://127.0.0.1:9/hook", secret_token="s")
    async with line.polling():
        await line.server.wait_for(lambda: "webhook" in (line.poller.trouble or ""), what="trouble")


@pytest.mark.parametrize(
    "fault", [Refuse(500, "Internal"), Garbage(200), Garbage(200, "{}"), Garbage(200, "[]"), Reset()], ids=str
)
async def test_no_trouble_of_telegrams_ends_it(line: Line, fault: Refuse | Garbage | Reset) -> None:
    """It tries again, and loses nothing."""
    await line.server.fail("getUpdates", fault)
    await line.server.say(line.ann, line.room, "yes")
    async with line.polling():
        assert ["yes"] == await line.kept(1)


async def test_a_revoked_token_is_said_with_its_remedy_and_logged_once(
    line: Line, caplog: pytest.LogCaptureFixture
) -> None:
    """Readiness says what to do, and the log gets a line when the trouble changes, not at each retry."""
    await line.server.fail("getUpdates", Refuse(401, "Unauthorized"), times=2)
    async with line.polling():
        await line.server.wait_for(lambda: says(line.poller.trouble or "", "remedy.telegram.token"), what="trouble")
        await line.server.wait_for(lambda: line.poller.trouble is None, what="peace")

    assert ["telegram.polling"] == [record.message for record in caplog.records if record.message == "telegram.polling"]


async def test_updates_that_nobody_can_read_hold_nothing_up(line: Line) -> None:
    """They are recorded like all others; what comes after them arrives."""
    queue = line.server.platform.desks[line.bot.id].queue
    queue.push("message", {"no": "message"}, "x")
    await line.server.say(line.ann, line.room, "yes")
    async with line.polling():
        assert ["None", "yes"] == await line.kept(2)


async def test_it_stops_at_once_in_a_long_poll(line: Line) -> None:
    """A stop doesn't wait for Telegram."""
    async with asyncio.timeout(1):
        async with line.polling():
            await line.server.wait_polling()


@pytest.mark.parametrize("level", [logging.DEBUG, logging.INFO])
async def test_no_log_holds_the_token(line: Line, caplog: pytest.LogCaptureFixture, level: int) -> None:
    """Also when everything is logged and the network fails: the token is part of every address."""
    for name in ("", "httpx", "httpcore", "telegram"):
        caplog.set_level(level, logger=name)
    token = line.bot.token
    async with line.polling():
        await line.server.say(line.ann, line.room, "yes")
        await line.kept(1)
        await line.server.down()
        await line.server.wait_for(lambda: "Error" in (line.poller.trouble or ""), what="trouble")

    assert token not in caplog.text
    assert token.partition(":")[2] not in caplog.text
    assert token not in str(line.poller.trouble)


class Answers:
    """A bot whose server answers a poll with whatever is given."""

    base_url = "http://bot"

    def __init__(self, *polls: object) -> None:
        self._polls = list(polls)
        self.request = self

    async def post(self, url: str, read_timeout: float) -> object:
        """Return the next answer."""
        del url, read_timeout
        return self._polls.pop(0)


async def test_an_update_that_can_not_be_kept_holds_up_no_other(caplog: pytest.LogCaptureFixture) -> None:
    """Whatever an update holds, those around it are kept and acknowledged, and the log names the one that wasn't."""
    store = Disk(SetClock(NOON))
    strange: list[object] = [{}, None, "text", {"update_id": None}, {"update_id": 7, "message": {"x": {1, 2}}}]
    bot: Any = Answers([{"update_id": 1, "message": 5}, *strange, {"update_id": 8, "edited_message": []}])
    poller = Poller(bot, UpdateRecorder(store, lambda: None))
    await poller.run_once()

    assert ["1", "8"] == [event for _, event in store._inbox if event != "None"]  # noqa: SLF001 - the port tells only the oldest
    assert 9 == poller._offset  # noqa: SLF001 - what the next poll acknowledges
    assert {"update": 7, "why": "TypeError"} in [line.args for line in caplog.records]
