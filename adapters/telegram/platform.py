"""Puts the Telegram adapter together: the bot, its chat, its events, and how they arrive."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import httpx
from telegram import Bot
from telegram.error import InvalidToken, TelegramError
from telegram.request import HTTPXRequest

from adapters.telegram import webhook
from adapters.telegram.chat import TelegramChat
from adapters.telegram.delivery import Delivery
from adapters.telegram.handlers import Dispatcher
from adapters.telegram.pace import Pace
from adapters.telegram.receiver import Poller, UpdateRecorder
from adapters.telegram.refusals import reason
from adapters.telegram.surface import PLATFORM, SURFACE
from adapters.telegram.wording import say
from adapters.telegram.words import Me
from hitl.cards.redaction import mask
from hitl.errors import SettingsError
from hitl.ports import PlatformError

if TYPE_CHECKING:
    import contextlib
    from collections.abc import Callable

    from telegram.request import RequestData

    from adapters.telegram.settings import TelegramSettings
    from hitl.platforms import Core, Endpoint, Register

#: If the name of a Bot API method begins with one of these words, the method puts a message into a chat.
_WRITING = ("send", "copy", "forward")
#: Loggers that log the address of each request, which contains the token. Their lines below the level of a warning are
#: dropped.
_TALKATIVE = ("httpx", "httpcore", "telegram")


def make_bot(settings: TelegramSettings) -> Bot:
    """Return the client, not yet connected. Raises SettingsError without a token."""
    token = settings.secret("token")
    if not token:
        raise SettingsError(say("setting.telegram.token", variable="SAYSO_TELEGRAM__TOKEN"))
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.getLogger("httpx").addFilter(_masked)
    limit_s = settings.timeout_s
    limits: dict[str, Any] = {"read_timeout": limit_s, "write_timeout": limit_s, "connect_timeout": limit_s}
    # Both clients of the bot share one TLS context, because loading a context takes 25 ms.
    trust = {"verify": httpx.create_ssl_context() if settings.api.startswith("https:") else False}
    return Bot(
        token,
        base_url=f"{settings.api}/bot",
        base_file_url=f"{settings.api}/file/bot",
        request=Overheard(connection_pool_size=32, pool_timeout=limit_s, httpx_kwargs=trust, **limits),
        get_updates_request=HTTPXRequest(connection_pool_size=1, httpx_kwargs=trust),
    )


async def build(settings: TelegramSettings, core: Core, register: Register | None = None) -> Telegram:
    """Return the platform, not yet connected. `register` adds the operator's own handlers, if there are any.

    Raises SettingsError.
    """
    pace, store = Pace(asyncio.get_running_loop().time, scale=settings.pace), core.store
    bot, moves, said = make_bot(settings), dict(await store.moves()), await store.said()
    ours = {place: last for place, last in said.items() if place.startswith(f"{PLATFORM}:")}
    delivery = Delivery(pace, moves=moves, moved=store.move, said=ours, say=store.say)
    chat = TelegramChat(bot, core.keys, delivery, stands=store.adopt, fresh=store.get, bind=store.bind)
    if isinstance(bot.request, Overheard):
        bot.request.writing = delivery.others_write
    return Telegram(settings, chat, core, Dispatcher(bot, register))


def _masked(record: logging.LogRecord) -> bool:
    """Mask the token in a log line of a library, in case somebody lowers the level of the library's logger."""
    record.msg, record.args = mask(record.getMessage()), ()
    return True


class Overheard(HTTPXRequest):
    """Sends requests, and notices messages that an operator's own handlers send with our bot.

    A message of an operator's handler may ask a person something. Then the person's next "yes" answers that message,
    and not the card before it.
    """

    #: A context for a chat's id. While it is open, the service doesn't write in that chat, because somebody else does.
    #: `build` sets it.
    writing: Callable[[int], contextlib.AbstractAsyncContextManager[None]] | None = None

    async def do_request(
        self, url: str, method: str, request_data: RequestData | None = None, *args: Any, **more: Any
    ) -> tuple[int, bytes]:
        """Send a request, and return Telegram's answer. If it puts a message into a chat, the service writes nothing in
        that chat until the request is done.
        """
        chat_id = request_data.parameters.get("chat_id") if request_data else None
        if self.writing is None or not url.rpartition("/")[2].startswith(_WRITING) or not isinstance(chat_id, int):
            return await super().do_request(url, method, request_data, *args, **more)
        async with self.writing(chat_id):
            return await super().do_request(url, method, request_data, *args, **more)


class Telegram:
    """Implements `hitl.platforms.Platform` for one bot."""

    surface = SURFACE

    def __init__(self, settings: TelegramSettings, chat: TelegramChat, core: Core, dispatcher: Dispatcher) -> None:
        self._settings = settings
        self.chat = chat
        self.bot = chat.bot
        self._core = core
        self._dispatcher = dispatcher
        #: Implements `hitl.platforms.Platform.dispatch`.
        self.dispatch = dispatcher.dispatch

    def receiver(self, woken: Callable[[], None]) -> Poller | None:
        """Return the polling loop, or None if Telegram sends updates to the webhook."""
        return None if self._settings.is_pushed else Poller(self.bot, self._inbox(woken))

    def endpoint(self, woken: Callable[[], None]) -> Endpoint:
        """Return the webhook. Raises SettingsError without a secret, because then anybody could send button presses."""
        return webhook.endpoint(self._inbox(woken), self._settings.secret("webhook_secret"))

    async def connect(self) -> str:
        """Ask Telegram who the bot is, and return its user name. Raises PlatformError."""
        try:
            await self.bot.initialize()
            me = Me(self.bot.id, self.bot.username)
            await self._dispatcher.start(me)
        except InvalidToken as error:
            raise PlatformError(reason(error), passing=True) from error
        except TelegramError as error:
            why = f"no connection to {self._settings.api} ({type(error).__name__})"
            raise PlatformError(why, passing=True) from error
        return me.username

    async def close(self) -> None:
        """Close the connections to Telegram."""
        await self.chat.close()

    def _inbox(self, woken: Callable[[], None]) -> UpdateRecorder:
        return UpdateRecorder(self._core.store, woken)
