"""Telegram put together: the bot, its chat, its events, and how they come in."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import structlog
from telegram import Bot
from telegram.error import TelegramError
from telegram.request import HTTPXRequest

from adapters.telegram import webhook
from adapters.telegram.chat import TelegramChat
from adapters.telegram.handlers import Me, understand
from adapters.telegram.pace import Pace
from adapters.telegram.receiver import SOURCE, Inbox, Poller
from bot.chats import Chats
from bot.intake import Intake
from bot.settings import SettingsError
from hitl.model import Post, PostKind
from hitl.ports import Change, adding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.routing import Route

    from bot.service import Service
    from bot.settings import TelegramSettings
    from hitl.model import Incoming
    from hitl.ports import Store
    from hitl.tokens import Keyring

_RETRY_START_S = 5.0
_log = structlog.get_logger()


def make_bot(settings: TelegramSettings) -> Bot:
    """The client, not yet connected. Raises SettingsError without a token."""
    token = settings.secret("token")
    if not token:
        raise SettingsError("Telegram needs a token: set SAYSO_TELEGRAM__TOKEN, or telegram.token_file.")
    return Bot(
        token,
        base_url=f"{settings.api}/bot",
        base_file_url=f"{settings.api}/file/bot",
        request=HTTPXRequest(connection_pool_size=32),
        get_updates_request=HTTPXRequest(connection_pool_size=1),
    )


async def build_chat(settings: TelegramSettings, store: Store, keys: Keyring) -> TelegramChat:
    """The chat side, which the service needs before it exists itself. Raises SettingsError."""
    loop = asyncio.get_running_loop()
    return TelegramChat(make_bot(settings), keys, Pace(loop.time), moves=dict(await store.moves()), moved=store.move)


class Telegram:
    """One bot at work. It comes up when Telegram does: until then `troubles` says why not."""

    def __init__(self, settings: TelegramSettings, chat: TelegramChat, service: Service) -> None:
        self.settings = settings
        self.bot = chat.bot
        self.service = service
        self._trouble: str | None = "not connected yet"
        self._tasks: list[asyncio.Task[None]] = []
        self._me: Me | None = None
        self._chats = Chats(service, chat)
        self._intake = Intake(service.store, {SOURCE: self._handle})
        self.inbox = Inbox(self.bot, service.store, self._intake.wake)
        self._poller = Poller(self.bot, self.inbox)

    def routes(self, read_body: webhook.ReadBody) -> Sequence[Route]:
        """What to mount on the HTTP shell. Raises SettingsError for a webhook without its secret."""
        if self.settings.receive == "polling":
            return ()
        try:
            return (webhook.route(self.inbox, self.settings.secret("webhook_secret"), read_body),)
        except ValueError as error:
            raise SettingsError(str(error)) from error

    def troubles(self) -> Sequence[str]:
        """What is in the way of answers from Telegram."""
        polling = self._poller.trouble if self.settings.receive == "polling" and self._me else None
        return [f"telegram: {trouble}" for trouble in (self._trouble, polling) if trouble]

    async def start(self) -> None:
        """Connect in the background: a platform that is down at start must not keep the service down."""
        self._tasks.append(asyncio.create_task(self._run()))

    async def stop(self) -> None:
        """Stop taking updates; what was recorded is handled at the next start."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with contextlib.suppress(TelegramError):
            await self.bot.shutdown()

    async def _run(self) -> None:
        await self._connect()
        await self._refresh_open_cards()
        self._tasks.append(asyncio.create_task(self._intake.run()))
        if self.settings.receive == "polling":
            await self._poller.run()

    async def _connect(self) -> None:
        while self._me is None:
            try:
                await self.bot.initialize()
                me = await self.bot.get_me()
                self._me = Me(me.id, me.username or "")
            except TelegramError as error:
                self._trouble = type(error).__name__
                _log.warning("telegram.connecting", trouble=self._trouble)
                await asyncio.sleep(_RETRY_START_S)
        self._trouble = None
        _log.info("telegram.ready", bot=self._me.username)

    async def _refresh_open_cards(self) -> None:
        """Telegram drops presses after 150 seconds, so people are told on each open card to press again."""
        for call in await self.service.store.pending():
            change = Change(posts=tuple(Post(call.ref, route, PostKind.EDIT) for route in call.routes))
            await self.service.store.commit(adding(change))
            self.service.changed(call)

    async def _handle(self, event: Incoming) -> None:
        if self._me is None:
            return
        heard = understand(self.inbox.read(event.body), self._me)
        if heard is not None:
            await self._chats.handle(heard, (event.source, event.id))
        else:
            change = Change(handled=(event.source, event.id))
            await self.service.store.commit(adding(change))
