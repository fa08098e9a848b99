"""Sends the bot's messages one after the other, at Telegram's pace, each to the present place of its conversation."""

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

    With `answers`, the sent message replies to the message that has this id.
    """

    def __call__(self, chat_id: int, topic: int | None, answers: str | None, /) -> Awaitable[Any]:
        """Send the message, and return it as Telegram stored it."""


@contextmanager
def writing_ours() -> Iterator[None]:
    """Mark messages that the current task sends as the service's own, so that `Delivery.others_write` lets them
    through.
    """
    ours = _ours.set(True)
    try:
        yield
    finally:
        _ours.reset(ours)


class Delivery:
    """Sends one bot's messages to their chats, and remembers the bot's latest message in each place.

    `moves` holds the present place of each conversation that has moved. `moved` is called when a group became a
    supergroup; conversations keep the name that they began with. `said` holds the bot's latest message in each private
    chat and the ref that it is about, as last given to `say`; an unknown latest message is left out.
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
        #: The bot's latest message in each place, and the call that it is about. The value is None if a message is
        #: being sent or may have arrived.
        self._last: FIFOCache[str, tuple[str, str | None] | None] = FIFOCache(_KEPT)
        self._last.update(said or {})
        #: A lock for each place, which is held while the bot writes there. So the message that the bot sent last is the
        #: latest message.
        self._writing: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def latest(self, place: str, before: str | None) -> str | None:
        """Return the ref of the call that the bot's latest message in `place` is about, if it came before the message
        `before`.

        Return None if that message is about no call or isn't known. Telegram numbers the messages of a chat in their
        order.
        """
        last = self._last.get(place)
        return last[1] if last and before and number_of(last[0]) < number_of(before) else None

    def learn_move(self, old: str, new: str) -> None:
        """Send the messages for the conversation `old` to `new` from now on."""
        self._moves[old] = new

    def present(self, route: str) -> tuple[int, int | None]:
        """Return the chat's id and the topic to which the messages of a route go now."""
        return parse_place(self._moves.get(route, route))

    async def send(self, route: str, send: Sender, *, about: str | None, answers: str | None = None) -> str:
        """Send a message to the conversation's present place.

        If its topic no longer exists, the message goes to the chat; if the answered message no longer exists, the
        message is no reply.

        Before the message is sent, the bot's latest message there is stored as unknown. When Telegram has confirmed the
        message, it is stored as the latest. So if this process dies in between, the latest message stays unknown.
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
        """Keep the service from writing in a chat while an operator's handler writes there. In that time the bot's
        latest message is unknown. Messages of the service itself don't wait here.
        """
        if _ours.get() or chat_id < 0:
            yield
            return
        route = place_of(chat_id, None)
        async with self._writing.setdefault(route, asyncio.Lock()):
            await self._remember(route, None)
            yield

    async def _remember(self, route: str, last: tuple[str, str | None] | None) -> None:
        """Store the bot's latest message in a place. `last` is None if the latest message is unknown.

        If the store fails, this raises Unavailable only if `last` is None.
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
        """Make the request when its time slot comes.

        If Telegram can't read the HTML, send the text once more as plain text.
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
            # A person can block the bot in a private chat at any time. So a blocked bot is no reason to call a card
            # undeliverable.
            error.lost = error.lost and chat_id < 0
            raise


def number_of(message: str) -> int:
    """Return a message's number within its chat."""
    return int(message.partition(":")[2])
