"""What a command would read from its standard input, as far as the line writes it out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from shlex import quote
from typing import TYPE_CHECKING

from hitl.policy.shell import words
from hitl.policy.shell.reading import base_name

if TYPE_CHECKING:
    from tree_sitter import Node

    from hitl.policy.shell.syntax import Reader

_REDIRECTS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})
_SPECIFIER = re.compile(r"%(?:[-+ #0]*\d*(?:\.\d*)?)([sbqcdiuxXo%])")
_MAX_ARGUMENTS = 64
_PRINTERS = frozenset({"echo", "printf"})
_ECHO_FLAGS = frozenset({"-n", "-e", "-E", "-ne", "-en", "-nE", "-En"})


def standard_input(reader: Reader, command: Node | None) -> list[str]:
    """The texts that a command may read; none if they are not written out."""
    source = None if command is None else _source(command)
    return [] if source is None else _produced(reader, source)


def _source(command: Node) -> Node | None:
    """The redirection, or the left side of the pipe, that a command reads from; None if it is outside the line."""
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


def _produced(reader: Reader, node: Node) -> list[str]:
    if node.type == "herestring_redirect":
        value = reader.value(node.children[-1])
        return [value] if value is not None else []
    if node.type in ("heredoc_redirect", "redirected_statement"):
        return _bodies(node) or [text for child in node.children for text in _produced_by_redirect(reader, child)]
    if node.type == "negated_command":
        return _produced(reader, node.children[-1])
    if node.type != "command":
        return []
    printed = _printed(reader, node)
    return printed or [text for child in node.children for text in _produced_by_redirect(reader, child)]


def _produced_by_redirect(reader: Reader, node: Node) -> list[str]:
    return _produced(reader, node) if node.type in ("heredoc_redirect", "herestring_redirect") else []


def _bodies(node: Node) -> list[str]:
    found: list[str] = []
    stack = [node]
    while stack:
        current = stack.pop()
        if current.type == "heredoc_body" and current.text is not None:
            found.append(current.text.decode("utf-8", "replace"))
        stack.extend(current.children)
    return found


def _printed(reader: Reader, command: Node) -> list[str]:
    """What ``echo`` or ``printf`` would print; ``echo`` both with and without decoding its escapes."""
    children = [child for child in command.children if child.type not in _REDIRECTS]
    if not children or base_name(_value(reader, children[0]) or "") not in _PRINTERS:
        return []
    values = [_value(reader, child) for child in children]
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


def _value(reader: Reader, word: Node) -> str | None:
    return reader.value(word.children[0] if word.type == "command_name" else word)


def _formatted(rest: list[str]) -> str | None:
    """What ``printf`` prints: its format is used again while arguments are left; None for formats not known here."""
    if not rest or rest[0].startswith("-"):
        return None
    template, arguments = words.escapes(rest[0]), rest[1:]
    specifiers = [found for found in _SPECIFIER.finditer(template) if found.group(1) != "%"]
    if "%" in _SPECIFIER.sub("", template) or len(arguments) > _MAX_ARGUMENTS:
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
