"""The `Chat` port, implemented with python-telegram-bot: sends cards and answers, and converts refusals."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from cachetools import FIFOCache
from telegram import ForceReply, InlineKeyboardButton, InlineKeyboardMarkup, LinkPreviewOptions, ReplyParameters
from telegram.constants import ChatAction, ParseMode, ReactionEmoji

from adapters.telegram.delivery import Delivery, number_of, writing_ours
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
from adapters.telegram.refusals import MovedError, UnchangedError, explained
from adapters.telegram.surface import is_private, parse_place
from hitl.call import State, Verb
from hitl.cards.card import outcome
from hitl.cards.text import cut_middle
from hitl.errors import Unavailable
from hitl.people.names import Names
from hitl.ports import PlatformError
from hitl.proof.seals import bound
from hitl.question import is_question

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from telegram import Bot

    from adapters.telegram.delivery import Request
    from hitl.call import Bound, Call
    from hitl.cards.card import File
    from hitl.cards.wording import Wording
    from hitl.proof.keyring import Keyring

_log = logging.getLogger(__name__)
_TOAST = 200
#: To show a card, Telegram is asked for the names of at most this many approvers.
_NAMED = 3
#: The ids of supergroups and channels begin with this prefix (Bot API, `Chat.id`).
_SUPERGROUP = "-100"
_NO_PREVIEW = LinkPreviewOptions(is_disabled=True)
_KEPT = 10_000


class TelegramChat:
    """The chat of one bot.

    `stands` is called with the call, the route and the message id of a card that replaces an older message of the same
    card. `fresh` returns the current state of a call. It is called just before an edit is sent, because an edit may
    wait long for its turn. `bind` stores which call a message of the bot is about, so that a reply to the message
    answers that call.
    """

    def __init__(
        self,
        bot: Bot,
        keys: Keyring,
        delivery: Delivery,
        *,
        stands: Callable[[str, str, str], Awaitable[None]] | None = None,
        fresh: Callable[[str], Awaitable[Call | None]] | None = None,
        bind: Callable[[Bound], Awaitable[None]] | None = None,
    ) -> None:
        self.bot = bot
        #: The display names of people. The service replaces this object with its own when it attaches this chat.
        self.names = Names()
        self._keys = keys
        self._delivery = delivery
        self._stands = stands
        self._fresh = fresh
        self._bind = bind
        #: For each message, the hash of the content that was sent last. An edit without a change isn't sent.
        self._edited: FIFOCache[str, int] = FIFOCache(_KEPT)
        #: The accounts whose names Telegram was asked for.
        self._asked_about: FIFOCache[str, None] = FIFOCache(_KEPT)

    def latest(self, place: str, before: str | None) -> str | None:
        """Return the ref of the call that the bot's latest message in `place` is about, or None.

        The result is None too if the bot's latest message isn't known, or if it came after the message `before`.
        """
        return self._delivery.latest(place, before)

    def shows_rejection(self, call: Call) -> bool:  # noqa: ARG002
        """Return False, because on Telegram the card itself shows a rejection."""
        return False

    def learn_move(self, old: str, new: str) -> None:
        """From now on, send the messages for the conversation `old` to the place `new`."""
        self._delivery.learn_move(old, new)

    def link(self, route: str, message: str) -> str:
        """Return the address of a message in a supergroup, '' in other chats (core.telegram.org/api/links)."""
        chat, _, number = message.partition(":")
        _, topic = parse_place(route)
        if not chat.startswith(_SUPERGROUP):
            return ""
        return f"https://t.me/c/{chat.removeprefix(_SUPERGROUP)}/{f'{topic}/' if topic else ''}{number}"

    async def post(self, route: str, call: Call) -> str:
        """Post the card of a call. Return the message's id, which is unique among all chats."""
        await self._meet(route, call)
        return await self._send(route, self._card(route, call, refreshed=False), about=call.ref)

    async def _meet(self, route: str, call: Call) -> None:
        """Ask Telegram for the names of those people on a card whose names aren't known, once for each person.

        If Telegram doesn't answer, the card shows the person's id. Names aren't stored, so after a restart Telegram is
        asked again.
        """
        people = (call.requester, call.decided_by or "", *call.approvers[:_NAMED])
        chat_id, _ = self._delivery.present(route)
        for account in {self.names.account(each, PLATFORM) for each in people if not self.names.is_known(each)}:
            if not account.isdecimal() or account in self._asked_about:
                continue
            self._asked_about[account] = None
            with suppress(PlatformError):
                async with explained():
                    user = (await self.bot.get_chat_member(chat_id, int(account))).user
                self.names.learn(f"{PLATFORM}:{account}", user.full_name, f"@{user.username}" if user.username else "")

    async def update(self, route: str, message: str, call: Call) -> None:
        """Edit the card to show the call's current state.

        If the edit fails, post a new card, or the outcome if the call has ended.
        """
        await self._meet(route, call)
        if self._edited.get(message) == hash(self._card(route, call)):
            return
        try:
            chat_id, refresh = int(message.partition(":")[0]), call.state is State.AWAITING
            await self._delivery.request(chat_id, self._edit(route, message, call), refresh=refresh)
        except UnchangedError:
            return
        except PlatformError as error:
            if error.passing and not isinstance(error, MovedError):
                raise
            await self._replace(route, call)

    async def spare(self, route: str, message: str, call: Call) -> None:
        """Edit a message that is a second copy of a call's card. It then says that the other message is the card, or
        how the call ended.
        """
        spare = plain_message(self._wording(route).say("card.spare", short=call.short))
        shown = self._card(route, call) if call.ended else spare
        try:
            await self._delivery.request(int(message.partition(":")[0]), self._edit_to(message, shown))
        except PlatformError as error:
            if error.passing:
                raise

    def _edit(self, route: str, message: str, call: Call) -> Request:
        async def edit(*, html: bool) -> None:
            now = (await self._fresh(call.ref) if self._fresh else None) or call
            await self._edit_to(message, self._card(route, now))(html=html)

        return edit

    def _edit_to(self, message: str, shown: Message) -> Request:
        async def edit(*, html: bool) -> None:
            await self.bot.edit_message_text(
                chat_id=int(message.partition(":")[0]),
                message_id=number_of(message),
                reply_markup=_markup(shown),
                link_preview_options=_NO_PREVIEW,
                **_text(shown, html=html),
            )
            self._edited[message] = hash(shown)

        return edit

    def _card(self, route: str, call: Call, *, refreshed: bool = True) -> Message:
        reader = self.names.people.owner(route) if is_private(route) else ""
        place, wording = _sealed_for(route), self._wording(route)
        return card_message(call, self._keys, place, self.names, reader=reader, refreshed=refreshed, wording=wording)

    def _wording(self, route: str) -> Wording:
        """Return the wording in the language of a chat."""
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
        """Post the outcome of a call to the conversation in which the call was asked for. A reply to the message is
        about the call.
        """
        await self._bound(await self._send(route, notice_message(call, self._wording(route)), about=call.ref), call.ref)

    async def tell(self, route: str, text: str, *, about: str | None = None, answers: str | None = None) -> None:
        """Send a sentence of the service, about the call with the ref `about`. If the message `answers` still exists,
        the sentence is a reply to it.
        """
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
        """Ask one person (an identity) for the reason of an approval, or for the answer to a question.

        The message mentions this person, and opens a reply field for them. A rejection needs no question here, because
        the card of a rejected call asks for the reason.
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

    async def show(self, route: str, file: File, *, about: str, press: str | None = None) -> None:
        """Show a whole text as a message or, if the text is too long, as a file.

        `about` is the ref of the call to which the text belongs.
        """
        del press
        if length(file.text) <= LONGEST:
            return await self._bound(await self._send(route, whole_message(file.text), about=about), about)

        def send(chat_id: int, topic: int | None, _: str | None) -> Awaitable[Any]:
            async def document(*, html: bool) -> Any:
                del html
                sent = file.text.encode()
                return await self.bot.send_document(chat_id, sent, filename=file.name, message_thread_id=topic)

            return self._delivery.request(chat_id, document)

        return await self._bound(await self._delivery.send(route, send, about=about), about)

    async def attach(self, route: str, file: File, *, about: str, card: str) -> bool:
        """Do nothing, and return False: `show` has sent the file already, and everybody in the chat sees it."""
        del route, file, about, card
        return False

    async def working(self, route: str, *, on: bool) -> None:
        """Show "typing" for five seconds (Bot API, `sendChatAction`).

        The sign ends by itself, or with the bot's next message.
        """
        if not on:
            return
        chat_id, topic = self._delivery.present(route)
        # The "typing" sign isn't a message, so the bot's latest message in the chat stays the latest.
        with writing_ours():
            async with explained():
                await self.bot.send_chat_action(chat_id, ChatAction.TYPING, message_thread_id=topic)

    async def suggest(self, route: str, title: str, prompts: Mapping[str, str]) -> None:
        """Do nothing. Instead of prompts, Telegram shows the bot's list of commands."""

    async def entitle(self, route: str, title: str) -> None:
        """Do nothing, because the bot can't name a private chat."""

    async def mark_undecided(self, message: str) -> None:
        """React to a message with a shrug, because the bot can't write to its author in private.

        Telegram lets a bot write in private only to people who wrote to the bot first.
        """
        async with explained():
            await self.bot.set_message_reaction(int(message.partition(":")[0]), number_of(message), ReactionEmoji.SHRUG)

    async def answer_press(self, press: str, text: str, *, alert: bool) -> None:
        """Answer a button press, which Telegram allows once. If the press is too old, Telegram refuses the answer.

        Then the log reports the refusal, and the decision of the press is still valid.
        """
        try:
            async with explained():
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
            return self._delivery.request(
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

        return await self._delivery.send(route, send, about=about, answers=answers)

    async def _bound(self, message: str, ref: str | None, asks: str = "") -> None:
        """Store which call a sent message is about. `asks` is the person whom the message asks for a reason, or ''.

        If the store fails, the message stays in the chat, but a reply to it doesn't lead to the call.
        """
        if ref is None or self._bind is None:
            return
        with suppress(Unavailable):
            await self._bind(bound(self._keys, message, ref, asks))


def _sealed_for(route: str) -> str:
    """Return the chat that the button data of a route is valid for: the chat in which the conversation began."""
    return route.partition("/")[0]


def _reply_to(answers: str | None) -> ReplyParameters | None:
    return ReplyParameters(number_of(answers), allow_sending_without_reply=True) if answers else None


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
