"""Telegram as a surface: one group with everybody in it, real updates over real HTTP.

Who talks without answering a card mentions the bot, as one does in a group. A screen is what the group shows and
what the app shows to that person alone: the answers to their presses.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Self

from hitl.call import Call, Verb
from hitl.proof.keyring import ButtonData
from hitl.records import replace
from simulators.telegram import TelegramServer
from simulators.telegram.state import REACTIONS, plain_emoji
from tests.scenarios.chats import ChatRoom, ChatStage
from tests.scenarios.harness import PEOPLE
from tests.wired import wired

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from simulators.telegram import Bot, Chat, Message, User
    from tests.wired import Wired


class Group(ChatRoom["Message", "Wired"]):
    """Implements `Surface`."""

    def __init__(self, server: TelegramServer, bot: Bot, room: Chat, people: Mapping[str, User]) -> None:
        self.server = server
        self.bot = bot
        self.room = room
        self.people = people
        self.identities: Mapping[str, str] = {who: f"telegram:{user.id}" for who, user in people.items()}
        self.conversation = f"telegram:{room.id}"

    @classmethod
    async def gather(cls, server: TelegramServer) -> Self:
        """A group, the bot in it as an administrator, so that it may see reactions."""
        bot = await server.bot(sees_bots=True)
        people = {who: await server.user(who.title()) for who in PEOPLE}
        room = await server.supergroup("Ops", members=people.values(), bots=[bot.user])
        await server.promote(room, bot.user)
        return cls(server, bot, room, people)

    async def say(self, who: str, text: str) -> None:
        """A message that mentions the bot."""
        if text.strip():
            await self.server.say(self.people[who], self.room, f"@{self.bot.user.username} {text}")
        await self.settle()

    async def answer(self, who: str, call: Call, text: str) -> None:
        """A reply to the card."""
        await self.server.say(self.people[who], self.room, text, reply_to=self.message(call))
        await self.settle()

    async def press(self, who: str, call: Call, verb: Verb) -> None:
        """A press; on a card whose buttons are gone, one that was on its way when they went."""
        await self.server.press(self.people[who], self.message(call), data=self.data(call, verb))
        await self.settle()

    def data(self, call: Call, verb: Verb) -> str:
        """What the button of a card holds."""
        buttons = _first_buttons(self.message(call))
        return next(
            str(button["callback_data"])
            for button in buttons
            if ButtonData.unpack(str(button["callback_data"])).verb is verb
        )

    async def react(self, who: str, call: Call, emoji: str) -> None:
        """A reaction; what Telegram doesn't offer as one is sent as a reply."""
        if plain_emoji(emoji) not in REACTIONS:
            return await self.answer(who, call, emoji)
        await self.server.react(self.people[who], self.message(call), emoji)
        return await self.settle()

    async def send_again(self) -> None:
        """A minute goes by on the platform."""
        await self.server.advance(61)

    async def command(self, who: str, text: str) -> None:
        """A command in the group."""
        await self.server.say(self.people[who], self.room, f"/{text}")
        await self.settle()

    def card(self, call: Call) -> str:
        """The card as it was posted, each block on the line of its name."""
        found = self.cards(call)
        return read_out(_first(found[0])) if found else ""

    def heard(self, who: str) -> list[str]:
        """What the bot wrote in the group and to this person, and answered to their presses, in the order of time."""
        asked = [query for query in self.server.platform.queries.values() if query.user_id == self.people[who].id]
        answered = {query.id: query.answer for query in asked if query.answer}
        calls = [call for call in self.server.platform.calls if call.status == 200]
        texts: list[str] = []
        written = {str(self.room.id): iter(self.posted()), str(self.people[who].id): iter(self.whispered(who))}
        for call in calls:
            if call.method in {"sendMessage", "sendDocument"}:
                if (here := written.get(str(call.params["chat_id"]))) is not None:
                    texts.append(_text(next(here)))
            elif call.method == "answerCallbackQuery" and call.params["callback_query_id"] in answered:
                texts.append(str(call.params.get("text", "")))
        return texts

    def cards(self, call: Call) -> list[Message]:
        """All cards of the call, oldest first."""
        return [message for message in self.posted() if _title(call, message)]

    def whispered(self, who: str) -> list[Message]:
        """The bot's messages in its private chat with that person, oldest first."""
        private = [chat for (_, chat_id), chat in self.server.world.chats.items() if chat_id == self.people[who].id]
        return [message for chat in private for message in self.posted(chat)]

    def posted(self, room: Chat | None = None) -> list[Message]:
        """The bot's messages in a chat, oldest first."""
        return [message for message in (room or self.room).messages.values() if message.author_bot]


class TelegramStage(ChatStage):
    """A stage whose service speaks to Telegram."""

    surface: Group

    def _wired(self) -> contextlib.AbstractAsyncContextManager[Wired]:
        group = self.surface
        return wired(group.server, group.bot, self._gate, receive=self._receive, **self.settings)


@contextlib.asynccontextmanager
async def staged(receive: str, **settings: Any) -> AsyncIterator[TelegramStage]:
    """A stage in a group, its updates received in that way; its record is checked at the end."""
    async with TelegramServer() as server:
        stage = TelegramStage(await Group.gather(server), receive, **settings)
        async with stage.played():
            yield stage


def read_out(message: Message) -> str:
    """A message as a person reads it: what stands in a block after a name belongs to that name."""
    text = message.text.encode("utf-16-le")
    for entity in sorted(message.entities, key=lambda one: -one.offset):
        before = text[2 * (entity.offset - 2) : 2 * entity.offset].decode("utf-16-le")
        if entity.type == "pre" and before == ":\n":
            text = text[: 2 * entity.offset - 2] + " ".encode("utf-16-le") + text[2 * entity.offset :]
    return text.decode("utf-16-le")


def _title(call: Call, message: Message) -> bool:
    """Whether it is the call's card: its first button is the call's."""
    buttons = [str(button.get("callback_data") or "") for button in _first_buttons(message)]
    return bool(buttons) and ButtonData.unpack(buttons[0]).ref == call.ref


def _first(message: Message) -> Message:
    """A message as it was sent, before any edit."""
    if not message.history:
        return message
    was = message.history[0]
    return replace(message, text=was.text, entities=was.entities, history=())


def _first_buttons(message: Message) -> list[Any]:
    keyboard = message.history[0].keyboard if message.history else message.keyboard
    return [button for row in keyboard for button in row]


def _text(message: Message) -> str:
    if message.document:
        return message.document.content.decode()
    first = message.history[0] if message.history else message
    return first.text
