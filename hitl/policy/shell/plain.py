"""Parses a shell line for rules that allow calls: returns exactly the commands that it runs, or refuses the line.

``syntax`` finds every program that a line might run, for rules that ask or deny. This module does the opposite: it
accepts only syntax that it understands completely, and raises NotPlain for everything else. An accepted line runs
exactly the returned steps (simple commands). Each step has its words, its possible working folders, and the files of
its redirections.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hitl.policy.globs import is_pattern
from hitl.policy.shell import programs, words, work
from hitl.policy.shell.plain_words import HARMLESS_VALUES, NotPlain, ShellWord, Words
from hitl.policy.shell.syntax import parsed
from hitl.policy.shell.tree import EXPRESSIONS, bracket_words, ends_as_read, loses_blanks, text_of
from hitl.policy.tables import names
from hitl.records import replace

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_LINE = 4096  # characters; a longer line is refused, because no person types one
MAX_STEPS = 64
MAX_WORDS = 4096
_MOST_BEFORE = 8
_MAX_FOLDERS = 8
_MAX_VALUES = 32

#: A line may set these variables for a command, because they change only the form of the command's output.
_HARMLESS_SETTINGS = names(
    "LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_NUMERIC LC_TIME LANG LANGUAGE TZ NO_COLOR FORCE_COLOR CLICOLOR COLUMNS "
    "LINES GIT_OPTIONAL_LOCKS GIT_TERMINAL_PROMPT PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED CI"
)
#: Matches a harmless value of a variable in _HARMLESS_SETTINGS: C.UTF-8, Europe/Vienna or en_GB:en. A value that is a
#: path doesn't match, because a program could read the file at that path.
_SETTING = re.compile(r"(?:[\w+:,=@-]|(?<=\w)\.(?=\w)|(?<=\w)/(?=\w))*", re.ASCII)
_NULL = "/dev/null"
_PASSED_ON = re.compile(r"\d+|-")
_INPUTS, _OUTPUTS = frozenset(("<",)), frozenset((">", ">>", ">|", "&>", "&>>"))
_GROUPS = frozenset(("if_statement", "elif_clause", "else_clause", "do_group", "compound_statement"))
_TESTING = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
_PLAIN_NUMBER = re.compile(r"-?\d+|-[a-z]{2}|[()!]|&&|\|\|", re.ASCII)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_SPLITS = re.compile(r"[|&;<>()\n]")
#: Variables that zsh ties to other variables: setting `path` also sets PATH (zshparam(1)).
_TIED = names(
    "path fpath cdpath mailpath manpath module_path infopath psvar fignore watch signals argv status prompt options "
    "commands functions aliases parameters"
)
#: Variables that zsh keeps as numbers, or that it acts on. Zsh computes a number that a line gives such a variable, and
#: a subscript in the given text may run a command (zshparam(1), "Parameters Used By The Shell").
_COMPUTED = names(
    "BAUD DIRSTACKSIZE EGID ERRNO FPATH FUNCNEST GID HISTSIZE KEYTIMEOUT LISTMAX LOGCHECK MAILCHECK NULLCMD OPTIND "
    "READNULLCMD SAVEHIST TMOUT TRY_BLOCK_ERROR TRY_BLOCK_INTERRUPT TTYIDLE USERNAME ZLE_RPROMPT_INDENT"
)
_NEVER_SET = _TIED | _COMPUTED | HARMLESS_VALUES
#: Programs that run the text of an argument as a script.
_TAKE_SCRIPTS = names("sed awk gawk mawk nawk jq bash sh dash")
#: Matches an option of `read` with the name of a variable joined to it (`-aPATH`).
_JOINED_ARRAY = re.compile(r"-[^-]*a.")
_RUNS_TEXT = re.compile(r"[\[\]`]|\$\(")


@dataclass(frozen=True, slots=True)
class Step:
    """One simple command of a line."""

    words: tuple[ShellWord, ...]
    #: The folders in which the step may run, relative to the call's working folder; "" is that folder.
    folders: tuple[str, ...] = ("",)
    #: The files that the step's redirections read.
    inputs: tuple[ShellWord, ...] = ()
    #: The files that the step's redirections write.
    outputs: tuple[ShellWord, ...] = ()
    #: The step whose output this step reads through a pipe, or None.
    fed_by: Step | None = None
    #: Whether the step's error output also goes into the pipe.
    merged: bool = False


@dataclass(frozen=True, slots=True)
class _Folders:
    """The possible working folders of the shell after a statement: after its success (``success``), and after any
    result.
    """

    success: tuple[str, ...]
    any: tuple[str, ...]


@dataclass(slots=True)
class _State:
    """The state of the shell at one place of the line: possible working folders, variables, and whether it is in a
    loop.

    It also has the files of the redirections, and the step whose output is the input here.
    """

    folders: tuple[str, ...] = ("",)
    variables: dict[str, ShellWord] = field(default_factory=dict)
    in_loop: bool = False
    inputs: tuple[ShellWord, ...] = ()
    outputs: tuple[ShellWord, ...] = ()
    fed_by: Step | None = None


def steps(line: str, folders: tuple[str, ...] = ("",), before: int = 0) -> list[Step]:
    """Return the simple commands of a line, in order.

    ``folders`` are the possible working folders. If the text is inside another line (``bash -c TEXT``), ``before`` is
    the number of steps taken before this text. After too many steps, the text is refused.

    Raises NotPlain if any part of the line is not understood.
    """
    source = line.encode("utf-8", "replace")
    if before > _MOST_BEFORE or len(line) > MAX_LINE or work.of_parse(source) > work.MAX_WORK:
        raise NotPlain("the line is too long or too deeply nested")
    if line.isascii() and line.isprintable():
        joined = words.joined_commands(line)
        if joined is not None and len(joined) <= MAX_STEPS and all(command[0] != "read" for _, command in joined):
            return _unparsed(joined, folders)
    if "\\\n" in line:
        whole = words.joined_lines(line)
        if whole is None:
            raise NotPlain("a continued line isn't read here")
        line, source = whole, whole.encode("utf-8", "replace")
    if words.unseen.search(line) or "\r" in line:
        raise NotPlain("the line holds invisible characters")
    root = parsed(source)
    if root.has_error:
        raise NotPlain("the line is not complete shell syntax")
    if "\\" in line and loses_blanks(root, source):
        raise NotPlain("the line's words can't be told apart")
    walk = _Walk(source)
    walk.sequence(root, _State(folders))
    return walk.steps


def _unparsed(joined: list[tuple[str, list[str]]], folders: tuple[str, ...]) -> list[Step]:
    """Return the steps of a list or pipe of simple commands (``joined_commands``), without using the parser.

    None of the commands is `read`, because only ``_Walk`` checks which variables a line sets.
    """
    found: list[Step] = []
    here = _Folders(folders, folders)
    start = folders
    for joint, command in joined:
        before = found[-1] if joint == "|" else None
        if joint != "|":
            start = here.success if joint == "&&" else here.any
        step = Step(tuple(map(ShellWord, command)), start, fed_by=before)
        if joint == "|" and command[0] == "cd":
            raise NotPlain("a pipe ends in a change of the working folder")
        found.append(step)
        went = _gone_to(step) if command[0] == "cd" and joint != "|" else start
        after = _Folders(went, _union(start, went))
        if joint == "&&":
            after = _Folders(after.success, _union(here.any, after.any))
        elif joint == "||":
            after = _Folders(_union(here.success, after.success), _union(here.any, after.any))
        elif joint == "|":
            after = _Folders(_union(start, here.success), _union(start, here.any))
        here = after
    return found


class _Walk:
    """Visits a syntax tree in the order in which a shell runs it, and collects the steps."""

    def __init__(self, source: bytes) -> None:
        self.steps: list[Step] = []
        self.source = source
        self._words = 0

    # --- statements: each method adds the steps of one kind

    def sequence(self, node: Node, state: _State) -> _Folders:
        """Add the steps of statements that run one after another. Return the possible working folders after them."""
        found = _Folders(state.folders, state.folders)
        for child in node.children:
            if not child.is_named:
                if child.type not in _SEPARATORS:
                    raise NotPlain(f"{child.type} is not read here")
            elif child.type != "comment":
                found = self.statement(child, replace(state, folders=found.any))
        return found

    def statement(self, node: Node, state: _State) -> _Folders:
        """Add the steps of any statement. Return the possible working folders after it."""
        visit = _STATEMENTS.get(node.type)
        if visit is None:
            raise NotPlain(f"{node.type.replace('_', ' ')} is not read here")
        return visit(self, node, state)

    def listed(self, node: Node, state: _State) -> _Folders:
        """Add the steps of ``a && b`` or ``a || b``. Return the possible working folders after it."""
        if len(node.children) != _BINARY:
            raise NotPlain("a list has an odd form")
        left, joint, right = node.children
        first = self.statement(left, state)
        if joint.type == "&&":
            second = self.statement(right, _branch(state, first.success))
            return _Folders(second.success, _union(first.any, second.any))
        if joint.type == "||":
            second = self.statement(right, _branch(state, first.any))
            return _Folders(_union(first.success, second.success), _union(first.any, second.any))
        raise NotPlain(f"{joint.type} is not read here")

    def pipeline(self, node: Node, state: _State) -> _Folders:
        """Add the steps of a pipe. Each part runs in its own shell, so it can't change a folder or variable for the
        next part.

        zsh and ksh run the last part in the main shell, so a last part that changes the folder is refused.

        In ``a | b && c``, the parser may put ``b && c`` below the pipe, but bash pipes only into ``b``. Such a line is
        refused.
        """
        fed_by = state.fed_by
        for child in node.children:
            if child.type == "list":
                raise NotPlain("a pipe and a list are mixed")
            if child.is_named:
                own = replace(_branch(state), fed_by=fed_by)
                before = len(self.steps)
                found = self.statement(child, own)
                if child == node.children[-1] and {*found.success, *found.any} != {*own.folders}:
                    raise NotPlain("a pipe ends in a change of the working folder")
                fed_by = self.steps[-1] if len(self.steps) == before + 1 else None
                if fed_by is not None and b">&" in (child.text or b""):
                    fed_by = replace(fed_by, merged=True)
            elif child.type == "|&":
                fed_by = None if fed_by is None else replace(fed_by, merged=True)
            elif child.type != "|":
                raise NotPlain(f"{child.type} is not read here")
        return _Folders(state.folders, state.folders)

    def subshell(self, node: Node, state: _State) -> _Folders:
        """Add the steps of ``( ... )`` or ``$( ... )``. Return the working folders before it, which it can't change."""
        own = _branch(state)
        found = _Folders(own.folders, own.folders)
        for child in node.children[1:-1]:
            if child.is_named and child.type != "comment":
                found = self.statement(child, replace(own, folders=found.any))
            elif child.type not in _SEPARATORS and child.type != "comment":
                raise NotPlain(f"{child.type} is not read here")
        return _Folders(state.folders, state.folders)

    def group(self, node: Node, state: _State) -> _Folders:
        """Add the steps of a condition, a branch, a loop's body or braces. Each statement in it may run or not."""
        reached, inner = state.folders, _branch(state)
        for child in node.children:
            if child.is_named and child.type != "comment":
                found = self.statement(child, replace(inner, folders=reached))
                reached = _union(reached, found.any)
            elif child.type not in _SEPARATORS and child.type not in words.RESERVED and child.type != "comment":
                raise NotPlain(f"{child.type} is not read here")
        return _Folders(reached, reached)

    def negated(self, node: Node, state: _State) -> _Folders:
        """Add the steps of ``! command``.

        It succeeds if the command fails. So after its success, all folders of the command are possible.
        """
        found = self.statement(node.children[-1], state)
        return _Folders(found.any, found.any)

    def loop(self, node: Node, state: _State) -> _Folders:
        """Add the steps of ``while`` or ``until``. The condition and the body may run any number of times."""
        return self.group(node, replace(state, in_loop=True))

    def each(self, node: Node, state: _State) -> _Folders:
        """Add the steps of ``for name in words``. The body's steps are added once for each value of the variable."""
        kinds = [child.type for child in node.children]
        if kinds[:3] != ["for", "variable_name", "in"]:
            raise NotPlain("the loop has an odd form")
        name = _assignable(text_of(node.children[1]), state)
        values: list[ShellWord] = []
        for child in node.children[3:-1]:
            if child.is_named:
                values.append(_Parts(self, state).value(child))
            elif child.type not in _SEPARATORS:
                raise NotPlain(f"{child.type} is not read here")
        if len(values) > _MAX_VALUES or any(value.loose for value in values):
            values = [ShellWord(None, loose=True)]
        reached = state.folders
        for value in values:
            inner = replace(_branch(state), in_loop=True)
            inner.variables[name] = value
            reached = _union(reached, self.statement(node.children[-1], inner).any)
        return _Folders(reached, reached)

    def redirected(self, node: Node, state: _State) -> _Folders:
        """Add the steps of a statement with redirections after it. Return the possible working folders after it."""
        inputs, outputs = _Parts(self, state).redirects(node.children[1:])
        whole = replace(state, inputs=(*state.inputs, *inputs), outputs=(*state.outputs, *outputs))
        before = len(self.steps)
        found = self.statement(node.children[0], whole)
        noted = self.steps[before:]
        if not any({*inputs} <= {*step.inputs} and {*outputs} <= {*step.outputs} for step in noted):
            raise NotPlain("a redirection belongs to no command")
        return found

    def assignments(self, node: Node, state: _State) -> _Folders:
        """Note the values of variables from assignments without a command. Add the steps of substitutions in the
        values.
        """
        parts = node.named_children if node.type == "variable_assignments" else [node]
        for part in parts:
            if part.type != "variable_assignment":
                raise NotPlain("an assignment has an odd form")
            name, value = _Parts(self, state).assignment(part)
            state.variables[name] = value
        return _Folders(state.folders, state.folders)

    def tested(self, node: Node, state: _State) -> _Folders:
        """Add ``[ ... ]`` or ``[[ ... ]]`` as one step, because its operands may name files."""
        _guard_dialect(node)
        found = [ShellWord(node.children[0].type)]
        single = found[0].text == "["
        inner = bracket_words(node, self.source) if single else list(_operands(node))
        if inner is None:
            raise NotPlain("a test holds an operator of the shell")
        for child in inner:
            if child.type == "test_operator" or not child.is_named:
                found.append(ShellWord(text_of(child)))
            elif child.type == "extglob_pattern":
                text = text_of(child)
                found.append(ShellWord(words.unquoted(text), wild=single and is_pattern(text)))
            else:
                found.append(_Substituting(self, state).word(child))
        _guard_arithmetic(found)
        self._add(Step(tuple(found), state.folders, state.inputs, state.outputs, state.fed_by))
        return _Folders(state.folders, state.folders)

    def command(self, node: Node, state: _State) -> _Folders:
        """Add a simple command as a step. Raises NotPlain if a word or redirection isn't understood."""
        parts = _Parts(self, state)
        inputs, outputs = parts.redirects([c for c in node.children if c.type.endswith("_redirect")])
        found: list[ShellWord] = []
        settings: list[Node] = []
        reader = _Substituting(self, state)
        end = -1
        for child in node.children:
            if end >= 0 and self.source[end : child.start_byte].strip(b" \t"):
                raise NotPlain("the line's words can't be told apart")
            end = child.end_byte
            if child.type == "variable_assignment":
                settings.append(child)
            elif not child.type.endswith("_redirect"):
                found.append(reader.word(child.children[0] if child.type == "command_name" else child))
        for child in settings:
            parts.setting(child, reads=bool(found) and found[0].text == "read")
        if reader.bash_only and any((word.literal or "").rpartition("/")[2] in _TAKE_SCRIPTS for word in found):
            raise NotPlain("a script is written so that other shells hand over another one")
        step = Step(
            tuple(found),
            state.folders,
            (*state.inputs, *inputs),
            (*state.outputs, *outputs),
            state.fed_by,
        )
        return self._run(step, state)

    def _run(self, step: Step, state: _State) -> _Folders:
        if not step.words:
            raise NotPlain("a command has no words")
        self._add(step)
        name = step.words[0].literal
        if name == "cd":
            if state.in_loop:
                raise NotPlain("a loop changes the working folder")
            went = _gone_to(step)
            return _Folders(went, _union(state.folders, went))
        if name == "read":
            for word in step.words[1:]:
                if word.literal is None or _JOINED_ARRAY.match(word.literal):
                    raise NotPlain("read sets a variable that is not written out")
                if not word.literal.startswith("-"):
                    state.variables[_assignable(word.literal, state)] = ShellWord(None, loose=True)
        return _Folders(state.folders, state.folders)

    def _add(self, step: Step) -> None:
        self._words += len(step.words)
        if len(self.steps) >= MAX_STEPS or self._words > MAX_WORDS:
            raise NotPlain("the line runs too many commands")
        self.steps.append(step)


class _Parts:
    """Reads the redirections and assignments at one place of the line. Its methods raise NotPlain for a part that isn't
    understood.
    """

    def __init__(self, walk: _Walk, state: _State) -> None:
        self._walk = walk
        self._state = state

    def redirects(self, nodes: Iterable[Node]) -> tuple[list[ShellWord], list[ShellWord]]:
        """Return the files that redirections read, and the files that they write."""
        inputs: list[ShellWord] = []
        outputs: list[ShellWord] = []
        for node in nodes:
            if node.type == "heredoc_redirect":
                self._heredoc(node)
            elif node.type == "herestring_redirect":
                self._reader().word(node.children[-1])
            elif node.type == "file_redirect":
                self._file(node, inputs, outputs)
            else:
                raise NotPlain(f"{node.type.replace('_', ' ')} is not read here")
        return inputs, outputs

    def assignment(self, node: Node) -> tuple[str, ShellWord]:
        """Return the name and the value of an assignment."""
        kinds = [child.type for child in node.children]
        if kinds[:2] != ["variable_name", "="] or len(kinds) > _NAME_SIGN_VALUE:
            raise NotPlain("an assignment has an odd form")
        name = _assignable(text_of(node.children[0]), self._state)
        if len(kinds) == _NAME_SIGN_VALUE - 1:
            return name, ShellWord("")
        value = self.value(node.children[2])
        return name, ShellWord(None, loose=True) if value.wild else value

    def value(self, node: Node) -> ShellWord:
        """Return the value of a variable's assignment. The value is unknown if shells disagree about it."""
        reader = self._reader()
        value = reader.word(node)
        return ShellWord(None, loose=True) if reader.bash_only else value

    def setting(self, node: Node, *, reads: bool) -> None:
        """Raise NotPlain for an assignment before a command, unless it is harmless in the command's environment.

        ``reads`` says that the command is the builtin `read`. For `read`, an empty IFS only keeps the blanks around a
        line.
        """
        kinds = [child.type for child in node.children]
        name = text_of(node.children[0])
        text = self._reader().word(node.children[-1]).literal if len(kinds) == _NAME_SIGN_VALUE else ""
        if (name in programs.PAGERS and text == "cat") or (reads and name == "IFS" and len(kinds) < _NAME_SIGN_VALUE):
            return
        if name not in _HARMLESS_SETTINGS or text is None or not _SETTING.fullmatch(text):
            raise NotPlain(f"the line sets {name[:40]} for a command")

    def _file(self, node: Node, inputs: list[ShellWord], outputs: list[ShellWord]) -> None:
        parts = [child for child in node.children if child.type != "file_descriptor"]
        if len(parts) != _OPERATOR_AND_TARGET:
            raise NotPlain("a redirection has an odd form")
        operator, target = parts[0].type, self._reader().word(parts[1])
        if target.text is None or target.wild:
            raise NotPlain("a redirection's file is known only when the line runs")
        if operator in (">&", "<&") and _PASSED_ON.fullmatch(target.text):
            return
        if operator in _INPUTS:
            inputs.append(target)
        elif operator in _OUTPUTS:
            if target.text != _NULL:
                outputs.append(target)
        else:
            raise NotPlain(f"the redirection {operator} is not read here")

    def _heredoc(self, node: Node) -> None:
        """Accept a here-document if the shell expands nothing in its text. Otherwise raise NotPlain."""
        kinds = [child.type for child in node.children]
        start = text_of(node.children[kinds.index("heredoc_start")]) if "heredoc_start" in kinds else ""
        expands = start[:1] not in ("'", '"') and not {*"$`\\"}.isdisjoint(text_of(node))
        if expands or set(kinds) - {"<<", "<<-", "heredoc_start", "heredoc_body", "heredoc_end"}:
            raise NotPlain("a here-document may hold expansions")
        if not ends_as_read(node, self._walk.source):
            raise NotPlain("a here-document has an odd delimiter")

    def _reader(self) -> Words:
        return _Substituting(self._walk, self._state)


class _Substituting(Words):
    """Reads words, and also visits the commands of substitutions inside the words. It knows the values of the variables
    at one place of the line.
    """

    def __init__(self, walk: _Walk, state: _State) -> None:
        super().__init__(state.variables)
        self._walk = walk
        self._state = state

    def substituted(self, node: Node) -> None:
        """Add the steps of the commands in ``$( ... )``, whose output becomes part of a word."""
        if any(child.type == "file_redirect" for child in node.children) or b"\\`" in (node.text or b""):
            raise NotPlain("a substitution has an odd form")
        inner = replace(self._state, inputs=(), outputs=(), fed_by=None, in_loop=True)
        self._walk.subshell(node, inner)


_BINARY = 3
_OPERATOR_AND_TARGET = 2
_NAME_SIGN_VALUE = 3
_SEPARATORS = frozenset((";", "\n", ";;"))

_STATEMENTS = {
    "list": _Walk.listed,
    "pipeline": _Walk.pipeline,
    "subshell": _Walk.subshell,
    "negated_command": _Walk.negated,
    "while_statement": _Walk.loop,
    "for_statement": _Walk.each,
    "redirected_statement": _Walk.redirected,
    "variable_assignment": _Walk.assignments,
    "variable_assignments": _Walk.assignments,
    "test_command": _Walk.tested,
    "command": _Walk.command,
    **dict.fromkeys(_GROUPS, _Walk.group),
}


def _guard_dialect(node: Node) -> None:
    """Raise NotPlain for an operator inside ``[[ ... ]]``. A shell without ``[[`` would run the words after it."""
    if node.children[0].type == "[[" and _SPLITS.search(text_of(node)):
        raise NotPlain("a test holds what another shell takes for an operator")


def _guard_arithmetic(found: Sequence[ShellWord]) -> None:
    """Raise NotPlain for a test that may run a command.

    In a numeric comparison, ``[[`` replaces a name by its value, and a subscript in that value may run a command. ``[``
    accepts only digits there. After ``-v`` and ``-R``, both ``[`` and ``[[`` take a name of a variable, and a subscript
    in it may run a command too.
    """
    numeric = any(word.text in _TESTING for word in found)
    if any(word.text in ("-v", "-R") for word in found):
        raise NotPlain("a test may run a substitution")
    for word in found[1:]:
        if word.text and _RUNS_TEXT.search(word.text):
            raise NotPlain("a test may run a substitution")
        if numeric and found[0].text == "[[" and not _PLAIN_NUMBER.fullmatch(word.text or "x"):
            raise NotPlain("a test may run a substitution")


def _assignable(name: str, state: _State) -> str:
    """Return a variable's name if the line may set it.

    Raises NotPlain if the variable can change what a program does. Also raises NotPlain if the line sets it twice,
    because a branch or a loop may decide which value it has.
    """
    if programs.hijacks(name) or name in _NEVER_SET or name.startswith("BASH"):
        raise NotPlain(f"the line sets {name[:40]}")
    if not _NAME.fullmatch(name):
        raise NotPlain("the line sets something that isn't a plain variable")
    if name in state.variables:
        raise NotPlain(f"the line sets {name[:40]} twice")
    return name


def _operands(node: Node) -> Iterable[Node]:
    """Yield the operands and operators of ``[[ ... ]]``, in order."""
    for child in node.children[1:-1] if node.type == "test_command" else node.children:
        if child.type in EXPRESSIONS:
            yield from _operands(child)
        else:
            yield child


def _branch(state: _State, folders: tuple[str, ...] | None = None) -> _State:
    """Return a copy of the state for a part of the line that perhaps doesn't run, such as a branch.

    Variables that are set in this part stay unknown outside it.
    """
    return replace(state, variables=dict(state.variables), folders=state.folders if folders is None else folders)


def _union(*folders: tuple[str, ...]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(folder for some in folders for folder in some))
    if len(found) > _MAX_FOLDERS:
        raise NotPlain("the working folder can't be told")
    return found


def _gone_to(step: Step) -> tuple[str, ...]:
    """Return the working folders that are possible after ``cd``.

    For a path with ``..`` there are two: bash removes ``..`` from the path's text, but some shells follow links first.
    """
    operands = [word for word in step.words[1:] if word.text != "--"]
    target = operands[0].literal if len(operands) == 1 else None
    if not target or target.startswith(("-", "~")):
        raise NotPlain("cd leads to a folder that is not written out")
    joined = [posixpath.join(folder, target) for folder in step.folders]
    return _union(tuple(posixpath.normpath(one) for one in joined), tuple(joined) if ".." in target else ())
