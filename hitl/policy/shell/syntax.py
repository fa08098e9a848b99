"""Parses a shell line for rules that deny or ask: finds all commands in its syntax tree, and the values of their words.

The tree comes from tree-sitter-bash. The result is a ShellReading. The parser may add commands and doubts to it, but
never removes any. So a wrong guess can lead to a question, but it can't allow a call. In a line with a syntax error,
each word is also taken for the name of a program.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from hitl.policy.shell import braces, programs, unwrap, words, work
from hitl.policy.shell.expansion import MAX_CHOICES, SUBSTITUTIONS, VALUES, Fields, WordReader
from hitl.policy.shell.reading import ShellReading, SimpleCommand, Words
from hitl.policy.shell.tree import bracket_words, ends_as_read, loses_blanks, text_of
from hitl.policy.shell.work import MAX_COMMANDS, MAX_DEPTH, MAX_LINE, MAX_NAME, MAX_WORDS

if TYPE_CHECKING:
    from tree_sitter import Node, Parser


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
#: If a line ends in one of these texts, a shell runs its piped input. Such a line always needs the parser.
_LISTENERS = ("| bash", "|bash", "| sh", "|sh")
_CONTROL = re.compile(r"[;|&><`\n\r]|\$[(\[]|\$\{\}|[<>]\(")

_WORDS = frozenset({"word", *VALUES})


@cache
def _parser() -> Parser:
    import tree_sitter  # noqa: PLC0415 - a large module, loaded when a condition first parses a shell line
    import tree_sitter_bash  # noqa: PLC0415

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def parsed(source: bytes) -> Node:
    """Return the root of the syntax tree of a shell text."""
    return _parser().parse(source).root_node


def read_line(line: str) -> ShellReading:
    """Return the commands of a line or script for a POSIX shell or bash, with the doubts about it."""
    reading = ShellReading()
    read_into(reading, line, 0, {})
    return reading


def read_argv(argv: Words) -> ShellReading:
    """Return the commands of an argument list that is started without a shell, with the doubts about it."""
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
    """Return the first words, up to MAX_WORDS words and MAX_LINE characters, but always the first word."""
    size = 0
    for at, word in enumerate(argv):
        size += len(word or "")
        if at and (size > MAX_LINE or at == MAX_WORDS):
            return argv[:at]
    return argv


def read_into(reading: ShellReading, line: str, depth: int, positional: dict[str, Fields]) -> None:
    """Add the commands of a shell text to a reading. ``positional`` has the values of ``$0``, ``$1``, ... and ``$@``.

    Simple text is split without the parser; the parser would find the same commands. ``depth`` is the number of shell
    texts that contain this text.
    """
    if len(line) > MAX_LINE or depth > MAX_DEPTH or (depth and reading.exhausted(work.of_text(len(line)))):
        reading.hide("is too long or too deeply nested to read")
        _guess(reading, line[:MAX_LINE])
        return
    if "\\\n" in line:
        line = words.joined_lines(line) or line
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
    """Return whether a line has at most MAX_COMMANDS separators, so that all of its commands can be recorded."""
    return line.count(";") + line.count("|") + line.count("&") <= MAX_COMMANDS


def _respelled(line: str) -> list[str]:
    """Return other spellings of a line that the parser reads correctly: with continued lines joined, or more blanks."""
    if "\\" not in line or "\n" not in line:
        return []
    joined = line.replace("\\\n", "")
    found = dict.fromkeys((joined, joined.replace("\n\\", "\n \\"), line.replace("\n\\", "\n \\")))
    return [text for text in found if text != line]


def _guess(reading: ShellReading, text: str) -> None:
    """Add every word of a broken text as a guessed program. A guess can match a deny list, but never an allow list."""
    seen = {command.base for command in reading.commands if command.guessed}
    left = max(MAX_COMMANDS - len(seen), 0)
    found = [word for word in dict.fromkeys(_WORD_LIKE.findall(text)) if word not in seen and len(word) <= MAX_NAME]
    reading.commands += [SimpleCommand([word, None], guessed=True) for word in found[:left]]


class LineReader(WordReader):
    """Adds the commands of one shell text to a reading. A text inside it (``sh -c TEXT``) gets a separate reader."""

    _source = b""
    _redirects = False
    _unquoted: bool | None = None

    def parse(self, text: str) -> None:
        """Parse a text and record every command in it. If parsing may cost too much, record each word as a guess."""
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
        """Record the commands of substitutions in subscripts, such as ``a[$(cmd)]``. They run even in quotes if a
        builtin takes the text for a number or the name of a variable.
        """
        inside = False
        for found in _SUBSCRIPT.finditer(text):
            mark = found.group()
            if mark in ("[", "]"):
                inside = mark == "["
            elif inside and not self.reading.exhausted(work.of_text(len(text) - found.end())):
                rest = text[found.end() :]
                self.source(_balanced(rest) if mark[-1] == "(" else rest.partition("`")[0].rstrip("\\"))

    def _walk(self, root: Node, *, deep: bool) -> None:
        """Visit every node that may hold a command. With ``deep``, also visit words, which may hold backquotes."""
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
        """Record the commands of a text that a command runs as shell code. ``positional`` are its parameters from
        ``$0`` on.
        """
        parameters: dict[str, Fields] = {str(at): [word] for at, word in enumerate(positional)}
        parameters["@"] = list(positional[1:])
        read_into(self.reading, text, self.depth + 1, parameters)

    def nested(self, command: Words, origin: Node | None, *, guessed: bool = False) -> None:
        """Record a command that is an argument of another command. ``guessed`` says that the words may not be a
        command.
        """
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

    # --- visitors of nodes

    def _command(self, node: Node) -> list[Node]:
        """Record the command of a node. Return the node's children that may hold other commands."""
        inner: list[Node] = []
        simple = words.simple_words(self._written(node)) if self._simple else None
        if simple is not None:
            self._complete([*simple], inner, node, own=False)
        else:
            self._complete(self._treed(node, inner), inner, node, own=True)
        return inner

    def _treed(self, node: Node, inner: list[Node]) -> Fields:
        """Return the words of a command from its node. Add children that may hold other commands to ``inner``."""
        if self._unquoted is None:
            self._unquoted = _SPELLING.search(self._text) is None
        if self._unquoted:
            inner += [child for child in node.children if child.type in _NO_WORDS]
            return [text_of(child) for child in node.children if child.type not in _NO_WORDS]
        found: Fields = []
        self._spelled(node, found, inner)
        return found

    def _spelled(self, node: Node, found: Fields, inner: list[Node]) -> None:
        """Add to ``found`` the words of a command that may have quotes, expansions, comments or several lines."""
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
            elif kind == "$":  # the $ of a translated string, $"..."
                translated, end = glued, end if glued else -1
            else:
                end = child.end_byte
                self._append(found, inner, child, glued=glued)

    def _complete(self, found: Fields, inner: list[Node], node: Node, *, own: bool) -> None:
        """Record a command with the words ``found``, and the words after its redirections.

        If some words are unknown and may name the programs that the command runs, record it again with the values that
        the line gives its variables.
        """
        for word in _past_redirects(node, own=own) if self._redirects else ():
            self._append(found, inner, word, glued=False)
        if self._redirects and len(found) > 1 and (found[0] or "").isdigit():
            del found[0]  # the number of a redirection, such as the 2 of `2>log cmd`, isn't a word
        if found:
            unwrap.run(self, found, node)
            if None in found and unwrap.depends(found[0]):
                self._substituted(node, tuple(found))
                if unwrap.by_argument(found[0]) and any(self._splits(child) for child in node.children):
                    self.reading.doubts.append("gets options known only when it runs")

    def _substituted(self, node: Node, named: tuple[str | None, ...]) -> None:
        """Record the command again for each value that the line gives its variables, if the words then differ."""
        choices = [
            self._candidates(child.children[0] if child.type == "command_name" else child)
            for child in node.children
            if child.type not in _NO_WORDS
        ]
        seen = {named}
        for turn in range(min(max(map(len, choices), default=0), MAX_CHOICES)):
            found = tuple(word for choice in choices for word in choice[min(turn, len(choice) - 1)])
            if found and found[0] is not None and found not in seen:
                seen.add(found)
                unwrap.run(self, found, node)

    def _splits(self, node: Node) -> bool:
        """Return whether a word may become any number of unknown words, as an unquoted expansion or ``"$@"`` does."""
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
        if target.type in _GROUPS:  # in ``time ( ... )``, the parser takes the group for a word
            inner.append(target)
            return
        fields = self._word(target)
        if None in fields:
            inner.append(target)
        if glued and found and fields:
            found[-1:] = [words.glued(found[-1], fields[0]), *fields[1:]]
        else:
            found += fields

    def _misread(self, found: Fields, node: Node) -> None:
        """Record a command that ends earlier than its node. After a comment, the parser took words of another line for
        arguments.
        """
        self.reading.hide("is not read as shell syntax")
        if found:
            unwrap.run(self, list(found), node)

    def _assignment(self, node: Node) -> None:
        name, command = text_of(node.children[0]), node.parent
        if command is not None and command.type == "declaration_command":
            return
        # An assignment to IFS before ``read`` only changes how ``read`` splits its line.
        if name == "IFS" and command is not None and _is_read(command):
            return
        if name not in programs.PAGERS or text_of(node) != f"{name}=cat":
            self._sets(name)

    def _sets(self, name: str) -> None:
        if programs.hijacks(name.partition("[")[0]):
            self.reading.hide(f"sets {name[:40]}")

    def _builtin(self, node: Node) -> None:
        """Record ``[``, ``[[``, ``export`` or a similar builtin. It has its own syntax and runs no program."""
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
        """Record an expansion that sets a variable, runs the variable's value as a prompt (``${x@P}``), or holds text
        in single quotes.

        Inside double quotes, single quotes have no effect, so a substitution between them runs.
        """
        operators = {text_of(child) for child in node.children if not child.is_named}
        if operators & {"=", ":="}:
            self._sets(text_of(node.children[1]))
        if "@" in operators and text_of(node).endswith("P}"):
            self.reading.hide("runs what a variable holds")
        if any(child.type == "raw_string" for child in node.children):
            self._embedded(node)

    def _document(self, node: Node) -> None:
        """Record a doubt if a shell may end a here-document at another line than the parser does.

        The shell may then run lines of the here-document as commands.
        """
        if not ends_as_read(node, self._source):
            self.reading.hide("is not read as shell syntax")
            _guess(self.reading, self._text)

    def _redirect(self, node: Node) -> None:
        children = node.children
        operator = children[0].type
        if operator[0] not in "<>&":  # the redirection begins with the number of a file descriptor
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
        """Record the substitutions in a text that the parser doesn't divide (defaults, patterns, here-documents)."""
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


def _is_read(command: Node) -> bool:
    return any(child.type == "command_name" and text_of(child) == "read" for child in command.children)


def _past_redirects(command: Node, *, own: bool) -> list[Node]:
    """Return the words of a command that come after a redirection. In the tree, they are children of the redirection.

    The redirection may be a child of the command's parent. With ``own``, it may also be a child of the command itself.
    """
    redirects = [child for child in command.children if child.type in _REDIRECTS] if own else []
    parent = command.parent
    if parent is not None and parent.type == "redirected_statement" and parent.children[0] == command:
        redirects += [child for child in parent.children if child.type in _REDIRECTS]
    found: list[Node] = []
    for redirect in redirects:
        if redirect.named_child_count == 1:  # no word comes after the target of the redirection
            continue
        inner = [child for child in redirect.named_children if child.type in _WORDS]
        found += inner if redirect.type == "heredoc_redirect" else inner[1:]
    return found


def _quoted_delimiter(body: Node) -> bool:
    siblings = body.parent.children if body.parent is not None else []
    start = next((text_of(child) for child in siblings if child.type == "heredoc_start"), "")
    return any(mark in start for mark in "'\"\\")


def _balanced(text: str) -> str:
    """Return the part of a text before the parenthesis that closes an outer parenthesis. Without such a parenthesis,
    return the whole text.
    """
    depth = 1
    for found in _PARENTHESES.finditer(text):
        depth += 1 if found.group() == "(" else -1
        if not depth:
            return text[: found.start()]
    return text


Visitor = Callable[["LineReader", "Node"], "Sequence[Node] | None"]


def _leaf(_reader: LineReader, _node: Node) -> Sequence[Node]:
    """Return no children, because the node holds no commands."""
    return ()


_VISIT: dict[str, Visitor] = {
    "command": LineReader._command,  # noqa: SLF001 - a table of this class's own methods
    "variable_assignment": LineReader._assignment,  # noqa: SLF001
    **dict.fromkeys(
        ("test_command", "declaration_command", "unset_command"),
        LineReader._builtin,  # noqa: SLF001
    ),
    "file_redirect": LineReader._redirect,  # noqa: SLF001
    "heredoc_redirect": LineReader._document,  # noqa: SLF001
    "for_statement": LineReader._loop,  # noqa: SLF001
    "expansion": LineReader._expanded,  # noqa: SLF001
    **dict.fromkeys(
        ("regex", "heredoc_content", "heredoc_body", "extglob_pattern"),
        LineReader._embedded,  # noqa: SLF001
    ),
    **dict.fromkeys(SUBSTITUTIONS, LineReader._substitution),  # noqa: SLF001
}
_VISIT_WORDS = {**_VISIT, "word": LineReader._embedded}  # noqa: SLF001
_VISIT.update(dict.fromkeys(_LEAVES, _leaf))


@cache
def _visitors() -> tuple[dict[int, Visitor], dict[int, Visitor]]:
    """Return two tables of visitors, by the parser's numbers of node kinds: without and with a visit of words."""
    language = _parser().language
    kinds = {} if language is None else {at: language.node_kind_for_id(at) for at in range(language.node_kind_count)}
    return (
        {at: _VISIT[kind] for at, kind in kinds.items() if kind in _VISIT},
        {at: _VISIT_WORDS[kind] for at, kind in kinds.items() if kind in _VISIT_WORDS},
    )
