"""Finds the text of the words of a shell line after quoting, and the values that the line gives its variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hitl.policy.shell import braces, words, work
from hitl.policy.shell.reading import ShellReading
from hitl.policy.shell.tree import descend, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

Fields = list[str | None]

MAX_CHOICES = 8  # at most this many values of one variable are tried
_NODES_A_UNIT = 16
SPLIT = "\x00"  # replaces an unquoted blank inside an expanded word, where the shell splits the word
_UNQUOTED = frozenset({"word", "number", "brace_expression", "{", "}", ","})
_BRACED = frozenset({"word", "concatenation", "brace_expression"})
SUBSTITUTIONS = frozenset({"command_substitution", "process_substitution", "arithmetic_expansion"})
_TEXTUAL = frozenset({'"', "string_content", "$"})


class WordReader:
    """Finds the values of the words in one shell text. A value that the text doesn't show is None."""

    _owner: WordReader | None = None  # the reader of the whole text, if this reader reads a command inside it
    _root: Node | None = None
    _text = ""
    _ascii = False
    _simple = False
    _may_brace = True
    _variables: dict[str, list[Fields]] | None = None

    def __init__(self, reading: ShellReading, depth: int, positional: dict[str, Fields]) -> None:
        self.reading = reading
        self.depth = depth
        self.positional = positional

    def value(self, node: Node) -> str | None:
        """Return the text of a word after quoting, or None if the text is known only when the line runs."""
        kind = node.type
        if kind == "word":
            text = self._written(node)
            return words.unquoted(text) if "\\" in text else text
        evaluate = VALUES.get(kind)
        return self._written(node) if evaluate is None else evaluate(self, node)

    def _concatenation(self, node: Node) -> str | None:
        children = node.children
        parts = [
            self.value(child)
            for child, following in zip(children, [*children[1:], None], strict=True)
            # the $ of $"...", a translated string, isn't a part of the word
            if child.type != "$" or following is None or following.type != "string"
        ]
        known = [part for part in parts if part is not None]
        return "".join(known) if len(known) == len(parts) else None

    def _string(self, node: Node) -> str | None:
        text = self._written(node)
        plain = self._simple and "$" not in text and "`" not in text
        known = plain or all(child.type in _TEXTUAL for child in node.children)
        return words.double_quoted(text[1:-1]) if known else None

    def _expansion(self, node: Node) -> str | None:
        named = [child for child in node.children if child.type in ("variable_name", "special_variable_name")]
        name = self._written(named[0]) if named else ""
        if name == "IFS":
            return SPLIT
        if name[:1].isdigit() and not self.positional:
            self.reading.doubts.append("uses a positional parameter")
            return name[1:]
        return None

    def _word(self, node: Node) -> Fields:
        """Return the fields into which a shell splits a word. None is a field that is known only when the line runs."""
        if self._may_brace and node.type in _BRACED and braces.may_expand(self._written(node)):
            return self._braced(node)
        value = self.value(node)
        return [value] if value is None or SPLIT not in value else [part for part in value.split(SPLIT) if part]

    def _braced(self, node: Node) -> Fields:
        """Return the words to which the braces of a word expand. Quoted braces and commas are plain characters."""
        parts = [node] if node.type == "word" else node.children
        text = "".join(self._template(part) for part in parts)
        expanded = braces.expand(text)
        if expanded is None or self.reading.exhausted(work.of_text(sum(map(len, expanded)))):
            self.reading.hide("has braces that stand for too many words")
            return [None]
        split = [part for word in expanded for part in word.split(SPLIT) if part]
        return [None if braces.UNKNOWN in part else part for part in split]

    def _template(self, node: Node) -> str:
        value = self.value(node)
        if value is None:
            return braces.UNKNOWN
        return braces.template(self._written(node)) if node.type in _UNQUOTED else value

    def _literal(self, word: Node) -> str | None:
        """Return the text of an unquoted word, or None if a backslash or a brace may change the text."""
        text = self._written(word)
        return None if "\\" in text or "{" in text else text

    def _written(self, node: Node) -> str:
        """Return the source text of a node. Its byte indexes are also indexes of the text if the text is ASCII."""
        return self._text[node.start_byte : node.end_byte] if self._ascii else text_of(node)

    # --- variables that the line itself sets

    def _candidates(self, node: Node) -> list[Fields]:
        """Return the values that a word may have, by the line's assignments. Each value is a list of fields."""
        if node.type == "word" and (text := self._literal(node)) is not None:
            return [[text]]
        value = self.value(node)
        if value is not None or (self._may_brace and node.type in _BRACED and braces.may_expand(self._written(node))):
            return [self._word(node)]
        if node.type in ("simple_expansion", "expansion"):
            known = self._lookup(node)
            return [[field for word in value for field in _split_known(word)] for value in known] or [[None]]
        return self._joined(node) if node.type in ("string", "concatenation") else [[None]]

    def _lookup(self, node: Node) -> list[Fields]:
        name = text_of(node).strip('${}"').removesuffix("[@]").removesuffix("[*]")
        given = self.positional.get("@" if name == "*" else name)
        if given is not None:
            return self._affordable([list(given)])
        return self._affordable((self._owner or self).assigned(name))

    def assigned(self, name: str) -> list[Fields]:
        """Return the values that this reader's text assigns to a variable."""
        if self._variables is None:
            self._variables = self._assignments()
        return self._variables.get(name, [])

    def _affordable(self, values: list[Fields]) -> list[Fields]:
        """Return the values, or [] if the parsing budget (module ``work``) is too small to read the line with each
        value.
        """
        size = sum(len(word or "") for value in values for word in value)
        return [] if values and self.reading.exhausted(work.of_text(size)) else values

    def _joined(self, node: Node) -> list[Fields]:
        inner = [child for child in node.children if child.type != '"']
        if node.type == "string" and len(inner) == 1:
            return self._lookup(inner[0]) or [[None]]
        parts = [self._texts(child) for child in inner]
        if not parts or not all(parts):
            return [[None]]
        most = min(max(map(len, parts)), MAX_CHOICES)
        return [["".join(part[min(turn, len(part) - 1)] for part in parts)] for turn in range(most)]

    def exactly(self, node: Node) -> list[str]:
        """Return a list with the text of a word, or [] if the text is known only when the line runs."""
        value = self.value(node)
        return [] if value is None else [value]

    def texts(self, node: Node) -> list[str]:
        """Return the texts that a word may have, by the values that the line gives its variables.

        Return [] if these values are unknown.
        """
        value = self.value(node)
        if value is not None:
            return [value]
        found = [[word for word in one if word is not None] for one in self._candidates(node) if None not in one]
        return [" ".join(one) for one in found]

    def _texts(self, node: Node) -> list[str]:
        """Return the texts that a part of a quoted word may have, or [] if they are unknown."""
        if node.type == "string_content":
            return [words.double_quoted(text_of(node))]
        found = [[word for word in value if word is not None] for value in self._candidates(node) if None not in value]
        return ["".join(value) for value in found]

    def _assignments(self) -> dict[str, list[Fields]]:
        found: dict[str, list[Fields]] = {}
        if self._root is None or self.reading.exhausted(self._root.descendant_count // _NODES_A_UNIT):
            return found
        if not any(
            mark in self._text for mark in ("=", "for", "select")
        ):  # a text without these three has no assignment and no loop
            return found
        for node in descend(self._root):
            if node.type == "variable_assignment":
                found.setdefault(text_of(node.children[0]), []).extend(self._assigned(node.children[-1]))
            elif node.type == "for_statement":
                names = [text_of(child) for child in node.children if child.type == "variable_name"]
                values = [child for child in node.named_children if child.type == "word" or child.type in VALUES]
                found.setdefault(names[0] if names else "", []).extend(
                    [field] for value in values for field in self._word(value)
                )
        return found

    def _assigned(self, value: Node) -> list[Fields]:
        if value.type == "array":
            return [[field for item in value.named_children for field in self._word(item)]]
        known = self.value(value)
        return [[known]] if known is not None else []


def _split_known(word: str | None) -> Fields:
    return [None] if word is None else list(word.split())


VALUES: dict[str, Callable[[WordReader, Node], str | None]] = {
    "number": lambda reader, node: None if node.child_count else reader._written(node),  # noqa: SLF001
    "raw_string": lambda reader, node: reader._written(node)[1:-1],  # noqa: SLF001
    "ansi_c_string": lambda reader, node: words.ansi_c(reader._written(node)[2:-1]),  # noqa: SLF001
    "translated_string": lambda reader, node: reader.value(node.children[-1]),
    "string": WordReader._string,  # noqa: SLF001
    "concatenation": WordReader._concatenation,  # noqa: SLF001
    "simple_expansion": WordReader._expansion,  # noqa: SLF001
    "expansion": WordReader._expansion,  # noqa: SLF001
    **dict.fromkeys(SUBSTITUTIONS, lambda _reader, _node: None),
}
