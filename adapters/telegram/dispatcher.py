"""Hands recorded updates to python-telegram-bot's own dispatcher: `Application.process_update` and its handlers.

Two applications share the bot. The first has our handlers, the second has the operator's handlers, if there are any.
Each update goes to our application first. So an operator's handler can't come before ours, and `ApplicationHandlerStop`
stops only other handlers of the operator.

The library doesn't pass on a handler's exceptions, and drops an update that no handler takes. The inbox must know about
both, so that it retries the event or sets it aside. So an error handler stores each exception, and `dispatch` raises
the first of them.
"""

from __future__ import annotations

import json
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any

from telegram import Update
from telegram.ext import (
    ApplicationBuilder,
    CallbackQueryHandler,
    ChatMemberHandler,
    MessageHandler,
    MessageReactionHandler,
    filters,
)

from adapters.telegram.handlers import TRANSLATORS
from hitl.platforms import Untaken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import TypeAlias

    from telegram import Bot
    from telegram.ext import Application, BaseHandler, CallbackContext

    from adapters.telegram.handlers import Me
    from hitl.call import Incoming
    from hitl.events import Heard
    from hitl.platforms import Hear, Register

    #: Translates an update of one kind into an event, or returns None if nothing in the update concerns Sayso.
    Translate: TypeAlias = Callable[[Update, Me], Heard | None]
    App: TypeAlias = Application[Any, Any, Any, Any, Any, Any]

#: The library's handler for each kind of update.
_KINDS: Mapping[str, Callable[[Any], BaseHandler[Any, Any, Any]]] = {
    "callback_query": CallbackQueryHandler,
    "message_reaction": MessageReactionHandler,
    "edited_message": partial(MessageHandler, filters.UpdateType.EDITED_MESSAGE),
    "channel_post": partial(MessageHandler, filters.UpdateType.CHANNEL_POST),
    "message": partial(MessageHandler, filters.UpdateType.MESSAGE),
}
#: The function that gets the event of this task's update, and the list of the exceptions that handlers raised.
_hear: ContextVar[Hear] = ContextVar("hear")
_raised: ContextVar[list[Exception]] = ContextVar("raised")


class Dispatcher:
    """The two applications of one bot. Call `start` before `dispatch`."""

    def __init__(self, bot: Bot, register: Register | None = None) -> None:
        self._bot = bot
        self._apps = [_application(bot), *([_application(bot)] if register else [])]
        if register:
            register(self._apps[1])

    async def start(self, me: Me) -> None:
        """Initialize the library, which asks Telegram who the bot is, and add our handlers. Raises TelegramError."""
        for app in self._apps:
            await app.initialize()
        self._apps[0].handlers.clear()
        self._apps[0].add_handlers(list(_handlers(me)))

    async def dispatch(self, event: Incoming, hear: Hear) -> None:
        """Hand a recorded update to our handlers, then to the operator's.

        `hear` gets our translation of the update. Raises the first exception of a handler, or Untaken if no handler
        took it. Raises LookupError, TypeError, ValueError or AttributeError if the event isn't an update.
        """
        update = Update.de_json(json.loads(event.body), self._bot)
        _hear.set(hear)
        raised: list[Exception] = []
        _raised.set(raised)
        taking = [app for app in self._apps if _takes(app, update)]
        for app in taking:
            await app.process_update(update)
            if raised:
                raise raised[0]
        if not taking:
            raise Untaken


def _application(bot: Bot) -> App:
    """Return an application that only passes updates to its handlers: it fetches nothing, queues nothing, and stores
    nothing.
    """
    app = ApplicationBuilder().bot(bot).updater(None).job_queue(None).build()
    app.add_error_handler(_keep)
    return app


async def _keep(update: object, context: CallbackContext[Any, Any, Any, Any]) -> None:
    del update
    if isinstance(context.error, Exception):
        _raised.get().append(context.error)


async def _pass_over(update: object, context: CallbackContext[Any, Any, Any, Any]) -> None:
    """Do nothing. This handler is for updates that don't concern Sayso, so that they aren't reported as unhandled."""
    del update, context


def _takes(app: App, update: Update) -> bool:
    """Return whether a handler wants the update. The library checks this too, but doesn't return the result."""
    checks = (handler.check_update(update) for group in app.handlers.values() for handler in group)
    return any(check is not None and check is not False for check in checks)


def _handlers(me: Me) -> Iterator[BaseHandler[Any, Any, Any]]:
    """Return our handlers, one for each kind of update in `ALLOWED_UPDATES`."""

    def handing_on(translate: Translate) -> Any:
        async def handle(update: Update, context: CallbackContext[Any, Any, Any, Any]) -> None:
            del context
            heard = translate(update, me)
            if heard is not None:
                await _hear.get()(heard)

        return handle

    # Telegram learns from the first poll which kinds of updates this adapter reads. Until then, it also sends changes
    # of the bot's own membership in chats.
    yield ChatMemberHandler(_pass_over, ChatMemberHandler.MY_CHAT_MEMBER)
    yield from (make(handing_on(TRANSLATORS[kind])) for kind, make in _KINDS.items())
