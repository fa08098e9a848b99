"""Finds the commands that sed scripts and awk programs would run. They are parsed only as far as necessary.

The syntax is that of POSIX.1-2017, with the ``e`` command and flag of GNU sed, and gawk's ways to run and load
programs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

MAX_SCRIPT = 2048
_MAX_CLASSES = 64  # at most this many opening brackets; from each, a search may go to the end of the script
_MAX_DELIMITERS = 16  # at most this many different delimiters in a script; each needs an expression of its own

# These are atomic groups: Python 3.11.2 (Debian 12) ignores a `(?!...)` in a possessive repeat such as `(?:...)*+`.
_PART = r"(?>(?:\\.|\[\^?\]?[^\]\n]*\]|(?!{end})[^\\\n])*){end}"
_PLAIN_PART = r"(?>(?:\\.|(?!{end})[^\\\n])*){end}"
_BLANKS = re.compile(r"[\s;{}]*")
_ADDRESS = re.compile(r"\d+(?:~\d+)?|\$|[+~]\d+")
_AFTER_ADDRESS = re.compile(r"[IM]*\s*")
_FLAGS = re.compile(r"[0-9gpiImMe]*")
_LINE = re.compile(r"(?:\\.|[^\\\n])*", re.DOTALL)
_LABEL = re.compile(r"[^\n;}]*")
_NUMBER = re.compile(r"\s*\d*")
_ALONE = frozenset("=dDgGhHnNpPxzF")
_TO_LINE_END = frozenset("aicrRwWv#")

_AWK_LITERALS = tuple(
    re.compile(
        rf'"(?:[^"\\\n]|\\.)*"|(?P<before>^|[~!(,{{;&|\n]|\breturn\b)\s*/(?>(?:\\.{inside}|[^/\\\n])*)/', re.DOTALL
    )
    for inside in ("", r"|\[\^?\]?[^\]\n]*\]")  # some versions of awk end an expression at a slash in brackets
)
_AWK_RUNS = re.compile(r"\bsystem\b|(?<!\|)\|(?!\|)|@load|@include|@[A-Za-z_]\w*\s*\(")
# A run of so many blanks is refused, because a search would start again at each blank and take too long.
_GAP = re.compile(r"\s{64}")
_AWK_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)


class NotUnderstood(ValueError):
    """Raised for a text that this module can't parse as a sed script."""


def sed_commands(script: str) -> list[str]:
    """Return the shell texts that a sed script runs with ``e``. An empty text means the line that sed has just read.

    The list is empty for an ordinary script.

    Raises:
        NotUnderstood: the script is too long, or this module can't parse it.
    """
    if len(script) > MAX_SCRIPT or script.count("[") > _MAX_CLASSES:
        raise NotUnderstood("is too long")
    found = _Sed(script, _PART).commands()
    # Some versions of sed end a pattern at a delimiter within brackets. So a script with brackets is read in both ways.
    if "[" in script:
        try:
            found += _Sed(script, _PLAIN_PART).commands()
        except NotUnderstood:
            return found
    return found


class _Sed:
    __slots__ = ("at", "delimiters", "found", "part", "text")

    def __init__(self, text: str, part: str) -> None:
        self.text = text
        self.part = part
        self.at = 0
        self.delimiters: set[str] = set()
        self.found: list[str] = []

    def commands(self) -> list[str]:
        while self._skip(_BLANKS) is not None and self.at < len(self.text):
            self._addresses()
            self._command(self._take())
        return self.found

    def _skip(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        if found is None:
            raise NotUnderstood(self.text[self.at : self.at + 20])
        self.at = found.end()
        return found.group()

    def _take(self) -> str:
        self.at += 1
        return self.text[self.at - 1 : self.at]

    def _until(self, end: str) -> str:
        self.delimiters.add(end)
        if not end or end in "\\\n" or len(self.delimiters) > _MAX_DELIMITERS:
            raise NotUnderstood("a delimiter is missing, or there are too many")
        return self._skip(re.compile(self.part.replace("{end}", re.escape(end)), re.DOTALL))[:-1]

    def _addresses(self) -> None:
        self._address()
        while self.text[self.at : self.at + 1] == ",":
            self.at += 1
            self._skip(re.compile(r"\s*"))
            self._address()
        self._skip(re.compile(r"[\s!]*"))

    def _address(self) -> None:
        next_char = self.text[self.at : self.at + 1]
        if next_char in ("/", "\\"):
            self.at += 1
            self._until("/" if next_char == "/" else self._take())
        elif _ADDRESS.match(self.text, self.at):
            self._skip(_ADDRESS)
        else:
            return
        self._skip(_AFTER_ADDRESS)

    def _command(self, name: str) -> None:
        if name == "s":
            self._substitution()
        elif name == "y":
            end = self._take()
            self._until(end), self._until(end)
        elif name == "e":
            self.found.append(self._skip(_LINE).strip())
        elif name in _TO_LINE_END:
            self._skip(_LINE)
        elif name and name in "btT:":
            self._skip(_LABEL)
        elif name and name in "qQlL":
            self._skip(_NUMBER)
        elif name not in _ALONE and name not in ("{", "}", ""):
            raise NotUnderstood(name)

    def _substitution(self) -> None:
        end = self._take()
        self._until(end)
        replacement = self._until(end)
        flags = self._skip(_FLAGS)
        if "e" in flags:
            self.found.append(replacement)
        if self.text[self.at : self.at + 1] == "w":
            self._skip(_LINE)


@dataclass(frozen=True, slots=True)
class Operands:
    """The arguments of sed or awk: the scripts in options, and the words that aren't options.

    A script is None if the line doesn't show its text.
    """

    scripts: tuple[str | None, ...]
    words: tuple[str | None, ...]


def sed_operands(words: Sequence[str | None]) -> Operands:
    """Return the scripts and operands among the arguments of sed."""
    return _operands(words, valued="l", scripts="e", hidden="f", rest="i", long=("--file", "--expression"))


def awk_operands(words: Sequence[str | None]) -> Operands:
    """Return the scripts and operands among the arguments of awk. The operands include the awk program."""
    return _operands(words, valued="Fv", scripts="", hidden="feEilLWD", rest="dpo", long=_AWK_LONG)


_AWK_LONG = ("--file", "--exec", "--include", "--load", "--source", "--debug")


def _operands(
    words: Sequence[str | None], *, valued: str, scripts: str, hidden: str, rest: str, long: tuple[str, ...]
) -> Operands:
    """Return the scripts and operands, with options parsed as getopt_long does: short ones combined, long ones
    shortened.

    The letters of short options: ``valued`` take a value, ``scripts`` take a script, ``hidden`` give a script that is
    recorded as unknown, and ``rest`` take only the rest of their word as their value. ``long`` are the long options
    that may give a script.
    """
    found: list[str | None] = []
    operands: list[str | None] = []
    given = iter(words)
    for word in given:
        if word is None or not word.startswith("-") or word == "-":
            operands.append(word)
        elif word.startswith("--"):
            found += _long(word, long)
        elif at := next((at for at, char in enumerate(word) if char in valued + scripts + hidden + rest), 0):
            value = word[at + 1 :] or (next(given, None) if word[at] in valued + scripts else None)
            found += [value] if word[at] in scripts else [None] if word[at] in hidden else []
    return Operands(tuple(found), tuple(operands))


def _long(word: str, known: tuple[str, ...]) -> list[str | None]:
    name, equals, value = word.partition("=")
    matching = [one for one in known if one.startswith(name) and word != "--"]
    if not matching:
        return []
    return [value] if equals and matching == ["--expression"] else [None]


def awk_runs(program: str) -> bool:
    """Return whether an awk program may run or load another program.

    It may if it has, for example, a pipe or ``system`` outside its texts and expressions, or if it is too long to
    check.
    """
    if len(program) > MAX_SCRIPT or program.count("[") > _MAX_CLASSES or _GAP.search(program):
        return True
    plain = [literal.sub(lambda found: (found.group("before") or "") + ' "" ', program) for literal in _AWK_LITERALS]
    return any(_AWK_RUNS.search(text) is not None for text in plain)


def awk_texts(program: str) -> list[str]:
    """Return the texts in quotes of an awk program, because it may run them in a shell."""
    return _AWK_TEXT.findall(program[:MAX_SCRIPT])
