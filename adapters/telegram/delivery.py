"""Sends the bot's messages one after the other, at Telegram's pace. If a conversation has moved, sends to its new
place.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakValueDictionary

from cachetools import FIFOCache

from adapters.telegram.refusals import AstrayError, MovedError, UnparsedError, explained
from adapters.telegram.surface import is_private, message_of, parse_place, place_of
from hitl.errors import Unavailable
from hitl.ports import PlatformError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping

    from adapters.telegram.pace import Pace

#: Whether the current task is sending a message of the service (and not of an operator's handler).
_ours: ContextVar[bool] = ContextVar("ours", default=False)
_KEPT = 10_000


class Request(Protocol):
    """A request to the Bot API that sends its text as HTML or as plain text."""

    def __call__(self, *, html: bool) -> Awaitable[Any]:
        """Send the request to the Bot API."""


class Sender(Protocol):
    """Sends one message to a chat or to one of its topics.

    If `answers` is given, the sent message is a reply to the message with this id.
    """

    def __call__(self, chat_id: int, topic: int | None, answers: str | None, /) -> Awaitable[Any]:
        """Send the message, and return it as Telegram stored it."""


@contextmanager
def writing_ours() -> Iterator[None]:
    """While the context is open, mark the messages that this task sends as the service's own, so that
    `Delivery.others_write` doesn't hold them up.
    """
    ours = _ours.set(True)
    try:
        yield
    finally:
        _ours.reset(ours)


class Delivery:
    """Sends one bot's messages to their chats, and remembers the bot's latest message in each place.

    `moves` is conversation -> its new place, for each conversation that has moved. `moved` is called when a group
    became a supergroup; the conversation keeps its first name. `said` is private chat -> (the bot's latest message, the
    ref that it is about), as stored by `say`. A chat whose latest message is unknown isn't in `said`.
    """

    def __init__(
        self,
        pace: Pace,
        *,
        moves: dict[str, str] | None = None,
        moved: Callable[[str, str], Awaitable[None]] | None = None,
        said: Mapping[str, tuple[str, str | None]] | None = None,
        say: Callable[[str, str | None, str | None], Awaitable[None]] | None = None,
    ) -> None:
        self._pace = pace
        self._moves = moves or {}
        self._moved = moved
        self._say = say
        #: The bot's latest message in each place, and the call that it is about. The value is None while a message is
        #: being sent, and if it isn't known whether a message has arrived.
        self._last: FIFOCache[str, tuple[str, str | None] | None] = FIFOCache(_KEPT)
        self._last.update(said or {})
        #: A lock for each place, held while the bot writes there, so that messages arrive in the order in which they
        #: are sent.
        self._writing: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def latest(self, place: str, before: str | None) -> str | None:
        """Return the ref of the call that the bot's latest message in `place` is about, if that message came before the
        message `before`.

        Otherwise return None, also if the latest message is about no call or isn't known. Telegram numbers the messages
        of a chat in their order.
        """
        last = self._last.get(place)
        return last[1] if last and before and number_of(last[0]) < number_of(before) else None

    def learn_move(self, old: str, new: str) -> None:
        """From now on, send the messages for the conversation `old` to the place `new`."""
        self._moves[old] = new

    def present(self, route: str) -> tuple[int, int | None]:
        """Return the chat's id and the topic to which the messages of a route go now."""
        return parse_place(self._moves.get(route, route))

    async def send(self, route: str, send: Sender, *, about: str | None, answers: str | None = None) -> str:
        """Send a message to the conversation's current place, and return the message's id.

        If the conversation's topic no longer exists, the message goes to the chat. If the message `answers` no longer
        exists, the new message isn't a reply.

        While the message is being sent, the store says that the bot's latest message is unknown. So if this process
        dies before Telegram confirms the message, the latest message stays unknown.
        """
        async with self._writing.setdefault(route, asyncio.Lock()):
            before = self._last.get(route)
            await self._remember(route, None)
            try:
                with writing_ours():
                    message = await self._put(route, send, answers)
            except PlatformError as error:
                if not error.passing or error.retry_s:
                    # The message was refused, or will be sent later. So it can't have arrived, and the message before
                    # it is still the latest.
                    await self._remember(route, before)
                raise
            await self._remember(route, (message, about))
            return message

    @asynccontextmanager
    async def others_write(self, chat_id: int) -> AsyncIterator[None]:
        """While the context is open, an operator's handler may write in a chat, and the service waits before it writes
        there.

        From then on, the bot's latest message in the chat is unknown. Nothing is done for groups and for messages of
        the service itself.
        """
        if _ours.get() or chat_id < 0:
            yield
            return
        route = place_of(chat_id, None)
        async with self._writing.setdefault(route, asyncio.Lock()):
            await self._remember(route, None)
            yield

    async def _remember(self, route: str, last: tuple[str, str | None] | None) -> None:
        """Store the bot's latest message in a place and the ref that it is about. `last` is None if the message is
        unknown.

        If the store fails, raises Unavailable only if `last` is None.
        """
        self._last[route] = last
        if self._say is None or not is_private(route):
            return
        try:
            await self._say(route, *(last or (None, None)))
        except Unavailable:
            # The message has been sent, so a failure to store it must not look like a failure to send. The store still
            # says that the latest message is unknown, which is safe.
            if last is None:
                raise

    async def _put(self, route: str, send: Sender, answers: str | None) -> str:
        chat_id, topic = self.present(route)
        try:
            sent = await send(chat_id, topic, answers)
        except AstrayError:
            sent = await send(chat_id, None, None)
        except MovedError as moved:
            await self._follow(route, place_of(moved.chat_id, topic))
            sent = await send(moved.chat_id, topic, None)
        return message_of(sent.chat.id, sent.message_id)

    async def _follow(self, old: str, new: str) -> None:
        self.learn_move(old, new)
        if self._moved:
            await self._moved(old, new)

    async def request(self, chat_id: int, request: Request, *, refresh: bool = False) -> Any:
        """Make the request when its time slot comes, and return Telegram's answer.

        If Telegram can't parse the HTML, send the text once more as plain text.
        """
        try:
            return await self._once(chat_id, request, html=True, refresh=refresh)
        except UnparsedError:
            return await self._once(chat_id, request, html=False)

    async def _once(self, chat_id: int, request: Request, *, html: bool, refresh: bool = False) -> Any:
        await (self._pace.refresh if refresh else self._pace.turn)(chat_id)
        try:
            async with explained():
                return await request(html=html)
        except PlatformError as error:
            if error.retry_s:
                self._pace.hold(chat_id, error.retry_s)
            # A person can block the bot in a private chat at any time. So a card isn't undeliverable because the bot is
            # blocked now.
            error.lost = error.lost and chat_id < 0
            raise


def number_of(message: str) -> int:
    """Return a message's number within its chat."""
    return int(message.partition(":")[2])
