"""A text client: act as people on a running server by typed lines, and see what they see.

ada: yes                   write (in private to the bot, or in the chat that `in` chose)
ada press 12 Approve       press a button of message 12 (without a number: of the newest with it)
ada reply 12 no, wait      answer message 12 (without a number: the bot's newest)
ada react 12 thumbs        react (thumbs, down, ok, heart, fire, eyes, or an emoji; the same without a number)
ada edit 12 text           change one's message
ada forward 12 Ops         forward it to a chat
ada block / unblock        block the bot
in Ops / in private        choose the chat to act in
remove / add               take the bot out of the chosen chat, or put it back
promote / demote           make the bot an administrator of the chosen chat, or none
show                       print all chats
advance 150                move the clock
down / up                  refuse connections / listen again
help / quit
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import AsyncIterator, Sequence
from typing import Final

from simulators.common.client import PRIVATE, Say, Terminal, at_terminal, numbered, parser, play
from simulators.common.lookup import ControlError
from simulators.telegram.server import TelegramServer
from simulators.telegram.state import Bot, Chat, Message, User

MANUAL: Final = __doc__ or ""
EMOJI: Final = {
    "thumbs": "\N{THUMBS UP SIGN}",
    "up": "\N{THUMBS UP SIGN}",
    "down": "\N{THUMBS DOWN SIGN}",
    "ok": "\N{OK HAND SIGN}",
    "heart": "\N{HEAVY BLACK HEART}",
    "fire": "\N{FIRE}",
    "eyes": "\N{EYES}",
}
PEOPLE: Final = ("Ada", "Ben")


class TelegramTerminal(Terminal[User]):
    """Acts on a Telegram of ours, and prints messages, edits and answers to presses."""

    server: TelegramServer
    manual = MANUAL

    def __init__(self, server: TelegramServer, say: Say) -> None:
        super().__init__(server, say)
        self._printed: dict[tuple[int, int, int], int] = {}
        self._answered: set[str] = set()
        self._acts = {
            "press": self._press,
            "reply": self._reply,
            "react": self._react,
            "edit": self._edit,
            "forward": self._forward,
            "block": self._block,
            "unblock": self._unblock,
        }
        self._orders |= {
            "promote": self._promote,
            "demote": self._demote,
            "remove": self._remove,
            "add": self._add,
        }

    def look(self) -> None:
        """Print what was not printed yet."""
        for room in self.server.world.chats.values():
            self._print_news(room)
        self._print_answers()

    async def _person(self, name: str) -> User:
        return await self.server.person(name)

    async def _write(self, person: User, text: str) -> None:
        await self.server.say(person, await self._room(person), text)

    async def _room(self, person: User) -> Chat:
        if self.place == PRIVATE:
            return await self.server.private(person)
        return await self.server.chat(self.place)

    async def _press(self, person: User, words: list[str]) -> None:
        number, label = numbered(words)
        room = await self._room(person)
        message = _found(room.messages.get(number) if number else _newest_with(room, label))
        await self.server.press(person, message, label)

    async def _reply(self, person: User, words: list[str]) -> None:
        number, text = numbered(words)
        room = await self._room(person)
        message = _found(room.messages.get(number) if number else _newest_of_bots(room))
        await self.server.say(person, room, text, reply_to=message)

    async def _react(self, person: User, words: list[str]) -> None:
        number, named = numbered(words)
        room = await self._room(person)
        message = _found(room.messages.get(number) if number else _newest_of_bots(room))
        emoji = EMOJI.get(named, named)
        await self.server.react(person, message, emoji, chat=room, remove=not emoji)

    async def _edit(self, person: User, words: list[str]) -> None:
        await self.server.edit(person, int(words[0]), " ".join(words[1:]), chat=await self._room(person))

    async def _forward(self, person: User, words: list[str]) -> None:
        await self.server.forward(person, int(words[0]), words[1], chat=await self._room(person))

    async def _block(self, person: User, _words: list[str]) -> None:
        await self.server.block(person)

    async def _unblock(self, person: User, _words: list[str]) -> None:
        await self.server.unblock(person)

    async def _in(self, words: list[str]) -> None:
        if words[0] != PRIVATE:
            await self.server.chat(words[0])
        self.place = words[0]

    async def _promote(self, _words: list[str]) -> None:
        await self.server.promote(self.place, self._bot)

    async def _demote(self, _words: list[str]) -> None:
        await self.server.demote(self.place, self._bot)

    async def _remove(self, _words: list[str]) -> None:
        await self.server.kick(self.place, self._bot)

    async def _add(self, _words: list[str]) -> None:
        await self.server.add_bot(self.place, self._bot)

    @property
    def _bot(self) -> Bot:
        return next(iter(self.server.world.bots.values()))

    async def _show(self, _words: list[str]) -> None:
        for room in self.server.world.chats.values():
            for message in room.messages.values():
                self._say(line_of(room, message))

    def _print_news(self, room: Chat) -> None:
        for message in list(room.messages.values()):
            key = (*room.key, message.id)
            if self._printed.get(key) != message.edits:
                self._printed[key] = message.edits
                self._say(line_of(room, message))

    def _print_answers(self) -> None:
        for query in self.server.platform.queries.values():
            if query.answer and query.id not in self._answered:
                self._answered.add(query.id)
                presser = self.server.world.users[query.user_id]
                self._say(f"  ({presser.first_name} sees: {query.answer.text or 'nothing'})")


def line_of(room: Chat, message: Message) -> str:
    """Return a message as one line: chat, number, sender, text, buttons."""
    where = room.title or room.members[room.id].user.first_name
    who = message.sender.first_name if message.sender else room.title
    edited = " (edited)" if message.edits else ""
    text = message.text or ", ".join(message.service) or (message.document.name if message.document else "")
    buttons = "".join(f" [{label}]" for label in message.labels)
    return f"{where} #{message.id} {who}{edited}: {text}{buttons}"


def _newest_with(room: Chat, label: str) -> Message | None:
    wanted = label.lower()
    return next((one for one in reversed(room.messages.values()) if wanted in " ".join(one.labels).lower()), None)


def _newest_of_bots(room: Chat) -> Message | None:
    return next((one for one in reversed(room.messages.values()) if one.author_bot), None)


def _found(message: Message | None) -> Message:
    if message is None:
        raise ControlError("there is no such message here; `in ...` chooses another chat, `show` prints all")
    return message


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    made = parser(
        "telegram",
        "A Telegram server of ours on loopback, with people to act as.",
        "--person Ada --person Ben --group Ops",
    )
    made.add_argument("--token", default="", help="of the bot (default: made up)")
    made.add_argument("--group", default="", metavar="TITLE", help="a supergroup with all of them")
    return made.parse_args(argv)


async def furnish(server: TelegramServer, options: argparse.Namespace) -> list[str]:
    """Make bot, people and group, and return the lines that say how to point a bot at the server."""
    bot = await server.bot(token=options.token)
    people = [await server.user(name, username=name.lower()) for name in options.people or PEOPLE]
    group = [await server.supergroup(options.group, members=people, bots=[bot])] if options.group else []
    return [
        "In another terminal, before `sayso run`, `sayso doctor` or `sayso deploy telegram`:",
        "",
        f"export SAYSO_TELEGRAM__TOKEN={bot.token}",
        f"export SAYSO_TELEGRAM__API={server.root_url}",
        "",
        f"bot      @{bot.user.username}  {server.base_url}",
        *(f"person   {one.first_name}  telegram:{one.id}" for one in people),
        *(f"group    {one.title}  telegram:{one.id}" for one in group),
        f"control  {server.control_url}",
        "",
        "Type help for what people can do.",
    ]


async def run(options: argparse.Namespace, lines: AsyncIterator[str], say: Say) -> None:
    """Serve until `quit` or the end of the lines."""
    async with TelegramServer(port=options.port, control_port=options.control_port) as server:
        await play(TelegramTerminal(server, say), await furnish(server, options), lines, say)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the client."""
    at_terminal(functools.partial(run, _arguments(argv)))
