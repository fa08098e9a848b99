"""Reads git's configuration files (git-config(1), "Syntax") as git's own parser does, without running git."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

_BLANK = frozenset(" \t\r\n")
_BOM = "\ufeff"
_ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "\\": "\\", '"': '"'}


class Unreadable(ValueError):
    """The configuration can't be read: git refuses it, or git may read it in another way than this parser."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting, in the form in which git compares settings: section and name in lower case."""

    section: str
    #: The text between the first and the last dot of the key, or None if the key has only one dot.
    subsection: str | None
    name: str
    #: The value, or None for a name without `=`, which git reads as true.
    value: str | None

    @property
    def key(self) -> str:
        """The key in the form that `git config --list` prints."""
        return ".".join(part for part in (self.section, self.subsection, self.name) if part is not None)


@functools.lru_cache(32)
def settings(data: bytes) -> tuple[Setting, ...]:
    """Return all settings in the order of the file. Raises Unreadable.

    A NUL byte raises Unreadable: git ends a key at it, so `[core "fsmonitor<NUL>x"]` would set `core.fsmonitor`.
    """
    if b"\0" in data:
        raise Unreadable("a NUL byte")
    # UTF-8 with surrogates keeps every byte. Latin-1 would also keep every byte, but people would see wrong characters
    # in keys.
    text = data.decode("utf-8", errors="surrogateescape").removeprefix(_BOM).replace("\r\n", "\n")
    return tuple(_Reader(text).settings())


class _Reader:
    """Reads a text once, character by character. After the end of the text, every character is a line feed."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def settings(self) -> Iterator[Setting]:
        base = ""
        while self._at < len(self._text):
            char = self._next()
            if char in _BLANK:
                continue
            if char in "#;":
                self._skip_line()
            elif char == "[":
                base = f"{self._header()}."
            elif _is_letter(char):
                name = char.lower() + self._word()
                yield _setting(base + name, self._value())
            else:
                raise Unreadable(f"{char!r} where a name begins")

    def _next(self) -> str:
        char = self._text[self._at] if self._at < len(self._text) else "\n"
        self._at += 1
        return char

    def _skip_line(self) -> None:
        end = self._text.find("\n", self._at)
        self._at = len(self._text) if end < 0 else end

    def _word(self) -> str:
        start = self._at
        while self._at < len(self._text) and _in_name(self._text[self._at]):
            self._at += 1
        return self._text[start : self._at].lower()

    def _header(self) -> str:
        """Read a section's header after its `[`: `section]`, `section.subsection]` or `section "subsection"]`."""
        section = ""
        while (char := self._next()) != "]":
            if self._at > len(self._text):
                raise Unreadable("a section that doesn't end")
            if char in _BLANK:
                return f"{section}.{self._subsection(char)}"
            if not _in_name(char) and char != ".":
                raise Unreadable(f"{char!r} in a section")
            section += char.lower()
        if not section:
            raise Unreadable("a section without a name")
        return section

    def _subsection(self, char: str) -> str:
        while char in _BLANK:
            if char == "\n":
                raise Unreadable("a section on two lines")
            char = self._next()
        if char != '"':
            raise Unreadable("a subsection without quotes")
        subsection = ""
        while (char := self._next()) != '"':
            if char == "\\":
                char = self._next()
            if char == "\n":
                raise Unreadable("a subsection on two lines")
            subsection += char
        if self._next() != "]":
            raise Unreadable("a section that doesn't end")
        return subsection

    def _value(self) -> str | None:
        char = self._next()
        while char in " \t":
            char = self._next()
        if char == "\n":
            return None
        if char != "=":
            raise Unreadable(f"{char!r} after a name")
        return self._assigned()

    def _assigned(self) -> str:
        """Read a value to the end of its last line. Blanks around the value are dropped, except in quotes."""
        value, blanks, quoted = "", "", False
        while (char := self._next()) != "\n":
            if char in _BLANK and not quoted:
                blanks += char if value else ""
                continue
            if char in "#;" and not quoted:
                self._skip_line()
                continue
            value, blanks = value + blanks, ""
            if char == '"':
                quoted = not quoted
            elif char == "\\":
                value += self._escaped()
            else:
                value += char
        if quoted:
            raise Unreadable("a quote that doesn't end")
        return value

    def _escaped(self) -> str:
        char = self._next()
        if char == "\n":
            return ""
        if char not in _ESCAPED:
            raise Unreadable(f"the escape {char!r}")
        return _ESCAPED[char]


def _setting(key: str, value: str | None) -> Setting:
    """Return the setting of a key: git splits the key at its first and its last dot.

    For example, `remote.my.fork.url` has the section `remote`, the subsection `my.fork` and the name `url`.
    """
    section, _, rest = key.partition(".")
    subsection, dot, name = rest.rpartition(".")
    return Setting(section, subsection if dot else None, name, value)


def _is_letter(char: str) -> bool:
    return char.isascii() and char.isalpha()


def _in_name(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "-")
