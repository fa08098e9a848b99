"""From a document's values to checked rules, in both dialects.

``version: 1`` is strict: whatever would not mean what it says is refused. A JSON document without ``version`` is read
as contenox's: unknown keys, odd timeouts and rules that never fire are warnings there, and texts are compared as texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final

from hitl.policy.globs import BadName, check_name, is_pattern
from hitl.policy.model import (
    ACTIONS,
    DEFAULT_EXECUTION_S,
    DEFAULT_TIMEOUT_S,
    MAX_TIMEOUT_S,
    MIN_TIMEOUT_S,
    RISKS,
    Action,
    PolicyInvalid,
    Problem,
    Risk,
)
from hitl.policy.operators import OPERATORS
from hitl.policy.operators.base import BadValue, Condition
from hitl.policy.operators.scope import ANYWHERE, ROLE
from hitl.policy.operators.tool import HINTS
from hitl.policy.presets import presets
from hitl.policy.shell.lists import wrong_entry
from hitl.policy.tables import tools
from hitl.policy.text import Parsed, join

CONTENOX: Final = 3
OURS: Final = 1
MAX_RULES = 10_000
_MAX_NAMES, _MAX_NAME = 256, 512  # of contenox's lists of models
MAX_EXECUTION_S = 24 * 60 * 60

TOP_KEYS = ("version", "description", "preset", "default_action", "defaults", "risk", "risk_rules", "forbid", "rules")
RULE_KEYS = (
    "id", "tools", "tool", "kind", "when", "action", "risk", "timeout_s", "on_timeout", "approvers",
    "exclude_requester", "require_reason", "harmless", "message",
)  # fmt: skip
FORBID_KEYS = ("id", "tools", "tool", "kind", "when", "message", "risk")
RISK_RULE_KEYS = ("id", "tools", "tool", "kind", "when", "risk", "at_least", "message")
#: What the table of tools knows a tool as, and what it is if the table doesn't know it.
UNKNOWN: Final = "unknown"
TOOL_KINDS: Final = (*tools.KINDS, UNKNOWN)
LEVEL_KEYS = ("action", "timeout_s", "require_reason")
CONDITION_KEYS = ("key", "op", "value", "match")
ASKING_KEYS = ("timeout_s", "on_timeout", "approvers", "exclude_requester", "require_reason")
CONTENOX_TOP_KEYS = ("version", "default_action", "rules", "compute", "attention")
CONTENOX_RULE_KEYS = ("tools", "tool", "when", "action", "timeout_s", "on_timeout")
NOT_YET = {
    "quorum": "more than one approval is not enforced yet",
    "min_approvals": "more than one approval is not enforced yet",
    "approvals": "more than one approval is not enforced yet",
    "standing": "standing permissions are not enforced yet",
    "remember": "standing permissions are not enforced yet",
    "trusted_binaries": "trusted binaries are not enforced here",
}
TIGHTENING = ("preset", "forbid", "risk_rules", "risk", "defaults", *NOT_YET)


@dataclass(frozen=True, slots=True)
class All:
    """Every part must hold."""

    parts: tuple[When, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One part must hold."""

    parts: tuple[When, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The part must not hold."""

    part: When


When = All | AnyOf | Not | Condition


@dataclass(frozen=True, slots=True)
class Rule:
    """A checked rule of any list. ``action`` is None in ``risk_rules``; ``name`` is what verdicts call it.

    ``harmless`` names arguments that an allow rule vouches for without looking at them.
    ``literal`` names are compared letter by letter, and ``textual`` values by their text, as contenox does.
    ``source``: the preset that it comes from; empty for a rule of the document itself.
    """

    name: str
    path: str
    line: int
    tools: tuple[str, ...]
    tool: tuple[str, ...]
    when: All
    content: Any
    action: Action | None = None
    risk: Risk | None = None
    at_least: Risk | None = None
    timeout_s: int | None = None
    approvers: tuple[str, ...] | None = None
    exclude_requester: bool = False
    require_reason: bool = False
    message: str | None = None
    literal: bool = False
    kind: tuple[str, ...] = ()
    harmless: tuple[str, ...] = ()
    textual: bool = False
    source: str = ""

    @property
    def called(self) -> str:
        """The rule in words for people: its id, else where it is written."""
        if "id" in self.content and self.content["id"] == self.name:
            return f"the rule {self.name!r}"
        return f"the rule on line {self.line} of the {f'preset {self.source!r}' if self.source else 'policy'}"


@dataclass(frozen=True, slots=True)
class Level:
    """What a risk level asks for, as far as the document says."""

    action: Action | None = None
    timeout_s: int | None = None
    require_reason: bool = False


@dataclass(frozen=True, slots=True)
class Checked:
    """A document that may be used, and what should be said about it."""

    dialect: int
    default_action: Action
    timeout_s: int
    execution_s: int
    risk: Mapping[Risk, Level]
    risk_rules: tuple[Rule, ...]
    forbid: tuple[Rule, ...]
    rules: tuple[Rule, ...]
    warnings: tuple[Problem, ...]
    content: Any


def check(parsed: Parsed, name: str) -> Checked:
    """Check a parsed document by itself; its ``preset`` is only named (``compose`` puts the two together).

    Raises:
        PolicyInvalid: with every problem found.
    """
    if not isinstance(parsed.value, dict):
        raise PolicyInvalid(name, [Problem(1, "", "is not an object (a mapping of keys)")])
    checker = _Checker(parsed)
    checked = checker.document(parsed.value)
    if checker.problems:
        raise PolicyInvalid(name, sorted(checker.problems, key=lambda problem: problem.line))
    return checked


@dataclass(slots=True)
class _Reader:
    """Reads typed parts of a document, and collects what is wrong with them."""

    parsed: Parsed
    contenox: bool = False
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    # --- saying

    def refuse(self, path: str, message: str, suggestion: str | None = None) -> None:
        self.problems.append(Problem(self.parsed.line(path), path, message, suggestion))

    def warn(self, path: str, message: str, suggestion: str | None = None) -> None:
        self.warnings.append(Problem(self.parsed.line(path), path, message, suggestion))

    def strictly(self, path: str, message: str, suggestion: str | None = None) -> None:
        """A problem in our documents, a warning in contenox's."""
        (self.warn if self.contenox else self.refuse)(path, message, suggestion)

    def keys(self, value: Mapping[str, Any], path: str, known: Iterable[str]) -> None:
        names = tuple(known)
        for key in value:
            where = join(path, key)
            if key in NOT_YET:
                self.refuse(where, NOT_YET[key], "leave it out")
            elif self.contenox and not path and key in TIGHTENING:
                self.refuse(where, f"{key!r} needs 'version: 1'", 'add "version": 1')
            elif key not in names and not (self.contenox and key.startswith("//")):
                self.strictly(where, f"{key!r} is not a key that is known here", _closest(key, names))

    # --- typed parts

    def choice(self, value: Any, path: str, options: tuple[Any, ...], fallback: Any) -> Any:
        if value in options and isinstance(value, str):
            return value
        near = _closest(value, options) if isinstance(value, str) else None
        self.refuse(path, f"{value!r} is none of {', '.join(options)}", near)
        return fallback

    def flag(self, value: Any, path: str) -> bool:
        if not isinstance(value, bool):
            self.refuse(path, "takes true or false")
        return value is True

    def text(self, value: Any, path: str) -> str | None:
        if not isinstance(value, str) or not value.strip():
            self.refuse(path, "takes a text")
            return None
        return value

    def seconds(self, value: Any, path: str, low: int, high: int) -> int | None:
        if not isinstance(value, int) or isinstance(value, bool):
            self.refuse(path, "takes a whole number of seconds")
            return None
        if self.contenox:
            return self.contenox_seconds(value, path)
        if not low <= value <= high:
            self.refuse(path, f"must be between {low} and {high} seconds")
        return value

    def contenox_seconds(self, value: int, path: str) -> int | None:
        if value in (0, -1):
            self.warn(path, f"{value} meant no deadline; read as {MAX_TIMEOUT_S} s (7 days)")
            return MAX_TIMEOUT_S
        if value < 0:
            self.refuse(path, "must not be negative")
        elif not MIN_TIMEOUT_S <= value <= MAX_TIMEOUT_S:
            self.warn(path, f"is brought between {MIN_TIMEOUT_S} and {MAX_TIMEOUT_S} seconds")
        return min(max(value, MIN_TIMEOUT_S), MAX_TIMEOUT_S)

    def items(self, value: Any, path: str) -> list[Any]:
        if value is None and self.contenox:
            return []
        if not isinstance(value, list):
            self.refuse(path, "takes a list")
            return []
        if len(value) > MAX_RULES:
            self.refuse(path, f"has more than {MAX_RULES} entries")
        return value[:MAX_RULES]

    def contenox_names(self, value: dict[str, Any], path: str, known: tuple[str, ...]) -> dict[str, Any]:
        """The reader of contenox takes keys in any case."""
        found: dict[str, Any] = {}
        for key, entry in value.items():
            name = key if key in known else next((one for one in known if one == key.lower()), key)
            if name != key:
                self.warn(join(path, key), f"read as {name!r}")
            found.setdefault(name, entry)
        return found


@dataclass(slots=True)
class _RuleReader(_Reader):
    """Reads rules and their conditions."""

    def rules(
        self, value: dict[str, Any], key: str, read: Callable[[dict[str, Any], str, int], Rule]
    ) -> tuple[Rule, ...]:
        if key not in value:
            return ()
        found, names = [], set()
        for at, entry in enumerate(self.items(value[key], f"/{key}")):
            path = f"/{key}/{at}"
            if not isinstance(entry, dict):
                self.refuse(path, "takes a rule (keys and values)")
                continue
            rule = read(entry, path, at)
            if rule.name in names:
                self.refuse(join(path, "id"), f"the id {rule.name!r} is used twice")
            names.add(rule.name)
            found.append(rule)
        return tuple(found)

    def common(self, value: dict[str, Any], path: str, at: int) -> dict[str, Any]:
        name = self.text(value["id"], join(path, "id")) if "id" in value and not self.contenox else None
        return {
            "name": name or f"{path.split('/')[1]}[{at}]",
            "path": path,
            "line": self.parsed.line(path),
            "tools": self.names(value, "tools", path),
            "tool": self.names(value, "tool", path),
            "kind": self.kinds(value, path),
            "when": self.whens(value, path),
            "content": value,
            "message": self.text(value["message"], join(path, "message"))
            if "message" in value and not self.contenox
            else None,
        }

    def names(self, value: dict[str, Any], key: str, path: str) -> tuple[str, ...]:
        """The patterns of a name; empty: any."""
        where = join(path, key)
        found = value.get(key)
        if key not in value or (self.contenox and found is None):
            return ()
        if self.contenox and isinstance(found, list):
            self.refuse(where, "takes a text")
            return ()
        listed = found if isinstance(found, list) else [found]
        if not listed:
            self.refuse(where, "is an empty list", "leave it out to match every name")
        for one in listed:
            self.name(one, where)
        named = tuple(one for one in listed if isinstance(one, str) and one not in ("", "*"))
        return named if len(named) == len(listed) else ()

    def kinds(self, value: dict[str, Any], path: str) -> tuple[str, ...]:
        """The kinds of tools that a rule is for; empty: any."""
        if "kind" not in value or self.contenox:
            return ()
        where = join(path, "kind")
        found = value["kind"] if isinstance(value["kind"], list) else [value["kind"]]
        if not found:
            self.refuse(where, "is an empty list", "leave it out to match every kind")
        return tuple(self.choice(one, where, TOOL_KINDS, UNKNOWN) for one in found)

    def vouched_for(self, value: dict[str, Any], path: str, action: Action) -> tuple[str, ...]:
        """Arguments that an allow rule takes as harmless."""
        if "harmless" not in value or self.contenox:
            return ()
        where = join(path, "harmless")
        found = self.items(value["harmless"], where)
        if action != "allow":
            self.refuse(where, f"means nothing where the action is {action}", "it is for 'action: allow'")
        if not found or not all(isinstance(one, str) and one for one in found):
            self.refuse(where, "takes a list of argument names", "such as ['note']")
            return ()
        return tuple(found)

    def name(self, value: Any, path: str) -> None:
        if not isinstance(value, str):
            self.refuse(path, "takes a name, or a list of names")
            return
        if not value.strip() and not self.contenox:
            self.refuse(path, "is empty", "write '*' or leave it out to match every name")
            return
        try:
            check_name(value)
        except BadName as error:
            self.strictly(path, f"the name {value!r} {error}", error.suggestion)
        if self.contenox and value != "*" and is_pattern(value):
            self.warn(path, f"{value!r} was compared letter by letter; read as a glob where that is stricter")

    def whens(self, value: dict[str, Any], path: str) -> All:
        where = join(path, "when")
        if "when" not in value:
            return All(())
        found = value["when"]
        if not found and isinstance(found, list) and not self.contenox:
            self.refuse(where, "is an empty list", "leave it out to match every call")
        return All(tuple(self.when(entry, join(where, at)) for at, entry in enumerate(self.items(found, where))))

    def when(self, value: Any, path: str) -> When:
        if not isinstance(value, dict):
            self.refuse(path, "takes a condition: key, op and value")
            return All(())
        if len(value) == 1 and not self.contenox:
            ((key, inner),) = value.items()
            if key in ("any", "all"):
                parts = self.group(inner, join(path, key))
                return AnyOf(parts) if key == "any" else All(parts)
            if key == "not":
                return Not(
                    All(self.group(inner, join(path, key)))
                    if isinstance(inner, list)
                    else self.when(inner, join(path, key))
                )
        return self.condition(value, path)

    def group(self, value: Any, path: str) -> tuple[When, ...]:
        found = self.items(value, path)
        if not found and isinstance(value, list):
            self.refuse(path, "is an empty list")
        return tuple(self.when(entry, join(path, at)) for at, entry in enumerate(found))

    def condition(self, value: dict[str, Any], path: str) -> When:
        value = self.contenox_names(value, path, CONDITION_KEYS) if self.contenox else value
        self.keys(value, path, CONDITION_KEYS)
        name = value.get("op")
        operator = OPERATORS.get(name) if isinstance(name, str) else None
        if operator is None or not isinstance(name, str):
            self.refuse(join(path, "op"), f"the operator {name!r} is not known", _closest(name, OPERATORS))
            return All(())
        key = self.key(value, path, name)
        match = self.choice(value.get("match", "exact"), join(path, "match"), ("exact", "substring"), "exact")
        if "match" in value and name != "destructive_set":
            self.strictly(join(path, "match"), "is only for destructive_set")
        if name == "destructive_set" and match == "exact" and not self.contenox:
            self.destructive(value.get("value"), join(path, "value"))
        return self.value(value, path, Condition(key, name, None, match))

    def key(self, value: dict[str, Any], path: str, op: str) -> str:
        where = join(path, "key")
        key = value.get("key", "")
        if not isinstance(key, str):
            self.refuse(where, "takes a text")
            return ""
        if not OPERATORS[op].keyed:
            if "key" in value and key and not self.contenox:
                self.refuse(where, f"{op} looks at the tool's name and takes no key")
            return key
        if key == "" or "key" not in value:
            self.strictly(where, "a condition needs the name of an argument", "add 'key'")
        if key.startswith(ROLE) and key[1:] not in tools.ROLES and not self.contenox:
            known = [f"{ROLE}{role}" for role in tools.ROLES]
            self.refuse(where, f"{key!r} is no role of an argument; there are {', '.join(known)}", _closest(key, known))
        if op == "annotation" and key not in HINTS:
            self.refuse(where, f"{key!r} is no hint of a tool", _closest(key, HINTS))
        if key == ANYWHERE and op in _ONE_ARGUMENT:
            self.refuse(where, f"{op} looks at one argument; name it")
        return key

    def value(self, value: dict[str, Any], path: str, condition: Condition) -> When:
        operator = OPERATORS[condition.op]
        where = join(path, "value") if "value" in value else path
        given = value.get("value")
        if self.contenox and operator.contenox_check is not None:
            check_value, given = operator.contenox_check, "" if given is None else given
            self.odd_entries(condition.op, given, where)
        else:
            check_value = operator.check
            if "value" not in value and condition.op != "no_command_substitution":
                self.refuse(path, f"{condition.op} needs a value", f"it takes {operator.takes}")
                return condition
        try:
            checked = check_value(given)
            if condition.op == "command_prefix_allowlist" and (wild := [one for one in checked if is_pattern(one)]):
                self.warn(where, f"{wild[0]!r} is compared word by word, without patterns", "write its beginning alone")
            return Condition(condition.key, condition.op, checked, condition.match)
        except BadValue as error:
            self.refuse(where, str(error), f"{condition.op} takes {operator.takes}")
        return condition

    def destructive(self, value: Any, path: str) -> None:
        """Names of a set are compared whole, so that a pattern among them matches no tool."""
        for one in value if isinstance(value, list) else str(value or "").split(","):
            if isinstance(one, str) and is_pattern(one):
                self.refuse(
                    path,
                    f"the name {one!r} is a pattern, and names of a set are compared whole",
                    f"write {one.strip('*?')!r} with 'match: substring'",
                )

    def odd_entries(self, op: str, given: Any, where: str) -> None:
        """Warn of programs that no command line could match: contenox loads them."""
        if op not in _LISTS or not isinstance(given, str):
            return
        for entry in given.split(","):
            if why := wrong_entry(entry.strip()):
                self.warn(where, why)

    def rule(self, value: dict[str, Any], path: str, at: int) -> Rule:
        value = self.contenox_names(value, path, CONTENOX_RULE_KEYS) if self.contenox else value
        self.keys(value, path, CONTENOX_RULE_KEYS if self.contenox else RULE_KEYS)
        action: Action = self.choice(value.get("action"), join(path, "action"), ACTIONS, "deny")
        common = self.common(value, path, at)
        if not self.contenox:
            self.asking_only(value, path, action)
        self.on_timeout(value, path)
        timeout = None if value.get("timeout_s") is None and self.contenox else value.get("timeout_s", ...)
        return Rule(
            **common,
            action=action,
            risk=self.risk(value, "risk", path),
            timeout_s=None
            if timeout in (..., None)
            else self.seconds(timeout, join(path, "timeout_s"), MIN_TIMEOUT_S, MAX_TIMEOUT_S),
            approvers=self.approvers(value, path),
            exclude_requester=self.flag(value.get("exclude_requester", False), join(path, "exclude_requester"))
            and not self.contenox,
            require_reason=self.flag(value.get("require_reason", False), join(path, "require_reason"))
            and not self.contenox,
            literal=self.contenox and action == "allow",
            harmless=self.vouched_for(value, path, action),
            textual=self.contenox,
        )

    def asking_only(self, value: dict[str, Any], path: str, action: Action) -> None:
        for key in ASKING_KEYS:
            if key in value and action != "approve":
                self.refuse(
                    join(path, key),
                    f"means nothing where the action is {action}",
                    "it is for 'action: approve'",
                )

    def on_timeout(self, value: dict[str, Any], path: str) -> None:
        where = join(path, "on_timeout")
        found = value.get("on_timeout", "deny")
        if self.contenox and found in ("approve", "", None):
            if found == "approve":
                self.warn(where, "'approve' is read as 'deny': silence is never an approval")
        elif found != "deny":
            self.refuse(
                where,
                f"{found!r} is not possible: silence is never an approval",
                "write 'on_timeout: deny' or leave it out",
            )

    def approvers(self, value: dict[str, Any], path: str) -> tuple[str, ...] | None:
        if "approvers" not in value or self.contenox:
            return None
        where = join(path, "approvers")
        found = self.items(value["approvers"], where)
        if not found or not all(isinstance(one, str) and one.strip() for one in found):
            self.refuse(where, "takes a list of approvers, at least one", "such as ['telegram:42']")
            return None
        return tuple(str(one) for one in found)

    def risk(self, value: dict[str, Any], key: str, path: str) -> Risk | None:
        if key not in value or self.contenox:
            return None
        found: Risk = self.choice(value[key], join(path, key), RISKS, "critical")
        return found

    def forbidding(self, value: dict[str, Any], path: str, at: int) -> Rule:
        self.keys(value, path, FORBID_KEYS)
        return Rule(**self.common(value, path, at), action="deny", risk=self.risk(value, "risk", path))

    def risk_rule(self, value: dict[str, Any], path: str, at: int) -> Rule:
        self.keys(value, path, RISK_RULE_KEYS)
        if ("risk" in value) == ("at_least" in value):
            self.refuse(path, "needs one of 'risk' (the level) and 'at_least' (raise to it)")
        return Rule(
            **self.common(value, path, at),
            risk=self.risk(value, "risk", path),
            at_least=self.risk(value, "at_least", path),
        )


@dataclass(slots=True)
class _Checker(_RuleReader):
    """Reads a whole document."""

    def document(self, value: dict[str, Any]) -> Checked:
        self.contenox = self.is_contenox(value)
        value = self.contenox_names(value, "", CONTENOX_TOP_KEYS) if self.contenox else value
        self.keys(value, "", CONTENOX_TOP_KEYS if self.contenox else TOP_KEYS)
        if "description" in value and not self.contenox:
            self.text(value["description"], "/description")
        self.presets(value)
        if self.contenox:
            _SeedBounds(self).check(value)
        defaults = self.section(value, "defaults", ("timeout_s", "execution_s"))
        default_action = value.get("default_action")
        if (
            (default_action is None and self.contenox)
            or "default_action" not in value
            or (default_action == "" and self.contenox)
        ):
            default_action = "approve"
        return Checked(
            dialect=CONTENOX if self.contenox else OURS,
            default_action=self.choice(default_action, "/default_action", ACTIONS, "deny"),
            timeout_s=self.optional_seconds(defaults, "/defaults/timeout_s", MIN_TIMEOUT_S, MAX_TIMEOUT_S)
            or DEFAULT_TIMEOUT_S,
            execution_s=self.optional_seconds(defaults, "/defaults/execution_s", 1, MAX_EXECUTION_S)
            or DEFAULT_EXECUTION_S,
            risk=self.levels(self.section(value, "risk", RISKS)),
            risk_rules=self.rules(value, "risk_rules", self.risk_rule),
            forbid=self.rules(value, "forbid", self.forbidding),
            rules=self.rules(value, "rules", self.rule),
            warnings=tuple(self.warnings),
            content=self.parsed.value,
        )

    def is_contenox(self, value: dict[str, Any]) -> bool:
        version = value.get("version")
        if self.parsed.format == "json" and (version is None or (type(version) is int and version == 0)):
            return True
        if type(version) is not int or version != OURS:
            missing = "version" not in value
            said = "the document needs a version" if missing else f"the version {version!r} is not known"
            self.refuse("" if missing else "/version", said, "write 'version: 1'")
        return False

    def presets(self, value: dict[str, Any]) -> None:
        """The presets that a document starts from must be known; a list has no name twice."""
        if "preset" not in value or self.contenox:
            return
        listed = value["preset"] if isinstance(value["preset"], list) else [value["preset"]]
        if not listed:
            self.refuse("/preset", "is an empty list", "leave it out")
        for one in listed:
            self.choice(one, "/preset", tuple(presets()), "")
        if len(listed) > len({str(one) for one in listed}):
            self.refuse("/preset", "names a preset twice")

    def section(self, value: dict[str, Any], key: str, known: tuple[str, ...]) -> dict[str, Any]:
        found = {} if self.contenox else value.get(key, {})
        if not isinstance(found, dict):
            self.refuse(f"/{key}", "takes keys and values")
            return {}
        self.keys(found, f"/{key}", known)
        return {name: entry for name, entry in found.items() if name in known}

    def optional_seconds(self, section: dict[str, Any], path: str, low: int, high: int) -> int | None:
        key = path.rpartition("/")[2]
        return self.seconds(section[key], path, low, high) if key in section else None

    def levels(self, section: dict[str, Any]) -> dict[Risk, Level]:
        return {level: self.level(section[level], f"/risk/{level}") for level in RISKS if level in section}

    def level(self, value: Any, path: str) -> Level:
        if not isinstance(value, dict) or not value:
            self.refuse(path, f"takes {', '.join(LEVEL_KEYS)}")
            return Level()
        self.keys(value, path, LEVEL_KEYS)
        return Level(
            self.choice(value["action"], join(path, "action"), ACTIONS, "deny") if "action" in value else None,
            self.optional_seconds(value, join(path, "timeout_s"), MIN_TIMEOUT_S, MAX_TIMEOUT_S),
            self.flag(value.get("require_reason", False), join(path, "require_reason")),
        )


_LISTS = ("command_blacklist", "command_ask_always")
_ONE_ARGUMENT = frozenset(
    (
        "exists",
        "size",
        "command_blacklist",
        "command_ask_always",
        "command_prefix_allowlist",
        "command_resolvable",
        "command_effects",
    )
)


def _closest(name: Any, known: Iterable[str]) -> str | None:
    near = get_close_matches(name.lower(), list(known), n=1) if isinstance(name, str) else []
    return f"did you mean {near[0]!r}?" if near else None


@dataclass(slots=True)
class _SeedBounds:
    """The blocks of contenox beside the rules: checked as it checks them, and not enforced here."""

    checker: _Checker

    def check(self, value: dict[str, Any]) -> None:
        self.compute(value.get("compute"))
        self.attention(value.get("attention"))

    def block(self, value: Any, path: str, known: tuple[str, ...]) -> dict[str, Any]:
        if value is None:
            return {}
        self.checker.warn(path, "is checked, but not enforced here")
        if not isinstance(value, dict):
            self.checker.refuse(path, "takes keys and values")
            return {}
        for key in value:
            if key not in known:
                self.checker.refuse(join(path, key), f"{key!r} is not known here", _closest(key, known))
        return value

    def ceiling(self, value: dict[str, Any], key: str, path: str, most: int) -> None:
        found = value.get(key)
        if found is None:
            return
        if not isinstance(found, int) or isinstance(found, bool) or not 0 <= found <= most:
            self.checker.refuse(join(path, key), f"takes a whole number from 0 to {most}")

    def compute(self, value: Any) -> None:
        path = "/compute"
        block = self.block(
            value,
            path,
            ("maxTurns", "maxToolCalls", "maxTokens", "modelAllowlist", "backendAllowlist", "onExhausted"),
        )
        self.ceiling(block, "maxTurns", path, 1)
        self.ceiling(block, "maxToolCalls", path, 10_000_000)
        self.ceiling(block, "maxTokens", path, 100_000_000_000)
        if block.get("onExhausted") not in (None, "", "finish_stuck"):
            self.checker.refuse(join(path, "onExhausted"), "takes 'finish_stuck'")
        for key in ("modelAllowlist", "backendAllowlist"):
            self.names(block.get(key), join(path, key))

    def names(self, value: Any, path: str) -> None:
        good = (
            isinstance(value, list)
            and len(value) <= _MAX_NAMES
            and all(isinstance(one, str) and one.strip() and len(one) <= _MAX_NAME for one in value)
        )
        if value is not None and not good:
            self.checker.refuse(path, "takes a list of up to 256 names")

    def attention(self, value: Any) -> None:
        block = self.block(value, "/attention", ("allowAgentAnswers", "maxAgentAnswers"))
        if not isinstance(block.get("allowAgentAnswers", False), bool):
            self.checker.refuse("/attention/allowAgentAnswers", "takes true or false")
        self.ceiling(block, "maxAgentAnswers", "/attention", 1_000_000)
