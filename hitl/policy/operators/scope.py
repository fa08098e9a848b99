"""One call while it is judged: its arguments, its command, and what may be asked beside the call itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hitl.policy import values
from hitl.policy.model import PolicyCall
from hitl.policy.paths import PathScope
from hitl.policy.ports import Paths, Resolver
from hitl.policy.shell import ShellReading, read_argv, read_line
from hitl.policy.shell.effects import MAX_WORDS, Effects, effects
from hitl.policy.shell.lists import plain_tokens
from hitl.policy.tables import names
from hitl.policy.tables.tools import Shape, is_server, shape
from hitl.policy.three_valued import UNSURE
from hitl.policy.vouching import Vouching

ANYWHERE: Final = "*"  # the key that stands for every value at any depth
ROLE: Final = "@"  # a key that begins so stands for each argument in a role: @reads, @writes, @command, ...
#: What judging one call may cost, in judgements of one short value; past it the rest can't be told, so the call asks.
MAX_WORK = 6_000
#: Words of a list, and characters of a text, that are taken for a command's words: more than a reading takes.
MAX_TOKENS: Final = 8_192
#: The tool whose arguments a caller's own command line stands for.
_SHELL: Final = ("", "bash")


def shape_of(call: PolicyCall) -> Shape | None:
    """What the tables know of the call's tool. What a caller starts itself is a command, whatever it calls the tool."""
    return shape(*_SHELL) if call.is_command else shape(call.tools, call.tool)


def disputed(call: PolicyCall) -> bool:
    """Whether the tool may be something else than the tables say of its name, so that no rule by kind may allow it.

    Either it has the name of a reader, and its own MCP hints say that it changes something; a hint counts only if it is
    given. Or another program serves it under the name of a coding agent's tool: an MCP server's `Read` reads what that
    server likes. The tools of an MCP server that the tables know are meant by the name of their group.
    """
    hints, known = call.annotations, shape_of(call)
    if call.foreign and known is not None and not is_server(call.tools):
        return True
    if not hints or known is None or known.kind not in _ONLY_READ:
        return False
    return hints.get("destructiveHint") is True or (hints.get("readOnlyHint") is False and known.kind != "note")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What may be asked beside the call itself: the file system, host names, and what its command's paths come to.

    Without ``paths``, paths are judged by their text alone.
    """

    paths: Paths | None = None
    resolver: Resolver | None = None
    vouching: Callable[[PolicyCall], Vouching] | None = None


class CallScope:
    """One call while it is judged: its arguments, and the readings that several conditions share."""

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
        """What the tables know of the call's tool."""
        if isinstance(self._shape, bool):
            self._shape = shape_of(self.call)
        return self._shape

    def role(self, name: str) -> list[Any]:
        """The values of the arguments in a role; the working folder where a tool that lists is told no path."""
        known = self.shape
        if known is None:
            return []
        found = [self.args[key] for key in getattr(known, name) if key in self.args]
        return found or (["."] if name == "reads" and known.kind in _LISTING else [])

    def effects(self, key: str) -> Effects | str | None:
        """What a command argument does, or why that can't be told; None if there is no such argument."""
        if self._effects is None:
            self._effects = {}
        if key not in self._effects:
            self._effects[key] = _effects_of(self, key)
        return self._effects[key]

    def open_trees(self, folders: Sequence[str]) -> int:
        """Whether every file below some folders may be read now; their text alone closes nothing."""
        vouching = self.surroundings.vouching
        return UNSURE if vouching is None else vouching(self.call).open_trees(folders)

    def vouched(self, found: Effects) -> int:
        """Whether every path that a command uses may be used so."""
        vouching = self.surroundings.vouching
        return UNSURE if vouching is None else vouching(self.call).holds(found)

    def leaves(self) -> Sequence[Any]:
        """Every scalar in the arguments, with ``values.CUT`` as the last where there are more than can be paid for."""
        if self._leaves is None:
            self._leaves = list(values.leaves(self.args, most=MAX_WORK))
        return self._leaves

    @property
    def paths(self) -> PathScope:
        """Where the call's paths are judged."""
        if self._path_scope is None:
            self._path_scope = PathScope(self.call.cwd, self.surroundings.paths)
        return self._path_scope

    def shell(self, key: str) -> ShellReading | None:
        """The reading of a command argument; None if there is no such argument."""
        readings = self._readings
        if readings is None:
            readings = self._readings = {}
        elif key in readings:
            return readings[key]
        found = readings[key] = _read_command(self.args, self.named(key))
        return found

    def named(self, key: str) -> str:
        """The argument that a key names: of ``@command``, the one that this tool's command is in."""
        if key != f"{ROLE}command" or self.shape is None:
            return key
        return next((name for name in self.shape.command if name in self.args), key)

    def shell_programs(self, key: str) -> tuple[str, ...]:
        """The programs that the other reading of the same command finds: it looks for more than it understands."""
        found = self.shell(key)
        return ("?",) if found is None or found.hidden else found.programs()

    def programs(self) -> tuple[str, ...]:
        """The programs of every command that was read."""
        readings = self._readings
        if readings is None:
            return ()
        found = [reading.programs() for reading in readings.values() if reading is not None]
        return found[0] if len(found) == 1 else tuple(dict.fromkeys(name for names in found for name in names))


def _command_of(args: Mapping[str, Any], key: str) -> tuple[Any, list[str]]:
    """The value that holds a command, and the arguments that a call gives beside it in ``args``."""
    if key in ("command", "args"):
        return args.get("command", values.MISSING), _tokens(args["args"]) if "args" in args else []
    return values.lookup(args, values.pointer(key)), []


_LISTING = names("list search")
_ONLY_READ = names("read list search get web_search fetch note")
_NOTHING_AROUND = Surroundings()


def command_effects(call: PolicyCall) -> Effects | str | None:
    """What a call's command does, or why that can't be told; None if it has none."""
    return CallScope(call, _NOTHING_AROUND).effects(f"{ROLE}command")


def _effects_of(scope: CallScope, key: str) -> Effects | str | None:
    """The effects of a command that is a line or a list of words on its own."""
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
    elif isinstance(command, str) and command.strip():
        found = effects(command, where)
    else:
        return "the command is neither a text nor a list of texts"
    return "its arguments are given apart" if "args" in scope.args and name != "args" else found


def _read_command(args: Mapping[str, Any], key: str) -> ShellReading | None:
    command, extra = _command_of(args, key)
    if type(command) is str:
        return read_line(command) if not extra else _with_arguments(args, command, extra)
    if command is values.MISSING:
        return read_argv(extra) if extra else None
    reading = read_argv([*_tokens(command), *extra]) if isinstance(command, list | tuple) else ShellReading()
    if isinstance(command, list | tuple) and all(isinstance(word, str | int | float) for word in command[:MAX_TOKENS]):
        return reading
    reading.hide("the command is neither text nor a list of texts")
    return reading


def _with_arguments(args: Mapping[str, Any], line: str, extra: list[str]) -> ShellReading:
    """A program and its arguments given apart: as started without a shell, and as a shell would read them."""
    whole = " ".join((line, *extra))
    if _shell_mode(args):
        return read_line(whole)
    reading = read_argv([*line.split(), *extra])
    if not line.isidentifier() or isinstance(args.get("args"), str):
        reading.add(read_line(whole))
    return reading


def plain_words(args: Mapping[str, Any], key: str) -> Sequence[str] | None:
    """The words of a command that is plainly a program with arguments; None with shell syntax or a shell asked for."""
    command, extra = _command_of(args, key)
    if _shell_mode(args) or (isinstance(command, str | list | tuple) and len(command) > MAX_TOKENS):
        return None
    if isinstance(command, str) and command.strip():
        return plain_tokens([*command.split(), *extra])
    return plain_tokens([*_tokens(command), *extra] if isinstance(command, list | tuple) else extra)


def _tokens(value: Any) -> list[str]:
    """The words of an argument list; of a very long one the first, which are more than a reading takes."""
    if value is None or isinstance(value, Mapping):
        return [] if value is None else [values.text(str(value))]
    if isinstance(value, list | tuple):
        few = value[:MAX_TOKENS]
        return [values.text(item) if not isinstance(item, list | tuple | Mapping) else str(item) for item in few]
    return value.split() if isinstance(value, str) else [values.text(value)]


def _shell_mode(args: Mapping[str, Any]) -> bool:
    mode = args.get("shell")
    return mode is True or (isinstance(mode, str) and mode.strip().lower() in ("true", "1", "yes", "y", "on"))
