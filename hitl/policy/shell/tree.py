"""Nodes of a syntax tree: their text, and everything in them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node


def text_of(node: Node) -> str:
    """The source text of a node."""
    return node.text.decode("utf-8", "replace") if node.text is not None else ""


def descend(node: Node) -> Iterable[Node]:
    """A node and everything in it."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(current.children)
