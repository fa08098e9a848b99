"""Finds the text of each word of a line after quoting and expansion, for the strict parser in ``plain``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from hitl.policy.globs import is_pattern
from hitl.policy.shell import words
from hitl.policy.shell.tree import text_of
from hitl.policy.tables import names
from hitl.records import replace

if TYPE_CHECKING:
    from tree_sitter import Node

#: Variables whose values hold no secret: variables of the shell itself, and variables that every session has.
HARMLESS_VALUES = names(
    "PATH HOME PWD OLDPWD USER LOGNAME SHELL LANG LC_ALL TERM HOSTNAME HOSTTYPE OSTYPE MACHTYPE UID EUID PPID RANDOM "
    "SECONDS LINENO SHLVL BASH_VERSION COLUMNS LINES TMPDIR ? # $ ! 0 1 2 3 4 5 6 7 8 9 @ * -"
)
_NUMBERS = names("? # ! UID EUID PPID")
_UNQUOTED_WILD = re.compile(r"(?<!\\)(?:\\\\)*[*?\[]")
_BRACES = re.compile(r"(?<!\\)[{}]")
#: Matches text after ``$name`` by which zsh takes a part of the value or edits it. A colon before a blank doesn't
#: match, because it is plain text in zsh too.
_PICKS = re.compile(r"\[|:(?!\s)")
#: Matches the beginning of an unquoted word that zsh replaces by the path of a command: ``=ls`` becomes ``/bin/ls``
#: (zshexpn(1), "`=' expansion"). No command has a name that begins with a second sign, such as ``===``.
_COMMAND_PATH = re.compile(r"=[^=~]")
_QUOTES = re.compile(r"[\"'$`]")
#: Matches an unquoted value that a shell neither splits nor expands as a pattern.
_ONE_WORD = re.compile(r"[^\s*?\[\\~]+")
#: Matches braces that no shell expands, because they hold neither a comma nor dots (Bash manual, "Brace Expansion").
_PLAIN_BRACES = re.compile(r"(?<![\\$])\{[\w-]*\}", re.ASCII)


class NotPlain(Exception):
    """Raised if a line isn't understood completely. The message names the part that isn't understood."""


@dataclass(frozen=True, slots=True)
class Below:
    """The names of files below the folders ``roots``, as ``find`` prints them.

    - ``only`` are patterns of their base names, or () for any name.
    - ``split`` says that the program that reads these names (xargs) splits or changes a name with a blank, a quote or a
      backslash.
    - ``bare`` says that a name may begin with a dash, because no folder comes before it.
    - ``shown``: if it isn't None, hidden files are left out, except those that match its patterns.
    """

    roots: tuple[str, ...]
    only: tuple[str, ...] = ()
    split: bool = False
    bare: bool = False
    shown: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class ShellWord:
    """One word of a command after quoting."""

    #: The text after quoting, or None if it is known only when the line runs.
    text: str | None
    #: Whether the text is an unquoted pattern of file names.
    wild: bool = False
    #: Whether the word may become any number of words when the line runs. Some of these words may be options.
    loose: bool = False
    #: The beginning of the text, if the text is unknown but begins with known parts.
    prefix: str = ""
    #: The files whose names the word may be, such as the files that ``find`` finds. None for any other word.
    below: Below | None = None
    #: Whether the word may become several file names, and the program takes some names for something else than a file.
    named: bool = False

    @property
    def literal(self) -> str | None:
        """The text if it is known and not a pattern of file names, else None."""
        return None if self.wild else self.text


class Words:
    """Reads words by the values of the variables at one place of a line. A subclass visits the commands of
    substitutions.
    """

    def __init__(self, variables: Mapping[str, ShellWord]) -> None:
        self._variables = variables
        #: Whether a ``$'...'`` held other characters than blanks. Some shells don't know this syntax.
        self.bash_only = False

    def substituted(self, node: Node) -> None:
        """Visit the commands in ``$( ... )``, whose output becomes part of a word. A subclass implements this method.

        Raises NotPlain if the commands aren't understood.
        """
        raise NotImplementedError

    def word(self, node: Node) -> ShellWord:
        """Return the word of a node. Raises NotPlain for syntax that this module doesn't know, and for a word that
        zsh replaces by the path of a command.
        """
        if _COMMAND_PATH.match(text_of(node)):
            raise NotPlain("a word begins with what another shell takes for the name of a command")
        return self._part(node)

    def _part(self, node: Node) -> ShellWord:
        """Return the text of a word, or of one part of a word."""
        read = _WORDS.get(node.type)
        if read is None:
            raise NotPlain(f"{node.type.replace('_', ' ')} is not read here")
        return read(self, node)

    def _guard_dialect(self, node: Node) -> None:
        """Raise NotPlain for a bracket or colon right after ``$name``. In zsh, such a sign takes a part of the value,
        or edits the value.
        """
        for before, after in pairwise(node.children):
            if before.type == "simple_expansion" and _PICKS.match(text_of(after)):
                raise NotPlain("an expansion is followed by what another shell takes for a part of it")

    def _ansi_c(self, node: Node) -> ShellWord:
        """Return the text of ``$'...'``. Raises NotPlain if shells disagree about an escape, such as a NUL."""
        text = text_of(node)[2:-1]
        found = words.ansi_c(text)
        if not _READ_ALIKE.fullmatch(text) or found != words.escapes(text):
            raise NotPlain("shells read an escape in different ways")
        self.bash_only |= not found.isspace()
        return ShellWord(found)

    def _expanded(self, node: Node) -> ShellWord:
        """Return the word of a variable without quotes.

        A shell splits the value and expands patterns in it, so the text is known only if the value is one plain word. A
        number that the shell itself provides, such as ``$?``, is always one word.
        """
        if text_of(node).strip("${}") in _NUMBERS or text_of(node) == "$$":
            return ShellWord(None)
        value = self._value(node)
        single = value.literal is not None and _ONE_WORD.fullmatch(value.literal)
        return value if single else ShellWord(None, loose=True)

    def _output(self, node: Node) -> ShellWord:
        """Visit the commands of ``$(...)``. The result may be any number of words."""
        self.substituted(node)
        return ShellWord(None, loose=True)

    def _piped(self, node: Node) -> ShellWord:
        """Visit the commands of ``<(...)``. The result counts as standard input, because the program reads a pipe."""
        if text_of(node)[:2] != "<(":
            raise NotPlain("a command gets output that is known only when the line runs")
        self.substituted(node)
        return ShellWord("/dev/stdin")

    def _computed(self, node: Node) -> ShellWord:
        """Return the word of an arithmetic expansion with only numbers, and names to which the line gives numbers.

        Any other name is refused. The shell would evaluate its value, which may hold a subscript that runs a command.
        """
        text = _NUMBERED.sub(self._number, text_of(node))
        if not _NUMBERS_ALONE.fullmatch(text) or (text != text_of(node) and _SETS.search(text)):
            raise NotPlain("an arithmetic expansion holds a name")
        return ShellWord(None)

    def _number(self, name: re.Match[str]) -> str:
        value = self._variables.get(name[1])
        return (value and value.literal) or name[0]

    def _string(self, node: Node) -> ShellWord:
        """Return the word of a text in double quotes. It is always one word."""
        inner = node.children[1:-1]
        if len(inner) == 1 and inner[0].type in ("simple_expansion", "expansion"):
            return replace(self._value(inner[0]), loose=False)
        self._no_gaps(node)
        self._guard_dialect(node)
        parts: list[str | None] = []
        for at, child in enumerate(inner):
            if child.type == "string_content":
                parts.append(words.double_quoted(text_of(child)))
            elif child.type in ("simple_expansion", "expansion"):
                parts.append(self._value(child).literal)
            elif child.type == "command_substitution":
                self.substituted(child)
                parts.append(None)
            elif child.type == "$":
                parts.append(_dollar(inner[at + 1 :]))
            else:
                raise NotPlain(f"{child.type.replace('_', ' ')} is not read here")
        return _glued(parts)

    def _no_gaps(self, node: Node) -> None:
        """Raise NotPlain for a quoted text with gaps between its nodes, because the text in a gap would be lost."""
        if any(before.end_byte != after.start_byte for before, after in pairwise(node.children)):
            raise NotPlain("a quoted text has an odd form")

    def _joined(self, node: Node) -> ShellWord:
        """Return the word of several joined parts, each with or without its own quotes."""
        if any(_BRACES.search(text_of(child)) for child in node.children if child.type == "word"):
            whole = text_of(node)
            if _BRACES.search(_PLAIN_BRACES.sub("", whole)) or not _ONE_WORD.fullmatch(whole) or _QUOTES.search(whole):
                raise NotPlain("braces are not read here")
            return ShellWord(whole)
        self._guard_dialect(node)
        parts: list[str | None] = []
        wild = loose = quoted = False
        for child in node.children:
            if child.type == "$":
                raise NotPlain("a translated text is not read here")
            found = self._part(child)
            quoted |= found.text is not None and not found.wild and is_pattern(found.text)
            wild |= found.wild
            loose |= found.loose
            parts.append(found.text)
        if wild and quoted:
            raise NotPlain("a pattern is partly quoted")
        return replace(_glued(parts), wild=wild, loose=loose)

    def _value(self, node: Node) -> ShellWord:
        """Return the value that the line gives a variable, or an unknown value for a harmless variable.

        Raises NotPlain for any other variable, because it comes from the environment and may hold a secret.
        """
        inner = [child for child in node.children if child.is_named]
        operators = [child.type for child in node.children if not child.is_named]
        if len(inner) != 1 or operators not in (["$"], ["${", "}"]):
            raise NotPlain("an expansion has an odd form")
        name = text_of(inner[0])
        if name in self._variables:
            return self._variables[name]
        if name in HARMLESS_VALUES:
            return ShellWord(None, loose=True)
        raise NotPlain(f"${name[:40]} comes from the environment")


def _dollar(behind: Sequence[Node]) -> str:
    """Return a dollar sign in double quotes that begins no expansion.

    Raises NotPlain if the sign begins an expansion in another shell. In zsh, ``"$=name"`` becomes several words, and
    ``"$~name"`` is a pattern.
    """
    if behind and text_of(behind[0])[:1] not in _BEHIND_DOLLAR:
        raise NotPlain("a dollar sign is followed by what another shell takes for an expansion")
    return "$"


_BEHIND_DOLLAR = frozenset(")|/.,; \t\n")
_FILE = re.compile(r"(?:^|/)[^/]*[^/.]\.[A-Za-z]\w{0,9}$", re.ASCII)


#: Matches a text in ``$'...'`` about whose escapes all shells agree.
_READ_ALIKE = re.compile(
    r"(?:[^\\]|\\[\\abefnrtv]|\\x[0-7][0-9A-Fa-f]|\\[01][0-7]{2}(?![0-7])|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*",
    re.DOTALL,
)


def looks_like_a_file(path: str) -> bool:
    """Return whether a path probably names a file and not a folder, because its last name has an extension."""
    return _FILE.search(path) is not None


def _bare(text: str) -> ShellWord:
    """Return the word of a text without quotes. Backslashes are removed; wildcards and ``~`` keep their meaning."""
    if _BRACES.search(_PLAIN_BRACES.sub("", text)):
        raise NotPlain("braces are not read here")
    plain = words.unquoted(text)
    wild = _UNQUOTED_WILD.search(text) is not None
    if wild and "\\" in text:
        raise NotPlain("a pattern is partly quoted")
    if text[:1] == "~":
        return ShellWord(None, prefix="~", loose=False) if wild else ShellWord(plain)
    return ShellWord(plain, wild=wild)


def _glued(parts: Sequence[str | None]) -> ShellWord:
    known = [part for part in parts if part is not None]
    if len(known) == len(parts):
        return ShellWord("".join(known))
    first_gap = next(at for at, part in enumerate(parts) if part is None)
    return ShellWord(None, prefix="".join(part or "" for part in parts[:first_gap]))


#: Matches a name in an arithmetic expansion, unless the character before or after the name may change its meaning.
_NUMBERED = re.compile(r"(?<![\w#$\[{])([A-Za-z_]\w*)(?![\w\[#])", re.ASCII)
#: Matches an operator that changes a variable.
_SETS = re.compile(r"\+\+|--|(?<![=!<>])=(?!=)|<<=|>>=")
_NUMBERS_ALONE = re.compile(r"\$\(\((?:[\s()+*/%<>=!&|^~?:-]|(?<![\w#])\d+(?![\w#]))*\)\)", re.ASCII)


def _number(node: Node) -> ShellWord:
    """Return the word of a number. Raises NotPlain for an expansion after a base, such as ``10#$name``."""
    if node.child_count:
        raise NotPlain("a number holds an expansion")
    return _bare(text_of(node))


_WORDS: dict[str, Callable[[Words, Node], ShellWord]] = {
    "word": lambda _reader, node: _bare(text_of(node)),
    "number": lambda _reader, node: _number(node),
    "raw_string": lambda _reader, node: ShellWord(text_of(node)[1:-1]),
    "ansi_c_string": Words._ansi_c,  # noqa: SLF001 - a table of this class's own methods
    "string": Words._string,  # noqa: SLF001
    "concatenation": Words._joined,  # noqa: SLF001
    **dict.fromkeys(("simple_expansion", "expansion"), Words._expanded),  # noqa: SLF001
    "command_substitution": Words._output,  # noqa: SLF001
    "process_substitution": Words._piped,  # noqa: SLF001
    "arithmetic_expansion": Words._computed,  # noqa: SLF001
}
