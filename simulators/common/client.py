"""What every platform's text client is made of: typed lines, orders, and printing what is new."""

from __future__ import annotations

import abc
import argparse
import asyncio
import contextlib
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from typing import Any, Final, Generic, TypeVar

from simulators.common.control import Overseer
from simulators.common.lookup import ControlError

PRIVATE: Final = "private"

P = TypeVar("P")
Say = Callable[[str], None]
Order = Callable[[list[str]], Awaitable[None]]
Act = Callable[[P, list[str]], Awaitable[None]]


class Terminal(abc.ABC, Generic[P]):
    """Understands typed lines and prints what happens; `say` prints one line, `P` is the platform's person.

    `acts` are what a person does ("ada press Approve"), `orders` what is done to the server ("advance 150").
    """

    #: What `help` prints.
    manual: str = ""

    def __init__(self, server: Overseer[Any, Any, Any], say: Say, place: str = PRIVATE) -> None:
        self.server = server
        self.place = place
        self._say = say
        self._acts: dict[str, Act[P]] = {}
        self._orders: dict[str, Order] = {
            "in": self._in,
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
        """Print what is new as it comes, until cancelled."""
        while True:
            change = self.server.platform.change()
            self.look()
            await change.wait()

    @abc.abstractmethod
    def look(self) -> None:
        """Print what was not printed yet."""

    @abc.abstractmethod
    async def _person(self, name: str) -> P:
        """Return who is called so."""

    @abc.abstractmethod
    async def _write(self, person: P, text: str) -> None:
        """Let a person write where they are."""

    @abc.abstractmethod
    async def _in(self, words: list[str]) -> None:
        """Choose where people are."""

    @abc.abstractmethod
    async def _show(self, words: list[str]) -> None:
        """Print everything again."""

    async def _carry_out(self, line: str, words: list[str]) -> None:
        if words[0] in self._orders:
            await self._orders[words[0]](words[1:])
        elif words[0].endswith(":"):
            await self._write(await self._person(words[0][:-1]), _rest(line, 1))
        else:
            await self._act(words[0], words[1:])

    async def _act(self, name: str, words: list[str]) -> None:
        act = self._acts.get(words[0] if words else "")
        if act is None:
            raise ControlError("not understood; try help")
        await act(await self._person(name), words[1:])

    async def _advance(self, words: list[str]) -> None:
        await self.server.advance(float(words[0]))

    async def _down(self, _words: list[str]) -> None:
        await self.server.down()

    async def _up(self, _words: list[str]) -> None:
        await self.server.up()

    async def _help(self, _words: list[str]) -> None:
        self._say(self.manual.strip())


def numbered(words: list[str]) -> tuple[int, str]:
    """Return the message's number that the words begin with, 0 if they don't, and the rest of them."""
    if words and words[0].isdecimal():
        return int(words[0]), " ".join(words[1:])
    return 0, " ".join(words)


def parser(platform: str, description: str, example: str) -> argparse.ArgumentParser:
    """Return a parser of the arguments that every client takes."""
    prog = f"python -m simulators.{platform}"
    made = argparse.ArgumentParser(prog=prog, description=description, epilog=f"example: {prog} {example}")
    made.add_argument("--port", type=int, default=0, help="where the platform answers (default: any)")
    made.add_argument("--control-port", type=int, default=0, help="of the control (default: any)")
    made.add_argument("--person", action="append", default=[], dest="people", metavar="NAME", help="who is there")
    return made


async def play(terminal: Terminal[Any], opening: Iterable[str], lines: AsyncIterator[str], say: Say) -> None:
    """Print the opening, then carry out lines and print what happens, until `quit` or the end of the lines."""
    for line in opening:
        say(line)
    await _first_of(_obey_all(terminal.obey, lines), terminal.watch())
    terminal.look()


def at_terminal(run: Callable[[AsyncIterator[str], Say], Coroutine[Any, Any, None]]) -> None:
    """Run a client on standard input and output; Ctrl-C ends it quietly."""
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run(_typed(), _print))


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


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _rest(line: str, words: int) -> str:
    """Return a line without its first words."""
    parts = line.split(maxsplit=words)
    return parts[words] if len(parts) > words else ""
