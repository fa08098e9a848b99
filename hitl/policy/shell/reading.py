"""The result of parsing a shell line for rules that deny or ask: the commands that it would run, and the doubts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from hitl.policy.shell.work import MAX_COMMANDS, MAX_NAME, MAX_WORK

if TYPE_CHECKING:
    from tree_sitter import Node

Words = Sequence[str | None]


def base_name(name: str) -> str:
    """Return the last component of a program's path."""
    return name.rstrip("/").rpartition("/")[2] if "/" in name else name


class SimpleCommand:
    """One simple command: its words after quoting, and the base name of its program.

    A word is None if it is known only when the command runs. ``base`` is None if the program's name is unknown, or too
    long for a name. ``guessed`` says that this is not a command of the line, only a word that may name a program.
    ``unsure`` says that the guess is too weak to deny a call, because the word is an argument of an unknown program.
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
    """The commands of a line, the doubts about the line, and the substitutions and redirections that conditions test.

    - ``hidden`` says that a program may run that is not in ``commands``.
    - ``doubts`` are the reasons why the effect of the line is uncertain, for example a program that runs other code,
      such as an interpreter.
    - ``substitution`` says that the line holds a substitution.
    - ``writes`` are its output redirections: operator and target.

    ``work`` counts the units spent so far; when the budget is used up (module ``work``), the rest of the line is
    skipped. A line may hold other shell texts, such as TEXT in ``bash -c TEXT``. ``tree`` is the syntax tree of the
    first text that isn't a plain list of words. If that text didn't need the parser, ``unparsed`` is the text.
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
        """Record that a program may run that is not in ``commands``. ``why`` is the reason, for the doubts."""
        self.hidden = True
        self.doubts.append(why)

    def parse_later(self, text: str) -> None:
        """Keep a text that didn't need the parser, if it is the first text, so that it can be parsed later."""
        if self.tree is None and self.unparsed is None:
            self.unparsed = text

    def exhausted(self, units: int) -> bool:
        """Take units of work from the budget. Return True if the budget is used up.

        In that case, record a doubt, so that the line is asked about. The caller must then skip the rest of the line.
        """
        self.work += units
        if self.work <= MAX_WORK and len(self.commands) <= MAX_COMMANDS:
            return False
        self.hidden = True
        if self.doubts[-1:] != [_TOO_MUCH]:
            self.doubts.append(_TOO_MUCH)
        return True

    def add(self, other: ShellReading) -> None:
        """Add the commands and doubts of another ShellReading of the same call."""
        self.commands += other.commands
        self.doubts += other.doubts
        self.hidden |= other.hidden
        self.substitution |= other.substitution
        self.writes += other.writes

    def programs(self) -> tuple[str, ...]:
        """Return the names of the programs in the order found, each once. An unknown program is ``?``."""
        names = ["?" if command.base is None else command.base for command in self.commands if not command.guessed]
        if self.hidden:
            names.append("?")
        return tuple(dict.fromkeys(names)) if len(names) > 1 else tuple(names)


_TOO_MUCH = "is too long or too deeply nested to read"


class PayloadReader(Protocol):
    """The recorder of a line's commands, as the code for one program uses it.

    The code finds shell texts and commands among the program's arguments, and passes them to these methods.
    """

    reading: ShellReading
    #: The values of the positional parameters, by name: `0`, `1`, ... and `@`.
    positional: dict[str, list[str | None]]

    def source(self, text: str, positional: Words = ()) -> None:
        """Parse a shell text that a command would run. ``positional`` are its parameters from ``$0`` on."""

    def nested(self, command: Words, origin: Node | None, *, guessed: bool = False) -> None:
        """Record a command that is an argument of another command. ``guessed`` says that the words may not be a
        command.
        """

    def exactly(self, node: Node) -> list[str]:
        """Return a list with the text of a word, or [] if the text is known only when the line runs."""

    def texts(self, node: Node) -> list[str]:
        """Return the texts that a word may have, by the values that the line gives its variables.

        Return [] if these values are unknown.
        """
