"""Finds the texts that a command would read from its standard input, if the line itself holds these texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from shlex import quote
from typing import TYPE_CHECKING

from hitl.policy.shell import words
from hitl.policy.shell.reading import PayloadReader, base_name
from hitl.policy.shell.tree import descend, text_of
from hitl.policy.shell.work import MAX_LINE, of_text

if TYPE_CHECKING:
    from tree_sitter import Node


# A function that returns the texts that a word may have. The list has one text if the word's value is certain, and
# several texts if the line gives a variable several values. It is empty if the value is unknown.
Read = Callable[["Node"], list[str]]

_REDIRECTS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})
_SPECIFIER = re.compile(r"%[-+ #0]*+\d*+(?:\.\d*+)?([sbqcdiuxXo%])")
_WRITES = re.compile("echo|printf|<<")
_WRITTEN = frozenset({"command", "herestring_redirect", "heredoc_redirect"})
_MAX_ARGUMENTS, _MAX_WRITTEN, _MAX_CHOICES = 64, 16, 8
_CAT = [["cat"], ["-"]]
_PRINTERS = frozenset({"echo", "printf"})
_ECHO_FLAGS = frozenset({"-n", "-e", "-E", "-ne", "-en", "-nE", "-En"})


def standard_input(reader: PayloadReader, command: Node | None) -> list[str]:
    """Return the texts that a command may read from standard input, or [] if the line doesn't hold them."""
    source = None if command is None else _source(command)
    return [] if source is None else _produced(source, reader.exactly)


def written(reader: PayloadReader, command: Node | None) -> list[str]:
    """Return every text that the statement around a command prints or redirects. The command may run such a text."""
    if command is None:
        return []
    while command.parent is not None and command.parent.type not in ("program", "list"):
        command = command.parent
    text = text_of(command)
    if _WRITES.search(text) is None or reader.reading.exhausted(of_text(len(text)) + command.descendant_count // 4):
        return []
    found = [text for node in descend(command) if node.type in _WRITTEN for text in _produced(node, reader.texts)]
    return list(dict.fromkeys(found))[:_MAX_WRITTEN]


def _source(command: Node) -> Node | None:
    """Return the redirection, or the left side of the pipe, that a command reads from.

    Return None if the line has neither.
    """
    own = [child for child in command.children if child.type in _REDIRECTS and _reads(child)]
    if own:
        return own[-1]
    node, parent = command, command.parent
    if parent is not None and parent.type == "redirected_statement":
        if any(_reads(child) for child in parent.children if child.type in _REDIRECTS):
            return parent
        node, parent = parent, parent.parent
    if parent is None or parent.type != "pipeline":
        return None
    left = node.prev_named_sibling
    return left if left is not None or parent.parent is None else parent.parent.parent


def _reads(redirect: Node) -> bool:
    return redirect.type != "file_redirect" or any(child.type == "<" for child in redirect.children)


def _produced(node: Node, read: Read) -> list[str]:
    if node.type == "herestring_redirect":
        return read(node.children[-1])
    if node.type in ("heredoc_redirect", "redirected_statement"):
        return _bodies(node) or [text for child in node.children for text in _produced_by_redirect(child, read)]
    if node.type == "negated_command":
        return _produced(node.children[-1], read)
    if node.type != "command":
        return []
    printed = _printed(node, read)
    if printed or not _passes_on(node, read):
        return printed
    return [text for child in node.children for text in _produced_by_redirect(child, read)]


def _passes_on(command: Node, read: Read) -> bool:
    """Return whether a command prints its standard input unchanged."""
    found = _words(command)
    return len(found) <= len(_CAT) and [read(word) for word in found] in (_CAT[:1], _CAT)


def _words(command: Node) -> list[Node]:
    children = [child for child in command.children if child.type not in _REDIRECTS]
    return [child.children[0] if child.type == "command_name" else child for child in children]


def _produced_by_redirect(node: Node, read: Read) -> list[str]:
    return _produced(node, read) if node.type in ("heredoc_redirect", "herestring_redirect") else []


def _bodies(node: Node) -> list[str]:
    found: list[str] = []
    stack = [node]
    while stack:
        current = stack.pop()
        if current.type == "heredoc_body" and current.text is not None:
            found.append(current.text.decode("utf-8", "replace"))
        stack.extend(current.children)
    return found


def _printed(command: Node, read: Read) -> list[str]:
    """Return the texts that ``echo`` or ``printf`` may print, or [] for another command.

    For ``echo``, return each text twice: with its escapes as written, and decoded.
    """
    found = _words(command)
    if not found or _PRINTERS.isdisjoint(map(base_name, read(found[0]))):
        return []
    return list(dict.fromkeys(text for values in _choices(command, read) for text in _printed_of(values)))


def _choices(command: Node, read: Read) -> list[list[str | None]]:
    """Return the possible words of a command.

    If the line gives its variables several values, return one list of words for each value.
    """
    texts: list[Sequence[str | None]] = [read(child) or (None,) for child in _words(command)]
    turns = min(max(map(len, texts), default=0), _MAX_CHOICES)
    return [[choice[min(turn, len(choice) - 1)] for choice in texts] for turn in range(turns)]


def _printed_of(values: list[str | None]) -> list[str]:
    rest = [value for value in values[1:] if value is not None]
    if not rest or len(rest) < len(values) - 1:
        return []
    if base_name(values[0] or "") == "printf":
        formatted = _formatted(rest[1:] if rest[0] == "--" else rest)
        return [formatted] if formatted else []
    while rest and rest[0] in _ECHO_FLAGS:
        rest.pop(0)
    text = " ".join(rest)
    return list(dict.fromkeys((text, words.escapes(text)))) if text else []


def _formatted(rest: list[str]) -> str | None:
    """Return the text that ``printf`` prints, or None for a format that this module doesn't know.

    ``printf`` repeats its format as long as arguments are left.
    """
    if not rest or rest[0].startswith("-"):
        return None
    template, arguments = words.escapes(rest[0]), rest[1:]
    specifiers = [found for found in _SPECIFIER.finditer(template) if found.group(1) != "%"]
    longest = len(template) * (len(arguments) // max(len(specifiers), 1) + 1) + sum(map(len, arguments))
    if "%" in _SPECIFIER.sub("", template) or len(arguments) > _MAX_ARGUMENTS or longest > MAX_LINE:
        return None
    out = ""
    while True:
        given = iter(arguments[: len(specifiers)])
        out += _SPECIFIER.sub(lambda found, given=given: _one(found.group(1), given), template)  # type: ignore[misc]
        arguments = arguments[len(specifiers) :]
        if not arguments or not specifiers:
            return out


def _one(kind: str, given: Iterator[str]) -> str:
    if kind == "%":
        return "%"
    value = next(given, "")
    return words.escapes(value) if kind == "b" else quote(value) if kind == "q" else value
