"""The syntax of a shell line: tree-sitter-bash's tree, walked for commands, and words evaluated as far as known.

A reading only grows: each step may add a command or a doubt, never remove one. So a wrong guess can make a call be
asked about, and cannot make one pass. A line that is broken is searched word by word as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from hitl.policy.shell import braces, programs, unwrap, words, work
from hitl.policy.shell.reading import ShellReading, SimpleCommand, Words
from hitl.policy.shell.tree import bracket_words, descend, ends_as_read, loses_blanks, text_of
from hitl.policy.shell.work import MAX_COMMANDS, MAX_DEPTH, MAX_LINE, MAX_NAME, MAX_WORDS

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

Fields = list[str | None]

_MAX_CHOICES = 8  # values of a variable that are followed
_NODES_A_UNIT = 16
_SPLIT = "\x00"  # an unquoted blank inside an expanded word

_NO_WORDS = frozenset({"variable_assignment", "file_redirect", "heredoc_redirect", "herestring_redirect"})
_REDIRECTS = _NO_WORDS - {"variable_assignment"}
_LEAVES = frozenset(
    {
        "word",
        "raw_string",
        "variable_name",
        "string_content",
        "command_name",
        "comment",
        "file_descriptor",
    }
)
_UNQUOTED = frozenset({"word", "number", "brace_expression", "{", "}", ","})
_BRACED = frozenset({"word", "concatenation", "brace_expression"})
_SUBSTITUTIONS = frozenset({"command_substitution", "process_substitution", "arithmetic_expansion"})
_TEXTUAL = frozenset({'"', "string_content", "$"})
_WORD_LIKE = re.compile(r"[^\s;&|<>()`$\"'{},=\\\[\]*?]+")
_BACKQUOTES = re.compile(r"(?<!\\)`((?:[^`\\]|\\.)*)`", re.DOTALL)
_OPENED = re.compile(r"(?<!\\)\$\(")
_PARENTHESES = re.compile(r"[()]")
_SUBSCRIPT = re.compile(r"[\[\]]|\\?\$\(|\\?`")
_FOLDERS = frozenset({"HOME", "PWD", "OLDPWD", "TMPDIR", "RANDOM", "#", "?", "$", "!"})
_ALL = ("$@", "${@}", "[@]}")
_GROUPS = frozenset({"subshell", "compound_statement"})
_ESCAPED_BLANK = re.compile(r"\\[ \t\v\f]|(\\.)", re.DOTALL)
_SPELLING = re.compile(r"[('\"\\$`{#\n]")
#: Ends of lines that are sure to need their tree: a shell runs what is piped into it.
_LISTENERS = ("| bash", "|bash", "| sh", "|sh")
_CONTROL = re.compile(r"[;|&><`\n\r]|\$[(\[]|\$\{\}|[<>]\(")


@cache
def _parser() -> Parser:
    import tree_sitter  # noqa: PLC0415 - heavy; loaded with the first shell condition
    import tree_sitter_bash  # noqa: PLC0415 - as above

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def parsed(source: bytes) -> Node:
    """The tree of a text."""
    return _parser().parse(source).root_node


def read_line(line: str) -> ShellReading:
    """Read one line (or script) that a POSIX shell or bash would be given."""
    reading = ShellReading()
    read_into(reading, line, 0, {})
    return reading


def read_argv(argv: Words) -> ShellReading:
    """Read a program and its arguments that are started without a shell."""
    reading = ShellReading()
    if argv:
        cut = _cut(argv)
        if len(cut) < len(argv):
            reading.hide("has too many words to read, or too long ones")
        unwrap.run(LineReader(reading, 0, {}), cut, None)
        if any(word is not None and _CONTROL.search(word) for word in cut):
            reading.doubts.append("an argument holds shell syntax")
    return reading


def _cut(argv: Words) -> Words:
    """The first words, as many as are read; the first of all stays, whatever its length."""
    size = 0
    for at, word in enumerate(argv):
        size += len(word or "")
        if at and (size > MAX_LINE or at == MAX_WORDS):
            return argv[:at]
    return argv


def read_into(reading: ShellReading, line: str, depth: int, positional: dict[str, Fields]) -> None:
    """Read shell text into a reading; ``positional`` are the values of ``$0``, ``$1``, ... and ``$@``.

    What is read without a tree comes to what its tree would: any syntax that could make a difference needs the tree.
    """
    if len(line) > MAX_LINE or depth > MAX_DEPTH or (depth and reading.exhausted(work.of_text(len(line)))):
        reading.hide("is too long or too deeply nested to read")
        _guess(reading, line[:MAX_LINE])
        return
    if words.plain_line(line) and (split := line.split())[0] not in words.RESERVED and split[0][0] != "%":
        unwrap.run(LineReader(reading, depth, positional), split, None)
        return
    visible = line.isascii() and line.isprintable()
    simple = visible and not line.endswith(_LISTENERS) and (len(line) < MAX_COMMANDS or _few(line))
    commands = words.simple_commands(line) if simple else None
    if commands is not None and ("|" not in line or not any(map(unwrap.may_listen, commands))):
        reading.parse_later(line)
        reader = LineReader(reading, depth, positional)
        for command in commands:
            unwrap.run(reader, command, None)
            if reading.exhausted(0):
                _guess(reading, line)
                break
        return
    if not visible and words.unseen.search(line):
        reading.hide("holds invisible or control characters")
        LineReader(reading, depth, positional).parse(words.unseen.sub("", line))
    LineReader(reading, depth, positional).parse(line if visible else line.replace("\x00", ""))
    for text in _respelled(line):
        LineReader(reading, depth, positional).parse(text)


def _few(line: str) -> bool:
    """Whether a line has few enough commands to be read at all."""
    return line.count(";") + line.count("|") + line.count("&") <= MAX_COMMANDS


def _respelled(line: str) -> list[str]:
    """The line where the grammar misreads it: continued lines joined, a blank before a line's first backslash."""
    if "\\" not in line or "\n" not in line:
        return []
    joined = line.replace("\\\n", "")
    found = dict.fromkeys((joined, joined.replace("\n\\", "\n \\"), line.replace("\n\\", "\n \\")))
    return [text for text in found if text != line]


def _guess(reading: ShellReading, text: str) -> None:
    """Name every word of a broken text as if it were a program: enough for a deny list, never for an allow."""
    seen = {command.base for command in reading.commands if command.guessed}
    left = max(MAX_COMMANDS - len(seen), 0)
    found = [word for word in dict.fromkeys(_WORD_LIKE.findall(text)) if word not in seen and len(word) <= MAX_NAME]
    reading.commands += [SimpleCommand([word, None], guessed=True) for word in found[:left]]


class LineReader:
    """Reads one text into a reading; a payload (``sh -c``) gets a reader of its own, one level deeper."""

    _owner: LineReader | None = None  # whose tree it is: that of the reader that found a nested command, if not its own
    _root: Node | None = None
    _source = b""
    _text = ""
    _ascii = False
    _simple = False
    _redirects = False
    _may_brace = True
    _unquoted: bool | None = None
    _variables: dict[str, list[Fields]] | None = None

    def __init__(self, reading: ShellReading, depth: int, positional: dict[str, Fields]) -> None:
        self.reading = reading
        self.depth = depth
        self.positional = positional

    def parse(self, text: str) -> None:
        """Parse a text and run every command in its tree; a text that may cost too much only has its words guessed."""
        self._source = text.encode("utf-8", "replace")
        short = not self.depth and len(self._source) <= work.SHORT
        if self.reading.exhausted(len(self._source) if short else work.of_parse(self._source)):
            _guess(self.reading, text)
            return
        self._text, self._ascii = text, text.isascii()
        self._redirects = ">" in text or "<" in text
        self._may_brace = braces.may_expand(text)
        root = parsed(self._source)
        self._root = root
        if self.reading.tree is None and self.reading.unparsed is None:
            self.reading.tree = root
        if root.has_error:
            self.reading.hide("is not complete shell syntax")
            self.reading.exhausted(root.descendant_count * work.RECOVERED_NODE)
            _guess(self.reading, text)
        else:
            self._simple = True
        self._walk(root, deep="`" in text)
        if "\\" in text and loses_blanks(root, self._source):
            self.reading.hide("is not read as shell syntax")
            respelled = _ESCAPED_BLANK.sub(lambda found: found[1] or r"\_", text)
            LineReader(self.reading, self.depth, self.positional).parse(respelled)
        if "[" in text and ("$(" in text or "`" in text):
            self._subscripts(text)

    def _subscripts(self, text: str) -> None:
        """Substitutions in a subscript run from quoted text as well, where it is used as a number or a name."""
        inside = False
        for found in _SUBSCRIPT.finditer(text):
            mark = found.group()
            if mark in ("[", "]"):
                inside = mark == "["
            elif inside and not self.reading.exhausted(work.of_text(len(text) - found.end())):
                rest = text[found.end() :]
                self.source(_balanced(rest) if mark[-1] == "(" else rest.partition("`")[0].rstrip("\\"))

    def _walk(self, root: Node, *, deep: bool) -> None:
        """Visit every node that may hold a command; ``deep``: words as well, because they may hold backquotes."""
        visitors = _visitors()[deep]
        stack = [root]
        while stack:
            node = stack.pop()
            visit = visitors.get(node.kind_id)
            if visit is _leaf:
                continue
            inner = None if visit is None else visit(self, node)
            if inner is None or deep:
                inner = node.named_children
            if inner:
                stack += inner[::-1]

    def source(self, text: str, positional: Words = ()) -> None:
        """Read shell text that a command would be given."""
        parameters: dict[str, Fields] = {str(at): [word] for at, word in enumerate(positional)}
        parameters["@"] = list(positional[1:])
        read_into(self.reading, text, self.depth + 1, parameters)

    def nested(self, command: Words, origin: Node | None, *, guessed: bool = False) -> None:
        """A command named by the later words of another; ``guessed``: words that may name one."""
        if not command or self.reading.exhausted(1):
            return
        if guessed:
            self.reading.commands.append(SimpleCommand(command[:MAX_WORDS], guessed=True))
            return
        deeper = LineReader(self.reading, self.depth + 1, self.positional)
        deeper._owner = self._owner or self
        if deeper.depth > MAX_DEPTH * 4:
            self.reading.hide("is too deeply nested to read")
        else:
            unwrap.run(deeper, command, origin)

    # --- nodes

    def _command(self, node: Node) -> list[Node]:
        """Run a command; gives the parts of it that may hold others."""
        inner: list[Node] = []
        simple = words.simple_words(self._written(node)) if self._simple else None
        if simple is not None:
            self._complete([*simple], inner, node, own=False)
        else:
            self._complete(self._treed(node, inner), inner, node, own=True)
        return inner

    def _treed(self, node: Node, inner: list[Node]) -> Fields:
        """The words of a command from its tree; adds the parts of it that may hold others."""
        if self._unquoted is None:
            self._unquoted = _SPELLING.search(self._text) is None
        if self._unquoted:
            inner += [child for child in node.children if child.type in _NO_WORDS]
            return [text_of(child) for child in node.children if child.type not in _NO_WORDS]
        found: Fields = []
        self._spelled(node, found, inner)
        return found

    def _written(self, node: Node) -> str:
        """The source text of a node of this text's own tree: in ASCII, a place in bytes is one in the text."""
        return self._text[node.start_byte : node.end_byte] if self._ascii else text_of(node)

    def _spelled(self, node: Node, found: Fields, inner: list[Node]) -> None:
        """Find the words of a command where quotes, expansions, comments or several lines may stand."""
        end, translated = -1, False
        for child in node.children:
            kind, start = child.type, child.start_byte
            if start > end + 1 > 1 and self._source[end:start].strip(b" \t"):
                self._misread(found, node)
                found.clear()
            glued = start == end or translated
            translated = False
            if kind in _NO_WORDS:
                inner.append(child)
                end = -1
            elif kind == "$":  # of a translated string, $"..."
                translated, end = glued, end if glued else -1
            else:
                end = child.end_byte
                self._append(found, inner, child, glued=glued)

    def _complete(self, found: Fields, inner: list[Node], node: Node, *, own: bool) -> None:
        """Run a command whose words are found, with those behind redirections, and with its variables filled in."""
        for word in _past_redirects(node, own=own) if self._redirects else ():
            self._append(found, inner, word, glued=False)
        if self._redirects and len(found) > 1 and (found[0] or "").isdigit():
            del found[0]  # the descriptor of a redirection that begins the command
        if found:
            unwrap.run(self, found, node)
            if None in found and unwrap.depends(found[0]):
                self._substituted(node, tuple(found))
                if unwrap.by_argument(found[0]) and any(self._splits(child) for child in node.children):
                    self.reading.doubts.append("gets options known only when it runs")

    def _splits(self, node: Node) -> bool:
        """Whether a word may become any number of words that the line does not tell: outside quotes, or as ``"$@"``."""
        if node.type == "string":
            return text_of(node).strip('"').endswith(_ALL) and self._candidates(node) == [[None]]
        if node.type in ("simple_expansion", "expansion"):
            return self._candidates(node) == [[None]] and text_of(node).strip("${}") not in _FOLDERS
        return node.type == "command_substitution"

    def _append(self, found: Fields, inner: list[Node], word: Node, *, glued: bool) -> None:
        kind = word.type
        target = word.children[0] if kind == "command_name" else word
        if kind == "word" and not glued and (text := self._literal(word)) is not None:
            found.append(text)
            return
        if target.type in _GROUPS:  # of ``time ( ... )``, which the grammar takes for a word
            inner.append(target)
            return
        fields = self._word(target)
        if None in fields:
            inner.append(target)
        if glued and found and fields:
            found[-1:] = [words.glued(found[-1], fields[0]), *fields[1:]]
        else:
            found += fields

    def _literal(self, word: Node) -> str | None:
        """The text of a bare word that means what it says; None if a backslash or a brace may change it."""
        text = self._written(word)
        return None if "\\" in text or "{" in text else text

    def _misread(self, found: Fields, node: Node) -> None:
        """The grammar took words of another line for arguments (after a comment): they begin a command of their own."""
        self.reading.hide("is not read as shell syntax")
        if found:
            unwrap.run(self, list(found), node)

    def _word(self, node: Node) -> Fields:
        """A word as the fields that it is split into; None for what is known only when the line runs."""
        if self._may_brace and node.type in _BRACED and braces.may_expand(self._written(node)):
            return self._braced(node)
        value = self.value(node)
        return [value] if value is None or _SPLIT not in value else [part for part in value.split(_SPLIT) if part]

    def _braced(self, node: Node) -> Fields:
        """A word that may hold a brace expansion; quoted braces and commas are letters."""
        parts = [node] if node.type == "word" else node.children
        text = "".join(self._template(part) for part in parts)
        expanded = braces.expand(text)
        if expanded is None or self.reading.exhausted(work.of_text(sum(map(len, expanded)))):
            self.reading.hide("has braces that stand for too many words")
            return [None]
        split = [part for word in expanded for part in word.split(_SPLIT) if part]
        return [None if braces.UNKNOWN in part else part for part in split]

    def _template(self, node: Node) -> str:
        value = self.value(node)
        if value is None:
            return braces.UNKNOWN
        return braces.template(self._written(node)) if node.type in _UNQUOTED else value

    def _assignment(self, node: Node) -> None:
        name, command = text_of(node.children[0]), node.parent
        if command is not None and command.type == "declaration_command":
            return
        if name == "IFS" and command is not None and _is_read(command):  # only what ``read`` makes of its one line
            return
        if name not in programs.PAGERS or text_of(node) != f"{name}=cat":
            self._sets(name)

    def _sets(self, name: str) -> None:
        if programs.hijacks(name.partition("[")[0]):
            self.reading.hide(f"sets {name[:40]}")

    def _builtin(self, node: Node) -> None:
        """``[``, ``[[``, ``export`` and the like have a syntax of their own and run no program."""
        found: Fields = [node.children[0].type]
        if node.type == "declaration_command":
            for child in node.named_children:
                found += self._declared(child)
        elif found == ["["] and bracket_words(node, self._source) is None:
            self.reading.hide("is not read as shell syntax")
            self.source(f"test {self._written(node)[1:]}")
        unwrap.run(self, found, node)

    def _declared(self, node: Node) -> Fields:
        if node.type != "variable_assignment":
            return self._word(node)
        value = self.value(node.children[-1])
        return [f"{text_of(node.children[0])}={value or ''}"]

    def _loop(self, node: Node) -> None:
        self._sets(next((text_of(child) for child in node.children if child.type == "variable_name"), ""))

    def _expanded(self, node: Node) -> None:
        """Expansions that set a variable, run their value as a prompt, or hold text in quotes that do not quote."""
        operators = {text_of(child) for child in node.children if not child.is_named}
        if operators & {"=", ":="}:
            self._sets(text_of(node.children[1]))
        if "@" in operators and text_of(node).endswith("P}"):
            self.reading.hide("runs what a variable holds")
        if any(child.type == "raw_string" for child in node.children):
            self._embedded(node)

    def _document(self, node: Node) -> None:
        """A here-document; where it may end elsewhere, its lines may be commands."""
        if not ends_as_read(node, self._source):
            self.reading.hide("is not read as shell syntax")
            _guess(self.reading, self._text)

    def _redirect(self, node: Node) -> None:
        children = node.children
        operator = children[0].type
        if operator[0] not in "<>&":  # a descriptor stands first
            operator = next((kind for child in children if (kind := child.type)[0] in "<>&"), ">")
        if operator[0] == "<" and operator != "<>":
            return
        value = self.value(children[-1])
        if operator == ">&" and value is not None and (value.isdigit() or value == "-"):
            return
        self.reading.writes.append((operator, value))

    def _substitution(self, node: Node) -> None:
        self.reading.substitution = True
        text = self._written(node)
        if text.startswith("`") and "\\`" in text:
            self.source(text[1:-1].replace("\\`", "`"))

    def _embedded(self, node: Node) -> None:
        """Read substitutions in text that the grammar keeps in one piece (defaults, patterns, here-documents)."""
        text = self._written(node)
        if node.type == "heredoc_body" and _quoted_delimiter(node):
            return
        for found in _BACKQUOTES.findall(text) if "`" in text else ():
            self._substituted_text(found.replace("\\`", "`"))
        for opened in _OPENED.finditer(text) if "$(" in text else ():
            if self.reading.exhausted(work.of_text(len(text) - opened.end())):
                return
            self._substituted_text(_balanced(text[opened.end() :]))

    def _substituted_text(self, text: str) -> None:
        self.reading.substitution = True
        self.source(text)

    # --- words

    def value(self, node: Node) -> str | None:
        """The text of a word after quoting, or None if it is known only when the line runs."""
        kind = node.type
        if kind == "word":
            text = self._written(node)
            return words.unquoted(text) if "\\" in text else text
        evaluate = _VALUES.get(kind)
        return self._written(node) if evaluate is None else evaluate(self, node)

    def _concatenation(self, node: Node) -> str | None:
        children = node.children
        parts = [
            self.value(child)
            for child, following in zip(children, [*children[1:], None], strict=True)
            if child.type != "$" or following is None or following.type != "string"  # $"..." is a translated string
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
            return _SPLIT
        if name[:1].isdigit() and not self.positional:
            self.reading.doubts.append("uses a positional parameter")
            return name[1:]
        return None

    # --- variables that the line itself sets

    def _substituted(self, node: Node, named: tuple[str | None, ...]) -> None:
        """Name the command again with the values that the line gives its variables, where they make it another."""
        choices = [
            self._candidates(child.children[0] if child.type == "command_name" else child)
            for child in node.children
            if child.type not in _NO_WORDS
        ]
        seen = {named}
        for turn in range(min(max(map(len, choices), default=0), _MAX_CHOICES)):
            found = tuple(word for choice in choices for word in choice[min(turn, len(choice) - 1)])
            if found and found[0] is not None and found not in seen:
                seen.add(found)
                unwrap.run(self, found, node)

    def _candidates(self, node: Node) -> list[Fields]:
        """The values a word may have: each a list of fields."""
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
        """The values that this reader's own text gives a variable."""
        if self._variables is None:
            self._variables = self._assignments()
        return self._variables.get(name, [])

    def _affordable(self, values: list[Fields]) -> list[Fields]:
        """The values, unless to fill them in costs too much."""
        size = sum(len(word or "") for value in values for word in value)
        return [] if values and self.reading.exhausted(work.of_text(size)) else values

    def _joined(self, node: Node) -> list[Fields]:
        inner = [child for child in node.children if child.type != '"']
        if node.type == "string" and len(inner) == 1:
            return self._lookup(inner[0]) or [[None]]
        parts = [self._texts(child) for child in inner]
        if not parts or not all(parts):
            return [[None]]
        most = min(max(map(len, parts)), _MAX_CHOICES)
        return [["".join(part[min(turn, len(part) - 1)] for part in parts)] for turn in range(most)]

    def exactly(self, node: Node) -> list[str]:
        """The text that a word has; none if it is known only when the line runs."""
        value = self.value(node)
        return [] if value is None else [value]

    def texts(self, node: Node) -> list[str]:
        """The texts that a word may have, by the values that the line gives its variables; none if unknown."""
        value = self.value(node)
        if value is not None:
            return [value]
        found = [[word for word in one if word is not None] for one in self._candidates(node) if None not in one]
        return [" ".join(one) for one in found]

    def _texts(self, node: Node) -> list[str]:
        """The texts that a part of a quoted word may have; none if it is not known."""
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
        ):  # what an assignment or a loop is written with
            return found
        for node in descend(self._root):
            if node.type == "variable_assignment":
                found.setdefault(text_of(node.children[0]), []).extend(self._assigned(node.children[-1]))
            elif node.type == "for_statement":
                names = [text_of(child) for child in node.children if child.type == "variable_name"]
                values = [child for child in node.named_children if child.type == "word" or child.type in _VALUES]
                found.setdefault(names[0] if names else "", []).extend(
                    [field] for value in values for field in self._word(value)
                )
        return found

    def _assigned(self, value: Node) -> list[Fields]:
        if value.type == "array":
            return [[field for item in value.named_children for field in self._word(item)]]
        known = self.value(value)
        return [[known]] if known is not None else []


def _is_read(command: Node) -> bool:
    return any(child.type == "command_name" and text_of(child) == "read" for child in command.children)


def _past_redirects(command: Node, *, own: bool) -> list[Node]:
    """The words of a command that stand after a redirection, which the grammar files under the redirection.

    ``own``: the command may have redirections inside, not only beside it.
    """
    redirects = [child for child in command.children if child.type in _REDIRECTS] if own else []
    parent = command.parent
    if parent is not None and parent.type == "redirected_statement" and parent.children[0] == command:
        redirects += [child for child in parent.children if child.type in _REDIRECTS]
    found: list[Node] = []
    for redirect in redirects:
        if redirect.named_child_count == 1:  # its target
            continue
        inner = [child for child in redirect.named_children if child.type in _WORDS]
        found += inner if redirect.type == "heredoc_redirect" else inner[1:]
    return found


def _quoted_delimiter(body: Node) -> bool:
    siblings = body.parent.children if body.parent is not None else []
    start = next((text_of(child) for child in siblings if child.type == "heredoc_start"), "")
    return any(mark in start for mark in "'\"\\")


def _balanced(text: str) -> str:
    """The text up to the parenthesis that closes it, or all of it."""
    depth = 1
    for found in _PARENTHESES.finditer(text):
        depth += 1 if found.group() == "(" else -1
        if not depth:
            return text[: found.start()]
    return text


def _split_known(word: str | None) -> Fields:
    return [None] if word is None else list(word.split())


Visitor = Callable[["LineReader", "Node"], "Sequence[Node] | None"]


def _leaf(_reader: LineReader, _node: Node) -> Sequence[Node]:
    """Nothing is in it."""
    return ()


_VISIT: dict[str, Visitor] = {
    "command": LineReader._command,  # noqa: SLF001 - a table of this class's own methods
    "variable_assignment": LineReader._assignment,  # noqa: SLF001 - as above
    **dict.fromkeys(
        ("test_command", "declaration_command", "unset_command"),
        LineReader._builtin,  # noqa: SLF001 - as above
    ),
    "file_redirect": LineReader._redirect,  # noqa: SLF001 - as above
    "heredoc_redirect": LineReader._document,  # noqa: SLF001 - as above
    "for_statement": LineReader._loop,  # noqa: SLF001 - as above
    "expansion": LineReader._expanded,  # noqa: SLF001 - as above
    **dict.fromkeys(
        ("regex", "heredoc_content", "heredoc_body", "extglob_pattern"),
        LineReader._embedded,  # noqa: SLF001 - as above
    ),
    **dict.fromkeys(_SUBSTITUTIONS, LineReader._substitution),  # noqa: SLF001 - as above
}
_VISIT_WORDS = {**_VISIT, "word": LineReader._embedded}  # noqa: SLF001 - as above
_VISIT.update(dict.fromkeys(_LEAVES, _leaf))


@cache
def _visitors() -> tuple[dict[int, Visitor], dict[int, Visitor]]:
    """What is visited of a tree, and what of one whose words are visited too: by the numbers of the grammar's kinds."""
    language = _parser().language
    kinds = {} if language is None else {at: language.node_kind_for_id(at) for at in range(language.node_kind_count)}
    return (
        {at: _VISIT[kind] for at, kind in kinds.items() if kind in _VISIT},
        {at: _VISIT_WORDS[kind] for at, kind in kinds.items() if kind in _VISIT_WORDS},
    )


_VALUES: dict[str, Callable[[LineReader, Node], str | None]] = {
    "number": lambda reader, node: None if node.child_count else reader._written(node),  # noqa: SLF001 - as above
    "raw_string": lambda reader, node: reader._written(node)[1:-1],  # noqa: SLF001 - as above
    "ansi_c_string": lambda reader, node: words.escapes(reader._written(node)[2:-1]),  # noqa: SLF001 - as above
    "translated_string": lambda reader, node: reader.value(node.children[-1]),
    "string": LineReader._string,  # noqa: SLF001 - as above
    "concatenation": LineReader._concatenation,  # noqa: SLF001 - as above
    "simple_expansion": LineReader._expansion,  # noqa: SLF001 - as above
    "expansion": LineReader._expansion,  # noqa: SLF001 - as above
    **dict.fromkeys(_SUBSTITUTIONS, lambda _reader, _node: None),
}
_WORDS = frozenset({"word", *_VALUES})
