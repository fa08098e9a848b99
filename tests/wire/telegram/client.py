"""A text client: act as people on a running server by typed lines, and see what they see.

alice: yes                 write (in private to the bot, or in the chat that `in` chose)
alice press 12 Approve     press a button of message 12 (without a number: of the newest with it)
alice reply 12 no, wait    answer message 12 (without a number: the bot's newest)
alice react 12 thumbs      react (thumbs, down, ok, heart, fire, eyes, or an emoji; the same without a number)
alice edit 12 text         change one's message
alice forward 12 Ops       forward it to a chat
alice block / unblock      block the bot
in Ops / in private        choose the chat to act in
promote / demote           make the bot an administrator of the chosen chat, or none
show                       print all chats
advance 150                move the clock
down / up                  refuse connections / listen again
help / quit
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from typing import Any, Final

from .lookup import ControlError
from .server import TelegramServer
from .state import Bot, Chat, Message, User

EMOJI: Final = {
    "thumbs": "\N{THUMBS UP SIGN}",
    "up": "\N{THUMBS UP SIGN}",
    "down": "\N{THUMBS DOWN SIGN}",
    "ok": "\N{OK HAND SIGN}",
    "heart": "\N{HEAVY BLACK HEART}",
    "fire": "\N{FIRE}",
    "eyes": "\N{EYES}",
}
PRIVATE: Final = "private"
PEOPLE: Final = ("Alice", "Bob")

Say = Callable[[str], None]


class Terminal:
    """Understands typed lines and prints what happens; `say` prints one line."""

    def __init__(self, server: TelegramServer, say: Say) -> None:
        self.server = server
        self.place = PRIVATE
        self._say = say
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
        self._orders = {
            "in": self._in,
            "promote": self._promote,
            "demote": self._demote,
            "show": self._show,
            "advance": self._advance,
            "down": self._down,
            "up": self._up,
            "help": self._help,
        }

    async def obey(self, line: str) -> bool:
        """Carry out one line; False to end. What can't be done is said, not raised."""
        words = line.split()
        if not words:
            return True
        if words[0] in {"quit", "exit"}:
            return False
        try:
            await self._carry_out(line, words)
        except ControlError as error:
            self._say(f"? {error}")
        except (ValueError, IndexError):
            self._say("? not understood; try help")
        return True

    async def watch(self) -> None:
        """Print messages, edits and answers to presses as they come, until cancelled."""
        while True:
            change = self.server.platform.change()
            self.look()
            await change.wait()

    def look(self) -> None:
        """Print what was not printed yet."""
        for room in self.server.world.chats.values():
            self._print_news(room)
        self._print_answers()

    async def _carry_out(self, line: str, words: list[str]) -> None:
        if words[0] in self._orders:
            await self._orders[words[0]](words[1:])
        elif words[0].endswith(":"):
            person = await self.server.person(words[0][:-1])
            await self.server.say(person, await self._room(person), _rest(line, 1))
        else:
            await self._act(words[0], words[1:])

    async def _act(self, name: str, words: list[str]) -> None:
        act = self._acts.get(words[0] if words else "")
        if act is None:
            raise ControlError("not understood; try help")
        person = await self.server.person(name)
        await act(person, await self._room(person), words[1:])

    async def _room(self, person: User) -> Chat:
        if self.place == PRIVATE:
            return await self.server.private(person)
        return await self.server.chat(self.place)

    async def _press(self, person: User, room: Chat, words: list[str]) -> None:
        number, label = _numbered(words)
        message = _found(room.messages.get(number) if number else _newest_with(room, label))
        await self.server.press(person, message, label)

    async def _reply(self, person: User, room: Chat, words: list[str]) -> None:
        number, text = _numbered(words)
        message = _found(room.messages.get(number) if number else _newest_of_bots(room))
        await self.server.say(person, room, text, reply_to=message)

    async def _react(self, person: User, room: Chat, words: list[str]) -> None:
        number, named = _numbered(words)
        message = _found(room.messages.get(number) if number else _newest_of_bots(room))
        emoji = EMOJI.get(named, named)
        await self.server.react(person, message, emoji, chat=room, remove=not emoji)

    async def _edit(self, person: User, room: Chat, words: list[str]) -> None:
        await self.server.edit(person, int(words[0]), " ".join(words[1:]), chat=room)

    async def _forward(self, person: User, room: Chat, words: list[str]) -> None:
        await self.server.forward(person, int(words[0]), words[1], chat=room)

    async def _block(self, person: User, _room: Chat, _words: list[str]) -> None:
        await self.server.block(person)

    async def _unblock(self, person: User, _room: Chat, _words: list[str]) -> None:
        await self.server.unblock(person)

    async def _in(self, words: list[str]) -> None:
        if words[0] != PRIVATE:
            await self.server.chat(words[0])
        self.place = words[0]

    async def _promote(self, _words: list[str]) -> None:
        await self.server.promote(self.place, self._bot)

    async def _demote(self, _words: list[str]) -> None:
        await self.server.demote(self.place, self._bot)

    @property
    def _bot(self) -> Bot:
        return next(iter(self.server.world.bots.values()))

    async def _show(self, _words: list[str]) -> None:
        for room in self.server.world.chats.values():
            for message in room.messages.values():
                self._say(line_of(room, message))

    async def _advance(self, words: list[str]) -> None:
        await self.server.advance(float(words[0]))

    async def _down(self, _words: list[str]) -> None:
        await self.server.down()

    async def _up(self, _words: list[str]) -> None:
        await self.server.up()

    async def _help(self, _words: list[str]) -> None:
        self._say((__doc__ or "").strip())

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


def _rest(line: str, words: int) -> str:
    """Return a line without its first words."""
    parts = line.split(maxsplit=words)
    return parts[words] if len(parts) > words else ""


def _numbered(words: list[str]) -> tuple[int | None, str]:
    """Return the message's number, if there is one, and the rest of the line."""
    if words and words[0].isdecimal():
        return int(words[0]), " ".join(words[1:])
    return None, " ".join(words)


def _newest_with(room: Chat, label: str) -> Message | None:
    wanted = label.lower()
    return next((one for one in reversed(room.messages.values()) if wanted in " ".join(one.labels).lower()), None)


def _newest_of_bots(room: Chat) -> Message | None:
    return next((one for one in reversed(room.messages.values()) if one.author_bot), None)


def _found(message: Message | None) -> Message:
    if message is None:
        raise ControlError("there is no such message")
    return message


async def _typed() -> AsyncIterator[str]:
    """Yield the lines of standard input; a thread reads them, so that quitting need not wait."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str] = asyncio.Queue()

    def read() -> None:
        for line in sys.stdin:
            loop.call_soon_threadsafe(lines.put_nowait, line)
        loop.call_soon_threadsafe(lines.put_nowait, "quit")

    threading.Thread(target=read, daemon=True).start()
    while True:
        yield await lines.get()


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.wire.telegram",
        description="A Telegram server of ours on loopback, with people to act as.",
        epilog="example: python -m tests.wire.telegram --person Alice --person Bob --group Ops",
    )
    parser.add_argument("--port", type=int, default=0, help="of the Bot API (default: any)")
    parser.add_argument("--control-port", type=int, default=0, help="of the control (default: any)")
    parser.add_argument("--token", default="", help="of the bot (default: made up)")
    parser.add_argument("--person", action="append", default=[], dest="people", metavar="NAME", help="who is there")
    parser.add_argument("--group", default="", metavar="TITLE", help="a supergroup with all of them")
    return parser.parse_args(argv)


async def furnish(server: TelegramServer, options: argparse.Namespace) -> list[str]:
    """Make bot, people and group, and return the lines that say how to point a bot at the server."""
    bot = await server.bot(token=options.token)
    people = [await server.user(name, username=name.lower()) for name in options.people or PEOPLE]
    group = [await server.supergroup(options.group, members=people, bots=[bot])] if options.group else []
    return [
        "In another terminal, before `sayso run`, `sayso doctor` or `make deploy-telegram`:",
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


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def run(options: argparse.Namespace, lines: AsyncIterator[str], say: Say) -> None:
    """Serve until `quit` or the end of the lines."""
    async with TelegramServer(port=options.port, control_port=options.control_port) as server:
        for line in await furnish(server, options):
            say(line)
        terminal = Terminal(server, say)
        await _first_of(_obey_all(terminal.obey, lines), terminal.watch())
        terminal.look()


async def _first_of(*works: Coroutine[Any, Any, None]) -> None:
    """Do all until one is done, and end the others; raises what that one raised."""
    tasks = [asyncio.create_task(work) for work in works]
    done, others = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in others:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()


async def _obey_all(obey: Callable[[str], Awaitable[bool]], lines: AsyncIterator[str]) -> None:
    async for line in lines:
        if not await obey(line):
            return


def main(argv: Sequence[str] | None = None) -> None:
    """Run the client."""
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run(_arguments(argv), _typed(), _print))
