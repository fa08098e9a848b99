"""Reads nodes of a syntax tree: their text and descendants, and whether the parser divided them as a shell would."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

EXPRESSIONS = frozenset(("binary_expression", "unary_expression", "negation_expression", "parenthesized_expression"))
_BARE = frozenset(("test_operator", "word", "number", "regex", "extglob_pattern"))
_QUOTED = frozenset(
    (
        "raw_string",
        "string",
        "ansi_c_string",
        "translated_string",
        "concatenation",
        "simple_expansion",
        "expansion",
        "command_substitution",
        "arithmetic_expansion",
    )
)
_ESCAPED = re.compile(rb"\\(.)", re.DOTALL)
_DELIMITER = re.compile(rb"(?P<quote>['\"]?)(?P<plain>[\w.+-]+)(?P=quote)|\\(?P<escaped>[\w.+-]+)")
_OPERATOR = re.compile(r"[|&;<>()\n]")


def text_of(node: Node) -> str:
    """Return the source text of a node."""
    return node.text.decode("utf-8", "replace") if node.text is not None else ""


def descend(node: Node) -> Iterable[Node]:
    """Yield a node and all its descendants."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(current.children)


def bracket_words(node: Node, source: bytes) -> list[Node] | None:
    """Return the words between ``[`` and ``]``, or None if a shell operator is among them.

    The parser takes everything up to ``]`` for one expression. For a shell, ``[`` is an ordinary command, whose words
    end at an operator: ``||`` begins another command, and ``>`` writes a file.
    """
    found: list[Node] = []
    stack = node.children[1:-1][::-1]
    end = node.children[0].end_byte
    while stack:
        child = stack.pop()
        if child.type in EXPRESSIONS:
            stack += child.children[::-1]
            continue
        known = not child.is_named or child.type in _BARE
        told = not _OPERATOR.search(text_of(child)) if known else child.type in _QUOTED
        if not told or not _blank(source[end : child.start_byte]):
            return None
        end = child.end_byte
        found.append(child)
    return found if _blank(source[end : node.children[-1].start_byte]) else None


def loses_blanks(root: Node, source: bytes) -> bool:
    """Return whether the parser takes an escaped blank for a separator. For a shell it is a part of a word."""
    return any(
        found[1] in b" \t\v\f" and not _is_letter(root.descendant_for_byte_range(*found.span()))
        for found in _ESCAPED.finditer(source)
    )


def _is_letter(node: Node | None) -> bool:
    """Return whether this node is a leaf below the root, such as a word, a text or a comment."""
    return node is not None and node.parent is not None and not node.child_count


def ends_as_read(redirect: Node, source: bytes) -> bool:
    """Return whether a shell ends a here-document at the same line as the parser: the first line with only its
    delimiter.

    Return False for any delimiter that isn't plain, because the parser and a shell disagree about quotes and
    backslashes in it. After ``<<-``, the parser allows blanks before the delimiter that ends the here-document, but a
    shell allows only tabs.
    """
    parts = {child.type: child for child in redirect.children}
    start, end = parts.get("heredoc_start"), parts.get("heredoc_end")
    named = _DELIMITER.fullmatch(start.text or b"") if start is not None else None
    if start is None or end is None or named is None:
        return False
    first = source.find(b"\n", start.end_byte) + 1
    lines = source[first:].split(b"\n")
    if "<<-" in parts:
        lines = [line.lstrip(b"\t") for line in lines]
    delimiter = named["plain"] or named["escaped"]
    return delimiter in lines and lines.index(delimiter) == source.count(b"\n", first, end.start_byte)


def _blank(gap: bytes) -> bool:
    return bool(gap) and not gap.strip(b" \t")
