"""Telegram put together: the bot, its chat, its events, and how they come in."""

from __future__ import annotations

import asyncio
import itertools
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

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
from hitl.errors import Unavailable
from hitl.model import Post, PostKind
from hitl.ports import Change, adding
from hitl.redaction import mask

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.routing import Route

    from bot.service import Service
    from bot.settings import TelegramSettings
    from hitl.model import Incoming
    from hitl.ports import Store
    from hitl.tokens import Keyring

_OURS = "telegram:"
_PAUSES_S = (1.0, 2.0, 5.0, 15.0)
#: Loggers of libraries whose lines, below a warning, tell of requests: the token is part of every address.
_TALKATIVE = ("httpx", "httpcore", "telegram")
_log = structlog.get_logger()


def make_bot(settings: TelegramSettings) -> Bot:
    """The client, not yet connected. Raises SettingsError without a token."""
    token = settings.secret("token")
    if not token:
        raise SettingsError("Telegram needs a token: set SAYSO_TELEGRAM__TOKEN, or telegram.token_file.")
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.getLogger("httpx").addFilter(_masked)
    limit_s = settings.timeout_s
    limits: dict[str, Any] = {"read_timeout": limit_s, "write_timeout": limit_s, "connect_timeout": limit_s}
    request = HTTPXRequest(connection_pool_size=32, pool_timeout=limit_s, **limits)
    return Bot(token, base_url=f"{settings.api}/bot", base_file_url=f"{settings.api}/file/bot", request=request)


async def build_chat(settings: TelegramSettings, store: Store, keys: Keyring) -> TelegramChat:
    """The chat side, which the service needs before it exists itself. Raises SettingsError."""
    pace = Pace(asyncio.get_running_loop().time, scale=settings.pace)
    bot, moves = make_bot(settings), dict(await store.moves())
    return TelegramChat(bot, keys, pace, moves=moves, moved=store.move, stands=store.adopt, fresh=store.get)


def _masked(record: logging.LogRecord) -> bool:
    """For whoever asks these loggers for more all the same."""
    record.msg, record.args = mask(record.getMessage()), ()
    return True


class Telegram:
    """One bot at work. It comes up when Telegram does: until then `troubles` says why not."""

    def __init__(self, settings: TelegramSettings, chat: TelegramChat, service: Service) -> None:
        self.settings = settings
        self.bot = chat.bot
        self.service = service
        self._trouble: str | None = "not connected yet"
        self._work: asyncio.Task[None] | None = None
        self._me: Me | None = None
        self._chats = Chats(service, chat)
        self.intake = Intake(service.store, {SOURCE: self._handle})
        self.inbox = Inbox(self.bot, service.store, self.intake.wake)
        self._poller = Poller(self.bot, self.inbox)
        self._polls = settings.receive == "polling"

    def routes(self, read_body: webhook.ReadBody) -> Sequence[Route]:
        """What to mount on the HTTP shell. Raises SettingsError for a webhook without its secret."""
        if self._polls:
            return ()
        try:
            return (webhook.route(self.inbox, self.settings.secret("webhook_secret"), read_body),)
        except ValueError as error:
            raise SettingsError(str(error)) from error

    def troubles(self) -> Sequence[str]:
        """What is in the way of answers from Telegram."""
        polling = self._poller.trouble if self._polls and self._me else None
        return [f"telegram: {trouble}" for trouble in (self._trouble, polling) if trouble]

    async def start(self) -> None:
        """Connect in the background: a platform that is down at start must not keep the service down."""
        self._work = asyncio.create_task(self._run())
        self._work.add_done_callback(self._ended)

    async def stop(self) -> None:
        """Take no more updates, and end what is being handled; what was recorded is handled at the next start."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)

    def _ended(self, work: asyncio.Task[None]) -> None:
        """A bug must not look like silence: without this the service would seem well and hear nothing."""
        if not work.cancelled() and (error := work.exception()):
            self._trouble = f"stopped by {type(error).__name__}; restart the service"
            _log.error("telegram.stopped", exc_info=error)

    async def _run(self) -> None:
        await self._connect()
        async with asyncio.TaskGroup() as work:
            work.create_task(self.intake.run())
            if self._polls:
                work.create_task(self._poller.run())

    async def _connect(self) -> None:
        for pause_s in itertools.chain(_PAUSES_S, itertools.repeat(_PAUSES_S[-1])):
            try:
                await self.bot.initialize()
                await self._refresh_open_cards()
                break
            except (TelegramError, Unavailable) as error:
                self._trouble = type(error).__name__
                _log.warning("telegram.connecting", trouble=self._trouble)
                await asyncio.sleep(pause_s)
        self._me = Me(self.bot.id, self.bot.username)
        self._trouble = None
        _log.info("telegram.ready", bot=self._me.username)

    async def _refresh_open_cards(self) -> None:
        """Telegram drops presses after 150 seconds, so people are told on each open card to press again."""
        for call in await self.service.store.pending():
            posts = tuple(Post(call.ref, route, PostKind.EDIT) for route in call.routes if route.startswith(_OURS))
            if posts:
                await self.service.store.commit(adding(Change(posts=posts)))
                self.service.changed(call)

    async def _handle(self, event: Incoming) -> None:
        heard = understand(self.inbox.read(event.body), self._me) if self._me else None
        done = event.source, event.id
        if heard is not None:
            # Telegram doesn't say when a button was pressed.
            await self._chats.handle(replace(heard, at=heard.at or event.received_at), done)
        else:
            await self.service.store.commit(adding(Change(handled=done)))
