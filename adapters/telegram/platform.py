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
from adapters.telegram.receiver import Inbox, Poller, read
from adapters.telegram.surface import PLATFORM, SURFACE
from hitl.errors import SettingsError
from hitl.ports import PlatformError
from hitl.redaction import mask

if TYPE_CHECKING:
    from collections.abc import Callable

    from adapters.telegram.settings import TelegramSettings
    from hitl.model import Incoming
    from hitl.platforms import Core, Endpoint, Hear, Register

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


async def build(settings: TelegramSettings, core: Core, register: Register | None = None) -> Telegram:
    """The platform, not yet connected. Raises SettingsError."""
    del register
    pace, store = Pace(asyncio.get_running_loop().time, scale=settings.pace), core.store
    bot, moves, said = make_bot(settings), dict(await store.moves()), await store.said()
    chat = TelegramChat(
        bot,
        core.keys,
        pace,
        moves=moves,
        moved=store.move,
        stands=store.adopt,
        fresh=store.get,
        said={place: last for place, last in said.items() if place.startswith(f"{PLATFORM}:")},
        say=store.say,
        bind=store.bind,
    )
    return Telegram(settings, chat, core)


def _masked(record: logging.LogRecord) -> bool:
    """For whoever asks these loggers for more all the same."""
    record.msg, record.args = mask(record.getMessage()), ()
    return True


class Telegram:
    """Implements `hitl.platforms.Platform`: one bot at work."""

    surface = SURFACE

    def __init__(self, settings: TelegramSettings, chat: TelegramChat, core: Core) -> None:
        self._settings = settings
        self.chat = chat
        self.bot = chat.bot
        self._core = core
        self._me: Me | None = None

    def receiver(self, woken: Callable[[], None]) -> Poller | None:
        """The loop that polls, unless Telegram calls our webhook."""
        return None if self._settings.is_pushed else Poller(self.bot, self._inbox(woken))

    def endpoint(self, woken: Callable[[], None]) -> Endpoint:
        """The webhook. Raises SettingsError without a secret: anybody could press buttons by such a webhook."""
        return webhook.endpoint(self._inbox(woken), self._settings.secret("webhook_secret"))

    async def connect(self) -> str:
        """Ask Telegram who the bot is. Raises PlatformError."""
        try:
            await self.bot.initialize()
        except TelegramError as error:
            why = f"no connection to {self._settings.api} ({type(error).__name__})"
            raise PlatformError(why, passing=True) from error
        self._me = Me(self.bot.id, self.bot.username)
        return self._me.username

    async def dispatch(self, event: Incoming, hear: Hear) -> None:
        """Read a recorded update, and hand on what it says."""
        heard = understand(read(event.body, self.bot), self._me) if self._me else None
        if heard is not None:
            await hear(heard)

    async def close(self) -> None:
        """Close the connections."""
        await self.chat.close()

    def _inbox(self, woken: Callable[[], None]) -> Inbox:
        return Inbox(self._core.store, woken)
