"""What reading a shell line comes to: the commands it would run, and the doubts about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from hitl.policy.shell.work import MAX_COMMANDS, MAX_NAME, MAX_WORK

if TYPE_CHECKING:
    from tree_sitter import Node

Words = Sequence[str | None]


def base_name(name: str) -> str:
    """The last component of a program's path."""
    return name.rstrip("/").rpartition("/")[2] if "/" in name else name


class SimpleCommand:
    """One simple command: its words after quoting (None: known only when it runs) and the program's base name.

    ``base`` is None for a name that is known only when it runs, and for one that is too long to be a program's.

    ``guessed``: a word that may name a program, not a command that was found. ``unsure``: a guess that is too weak to
    deny a call, because the word stands behind a program that may do anything with it.
    """

    __slots__ = ("base", "guessed", "unsure", "words")

    def __init__(self, words: Words, *, guessed: bool = False, unsure: bool = False) -> None:
        self.words = words
        name = words[0]
        base = name if name is None or "/" not in name else base_name(name)
        self.base = base if base is None or len(base) <= MAX_NAME else None
        self.guessed = guessed or unsure
        self.unsure = unsure


class ShellReading:
    """The commands of a line, the doubts about it, and what else decides.

    ``hidden``: a program may run that ``commands`` does not name. ``doubts``: why the line as a whole cannot be told,
    also because a named program runs code of its own (an interpreter, a build tool). ``writes``: output redirections.
    ``work``: the units spent (``work``); past the budget, what is left is not read.
    ``tree``: of the first text that was parsed, unless the first text needed no parser: then that is ``unparsed``.
    """

    __slots__ = ("commands", "doubts", "hidden", "substitution", "tree", "unparsed", "work", "writes")

    def __init__(self) -> None:
        self.commands: list[SimpleCommand] = []
        self.doubts: list[str] = []
        self.hidden = False
        self.substitution = False
        self.writes: list[tuple[str, str | None]] = []
        self.tree: Node | None = None
        self.unparsed: str | None = None
        self.work = 0

    def hide(self, why: str) -> None:
        """A program may run that is not named."""
        self.hidden = True
        self.doubts.append(why)

    def parse_later(self, text: str) -> None:
        """A text was read that had no need of its tree."""
        if self.tree is None and self.unparsed is None:
            self.unparsed = text

    def exhausted(self, units: int) -> bool:
        """Spend units of work; True, with a doubt, once a line has cost too much to be read on."""
        self.work += units
        if self.work <= MAX_WORK and len(self.commands) <= MAX_COMMANDS:
            return False
        self.hidden = True
        if self.doubts[-1:] != [_TOO_MUCH]:
            self.doubts.append(_TOO_MUCH)
        return True

    def add(self, other: ShellReading) -> None:
        """Take in the commands and doubts of another reading of the same call."""
        self.commands += other.commands
        self.doubts += other.doubts
        self.hidden |= other.hidden
        self.substitution |= other.substitution
        self.writes += other.writes

    def programs(self) -> tuple[str, ...]:
        """The programs in the order found, each once; a question mark for any that cannot be told."""
        names = ["?" if command.base is None else command.base for command in self.commands if not command.guessed]
        if self.hidden:
            names.append("?")
        return tuple(dict.fromkeys(names)) if len(names) > 1 else tuple(names)


_TOO_MUCH = "is too long or too deeply nested to read"


class PayloadReader(Protocol):
    """The reader of a text, as far as programs need it that are given another text or command."""

    reading: ShellReading
    #: The words of each positional parameter.
    positional: dict[str, list[str | None]]

    def source(self, text: str, positional: Words = ()) -> None:
        """Read shell text that a command would be given."""

    def nested(self, command: Words, origin: Node | None, *, guessed: bool = False) -> None:
        """Read a command that the later words of another command name; `guessed`: words that may name one."""

    def exactly(self, node: Node) -> list[str]:
        """Return the text that a word has; none if it is known only when the line runs."""

    def texts(self, node: Node) -> list[str]:
        """Return the texts that a word may have; none if they are not known."""
