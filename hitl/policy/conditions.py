"""The operators of conditions: what their values may be, and how they judge a call.

Each operator compiles a condition into a function of the call that answers YES, NO or UNSURE (``logic``). It is
compiled for one of two uses. To *tighten* (deny, approve, raise a risk), any reading of the argument that fits is
enough. To *loosen* (allow, lower a risk), every reading must fit. ``not`` swaps the two.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final
from unicodedata import normalize
from urllib.parse import unquote

from hitl.policy import hosts, values
from hitl.policy.globs import BadGlob, Glob, expand_braces, glob
from hitl.policy.literals import required
from hitl.policy.logic import NO, UNSURE, YES, opposite
from hitl.policy.model import PolicyCall
from hitl.policy.paths import PathScope, plain_path
from hitl.policy.ports import Paths, Resolver
from hitl.policy.shell import Reading, read_argv, read_line
from hitl.policy.shell.effects import EFFECTS, MAX_WORDS, Effects, effects
from hitl.policy.shell.lists import Prefixes, Programs, plain_tokens, wrong_entry
from hitl.policy.tables import names
from hitl.policy.tables.tools import Shape, shape
from hitl.policy.vouching import Vouching

ANYWHERE: Final = "*"  # the key that stands for every value at any depth
ROLE: Final = "@"  # a key that begins so stands for each argument in a role: @reads, @writes, @command, ...
MAX_SUBJECT = 1_000_000
MAX_PATH = 4096
#: What judging one call may cost, in judgements of one short value; past it the rest can't be told, so the call asks.
MAX_WORK = 6_000
_LONG = 256  # characters that cost as much as one more judgement
#: Words of a list, and characters of a text, that are taken for a command's words: more than a reading takes.
MAX_TOKENS: Final = 8_192
_MAX_DIGITS = 400
_MAX_WILD = 256
_MIN_HINT = 3


class BadValue(ValueError):
    """A condition's value that the operator cannot use; the message says what it takes."""


#: The tool whose arguments a caller's own command line stands for.
_SHELL: Final = ("", "bash")


def shape_of(call: PolicyCall) -> Shape | None:
    """What the tables know of the call's tool. What a caller starts itself is a command, whatever it calls the tool."""
    return shape(*_SHELL) if call.is_command else shape(call.tools, call.tool)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What may be asked beside the call itself: the file system, host names, and what its command's paths come to.

    Without ``paths``, paths are judged by their text alone.
    """

    paths: Paths | None = None
    resolver: Resolver | None = None
    vouching: Callable[[PolicyCall], Vouching] | None = None


class Scope:
    """One call while it is judged: its arguments, and the readings that several conditions share."""

    _leaves: Sequence[Any] | None = None
    _path_scope: PathScope | None = None
    _readings: dict[str, Reading | None] | None = None
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

    def shell(self, key: str) -> Reading | None:
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
_NOTHING_AROUND = Surroundings()


def command_effects(call: PolicyCall) -> Effects | str | None:
    """What a call's command does, or why that can't be told; None if it has none."""
    return Scope(call, _NOTHING_AROUND).effects(f"{ROLE}command")


def _effects_of(scope: Scope, key: str) -> Effects | str | None:
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


def _read_command(args: Mapping[str, Any], key: str) -> Reading | None:
    command, extra = _command_of(args, key)
    if type(command) is str:
        return read_line(command) if not extra else _with_arguments(args, command, extra)
    if command is values.MISSING:
        return read_argv(extra) if extra else None
    reading = read_argv([*_tokens(command), *extra]) if isinstance(command, list | tuple) else Reading()
    if isinstance(command, list | tuple) and all(isinstance(word, str | int | float) for word in command[:MAX_TOKENS]):
        return reading
    reading.hide("the command is neither text nor a list of texts")
    return reading


def _with_arguments(args: Mapping[str, Any], line: str, extra: list[str]) -> Reading:
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


# --- compiling

Test = Callable[[Scope], int]
Judge = Callable[[Any], int]


@dataclass(frozen=True, slots=True)
class Use:
    """What a condition is compiled for.

    ``negated``: it is under a ``not``. ``textual``: compare text forms, as contenox does. ``rating``: it sets a risk.
    """

    loosen: bool
    negated: bool = False
    textual: bool = False
    rating: bool = False

    def inside_not(self) -> Use:
        """The use of what a ``not`` holds."""
        return Use(not self.loosen, not self.negated, self.textual, self.rating)

    @property
    def missing(self) -> int:
        """What an absent argument answers.

        A deny or an ask can't be told then: the tool may read it from another argument, or assume a value. An allow
        doesn't fire, also not through a ``not``.
        """
        return NO if self.loosen or (self.rating and not self.negated) else UNSURE

    def other(self, key: str) -> int:
        """What a value answers that is of another kind than the condition compares with."""
        return NO if self.loosen or key == ANYWHERE else UNSURE


@dataclass(frozen=True, slots=True)
class Condition:
    """A checked condition: ``value`` is what the operator's ``check`` made of the document's."""

    key: str
    op: str
    value: Any
    match: str = "exact"


def over_values(key: str, judge: Judge, use: Use, cost: int = 1) -> Test:
    """Apply a judge of single values to an argument: each element of a list, everything in an object."""
    steps = values.pointer(key)
    if key == ANYWHERE or len(steps) > 1 or key.startswith(ROLE):
        return _scoped(key, lambda _: judge, use, cost)
    name, missing, absent, scalars = steps[0], use.missing, values.MISSING, values.SCALARS

    def test(scope: Scope) -> int:
        value = scope.args.get(name, absent)
        if type(value) in scalars:
            if type(value) is str and len(value) > _LONG and not _affords(scope, value, 1):
                return UNSURE
            return judge(value)
        return missing if value is absent else _nested(value, judge, use, scope, cost)

    return test


def _affords(scope: Scope, value: Any, cost: int) -> bool:
    """Pay for one judgement; False once the call has cost too much."""
    scope.work -= cost if type(value) is not str else cost + len(value) // _LONG
    return scope.work >= 0


def _nested(value: Any, judge: Judge, use: Use, scope: Scope, cost: int = 1) -> int:
    if isinstance(value, list | tuple):
        return _every((_Part(part) for part in value), judge, use, scope, cost)
    if isinstance(value, Mapping):
        found = _every(values.leaves(value, most=max(scope.work, 0)), judge, replace(use, loosen=False), scope, cost)
        return UNSURE if use.loosen or found != YES else YES
    return judge(value) if _affords(scope, value, cost) else UNSURE


class _Part:
    """An element of a list, which may hold values itself."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def _every(items: Iterable[Any], judge: Judge, use: Use, scope: Scope, cost: int = 1) -> int:
    """One YES is enough to tighten, one NO to not loosen. What is too much to look at can't be told."""
    enough, result = (NO, YES) if use.loosen else (YES, NO)
    empty = True
    for item in items:
        empty = False
        if item is values.CUT or not _affords(scope, item, cost):
            return UNSURE
        answer = _nested(item.value, judge, use, scope, cost) if type(item) is _Part else judge(item)
        if answer == enough:
            return enough
        result = min(result, answer) if use.loosen else max(result, answer)
    return use.missing if empty else result


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator: the check of its value, how it compiles, and what it says of itself.

    ``contenox_check`` is the check in the dialect of contenox, for the operators that it has.
    """

    check: Callable[[Any], Any]
    build: Callable[[Condition, Use], Test]
    takes: str
    keyed: bool = True
    contenox_check: Callable[[Any], Any] | None = None


# --- values of operators


def entries(value: Any) -> tuple[str, ...]:
    """A list written as a list of texts or as one text with commas.

    Raises:
        BadValue: nothing in it, or entries of another type.
    """
    if isinstance(value, str):
        found = _split(value)
    elif isinstance(value, list) and all(isinstance(part, str) and part.strip() for part in value):
        found = tuple(part.strip() for part in value)
    else:
        raise BadValue("takes a list of texts, or one text with commas")
    if not found:
        raise BadValue("is an empty list")
    return found


def programs(value: Any) -> tuple[str, ...]:
    """A list of programs, each of which some command could match.

    Raises:
        BadValue: an entry that could match nothing; the message says what to write instead.
    """
    found = entries(value)
    for entry in found:
        if why := wrong_entry(entry):
            raise BadValue(why)
    return found


def _split(value: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in value.split(",") if part.strip())


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise BadValue("takes a text")
    return value


def _scalar(value: Any) -> Any:
    if isinstance(value, list | dict):
        raise BadValue("takes a text, number, true, false or null")
    return value


def _members(value: Any) -> tuple[Any, ...]:
    if isinstance(value, str):
        return entries(value)
    if not isinstance(value, list) or not value:
        raise BadValue("takes a list with at least one entry")
    return tuple(_scalar(part) for part in value)


def _decimal(value: Any) -> int | Decimal:
    found = values.number(value)
    if found is None:
        raise BadValue("takes a number")
    return (
        int(found) if found.adjusted() < _MAX_DIGITS and found == found.to_integral_value() else found
    )  # compares faster


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if value in ("true", "false"):
        return bool(value == "true")
    raise BadValue("takes true or false")


def _nothing(value: Any) -> bool:
    if value in (None, "", True, "true"):
        return True
    raise BadValue("takes no value")


def _pattern(value: Any) -> Any:
    if not isinstance(value, str) or not value:
        raise BadValue("takes a regular expression (RE2 syntax)")
    try:
        import re2  # noqa: PLC0415 - a native library; loaded with the first regular expression
    except ImportError as error:
        raise BadValue("needs google-re2, which is not installed") from error
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(value, options)
    except re2.error as error:
        reason = error.args[0]
        shown = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else reason
        raise BadValue(f"is not a regular expression that RE2 takes: {shown}") from error


_BOUNDS: dict[str, Callable[[Any, Any], bool]] = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def _sizes(value: Any) -> tuple[tuple[str, int], ...]:
    bounds = value if isinstance(value, dict) else {"ge": value, "le": value}
    if not bounds or not set(bounds) <= set(_BOUNDS):
        raise BadValue("takes a whole number, or lt, le, gt, ge with one")
    if not all(isinstance(bound, int) and not isinstance(bound, bool) and bound >= 0 for bound in bounds.values()):
        raise BadValue("takes whole numbers from 0")
    low = max(bounds.get("ge", 0), bounds.get("gt", -1) + 1)
    high = min((bounds[name] - (name == "lt") for name in ("le", "lt") if name in bounds), default=low)
    if low > high:
        raise BadValue("contradicts itself: no size is in both bounds")
    return tuple(bounds.items())


def _globs(value: Any) -> tuple[Glob | None, ...]:
    patterns = [value] if isinstance(value, str) else value
    if not isinstance(patterns, list) or not patterns or not all(isinstance(one, str) and one for one in patterns):
        raise BadValue("takes a glob, or a list of globs")
    return tuple(_glob(one) for one in patterns)


def _glob(pattern: str) -> Glob:
    try:
        return glob(pattern)
    except BadGlob as error:
        raise BadValue(f"the glob {pattern!r} {error}") from error


def _contenox_globs(value: Any) -> tuple[Glob | None, ...]:
    """The compiled glob; None for one that contenox loads and never matches, which here cannot tell."""
    pattern = _text(value)
    try:
        expand_braces(pattern)
    except BadGlob as error:
        raise BadValue(f"the glob {pattern!r} {error}") from error
    try:
        return (glob(pattern),)
    except BadGlob:
        return (None,)


def _hosts(value: Any) -> hosts.HostList:
    return _host_list(entries(value))


def _host_list(found: tuple[str, ...]) -> hosts.HostList:
    try:
        return hosts.HostList.of(found)
    except ValueError as error:
        raise BadValue(str(error)) from error


def _classes(value: Any) -> frozenset[str]:
    found = entries(value)
    for name in found:
        if name not in hosts.CLASSES:
            raise BadValue(f"{name!r} is no class of hosts; there are {', '.join(sorted(hosts.CLASSES))}")
    return frozenset(found)


def _schemes(value: Any) -> frozenset[str]:
    found = frozenset(name.lower() for name in entries(value))
    for name in found:
        if not re.fullmatch(r"[a-z][a-z0-9+.-]*", name):
            raise BadValue(f"{name!r} is no URL scheme; write {name.partition(':')[0]!r}")
    return found


def _ports(value: Any) -> frozenset[int]:
    parts = value if isinstance(value, list) else [value] if isinstance(value, int) else list(entries(value))
    found = [
        int(part)
        for part in parts
        if not isinstance(part, bool) and str(part).isdecimal() and int(part) <= hosts.MAX_PORT
    ]
    if not found or len(found) < len(parts):
        raise BadValue("takes port numbers")
    return frozenset(found)


def _contenox_entries(value: Any) -> tuple[str, ...]:
    return _split(_text(value))


def _contenox_hosts(value: Any) -> hosts.HostList:
    return _host_list(_split(_text(value)))


# --- how operators judge


Comparison = Callable[[Any], int | None]


def _comparison(wanted: Any, use: Use) -> Comparison:
    """Whether a value is the wanted one; None where it is of another kind, so that it can't be told."""
    shown = values.text(wanted)
    alike = UNSURE if use.loosen else YES  # the same in another spelling
    if use.textual:
        return lambda value: YES if values.text(value) == shown else NO
    of_kind = _KINDS[type(wanted)]

    def compare(value: Any) -> int | None:
        if type(value) is type(wanted) and value == wanted:
            return YES
        answer = of_kind(wanted, value, alike)
        return answer if answer or values.text(value) != shown else alike

    return compare


def _numbers(wanted: Any, value: Any, alike: int) -> int | None:
    found = values.number(value)
    if found is None:
        return None
    if found != values.number(wanted):
        return NO
    return alike if isinstance(value, str) else YES


def _truths(wanted: Any, value: Any, alike: int) -> int | None:
    if isinstance(value, bool):
        return NO
    word = value.strip().lower() if isinstance(value, str) else None
    return (alike if word == values.text(wanted) else NO) if word in ("true", "false") else None


def _texts(wanted: Any, value: Any, alike: int) -> int | None:
    if isinstance(value, str):
        return UNSURE if folded(value, longest_alike([wanted])) == folded(wanted) else NO
    number = None if isinstance(value, bool) else values.number(value)
    if number is None or values.number(wanted) is None:
        return None
    return alike if number == values.number(wanted) else NO


def _nothing_wanted(_wanted: Any, _value: Any, _alike: int) -> int | None:
    return NO


#: How each type of a document's values is compared with a call's values of other types.
_KINDS: dict[type, Callable[[Any, Any, int], int | None]] = {
    int: _numbers, float: _numbers, Decimal: _numbers, bool: _truths, str: _texts, type(None): _nothing_wanted,
}  # fmt: skip


def folded(text: str, most: int = MAX_PATH) -> str:
    """A text without what readers overlook: blanks around it, upper case, and other forms of the same letters.

    Texts beyond ASCII that are longer than ``most`` keep their letters: they can't come to a text of the length that is
    looked for.
    """
    if text.isascii():
        return text.strip().lower()
    plain = text.strip()
    return plain if len(plain) > most else normalize("NFKC", plain).strip().casefold()


def longest_alike(texts: Iterable[str]) -> int:
    """How long a text may be that folds to one of these: other forms of a letter take a few characters."""
    return 8 * max(map(len, texts), default=0) + 64


def _build_eq(condition: Condition, use: Use) -> Test:
    if use.textual:  # of contenox, whose absent arguments equal nothing
        use = replace(use, rating=True)
    return over_values(condition.key, _equal(condition, use), use)


def _equal(condition: Condition, use: Use) -> Judge:
    compare, other = _comparison(condition.value, use), use.other(condition.key)

    def judge(value: Any) -> int:
        answer = compare(value)
        return other if answer is None else answer

    return judge


def _build_ne(condition: Condition, use: Use) -> Test:
    equal = _equal(condition, use.inside_not())
    return over_values(condition.key, lambda value: opposite(equal(value)), use)


def _build_in(condition: Condition, use: Use) -> Test:
    if all(isinstance(wanted, str) for wanted in condition.value) and not use.textual:
        return over_values(condition.key, _among_texts(condition, use), use)
    compares = [_comparison(wanted, use) for wanted in condition.value]
    other = use.other(condition.key)

    def judge(value: Any) -> int:
        answers = [answer for compare in compares if (answer := compare(value)) is not None]
        return max(answers) if answers else other

    return over_values(condition.key, judge, use, len(compares))


def _among_texts(condition: Condition, use: Use) -> Judge:
    """Whether a value is one of many texts, by looking it up: the same answers as comparing with each."""
    texts = frozenset(condition.value)
    overlooked, most = frozenset(map(folded, texts)), longest_alike(texts)
    numbers = frozenset(found for one in texts if (found := values.number(one)) is not None)
    other, alike = use.other(condition.key), UNSURE if use.loosen else YES

    def judge(value: Any) -> int:
        if isinstance(value, str):
            return YES if value in texts else UNSURE if folded(value, most) in overlooked else NO
        if values.text(value) in texts:
            return alike
        number = None if isinstance(value, bool) else values.number(value)
        if number is None or not numbers:
            return other
        return alike if number in numbers else NO

    return judge


def _build_matches(condition: Condition, use: Use) -> Test:
    match, literal = pattern_set([condition.value.pattern]), required(condition.value.pattern)
    other = use.other(condition.key)

    def judge(value: Any) -> int:
        subject = value if isinstance(value, str) else values.text(value)
        if len(subject) > MAX_SUBJECT or not _encodable(subject):
            return UNSURE
        answer = YES if literal in subject and match(subject) else NO
        if value is subject or use.textual or values.number(value) is not None:
            return answer
        return min(answer, UNSURE) if use.loosen else max(answer, other)

    return over_values(condition.key, judge, use, _PATTERN_COST)


def _build_path_matches(condition: Condition, use: Use) -> Test:
    """As ``matches``, for each spelling of a path: as written, without ``..`` and ``//``, and where its links lead."""
    match, other = pattern_set([condition.value.pattern]), use.other(condition.key)

    def of(scope: Scope) -> Judge:
        def judge(value: Any) -> int:
            if type(value) is not str:
                return other
            if len(value) > MAX_PATH or not _encodable(value):
                return UNSURE
            names, doubtful, certain = scope.paths.spellings(value)
            found = [bool(match(name)) for name in names]
            if use.loosen:
                return YES if all(found) and certain else UNSURE if any(found) else NO
            if any(found):
                return YES
            return NO if certain and not any(match(name) for name in doubtful) else UNSURE

        return judge

    return _scoped(condition.key, of, use, _PATH_COST)


def pattern_set(patterns: Sequence[str]) -> Callable[[str], list[int] | None]:
    """A search for several RE2 patterns at once: the places of those found. Faster than one search, also for one."""
    import re2  # noqa: PLC0415 - a native library, loaded with the first pattern

    options = re2.Options()
    options.log_errors = False
    options.max_mem = max(8 << 20, min(len(patterns), 256) << 20)
    found = re2.Set.SearchSet(options)
    for pattern in patterns:
        found.Add(pattern)
    found.Compile()
    match: Callable[[str], list[int] | None] = found.Match
    return match


def _encodable(text: str) -> bool:
    return text.isascii() or not re.search("[\ud800-\udfff]", text)


def _build_bound(condition: Condition, use: Use) -> Test:
    compare, limit = _BOUNDS[condition.op], condition.value

    def judge(value: Any) -> int:
        if type(value) is int:
            return YES if compare(value, limit) else NO
        found = values.number(value)
        return UNSURE if found is None else YES if compare(found, limit) else NO

    return over_values(condition.key, judge, use, _NUMBER_COST)


def _build_exists(condition: Condition, _use: Use) -> Test:
    steps, wanted = values.pointer(condition.key), condition.value
    return lambda scope: YES if (values.lookup(scope.args, steps) is not values.MISSING) == wanted else NO


def _build_size(condition: Condition, use: Use) -> Test:
    steps, bounds = values.pointer(condition.key), condition.value

    def test(scope: Scope) -> int:
        value = values.lookup(scope.args, steps)
        if value is values.MISSING:
            return use.missing
        found = values.size(value)
        if found is None:
            return UNSURE
        return YES if all(_BOUNDS[name](found, bound) for name, bound in bounds) else NO

    return test


def _build_glob(condition: Condition, use: Use) -> Test:
    globs: tuple[Glob | None, ...] = condition.value
    relevant = hints(globs) if condition.key == ANYWHERE and not use.loosen else None
    other = use.other(condition.key)

    def of(scope: Scope) -> Judge:
        judge_one = scope.paths.loosens if use.loosen else scope.paths.tightens

        def judge(value: Any) -> int:
            if type(value) is not str:
                if value is None or not use.textual:
                    return other
                value = values.text(value)
            text: str = value
            if len(text) > MAX_PATH:  # more than a path may have: among values of any kind that is no path
                return NO if condition.key == ANYWHERE else UNSURE
            if relevant is not None:
                if not relevant(text):
                    return NO
                scope.work -= _PATH_COST
            return max(UNSURE if one is None else judge_one(one, text) for one in globs)

        return judge

    slowly = _scoped(condition.key, of, use, _PATH_COST if relevant is None else _HINTED_COST)
    only = globs[0]
    if len(globs) > 1 or only is None or not only.absolute or condition.key[:1] in ("/", ANYWHERE):
        return slowly
    return _one_plain_path(condition.key, only, slowly)


def _one_plain_path(key: str, only: Glob, slowly: Test) -> Test:
    """One absolute glob against a path with one reading: a single match, which is what nearly every call comes to."""
    match, folded = only.sure.fullmatch, only.folded.fullmatch
    both = only.sure.pattern == only.perhaps.pattern

    def test(scope: Scope) -> int:
        value = scope.args.get(key)
        if (
            both
            and type(value) is str
            and scope.surroundings.paths is None
            and plain_path(value)
            and len(value) <= MAX_PATH
        ):
            if not folded(value):
                return NO
            if match(value):
                return YES
        return slowly(scope)

    return test


def hints(globs: Sequence[Glob | None]) -> Callable[[str], bool] | None:
    """A quick test for texts of any kind: could one of the globs cover this? None if they have no literal part."""
    literals = {_literal(alternative) for one in globs if one is not None for alternative in one.alternatives}
    if "" in literals or any(one is None or not one.alternatives for one in globs):
        return None
    try:
        search = pattern_set(["(?i)" + "|".join(re.escape(literal) for literal in sorted(literals))])
    except ImportError:
        return None

    def relevant(text: str) -> bool:
        if not text.isascii():
            text = text.encode("utf-8", "replace").decode()
            return bool(search(text) or search(normalize("NFKC", text)))
        if search(text) or (len(text) <= _MAX_WILD and _WILD_PATH(text)):
            return True
        return "%" in text and bool(search(unquote(unquote(text))))

    return relevant


_WILD_PATH = re.compile(r"\S*[/~$]\S*[*?\[{]\S*|\.\S*[*?\[{]\S*").fullmatch


def _literal(alternative: str) -> str:
    """A text that every path covered by a glob holds: the longest literal part of its last named component."""
    for component in reversed(alternative.split("/")):
        parts = re.split(r"\*|\?|\[[^\]]*\]|\\\\.", component)
        longest = max(parts, key=len)
        if len(longest) >= _MIN_HINT:
            return longest
    return ""


def _scoped(key: str, of: Callable[[Scope], Judge], use: Use, cost: int = 1) -> Test:
    """As ``over_values``, for judges that look at the call as well. ``cost``: of one judgement."""
    steps, missing = values.pointer(key), use.missing

    def test(scope: Scope) -> int:
        if key == ANYWHERE:
            return _every(scope.leaves(), of(scope), replace(use, rating=True, negated=False), scope, cost)
        if key.startswith(ROLE):
            found = scope.role(key[1:])
            if not found and scope.shape is not None:
                return NO  # the tool is known, and has no such argument here
            return _every(map(_Part, found), of(scope), use, scope, cost)
        value = values.lookup(scope.args, steps)
        if value is values.MISSING:
            return missing
        return _nested(value, of(scope), use, scope, cost)

    return test


#: Costs of one judgement, measured beside an equality's 1 us.
_NUMBER_COST, _PATTERN_COST, _HINTED_COST, _URL_COST, _PATH_COST = 2, 2, 2, 20, 40


def _of_texts(judge: Judge, key: str, use: Use) -> Judge:
    """A judge of texts: for any other kind of value that it doesn't find, it can't be told."""
    other = use.other(key)
    if other == NO:
        return judge
    return lambda value: judge(value) if type(value) is str else max(judge(value), other)


MAX_URL = 16_384  # longer URLs are taken by some clients, and decoding them takes too long
_NO_HOST = frozenset({"mailto", "tel"})  # these hold addresses of people, and nothing is fetched from their hosts


def _build_host(condition: Condition, use: Use) -> Test:
    listed: hosts.HostList = condition.value

    def of(scope: Scope) -> Judge:
        def judge(value: Any) -> int:
            text = values.text(value)
            if value is None or not text.strip():
                return NO
            if len(text) > MAX_URL and ("%" in text or condition.key != ANYWHERE):
                return UNSURE
            url = hosts.read_url(text)
            if url.host is None:
                named = url.scheme not in _NO_HOST and listed.mentioned(text)
                return UNSURE if named or url.scheme in ("http", "https") else NO
            if use.loosen:
                good = url.sure and not url.userinfo and listed.exactly(url.host)
                return YES if good else UNSURE if listed.covers(url.host) else NO
            if listed.covers(url.host) or any(listed.exactly(address) for address in _resolved(scope, url) or ()):
                return YES
            return NO if url.sure or url.bare else UNSURE

        return _of_texts(judge, condition.key, use)

    return _scoped(condition.key, of, use, _URL_COST)


def _resolved(scope: Scope, url: hosts.Url) -> Sequence[str] | None:
    """The addresses of the URL's host at the moment of the call; None if they cannot be told, () if not asked."""
    resolver = scope.surroundings.resolver
    if resolver is None or url.host is None or url.address is not None:
        return ()
    return resolver.resolve(url.host)


def _build_class(condition: Condition, use: Use) -> Test:
    wanted: frozenset[str] = condition.value

    def of(scope: Scope) -> Judge:
        def judge(value: Any) -> int:
            url = hosts.read_url(values.text(value))
            addresses = _resolved(scope, url)
            found = _all_classes(url, addresses or ())
            if use.loosen:
                return (
                    YES
                    if found and addresses is not None and found <= wanted
                    else UNSURE
                    if not found or found & wanted
                    else NO
                )
            return YES if found & wanted else UNSURE if addresses is None else NO

        return _of_texts(judge, condition.key, use)

    return _scoped(condition.key, of, use, _URL_COST)


def _all_classes(url: hosts.Url, addresses: Sequence[str]) -> frozenset[str]:
    try:
        return hosts.url_classes(url, addresses)
    except ValueError:
        return hosts.url_classes(url) | {"ambiguous"}


def _url_part(part: Callable[[hosts.Url], Any]) -> Callable[[Condition, Use], Test]:
    def build(condition: Condition, use: Use) -> Test:
        def judge(value: Any) -> int:
            url = hosts.read_url(values.text(value))
            found = part(url) in condition.value
            if use.loosen:
                return (YES if url.sure else UNSURE) if found else NO
            return YES if found else NO if url.sure else UNSURE

        checked = _of_texts(judge, condition.key, use)
        return _scoped(condition.key, lambda _: checked, use, _URL_COST)

    return build


def _build_programs(condition: Condition, use: Use) -> Test:
    listed = Programs.of(condition.value, folds=not use.textual)

    def test(scope: Scope) -> int:
        found = _reading(scope, condition, use)
        if found is None or not condition.value:
            return use.missing if condition.value else NO
        answer = _strict(listed.judge(found), found, use)
        return min(answer, UNSURE) if listed.options and use.loosen else answer

    return test


def _lacks(scope: Scope, condition: Condition, use: Use) -> bool:
    """Conditions of contenox need the argument that they name, even where a command could be read from another."""
    return use.textual and condition.key not in scope.args


def _reading(scope: Scope, condition: Condition, use: Use) -> Reading | None:
    """What the command comes to; None if the call has none."""
    if _lacks(scope, condition, use):
        return None
    value = scope.args.get(condition.key)
    if use.textual and value is not None and type(value) in values.SCALARS and "args" not in scope.args:
        return read_line(values.text(value))
    return scope.shell(condition.key)


def _strict(answer: int, reading: Reading, use: Use) -> int:
    """To loosen, a line with any doubt cannot be told."""
    return UNSURE if use.loosen and (reading.doubts or not reading.commands) else answer


def _build_prefixes(condition: Condition, use: Use) -> Test:
    listed = Prefixes.of(condition.value)

    def test(scope: Scope) -> int:
        found = None if _lacks(scope, condition, use) else scope.shell(condition.key)
        if found is None:
            return use.missing
        return listed.judge(plain_words(scope.args, condition.key), found, least=2 if use.textual else 1)

    return test


def _build_resolvable(condition: Condition, use: Use) -> Test:
    wanted: bool = condition.value

    def test(scope: Scope) -> int:
        found = scope.shell(condition.key)
        if found is None:
            return use.missing
        resolved = bool(found.commands) and not found.doubts
        return YES if resolved == wanted else NO

    return test


def _effect_names(value: Any) -> frozenset[str]:
    found = entries(value)
    for name in found:
        if name not in EFFECTS:
            raise BadValue(f"{name!r} is no effect; there are {', '.join(EFFECTS)}")
    return frozenset(found)


def _build_effects(condition: Condition, use: Use) -> Test:
    """To loosen, a line has these effects at most, and each of its paths may be used so; to tighten, one of them."""
    wanted: frozenset[str] = condition.value

    def test(scope: Scope) -> int:
        found = scope.effects(condition.key)
        if found is None:
            return use.missing
        if isinstance(found, str):
            return UNSURE
        if not use.loosen:
            return YES if found.does & wanted else NO
        if not found.does <= wanted or not set(scope.shell_programs(condition.key)) <= set(found.programs):
            return NO
        return scope.vouched(found)

    return test


_SUBSTITUTES = ("$(", "`", "<(", ">(", "$[", "${}")


def _build_substitution(condition: Condition, use: Use) -> Test:
    steps = values.pointer(condition.key)

    def test(scope: Scope) -> int:
        absent = values.lookup(scope.args, steps) is values.MISSING
        if absent and (use.textual or use.loosen):
            return use.missing
        texts = [leaf for leaf in values.leaves(scope.args) if isinstance(leaf, str)]
        if any(mark in text for text in texts for mark in _SUBSTITUTES):
            return YES
        if absent:
            return use.missing
        found = scope.shell(condition.key)
        return YES if found is not None and found.substitution else NO

    return test


def _build_destructive(condition: Condition, use: Use) -> Test:
    names: tuple[str, ...] = condition.value
    folded = frozenset(name.casefold() for name in names)

    def test(scope: Scope) -> int:
        tool = scope.call.tool
        if condition.match == "substring":
            return (
                YES
                if any(name in (tool if use.loosen else tool.casefold()) for name in (names if use.loosen else folded))
                else NO
            )
        return YES if tool in names or (not use.loosen and tool.casefold() in folded) else NO

    return test


# MCP 2026-07-28, tool annotations: what a hint means when it is not given.
HINTS: Mapping[str, bool] = {
    "readOnlyHint": False,
    "destructiveHint": True,
    "idempotentHint": False,
    "openWorldHint": True,
}


def hint(call: PolicyCall, name: str) -> tuple[bool, bool]:
    """A tool hint as claimed, and as it must be taken at worst (an untrusted server's word only tightens)."""
    worst = HINTS[name]
    given = (call.annotations or {}).get(name, worst)
    claimed = given if isinstance(given, bool) else worst
    return claimed, claimed if call.trusted_annotations else worst


def _build_annotation(condition: Condition, use: Use) -> Test:
    name, wanted = condition.key, condition.value

    def test(scope: Scope) -> int:
        readings = [reading == wanted for reading in hint(scope.call, name)]
        return YES if all(readings) else NO if not any(readings) else UNSURE if use.loosen else YES

    return test


def _build_tree(condition: Condition, _use: Use) -> Test:
    """Whether nothing is closed in the folders that a tool shows the files of; of other tools it always holds."""
    wanted: bool = condition.value

    def test(scope: Scope) -> int:
        known = scope.shape
        if known is None or not known.tree:
            return YES if wanted else NO
        answer = scope.open_trees([path for path in scope.role("reads") if isinstance(path, str)])
        return answer if wanted else opposite(answer)

    return test


def _build_isolated(condition: Condition, _use: Use) -> Test:
    wanted: bool = condition.value
    return lambda scope: YES if scope.call.isolated == wanted else NO


OPERATORS: Mapping[str, Operator] = {
    "eq": Operator(_scalar, _build_eq, "a text, number, true, false or null", contenox_check=_text),
    "ne": Operator(_scalar, _build_ne, "a text, number, true, false or null"),
    "in": Operator(_members, _build_in, "a list of texts or numbers"),
    "matches": Operator(_pattern, _build_matches, "a regular expression in RE2 syntax, found anywhere in the text"),
    "path_matches": Operator(
        _pattern, _build_path_matches, "a regular expression in RE2 syntax, for every spelling of a path"
    ),
    "lt": Operator(_decimal, _build_bound, "a number"),
    "le": Operator(_decimal, _build_bound, "a number"),
    "gt": Operator(_decimal, _build_bound, "a number"),
    "ge": Operator(_decimal, _build_bound, "a number"),
    "exists": Operator(_flag, _build_exists, "true or false"),
    "size": Operator(_sizes, _build_size, "a whole number, or lt, le, gt, ge with one"),
    "glob": Operator(_globs, _build_glob, "a path glob, or a list of them", contenox_check=_contenox_globs),
    "host": Operator(_hosts, _build_host, "hosts, *.domains, addresses or networks", contenox_check=_contenox_hosts),
    "host_class": Operator(_classes, _build_class, "classes of hosts"),
    "url_scheme": Operator(_schemes, _url_part(lambda url: url.scheme), "URL schemes"),
    "url_port": Operator(_ports, _url_part(lambda url: url.port), "port numbers"),
    "command_blacklist": Operator(
        programs, _build_programs, "programs, sub-commands, options or globs", contenox_check=_contenox_entries
    ),
    "command_ask_always": Operator(
        programs, _build_programs, "programs, sub-commands, options or globs", contenox_check=_contenox_entries
    ),
    "command_prefix_allowlist": Operator(
        entries, _build_prefixes, "beginnings of commands", contenox_check=_contenox_entries
    ),
    "command_effects": Operator(_effect_names, _build_effects, f"effects: {', '.join(EFFECTS)}"),
    "command_resolvable": Operator(_flag, _build_resolvable, "true or false"),
    "no_command_substitution": Operator(_nothing, _build_substitution, "nothing", contenox_check=_nothing),
    "destructive_set": Operator(entries, _build_destructive, "tool names", keyed=False),
    "open_tree": Operator(_flag, _build_tree, "true or false", keyed=False),
    "isolated": Operator(_flag, _build_isolated, "true or false", keyed=False),
    "annotation": Operator(_flag, _build_annotation, "true or false"),
}
