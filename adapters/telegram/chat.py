"""The `Chat` port over python-telegram-bot: sends cards, and gives each of Telegram's refusals a name."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakValueDictionary

from cachetools import FIFOCache
from telegram import ForceReply, InlineKeyboardButton, InlineKeyboardMarkup, LinkPreviewOptions, ReplyParameters
from telegram.constants import ChatAction, ParseMode
from telegram.error import BadRequest, ChatMigrated, Forbidden, InvalidToken, RetryAfter, TelegramError

from adapters.telegram.messages import (
    LONGEST,
    PLATFORM,
    Message,
    card_message,
    length,
    notice_message,
    plain_message,
    question,
    whole_message,
)
from adapters.telegram.receiver import seconds_of
from adapters.telegram.refusals import is_of_place, remedy
from adapters.telegram.surface import is_private, message_of, parse_place, place_of
from hitl.call import State, Verb
from hitl.cards.card import outcome
from hitl.cards.text import cut_middle
from hitl.errors import Unavailable
from hitl.people.names import Names
from hitl.ports import PlatformError
from hitl.proof.seals import bound
from hitl.question import is_question

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from telegram import Bot

    from adapters.telegram.pace import Pace
    from hitl.call import Bound, Call
    from hitl.cards.wording import Wording
    from hitl.proof.keyring import Keyring

_log = logging.getLogger(__name__)
#: Whether the current task is sending a message of the service (and not of an operator's handler).
_ours: ContextVar[bool] = ContextVar("ours", default=False)
_TOAST = 200
#: To show a card, Telegram is asked for the names of at most this many approvers.
_NAMED = 3
#: The ids of supergroups and channels begin with this prefix (Bot API, `Chat.id`).
_SUPERGROUP = "-100"
_NO_PREVIEW = LinkPreviewOptions(is_disabled=True)
_KEPT = 10_000


class TelegramChat:
    """The chat of one bot.

    `moved` is called when a group became a supergroup; conversations keep the name that they began with. `stands` is
    called with call, route and message id when a card was posted a second time. `fresh` returns the current state of a
    call just before an edit is sent, because an edit may wait long for its turn. `said` holds the bot's latest message
    in each private chat and the ref that it is about, as last given to `say`; an unknown latest message is left out.
    `bind` stores which call a message of the bot is about, so that a reply to the message answers that call.
    """

    def __init__(  # noqa: PLR0913 - each is one port, by keyword
        self,
        bot: Bot,
        keys: Keyring,
        pace: Pace,
        *,
        moves: dict[str, str] | None = None,
        moved: Callable[[str, str], Awaitable[None]] | None = None,
        stands: Callable[[str, str, str], Awaitable[None]] | None = None,
        fresh: Callable[[str], Awaitable[Call | None]] | None = None,
        said: Mapping[str, tuple[str, str | None]] | None = None,
        say: Callable[[str, str | None, str | None], Awaitable[None]] | None = None,
        bind: Callable[[Bound], Awaitable[None]] | None = None,
    ) -> None:
        self.bot = bot
        #: The display names of people. The service replaces this object with its own when it attaches this chat.
        self.names = Names()
        self._keys = keys
        self._pace = pace
        self._moves = moves or {}
        self._moved = moved
        self._stands = stands
        self._fresh = fresh
        self._say = say
        self._bind = bind
        #: The bot's latest message in each place, and the call that it is about. None if a message is being sent or may
        #: have arrived.
        self._last: FIFOCache[str, tuple[str, str | None] | None] = FIFOCache(_KEPT)
        self._last.update(said or {})
        #: A lock for each place, held while the bot writes there, so that the message that was sent last is the latest
        #: message.
        self._writing: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        #: For each message, the hash of the content that was sent last. An edit without a change isn't sent.
        self._edited: FIFOCache[str, int] = FIFOCache(_KEPT)
        #: The accounts whose names Telegram was asked for.
        self._asked_about: FIFOCache[str, None] = FIFOCache(_KEPT)

    def latest(self, place: str, before: str | None) -> str | None:
        """Return the ref that the bot's latest message in `place` is about, if that came before the message `before`.

        None if it is about no call, or isn't known. Telegram numbers the messages of a chat in their order.
        """
        last = self._last.get(place)
        return last[1] if last and before and _number(last[0]) < _number(before) else None

    def link(self, route: str, message: str) -> str:
        """Return the address of a message in a supergroup, '' in other chats (core.telegram.org/api/links)."""
        chat, _, number = message.partition(":")
        _, topic = parse_place(route)
        if not chat.startswith(_SUPERGROUP):
            return ""
        return f"https://t.me/c/{chat.removeprefix(_SUPERGROUP)}/{f'{topic}/' if topic else ''}{number}"

    def learn_move(self, old: str, new: str) -> None:
        """Send the cards for `old` to `new` from now on."""
        self._moves[old] = new

    async def post(self, route: str, call: Call) -> str:
        """Post the card of a call. Return the message's id, which is unique among all chats."""
        await self._meet(route, call)
        return await self._send(route, self._card(route, call, refreshed=False), about=call.ref)

    async def _meet(self, route: str, call: Call) -> None:
        """Ask Telegram for the names of the people on a card whose names aren't known, once for each.

        Without a name, a card shows the id. Names aren't stored, so after a restart an edit needs them again.
        """
        people = (call.requester, call.decided_by or "", *call.approvers[:_NAMED])
        chat_id, _ = parse_place(self._moves.get(route, route))
        for account in {self.names.account(each, PLATFORM) for each in people if not self.names.is_known(each)}:
            if not account.isdecimal() or account in self._asked_about:
                continue
            self._asked_about[account] = None
            with suppress(PlatformError):
                async with _explained():
                    user = (await self.bot.get_chat_member(chat_id, int(account))).user
                self.names.learn(f"{PLATFORM}:{account}", user.full_name, f"@{user.username}" if user.username else "")

    async def update(self, route: str, message: str, call: Call) -> None:
        """Edit the card to show the call's present state.

        If the edit fails, post a new card, or the outcome if the call has ended.
        """
        await self._meet(route, call)
        if self._edited.get(message) == hash(self._card(route, call)):
            return
        try:
            chat_id, refresh = int(message.partition(":")[0]), call.state is State.AWAITING
            await self._paced(chat_id, self._edit(route, message, call), refresh=refresh)
        except _UnchangedError:
            return
        except PlatformError as error:
            if error.passing and not isinstance(error, _MovedError):
                raise
            await self._replace(route, call)

    async def spare(self, route: str, message: str, call: Call) -> None:
        """Edit a second card of the same call: it then says that the other card counts, or how the call ended."""
        spare = plain_message(self._wording(route).say("card.spare", short=call.short))
        shown = self._card(route, call) if call.ended else spare
        try:
            await self._paced(int(message.partition(":")[0]), self._edit_to(message, shown))
        except PlatformError as error:
            if error.passing:
                raise

    def _edit(self, route: str, message: str, call: Call) -> _Request:
        async def edit(*, html: bool) -> None:
            now = (await self._fresh(call.ref) if self._fresh else None) or call
            await self._edit_to(message, self._card(route, now))(html=html)

        return edit

    def _edit_to(self, message: str, shown: Message) -> _Request:
        async def edit(*, html: bool) -> None:
            await self.bot.edit_message_text(
                chat_id=int(message.partition(":")[0]),
                message_id=_number(message),
                reply_markup=_markup(shown),
                link_preview_options=_NO_PREVIEW,
                **_text(shown, html=html),
            )
            self._edited[message] = hash(shown)

        return edit

    def _card(self, route: str, call: Call, *, refreshed: bool = True) -> Message:
        reader = self.names.people.principal(route) if is_private(route) else ""
        place, wording = _sealed_for(route), self._wording(route)
        return card_message(call, self._keys, place, self.names, reader=reader, refreshed=refreshed, wording=wording)

    def _wording(self, route: str) -> Wording:
        """The language of a chat."""
        return self.names.people.wording(route)

    async def _replace(self, route: str, call: Call) -> None:
        shown = self._card(route, call)
        if not shown.buttons:
            return await self.tell(
                route, f"{call.short}: {outcome(call, self.names, self._wording(route))}", about=call.ref
            )
        message = await self._send(route, shown, about=call.ref)
        if self._stands:
            await self._stands(call.ref, route, message)
        return None

    async def notify(self, route: str, call: Call) -> None:
        """Post how the call ended to the conversation where it was asked for."""
        await self._bound(await self._send(route, notice_message(call, self._wording(route)), about=call.ref), call.ref)

    async def tell(self, route: str, text: str, *, about: str | None = None, answers: str | None = None) -> None:
        """Send a sentence of the service, as a reply to the message `answers` if that still exists."""
        await self._bound(
            await self._send(route, plain_message(text, self._wording(route)), about=about, answers=answers), about
        )

    async def ask(
        self,
        route: str,
        *,
        call: Call,
        verb: Verb,
        person: str,
        answers: str | None = None,
        press: str | None = None,
    ) -> None:
        """Ask one person (an identity) for the reason of an approval.

        They are mentioned, and a reply field opens for them.

        A rejection needs no question here, because the card of a rejected call asks for the reason.
        """
        del press
        if verb is Verb.REJECT:
            return
        key = "answer.question.prompt" if is_question(call) else "answer.why_approved"
        asked = self.names.people.wording(route, person).say(key, short=call.short)
        message = question(asked, int(person.partition(":")[2]))
        field = ForceReply(selective=True)
        sent = await self._send(route, message, about=call.ref, answers=answers, markup=field)
        await self._bound(sent, call.ref, person)

    async def show(self, route: str, name: str, text: str, *, about: str, press: str | None = None) -> None:
        """Show a whole text as a message. If it is too long for a message, send it as a file with the given name."""
        del press
        if length(text) <= LONGEST:
            return await self._bound(await self._send(route, whole_message(text), about=about), about)

        def send(chat_id: int, topic: int | None, _: str | None) -> Awaitable[Any]:
            async def document(*, html: bool) -> Any:
                del html
                return await self.bot.send_document(chat_id, text.encode(), filename=name, message_thread_id=topic)

            return self._paced(chat_id, document)

        return await self._bound(await self._deliver(route, send, about=about), about)

    async def working(self, route: str, *, on: bool) -> None:
        """Show "typing" for five seconds (Bot API, `sendChatAction`).

        It ends by itself, or with the bot's next message.
        """
        if not on:
            return
        chat_id, topic = parse_place(self._moves.get(route, route))
        # The "typing" sign is no message, so the bot's latest message there stays the latest.
        ours = _ours.set(True)
        try:
            async with _explained():
                await self.bot.send_chat_action(chat_id, ChatAction.TYPING, message_thread_id=topic)
        finally:
            _ours.reset(ours)

    async def answer_press(self, press: str, text: str, *, alert: bool) -> None:
        """Answer a button press, which Telegram allows once. If the press is too old, Telegram refuses the answer.

        The decision still counts, and the log reports the refusal.
        """
        try:
            async with _explained():
                await self.bot.answer_callback_query(press, text=cut_middle(text, _TOAST).text, show_alert=alert)
        except PlatformError as error:
            _log.warning("telegram.press_not_answered", {"why": str(error)})

    async def close(self) -> None:
        """Close the connections to Telegram."""
        await self.bot.shutdown()

    async def _send(
        self, route: str, message: Message, *, about: str | None, answers: str | None = None, markup: Any = None
    ) -> str:
        def send(chat_id: int, topic: int | None, answers: str | None) -> Awaitable[Any]:
            return self._paced(
                chat_id,
                lambda *, html: self.bot.send_message(
                    chat_id,
                    **_text(message, html=html),
                    message_thread_id=topic,
                    reply_markup=markup or _markup(message),
                    reply_parameters=_reply_to(answers),
                    link_preview_options=_NO_PREVIEW,
                ),
            )

        return await self._deliver(route, send, about=about, answers=answers)

    async def _deliver(self, route: str, send: _Sender, *, about: str | None, answers: str | None = None) -> str:
        """Send a message to the conversation's present place.

        Leave out its topic or the answered message if that no longer exists.

        Before the message is sent, the bot's latest message there is stored as unknown. When Telegram has confirmed the
        message, it is stored as the latest. So if this process dies in between, the latest message stays unknown.
        """
        async with self._writing.setdefault(route, asyncio.Lock()):
            before = self._last.get(route)
            await self._remember(route, None)
            ours = _ours.set(True)
            try:
                message = await self._put(route, send, answers)
            except PlatformError as error:
                if not error.passing or error.retry_s:
                    # The message was refused, or will be sent later. So it can't have arrived, and the message before
                    # it is still the latest.
                    await self._remember(route, before)
                raise
            finally:
                _ours.reset(ours)
            await self._remember(route, (message, about))
            return message

    @asynccontextmanager
    async def others_write(self, chat_id: int) -> AsyncIterator[None]:
        """Keep the service from writing in a chat while an operator's handler writes there.

        The bot's latest message is unknown then.

        Messages of the service itself don't wait here.
        """
        if _ours.get() or chat_id < 0:
            yield
            return
        route = place_of(chat_id, None)
        async with self._writing.setdefault(route, asyncio.Lock()):
            await self._remember(route, None)
            yield

    async def _remember(self, route: str, last: tuple[str, str | None] | None) -> None:
        """Store the bot's latest message in a place. Raises Unavailable if it can't be stored as unknown."""
        self._last[route] = last
        if self._say is None or not is_private(route):
            return
        try:
            await self._say(route, *(last or (None, None)))
        except Unavailable:
            # The message has been sent, so this must not look like a failure. The store still says that the latest
            # message is unknown, which is safe.
            if last is None:
                raise

    async def _bound(self, message: str, ref: str | None, asks: str = "") -> None:
        """Store which call a sent message is about.

        The sent message can't be taken back. If this can't be stored, a reply to the message gets a question in return.
        """
        if ref is None or self._bind is None:
            return
        with suppress(Unavailable):
            await self._bind(bound(self._keys, message, ref, asks))

    async def _put(self, route: str, send: _Sender, answers: str | None) -> str:
        chat_id, topic = parse_place(self._moves.get(route, route))
        try:
            sent = await send(chat_id, topic, answers)
        except _AstrayError:
            sent = await send(chat_id, None, None)
        except _MovedError as moved:
            await self._follow(route, place_of(moved.chat_id, topic))
            sent = await send(moved.chat_id, topic, None)
        return message_of(sent.chat.id, sent.message_id)

    async def _follow(self, old: str, new: str) -> None:
        self.learn_move(old, new)
        if self._moved:
            await self._moved(old, new)

    async def _paced(self, chat_id: int, request: _Request, *, refresh: bool = False) -> Any:
        """Make the request when it is its turn. If Telegram can't read the HTML, send it once more as plain text."""
        try:
            return await self._once(chat_id, request, html=True, refresh=refresh)
        except _UnparsedError:
            return await self._once(chat_id, request, html=False)

    async def _once(self, chat_id: int, request: _Request, *, html: bool, refresh: bool = False) -> Any:
        await (self._pace.refresh if refresh else self._pace.turn)(chat_id)
        try:
            async with _explained():
                return await request(html=html)
        except PlatformError as error:
            if error.retry_s:
                self._pace.hold(chat_id, error.retry_s)
            # A person can block the bot in a private chat at any time. So this alone never makes a card undeliverable.
            error.lost = error.lost and chat_id < 0
            raise


class _Request(Protocol):
    """A request to the Bot API that sends its text as HTML or as plain text."""

    def __call__(self, *, html: bool) -> Awaitable[Any]:
        """Send the request to the Bot API."""


class _Sender(Protocol):
    """Sends one message to a chat or a topic of it, as a reply to another message or without one."""

    def __call__(self, chat_id: int, topic: int | None, answers: str | None, /) -> Awaitable[Any]:
        """Send the message, and return it as Telegram stored it."""


class _UnchangedError(PlatformError):
    """Telegram refused an edit because the message has this content already."""


class _UnparsedError(PlatformError):
    """Telegram can't parse the HTML of the text."""


class _AstrayError(PlatformError):
    """The topic was deleted, or the message to reply to is in another topic."""


class _MovedError(PlatformError):
    """The group has become a supergroup, which has another chat id."""

    def __init__(self, chat_id: int) -> None:
        super().__init__(f"moved to {chat_id}", passing=True)
        self.chat_id = chat_id


@asynccontextmanager
async def _explained() -> AsyncIterator[None]:
    """Raise Telegram's errors as PlatformError, which says whether the error may pass and when to retry."""
    try:
        yield
    except RetryAfter as error:
        raise PlatformError("Telegram asks for a pause", passing=True, retry_s=seconds_of(error)) from error
    except ChatMigrated as error:
        raise _MovedError(error.new_chat_id) from error
    except BadRequest as error:
        raise _bad_request(error) from error
    except (Forbidden, InvalidToken) as error:
        raise PlatformError(error.message, passing=False, lost=True, remedy=remedy(error.message)) from error
    except (TelegramError, TimeoutError) as error:
        raise PlatformError(type(error).__name__, passing=True) from error
    except (LookupError, TypeError, ValueError) as error:
        raise PlatformError("something else answers in Telegram's place", passing=True) from error


#: Words in Telegram's answers with status 400 (official server, `Client.cpp`), and the error class for each.
_BAD_REQUESTS: Mapping[str, type[PlatformError]] = {
    "message is not modified": _UnchangedError,
    "can't parse entities": _UnparsedError,
    "message thread not found": _AstrayError,
    "message to be replied not found": _AstrayError,
}


def _bad_request(error: BadRequest) -> PlatformError:
    said = error.message.casefold()
    kind = next((kind for words, kind in _BAD_REQUESTS.items() if words in said), PlatformError)
    return kind(error.message, passing=False, lost=is_of_place(said), remedy=remedy(said))


def _number(message: str) -> int:
    """Return a message's number within its chat."""
    return int(message.partition(":")[2])


def _sealed_for(route: str) -> str:
    """Return the chat that button data is bound to: the chat in which the conversation began."""
    return route.partition("/")[0]


def _reply_to(answers: str | None) -> ReplyParameters | None:
    return ReplyParameters(_number(answers), allow_sending_without_reply=True) if answers else None


def _text(message: Message, *, html: bool) -> dict[str, Any]:
    return {"text": message.html, "parse_mode": ParseMode.HTML} if html else {"text": message.plain}


def _markup(message: Message) -> InlineKeyboardMarkup | None:
    if not message.buttons:
        return None
    made = [
        (one.alone, InlineKeyboardButton(one.label, callback_data=one.data, style=one.style or None))
        for one in message.buttons
    ]
    rows = [[button] for alone, button in made if alone]
    return InlineKeyboardMarkup([*rows, [button for alone, button in made if not alone]])
