"""A real service over the fakes, on a Telegram server of ours: over HTTP as in life, by polling or by webhook."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adapters.telegram.handlers import ALLOWED_UPDATES
from adapters.telegram.platform import build
from adapters.telegram.settings import TelegramSettings
from adapters.telegram.webhook import PATH
from bot.platform_runner import Connector
from bot.service import Service
from hitl.platforms import Core
from simulators.telegram import TelegramServer
from tests.canaries import CANARIES
from tests.patience import PATIENCE_S
from tests.serving import serving
from tests.settling import quieted

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from adapters.http.listeners import Server
    from adapters.telegram.chat import TelegramChat
    from hitl.gate import Gate
    from hitl.platforms import Register
    from simulators.telegram import Bot
    from tests.scenarios.chats import MakeTurns

SECRET = "a-webhook-secret-of-the-tests"


@dataclass(slots=True)
class Wired:
    """The two sides and what connects them."""

    server: TelegramServer
    bot: Bot
    service: Service
    chat: TelegramChat
    telegram: Connector
    http: Server | None = None

    @property
    def url(self) -> str:
        """Where the webhook is."""
        assert self.http is not None
        return f"http://127.0.0.1:{self.http.port}{PATH}"

    async def settle(self, between: Callable[[], None] | None = None) -> None:
        """Until nothing is on its way: no update, no event, no run, no message. `between` is done while waiting."""
        await quieted(self._quiet, between, PATIENCE_S)

    async def _quiet(self) -> bool:
        service = self.service
        unsent = service.store._outbox  # type: ignore[attr-defined] # noqa: SLF001 - MemoryStore's
        unread = await self.server.pending(self.bot.id) or await service.store.incoming()
        return self.telegram.intake.idle and service.idle and not unread and not unsent


def telegram_settings(server: TelegramServer, bot: Bot, **more: Any) -> TelegramSettings:
    """As an operator would set them, but in more of a hurry."""
    CANARIES.plant("the bot's token", bot.token.partition(":")[2])
    CANARIES.plant("the webhook's secret", SECRET)
    # Telegram itself gets the webhook's secret.
    CANARIES.look("what Telegram got", lambda: [one for one in server.platform.calls if one.method != "setWebhook"])
    fields: dict[str, Any] = {"token": bot.token, "api": server.root_url, "pace": 0, "timeout_s": 5.0}
    return TelegramSettings(**(fields | more))


@contextlib.asynccontextmanager
async def wired(
    server: TelegramServer,
    bot: Bot,
    gate: Callable[[], Gate],
    *,
    receive: str = "polling",
    turns: MakeTurns | None = None,
    register: Register | None = None,
    **settings: Any,
) -> AsyncIterator[Wired]:
    """The service at work, for as long as the context lasts; with `turns`, an agent whose turns are stored."""
    chosen = telegram_settings(server, bot, receive=receive, webhook_secret=SECRET, **settings)
    guard = gate()
    platform = await build(chosen, Core(guard.store, guard.keys, guard.people), register)
    service = Service(guard, {platform.surface.name: platform.chat})
    telegram = Connector(platform, service, turns=turns(service) if turns else None)
    wires = Wired(server, bot, service, platform.chat, telegram)
    async with contextlib.AsyncExitStack() as parts:
        parts.push_async_callback(platform.close)
        parts.push_async_callback(service.stop)
        await service.start()
        if receive == "webhook":
            wires.http = await serving(parts, telegram)
        parts.push_async_callback(telegram.stop)
        await telegram.start()
        await _heard_of(wires, receive)
        yield wires


async def _heard_of(wires: Wired, receive: str) -> None:
    """Wait until whatever happens on Telegram reaches us, and open cards are about to be refreshed."""
    async with asyncio.timeout(PATIENCE_S):
        while "telegram: not connected yet" in wires.telegram.troubles():  # noqa: ASYNC110 - as in `wired_slack`
            await asyncio.sleep(0.005)
    if receive == "webhook":
        await wires.server.wait_calls("getMe", timeout=PATIENCE_S)
        await wires.chat.bot.set_webhook(wires.url, secret_token=SECRET, allowed_updates=ALLOWED_UPDATES)
    else:
        await wires.server.wait_polling(wires.bot.id, timeout=PATIENCE_S)
