"""Compares a shell line with the lists of programs in policies.

An entry is a program (``rm``), a glob (``mkfs.*``), a program with sub-commands and options (``git push``, ``rm -r``,
``docker run --privileged``) or a redirection (``>``, ``>>``). Whole words are compared. An option of an entry may be
anywhere in the command, joined, combined or in another spelling.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from hitl.policy.globs import is_pattern
from hitl.policy.shell.entry_options import option_in
from hitl.policy.shell.programs import plain_name
from hitl.policy.shell.reading import ShellReading, SimpleCommand, Words, base_name
from hitl.policy.shell.subcommands import Positionals
from hitl.policy.shell.syntax import parsed
from hitl.policy.shell.work import MAX_WORK, of_parse
from hitl.policy.tables import names
from hitl.policy.three_valued import NO, UNSURE, YES
from hitl.policy.wording import say

if TYPE_CHECKING:
    from tree_sitter import Node

_REDIRECTS = frozenset((">", ">>", ">:", ">>:"))
_SYNTAX = re.compile(r"[|&;<>()`\\\"'^{}\n]|\$")


def wrong_entry(entry: str) -> str | None:
    """Return the reason, in words, why an entry can't match the commands that its author meant, and a correction.

    Return None for a good entry.
    """
    words = entry.split()
    if not words or entry in _REDIRECTS:
        return None
    program, why = words[0], None
    if found := _SYNTAX.search(entry):
        why = say("fault.command.sign", sign=repr(found.group()), instead=_instead(entry))
    elif program.startswith("-"):
        why = say("fault.command.option")
    elif "=" in program:
        why = say("fault.command.variable")
    elif "/" in program and is_pattern(program):
        why = say("fault.command.path")
    elif program.endswith(":*"):
        why = say("fault.command.colon", program=repr(program[:-2]))
    return why and say("fault.command", entry=repr(entry), why=why)


def _instead(entry: str) -> str:
    if entry[0] in "<>":
        return say("fault.command.redirection")
    name = re.search(r"[\w.+-]+", entry)
    return say("fault.command.several", program=repr(name.group() if name else "rm"))


@dataclass(frozen=True, slots=True)
class Phrase:
    """The words of an entry after its program: the path of sub-commands, and each option with the words after it."""

    path: tuple[str, ...]
    options: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @classmethod
    def of(cls, words: Sequence[str]) -> Phrase:
        """Return the phrase of an entry's words after the program. A word after an option may be the option's value."""
        first = next((at for at, word in enumerate(words) if word[:1] == "-" and word != "-"), len(words))
        options: list[tuple[str, tuple[str, ...]]] = []
        for word in words[first:]:
            if word[:1] == "-" and word != "-":
                name, joined, value = word.partition("=")
                options.append((name, (value,)) if joined and word.startswith("--") else (word, ()))
            else:
                options[-1] = (options[-1][0], (*options[-1][1], word))
        return cls(tuple(words[:first]), tuple(options))

    def judge(self, words: Words) -> int:
        """Return YES, NO or UNSURE: whether a command has these sub-commands and options."""
        result = max(_compare(found, self.path) for found in Positionals(words).subcommands()) if self.path else YES
        for option, after in self.options:
            if result == NO:
                return NO
            result = min(result, option_in(words, option, after))
        return result


@dataclass(frozen=True, slots=True)
class Programs:
    """A compiled list of programs, programs with further words (phrases), and redirections.

    ``options`` says that at least one entry names options. Such a list can't allow a command, because the command may
    have other options, too.
    """

    exact: frozenset[str]
    globs: tuple[str, ...]
    phrases: dict[str, tuple[Phrase, ...]]
    redirects: frozenset[str]
    folds: bool = True
    wild: tuple[tuple[str, Phrase], ...] = field(default=())
    options: bool = False

    @classmethod
    def of(cls, entries: Iterable[str], *, folds: bool = True) -> Programs:
        """Return the compiled list of these entries. Blank entries are skipped.

        With ``folds``, a name in another case or with ``.exe`` may be the same program, so the answer is UNSURE.
        """
        words = [_by_name(entry.split()) for entry in entries if entry.strip()]
        single = [word[0] for word in words if len(word) == 1]
        phrases: dict[str, tuple[Phrase, ...]] = {}
        wild: list[tuple[str, Phrase]] = []
        for word in words:
            if len(word) > 1 and is_pattern(word[0]):
                wild.append((word[0], Phrase.of(word[1:])))
            elif len(word) > 1:
                phrases[word[0]] = (*phrases.get(word[0], ()), Phrase.of(word[1:]))
        return cls(
            frozenset(name for name in single if not is_pattern(name)),
            tuple(name for name in single if is_pattern(name)),
            phrases,
            frozenset(name.rstrip(":") for name in single if name[0] == ">"),
            folds,
            tuple(wild),
            any(part[:1] == "-" for word in words for part in word[1:]),
        )

    def judge(self, reading: ShellReading) -> int:
        """Return YES, NO or UNSURE: whether the line runs a program of the list.

        The answer is UNSURE, for example, if a program or sub-command is known only when the line runs.
        """
        hidden = reading.hidden
        result = UNSURE if hidden else NO
        exact = self.exact
        slow = hidden or self.globs or self.phrases or self.wild
        for command in reading.commands:
            if command.unsure:
                result = max(result, min(self._slowly(command), UNSURE))
                continue
            if command.base in exact:
                return YES
            if slow or "." in (base := command.base or "") or not base.islower():
                result = max(result, self._slowly(command))
                if result == YES:
                    return YES
        return max(result, self._writes(reading)) if self.redirects else result

    def _slowly(self, command: SimpleCommand) -> int:
        base = command.base
        if base is None:
            return UNSURE
        if (
            self.folds
            and (plain := plain_name(base)) != base
            and self._slowly(SimpleCommand([plain, *command.words[1:]]))
        ):
            return UNSURE
        if base in self.exact:
            return YES
        if self.globs and any(fnmatchcase(base, pattern) for pattern in self.globs):
            return YES
        if len(base) > 1 and is_pattern(base) and any(fnmatchcase(name, base) for name in self.exact):
            return YES
        phrases = [*self.phrases.get(base, ()), *(phrase for name, phrase in self.wild if fnmatchcase(base, name))]
        return max((phrase.judge(command.words) for phrase in phrases), default=NO)

    def _writes(self, reading: ShellReading) -> int:
        for operator, target in reading.writes:
            written = ">" if operator.startswith((">", "&>")) and ">>" not in operator else ">>"
            if target != "/dev/null" and (written in self.redirects or (written == ">>" and ">" in self.redirects)):
                return YES
        return NO


def _by_name(words: list[str]) -> list[str]:
    """Return the words of an entry. If the program is a path, its base name replaces it, because base names are
    compared.
    """
    program = words[0]
    return [base_name(program) or program, *words[1:]] if "/" in program else words


def _compare(found: Sequence[str | None], path: Sequence[str]) -> int:
    """Return YES, NO or UNSURE: whether the words of a command begin with a path of sub-commands.

    A ``*`` in the path matches any number of words.
    """
    if not path:
        return YES
    if path[0] == "*":
        rest = path[1:]
        return max(_compare(found[at:], rest) for at in range(len(found) + 1)) if rest else YES
    if not found:
        return NO
    word, wanted = found[0], path[0]
    if word is None or is_pattern(word):
        return min(UNSURE, _compare(found[1:], path[1:]))
    fits = fnmatchcase(word, wanted) or (wanted.endswith(":*") and word == wanted[:-2])
    return _compare(found[1:], path[1:]) if fits else NO


# --- allowlists of command prefixes, as in contenox

# Commands that run other programs (`env`, `sudo`), give them names (`alias`), or change how they run (`export`). A
# prefix never allows a line with one of these commands.
_UNCLEARED = names(
    "eval exec source . sh bash dash ash ksh zsh fish env command builtin xargs nohup setsid timeout "
    "watch time sudo doas su find export set unset readonly local alias unalias declare typeset trap "
    "shift getopts ulimit umask"
)
_CLEAR_WORDS = frozenset(
    {"word", "number", "raw_string", "string", "concatenation", "string_content", '"', "command_name"}
)
_RUN_TIME = frozenset("*?[]{}~\\$")
_CONTROL = (";", "|", "&", ">", "<", "`", "\n", "\r", "$(", "$[", "${}")


@dataclass(frozen=True, slots=True)
class Prefixes:
    """A compiled allowlist of command prefixes: ``git log`` covers ``git log --oneline``, not ``git clean``."""

    entries: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, entries: Iterable[str]) -> Prefixes:
        """Return the compiled list of these entries. Blank entries are skipped."""
        return cls(tuple(tuple(entry.split()) for entry in entries if entry.strip()))

    def covers(self, words: Words) -> bool:
        """Return whether an entry is the beginning of these words."""
        return any(tuple(words[: len(entry)]) == entry for entry in self.entries)

    def judge(self, tokens: Sequence[str] | None, reading: ShellReading, *, least: int = 1) -> int:
        """Return YES if the words of a call, or all commands of its line, begin with a listed prefix; else NO.

        ``tokens`` are the words of a call without shell syntax, or None if it has shell syntax. ``reading`` is the
        parsed line. With ``tokens``, the parsed line can only change YES to NO, for example for a second line or a
        program inside a wrapper. Without ``tokens``, the line must have at least ``least`` commands; contenox judges a
        single command only by its tokens.
        """
        if tokens is not None and self.covers(_named(tokens)):
            return YES if not reading.hidden and self._all_covered(reading.commands) else NO
        lines = cleared(reading)
        listed = all(self.covers(_named(line)) for line in lines)
        return YES if listed and len(lines) >= least and not reading.hidden else NO

    def _all_covered(self, commands: Sequence[SimpleCommand]) -> bool:
        return all(command.base is not None and self.covers([command.base, *command.words[1:]]) for command in commands)


def _named(words: Sequence[str]) -> list[str]:
    """Return the words with the base name of the program, if the program is an absolute path. A relative path stays."""
    first = words[0]
    return [first.rpartition("/")[2] if first.startswith("/") else first, *words[1:]]


def plain_tokens(words: Sequence[str]) -> Sequence[str] | None:
    """Return the words, or None if one of them holds shell syntax."""
    return None if not words or any(mark in word for word in words for mark in _CONTROL) else words


def cleared(reading: ShellReading) -> list[list[str]]:
    """Return the words of each command of a line, if the line only joins plain commands with ``&&``, ``||`` or ``|``.

    Return [] for any other line.
    """
    source = (reading.unparsed or "").encode()
    if of_parse(source) > MAX_WORK:
        return []
    root = reading.tree if reading.unparsed is None else parsed(source)
    if root is None or root.has_error or root.child_count != 1 or reading.writes:
        return []
    found: list[list[str]] = []
    return found if _clear(root.children[0], found) else []


def _clear(node: Node, found: list[list[str]]) -> bool:
    if node.type in ("list", "pipeline"):
        return all(
            _clear(child, found) if child.is_named else child.type in ("&&", "||", "|") for child in node.children
        )
    if node.type != "command":
        return False
    words = [_literal(child) for child in node.children]
    if None in words or words[0] is None or words[0].rpartition("/")[2] in _UNCLEARED:
        return False
    found.append([word for word in words if word is not None])
    return True


def _literal(node: Node) -> str | None:
    """Return the text of a word that a shell doesn't change except for its quotes, or None for another word."""
    if node.type not in _CLEAR_WORDS or node.text is None:
        return None
    text = node.text.decode("utf-8", "replace")
    if node.type == "raw_string":
        return text[1:-1]
    if node.type in ("word", "number", "string_content"):
        return None if (_RUN_TIME if node.type != "string_content" else {"\\", "$"}) & set(text) else text
    parts = [_literal(child) for child in node.children if child.type != '"']
    return None if None in parts else "".join(part for part in parts if part is not None)
