"""Parses the words of a command by the table of its program: options with their values, and operands by their kinds."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hitl.policy.globs import is_pattern
from hitl.policy.shell import programs
from hitl.policy.shell.plain import Step
from hitl.policy.shell.plain_words import NotPlain, ShellWord
from hitl.policy.tables import known
from hitl.policy.tables.known import Program, Takes
from hitl.records import replace

# Programs whose option -r follows no symbolic link below a folder (grep(1)).
_STAYS = frozenset(("grep", "egrep", "fgrep"))


def program_name(step: Step) -> str:
    """Return the base name of the program that a step (one simple command) runs.

    Raises NotPlain if the name is known only when the line runs, or if its path is outside the system's program
    folders.
    """
    name = step.words[0].literal
    if not name:
        raise NotPlain("the program is known only when the line runs")
    folder, slash, base = name.rpartition("/")
    if slash and folder not in programs.TRUSTED_FOLDERS:
        raise NotPlain(f"{name[:64]} lies outside the system's program folders")
    return base if slash else name


@dataclass(slots=True)
class ParsedArguments:
    """The words of one command, parsed by the table of its program.

    - ``given`` maps each option to its value or None.
    - ``values`` are the values of options with their kinds.
    - ``operands`` are the other words with their kinds.
    - ``rest`` are the words from the sub-command on.
    - ``ended`` says that a ``--`` ends the options.
    - ``before_end`` counts the operands before the ``--``.
    """

    program: Program
    folders: tuple[str, ...]
    given: dict[str, ShellWord | None] = field(default_factory=dict)
    values: list[tuple[str, ShellWord]] = field(default_factory=list)
    operands: list[tuple[str, ShellWord]] = field(default_factory=list)
    rest: tuple[ShellWord, ...] = ()
    ended: bool = False
    before_end: int = 0

    def has(self, *options: str) -> bool:
        """Return whether the command has one of these options."""
        return not self.given.keys().isdisjoint(options)

    def paths(self) -> list[ShellWord]:
        """Return the operands that are files or folders."""
        return [word for kind, word in self.operands if kind in ("path", "named")]

    def reads_trees(self) -> bool:
        """Return whether the program reads every file below a folder."""
        program = self.program
        if self.has(*program.tree):
            return True
        return program.always_tree and not self.has(*program.names)

    def follows(self) -> bool:
        """Return whether the program follows symbolic links below a folder."""
        return self.program.path[0] not in _STAYS

    def only(self) -> tuple[str, ...]:
        """Return the patterns of base names to which options limit a search of folders, or () if no option limits the
        search.

        With ``--exclude`` or a pattern with a slash, patterns of base names can't describe the search, so the result is
        ().
        """
        found = [word.text or "/" for kind, word in self.values if kind == "only"]
        return () if self.has("--exclude") or any("/" in text for text in found) else tuple(found)

    def guarded(self, word: ShellWord) -> bool:
        """Return whether a word with wildcards is safe, although the shell may replace it by a file name such as `-f`.

        It is safe if the program can't take such a name for a harmful option.
        """
        behind = self.ended and all(word is not before for _, before in self.operands[: self.before_end])
        return behind or not self.program.asks or word.text is None


def parse(step: Step, program: Program | None = None, skip: int = 1) -> ParsedArguments:
    """Return the words of a step, parsed by the table of its program.

    ``skip`` is the number of words before the arguments. Raises NotPlain for a word that the table doesn't list, or
    lists under ``asks``.
    """
    name = program_name(step)
    words = step.words[skip:]
    if program is None:
        program = known.program((name,))
    if program is None:
        raise NotPlain(f"the program {name[:64]!r} isn't known here")
    call = ParsedArguments(program, step.folders)
    _Reader(call, words).read()
    if program.subcommands:
        return _subcommand(step, call)
    if program.needs and not call.has(*program.needs):
        raise NotPlain(f"{' '.join(program.path)} needs one of {', '.join(sorted(program.needs))} here")
    return call


def _subcommand(step: Step, outer: ParsedArguments) -> ParsedArguments:
    """Return the parsed words of a sub-command, together with the options of its program that come before it."""
    rest = outer.rest
    path = outer.program.path
    for length in (2, 1):
        literal = tuple(word.literal or "\0" for word in rest[:length])
        inner = known.program((*path, *literal)) if len(literal) == length else None
        if inner is not None:
            found = parse(replace(step, words=(step.words[0], *rest[length:]), folders=outer.folders), inner)
            found.given = {**outer.given, **found.given}
            found.values = [*outer.values, *found.values]
            return found
    if not rest and outer.given:
        return outer
    shown = rest[0].literal if rest else None
    raise NotPlain(f"{' '.join(path)} {(shown or '?')[:64]!r} isn't known here")


class _Reader:
    """Sorts the words of one program into options, their values, and operands."""

    def __init__(self, call: ParsedArguments, words: Sequence[ShellWord]) -> None:
        self.call = call
        self.program = call.program
        self.words: Iterator[ShellWord] = iter(words)
        self.left = len(words)
        self.plain: list[ShellWord] = []

    def read(self) -> None:
        """Sort the words into ``call``, the ParsedArguments. Raises NotPlain for a word that the table doesn't list."""
        ends = self.program.ends or self.program.subcommands
        for word in self.words:
            if self.call.ended or not self._is_option(word) or self._only_text(word):
                self.plain.append(word)
                if ends and not self.call.ended:
                    self.plain += self.words
                    break
            elif word.text == "--":
                self.call.ended, self.call.before_end = True, len(self.plain)
            else:
                self._option(word.text or "")
        if self.program.subcommands:
            self.call.rest = tuple(self.plain)
            return
        self._operands()

    def _is_option(self, word: ShellWord) -> bool:
        text = word.text
        if text is None:
            if word.loose or (not word.prefix and word.below is None) or word.prefix.startswith(("-", "+")):
                if self.program.unknown_is_text:
                    return False
                raise NotPlain(f"{self.program.path[0]} gets a word that is known only when the line runs")
            return False
        if word.wild and text[:1] in ("-", "+") and not self._only_names(text):
            raise NotPlain("an option is a pattern of file names")
        if text[:1] == "+" and text[1:].isdigit() and "+NUM" in self.program.options:
            return True
        return text[:1] == "-" and text != "-"

    def _only_names(self, text: str) -> bool:
        """Return whether a word such as ``--include=*.py`` without quotes is safe.

        The shell replaces it only by names such as ``--include=a.py``, which limit the search even more.
        """
        name, _, pattern = text.partition("=")
        takes = self.program.options.get(name)
        return takes is not None and takes.kind == "only" and _ENDING.fullmatch(pattern) is not None

    def _only_text(self, word: ShellWord) -> bool:
        """Return whether a word that looks like an option is harmless text for this program (`unknown = text` in its
        table).
        """
        text = word.text or ""
        return self.program.unknown_is_text and text not in self.program.options and text not in self.program.asks

    def _option(self, text: str) -> None:
        options = self.program.options
        if text in options and not text.startswith("--"):
            self._take(text, options[text], None)
        elif text[1:].isdigit() and f"{text[0]}NUM" in options:
            self.call.given[f"{text[0]}NUM"] = ShellWord(text[1:])
        elif text.startswith("--") or self.program.style == "words":
            name, equals, value = text.partition("=")
            name = self._named(name)
            self._take(name, options[name], ShellWord(value) if equals else None)
        else:
            self._cluster(text)

    def _named(self, name: str) -> str:
        """Return the full name of a long option, which may be shortened. Raises NotPlain for an unknown option."""
        options, asks = self.program.options, self.program.asks
        for form in (name, name[1:] if name.startswith("--") else f"-{name}"):
            if form in options and (form == name or self.program.style == "words"):
                return form
            if form in asks and (form == name or self.program.style == "words"):
                raise NotPlain(f"{' '.join(self.program.path)} {name} is a matter for a person")
        near = [one for one in (*options, *asks) if one.startswith(name)] if not self.program.style else []
        if len(near) == 1 and near[0] in options:
            return near[0]
        raise NotPlain(f"{' '.join(self.program.path)} has no option {name[:64]} that is known here")

    def _cluster(self, text: str) -> None:
        """Sort combined short options such as ``-rf``.

        Each letter is an option, until an option takes the remaining letters as its value.
        """
        for at, letter in enumerate(text[1:], start=1):
            name = f"-{letter}"
            takes = self.program.options.get(name)
            if takes is None:
                reason = "is a matter for a person" if name in self.program.asks else "isn't known here"
                raise NotPlain(f"{' '.join(self.program.path)} {name} {reason}")
            rest = text[at + 1 :]
            if takes.kind:
                self._take(name, takes, ShellWord(rest) if rest else None)
                return
            self.call.given[name] = None

    def _take(self, name: str, takes: Takes, joined: ShellWord | None) -> None:
        value = joined
        if not takes.kind:
            if joined is not None:
                raise NotPlain(f"{' '.join(self.program.path)} {name} takes no value")
        elif joined is None and not takes.joined_only:
            value = next(self.words, None)
            if value is None:
                raise NotPlain(f"{' '.join(self.program.path)} {name} needs a value")
            if value.loose or value.wild:
                # A pattern may become several words, and only the first of them is the value.
                raise NotPlain(f"{name} gets words that are known only when the line runs")
            if self.plain and takes.kind != "out" and self._may_read(value):
                self.call.values.append(("path", value))
        self.call.given[name] = value
        if value is None:
            return
        if takes.kind == "folder":
            self._move(value)
        self._value(takes.kind, value, name)

    def _value(self, kind: str, value: ShellWord, name: str) -> None:
        if kind == "run":
            raise NotPlain(f"{name} runs a command of its own")
        if kind != "text" and value.text is None:
            raise NotPlain(f"{name} gets a value that is known only when the line runs")
        if value.text is not None and not known.accepts(kind, value.text):
            raise NotPlain(f"{' '.join(self.program.path)} {name} gets a value that isn't known here")
        self.call.values.append((kind, value))

    def _may_read(self, value: ShellWord) -> bool:
        """Return whether the program may read a file with the name ``value``.

        The word is the value of an option after an operand. On some systems, options end at the first operand (POSIX,
        getopt), and the program then takes the value for another file. Programs with a ``style`` have their own parser,
        which is the same on every system.
        """
        kinds = {kind for form in self.program.operands for kind in form.kinds}
        return not self.program.style and value.text is not None and not kinds.isdisjoint(("path", "named"))

    def _move(self, value: ShellWord) -> None:
        if value.literal is None:
            raise NotPlain("a folder is known only when the line runs")
        self.call.folders = tuple(
            posixpath.join(folder, value.literal) if folder else value.literal for folder in self.call.folders
        )

    def _operands(self) -> None:
        form = self._form()
        for at, word in enumerate(self.plain):
            kind = form.kind(at)
            if kind not in ("text", "run") and word.text is None and word.below is None:
                raise NotPlain(f"{' '.join(self.program.path)} gets a word that is known only when the line runs")
            if word.text is not None and not known.accepts(kind, word.text):
                raise NotPlain(f"{' '.join(self.program.path)} gets {word.text[:40]!r}, which isn't known here")
            if kind in _TEXTS and form.kinds[-1] in _TEXTS and self._may_be_option(word):
                raise NotPlain(f"{' '.join(self.program.path)} gets a pattern, which may match an option")
            self.call.operands.append((kind, replace(word, named=True) if kind == "named" and _many(word) else word))
        behind = self.plain[: len(form.kinds) - 1]
        self.call.operands += [(form.kinds[-1], word) for word in behind if _many(word)]

    def _may_be_option(self, word: ShellWord) -> bool:
        """Return whether a shell may replace a word by a file name that the program takes for an option.

        For words that name files, ``Vouching`` looks at the files.
        """
        if not word.wild or self.program.unknown_is_text or (self.program.ends and word is not self.plain[0]):
            return False
        return is_pattern((word.text or "")[:1]) and not self.call.guarded(word)

    def _form(self) -> known.Form:
        """Return the form of operands (in the program's table) that fits the options and the number of operands."""
        count = len(self.plain)
        special = [form for form in self.program.operands if form.given and self.call.has(*form.given)]
        for form in special or [form for form in self.program.operands if not form.given]:
            if form.fits(count) and (form.last in ("*", "+") or self._counted()):
                return form
        raise NotPlain(f"{' '.join(self.program.path)} gets words that aren't known here")

    def _counted(self) -> bool:
        """Return whether the number of operands is known.

        It isn't known if a word may become several operands when the line runs. With more operands, the last operands
        would have other kinds.
        """
        return not any(word.loose for word in self.plain) and not any(map(_many, self.plain[-1:]))


#: Matches a pattern of names with one ending, such as ``*.py``.
_ENDING = re.compile(r"\*[\w.-]+", re.ASCII)
#: The kinds of operands that name no file.
_TEXTS = frozenset(("text", "number", "slug"))


def _many(word: ShellWord) -> bool:
    """Return whether a word may become several operands when the line runs."""
    return word.wild or word.loose or word.below is not None
