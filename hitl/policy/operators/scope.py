"""One call while a policy judges it: its arguments and command, and access to the file system and host names."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hitl.policy import values
from hitl.policy.globs import is_pattern
from hitl.policy.model import PolicyCall
from hitl.policy.paths import PathScope
from hitl.policy.ports import Paths, Resolver
from hitl.policy.shell import ShellReading, read_argv, read_line
from hitl.policy.shell.effects import MAX_WORDS, Effects, effects
from hitl.policy.shell.found import EFFECTS
from hitl.policy.shell.lists import plain_tokens
from hitl.policy.tables import names
from hitl.policy.tables.tools import Shape, is_server, shape
from hitl.policy.three_valued import UNSURE
from hitl.policy.vouching import Vouching

ANYWHERE: Final = "*"  # A condition with this key tests every value in the arguments, at any depth.
# A key that begins with this character means every argument in a role: @reads, @writes, @command, ...
ROLE: Final = "@"
#: The work that a policy may spend on one call, in units: judging a short value takes one unit. When this budget is
#: used up, conditions answer UNSURE.
MAX_WORK = 6_000
#: At most this many words of a list, or characters of a text, are passed to the parser of commands. The parser itself
#: has lower limits.
MAX_TOKENS: Final = 8_192
#: The tool group and the tool whose entry in the table of tools applies to a command that the caller runs itself.
_SHELL: Final = ("", "bash")


def shape_of(call: PolicyCall) -> Shape | None:
    """Return the kind and the argument roles of the call's tool from the table of tools, or None for an unknown tool.

    For a command that the caller runs itself, return those of `bash`, whatever name the caller gives the tool.
    """
    return shape(*_SHELL) if call.is_command else shape(call.tools, call.tool)


def disputed(call: PolicyCall) -> bool:
    """Return whether the tool may do something else than the table of tools says. Then no rule for a kind of tools may
    allow the call.

    There are two cases. First, the table says that the tool only reads, but the tool's MCP hints say that it changes
    something. A missing hint changes nothing. Second, an MCP server that isn't in the table uses the name of a coding
    agent's tool. The server may do anything under that name.
    """
    hints, known = call.annotations, shape_of(call)
    if call.foreign and known is not None and not is_server(call.tools):
        return True
    if not hints or known is None or known.kind not in _ONLY_READ:
        return False
    return hints.get("destructiveHint") is True or (hints.get("readOnlyHint") is False and known.kind != "note")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The ports that conditions may use: the file system, host names, and the object that judges a command's paths.

    Without ``paths``, paths are judged by their text alone.
    """

    paths: Paths | None = None
    resolver: Resolver | None = None
    vouching: Callable[[PolicyCall], Vouching] | None = None


class CallScope:
    """One call while it is judged: its arguments, the rest of its budget, and results that several conditions share."""

    _leaves: Sequence[Any] | None = None
    _path_scope: PathScope | None = None
    _readings: dict[str, ShellReading | None] | None = None
    _effects: dict[str, Effects | str | None] | None = None
    _shape: Shape | bool | None = False

    def __init__(self, call: PolicyCall, surroundings: Surroundings) -> None:
        self.call = call
        self.args = call.args
        self.surroundings = surroundings
        self.work = MAX_WORK

    @property
    def shape(self) -> Shape | None:
        """The kind and the argument roles of the call's tool from the table of tools, or None for an unknown tool."""
        if isinstance(self._shape, bool):
            self._shape = shape_of(self.call)
        return self._shape

    def role(self, name: str) -> list[Any]:
        """Return the values of the call's arguments that have a role, such as ``reads``, in the table of tools.

        If a tool that lists or searches gets no path, the value for ``reads`` is the working folder. If a tool that
        lists gets a folder and a pattern, the pattern in that folder is a further value.
        """
        known = self.shape
        if known is None:
            return []
        found = [self.args[key] for key in getattr(known, name) if key in self.args]
        if name == "reads" and known.kind == "list" and len(found) > 1:
            texts = [text for text in found if isinstance(text, str)]
            folders = [text for text in texts if not is_pattern(text)]
            found += [posixpath.join(folder, one) for folder in folders for one in texts if one is not folder]
        return found or (["."] if name == "reads" and known.kind in _LISTING else [])

    @property
    def lists_names(self) -> bool:
        """Whether the call's tool only lists names of files."""
        return self.shape is not None and self.shape.kind == "list"

    def effects(self, key: str) -> Effects | str | None:
        """Return the effects of the command in an argument, or the reason, in words, why the effects are unknown.

        Return None if the call has no such argument.
        """
        if self._effects is None:
            self._effects = {}
        if key not in self._effects:
            self._effects[key] = _effects_of(self, key)
        return self._effects[key]

    def open_trees(self, folders: Sequence[str]) -> int:
        """Return YES if the policy allows reading every file that is now below the folders, else NO or UNSURE."""
        vouching = self.surroundings.vouching
        return UNSURE if vouching is None else vouching(self.call).open_trees(folders)

    def vouched(self, found: Effects) -> int:
        """Return YES if the policy allows every use of a path in a command's effects, `found`, else NO or UNSURE."""
        vouching = self.surroundings.vouching
        return UNSURE if vouching is None else vouching(self.call).holds(found)

    def leaves(self) -> Sequence[Any]:
        """Return every scalar in the arguments, and every key, at any depth. If there are more than MAX_WORK values,
        ``values.CUT`` is the last item.
        """
        if self._leaves is None:
            self._leaves = list(values.leaves(self.args, most=MAX_WORK))
        return self._leaves

    @property
    def paths(self) -> PathScope:
        """The call's working folder and the file system, for judging paths."""
        if self._path_scope is None:
            self._path_scope = PathScope(self.call.cwd, self.surroundings.paths)
        return self._path_scope

    def shell(self, key: str) -> ShellReading | None:
        """Return the parsed command in an argument, or None if the call has no such argument."""
        readings = self._readings
        if readings is None:
            readings = self._readings = {}
        elif key in readings:
            return readings[key]
        found = readings[key] = _read_command(self.args, self.named(key), joins=not self.call.is_command)
        return found

    def named(self, key: str) -> str:
        """Return the name of the argument that a key means. ``@command`` means the argument that holds the tool's
        command.
        """
        if key != f"{ROLE}command" or self.shape is None:
            return key
        return next((name for name in self.shape.command if name in self.args), key)

    def shell_programs(self, key: str) -> tuple[str, ...]:
        """Return the programs that a command may run, with ``?`` for an unknown program.

        The programs come from the parser for rules that deny or ask, because it also finds programs in lines that it
        understands only in part.
        """
        found = self.shell(key)
        return ("?",) if found is None or found.hidden else found.programs()

    def programs(self) -> tuple[str, ...]:
        """Return the programs of every command of this call that a condition has parsed so far."""
        readings = self._readings
        if readings is None:
            return ()
        found = [reading.programs() for reading in readings.values() if reading is not None]
        return found[0] if len(found) == 1 else tuple(dict.fromkeys(name for names in found for name in names))


def _command_of(args: Mapping[str, Any], key: str) -> tuple[Any, list[str]]:
    """Return the value of the argument ``key``, which holds a command, and the command's further words.

    The further words are in the call's argument named ``args``. The value is MISSING if the call lacks the argument.
    """
    if key in ("command", "args"):
        return args.get("command", values.MISSING), _tokens(args["args"]) if "args" in args else []
    return values.lookup(args, values.pointer(key)), []


_LISTING = names("list search")
_ONLY_READ = names("read list search get web_search fetch note")
_NOTHING_AROUND = Surroundings()


def command_effects(call: PolicyCall) -> Effects | str | None:
    """Return the effects of a call's command, or the reason, in words, why they are unknown.

    Return None for a call without a command.
    """
    return CallScope(call, _NOTHING_AROUND).effects(f"{ROLE}command")


def _effects_of(scope: CallScope, key: str) -> Effects | str | None:
    """Return the effects of a command in an argument, or the reason, in words, why they are unknown.

    The command is one line, or one list of words.
    """
    name = scope.named(key)
    command = values.lookup(scope.args, values.pointer(name))
    if command is values.MISSING:
        return None
    if key.startswith(ROLE) and len(scope.role("command")) > 1:
        return "several arguments hold a command"
    folder = scope.role("folder")
    if len(folder) > 1 or not all(isinstance(one, str) and one for one in folder):
        return "the working folder can't be told"
    where = folder[0] if folder else ""
    if isinstance(command, list | tuple):
        if not 0 < len(command) <= MAX_WORDS or not all(isinstance(word, str) for word in command):
            return "the command is no list of texts, or has too many"
        found = effects(tuple(command), where)
        line = None if scope.call.is_command else _as_line(command)
        if line is not None and isinstance(found, Effects):
            found = "a shell may run a part of a word" if _RUNS.search(line) else _both(found, effects(line, where))
    elif isinstance(command, str) and command.strip():
        found = effects(command, where)
    else:
        return "the command is neither a text nor a list of texts"
    return "its arguments are given apart" if "args" in scope.args and name != "args" else found


def _both(one: Effects, other: Effects | str) -> Effects | str:
    """Return the effects of a list of words which a tool may start as a program or give to a shell as one line.

    ``one`` are the effects of the words without a shell, ``other`` the effects of the line.
    """
    if isinstance(other, str):
        return f"a shell may read the words as one line: {other}"
    says = max(one, other, key=lambda found: EFFECTS.index(found.strongest)).says
    uses = tuple(dict.fromkeys((*one.uses, *other.uses)))
    return Effects(one.does | other.does, says, uses, tuple(dict.fromkeys((*one.programs, *other.programs))))


#: Matches a command substitution, a process substitution, or the end of a line.
_RUNS = re.compile(r"[`\n\r]|[$<>]\(")
_PLAIN_WORD = re.compile(r"[\w@%+=:,./-]+", re.ASCII)
_SHELLS = names("sh bash dash zsh ksh")
_ENTERS = re.compile(r"cd\s+[\w./-]+\s*(?:&&|;)\s*(?=\S)", re.ASCII)


def _as_line(words: Sequence[Any]) -> str | None:
    """Return a list of words joined to one line, because some tools give this line to a shell.

    Return None if the line would have the same effect as the words, for example if no word has a special character.

    Many hosts send ``["bash", "-lc", SCRIPT]`` and start these words without a shell. If a tool joins the words
    instead, the script's first command loses its arguments, and the other commands run unchanged. So the joined line
    does no more than the script, and None is returned. There are two exceptions. If the script redirects input, a first
    command such as `sh` could run this input; the whole line is returned. If the first command is `cd`, the other
    commands run in the working folder instead; the line of the other commands is returned.
    """
    few = words[:MAX_TOKENS]
    if all(isinstance(word, str) and _PLAIN_WORD.fullmatch(word) for word in few):
        return None
    line = " ".join(map(str, few))
    match few:
        case [str(shell), "-c" | "-lc", str(script)] if shell.rpartition("/")[2] in _SHELLS and "<" not in script:
            script = script.lstrip()
            if enters := _ENTERS.match(script):
                return script[enters.end() :]
            return line if script.startswith(("cd", "pushd")) else None
    return line


def _read_command(args: Mapping[str, Any], key: str, *, joins: bool) -> ShellReading | None:
    command, extra = _command_of(args, key)
    if type(command) is str:
        return read_line(command) if not extra else _with_arguments(args, command, extra)
    if command is values.MISSING:
        return read_argv(extra) if extra else None
    reading = ShellReading() if isinstance(command, Mapping) else read_argv([*_tokens(command), *extra])
    if isinstance(command, list | tuple) and all(isinstance(word, str | int | float) for word in command[:MAX_TOKENS]):
        line = _as_line([*command, *extra]) if joins else None
        if line is not None:
            reading.add(read_line(line))
        return reading
    reading.hide("the command is neither text nor a list of texts")
    return reading


def _with_arguments(args: Mapping[str, Any], line: str, extra: list[str]) -> ShellReading:
    """Parse the command ``line`` with the further words ``extra``.

    If the argument `shell` in ``args`` is true, parse the words as one line for a shell. Otherwise parse them as a list
    of words. A tool may still give the line to a shell, so also add the commands that a shell would run. They aren't
    added if ``line`` is a plain name and the further words are a list.
    """
    whole = " ".join((line, *extra))
    if _shell_mode(args):
        return read_line(whole)
    reading = read_argv([*line.split(), *extra])
    if not line.isidentifier() or isinstance(args.get("args"), str):
        reading.add(read_line(whole))
    return reading


def plain_words(args: Mapping[str, Any], key: str) -> Sequence[str] | None:
    """Return the words of a command that is a program with arguments, or None if it uses shell syntax or a shell."""
    command, extra = _command_of(args, key)
    if _shell_mode(args) or (isinstance(command, str | list | tuple) and len(command) > MAX_TOKENS):
        return None
    if isinstance(command, str) and command.strip():
        return plain_tokens([*command.split(), *extra])
    return plain_tokens([*_tokens(command), *extra] if isinstance(command, list | tuple) else extra)


def _tokens(value: Any) -> list[str]:
    """Return a list, a text or another value as a list of words. Only the first MAX_TOKENS items of a list are used."""
    if value is None or isinstance(value, Mapping):
        return [] if value is None else [values.text(str(value))]
    if isinstance(value, list | tuple):
        few = value[:MAX_TOKENS]
        return [values.text(item) if not isinstance(item, list | tuple | Mapping) else str(item) for item in few]
    return value.split() if isinstance(value, str) else [values.text(value)]


def _shell_mode(args: Mapping[str, Any]) -> bool:
    mode = args.get("shell")
    return mode is True or (isinstance(mode, str) and mode.strip().lower() in ("true", "1", "yes", "y", "on"))
