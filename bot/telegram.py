"""Telegram put together: the bot, its chat, its events, and how they come in."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from telegram import Bot
from telegram.error import TelegramError
from telegram.request import HTTPXRequest

from adapters.telegram import webhook
from adapters.telegram.chat import TelegramChat
from adapters.telegram.handlers import Me, understand
from adapters.telegram.pace import Pace
from adapters.telegram.receiver import SOURCE, Inbox, Poller
from bot.connector import Connector
from bot.conversation import Router
from bot.errors import SettingsError
from hitl.model import Post, PostKind
from hitl.ports import Change, PlatformError, adding
from hitl.redaction import mask

if TYPE_CHECKING:
    from starlette.routing import Route

    from bot.connector import ReadBody
    from bot.service import Service
    from bot.settings import TelegramSettings
    from hitl.events import Heard
    from hitl.model import Incoming
    from hitl.ports import Store
    from hitl.tokens import Keyring

_OURS = "telegram:"
#: Loggers of libraries whose lines, below a warning, tell of requests: the token is part of every address.
_TALKATIVE = ("httpx", "httpcore", "telegram")


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
    said = await store.said()
    return TelegramChat(
        bot,
        keys,
        pace,
        moves=moves,
        moved=store.move,
        stands=store.adopt,
        fresh=store.get,
        said={place: last for place, last in said.items() if place.startswith(_OURS)},
        say=store.say,
        bind=store.bind,
    )


def _masked(record: logging.LogRecord) -> bool:
    """For whoever asks these loggers for more all the same."""
    record.msg, record.args = mask(record.getMessage()), ()
    return True


class Telegram(Connector):
    """One bot at work."""

    def __init__(self, settings: TelegramSettings, chat: TelegramChat, service: Service) -> None:
        super().__init__(SOURCE, service, Router(service, chat).handle)
        self.settings = settings
        self.bot = chat.bot
        chat.names = service.gate.names
        self._me: Me | None = None
        self.inbox = Inbox(self.bot, service.store, self.intake.wake)
        self._receiver = Poller(self.bot, self.inbox) if settings.receive == "polling" else None

    def _route(self, read_body: ReadBody) -> Route:
        return webhook.route(self.inbox, self.settings.secret("webhook_secret"), read_body)

    async def _connect(self) -> str:
        try:
            await self.bot.initialize()
        except TelegramError as error:
            why = f"no connection to {self.settings.api} ({type(error).__name__})"
            raise PlatformError(why, passing=True) from error
        await self._refresh_open_cards()
        self._me = Me(self.bot.id, self.bot.username)
        return self._me.username

    async def _refresh_open_cards(self) -> None:
        """Telegram drops presses after 150 seconds, so people are told on each open card to press again."""
        for call in await self.service.store.pending():
            posts = tuple(Post(call.ref, route, PostKind.EDIT) for route in call.routes if route.startswith(_OURS))
            if posts:
                await self.service.store.commit(adding(Change(posts=posts)))
                self.service.changed(call)

    async def _understand(self, event: Incoming) -> Heard | None:
        return understand(self.inbox.read(event.body), self._me) if self._me else None
