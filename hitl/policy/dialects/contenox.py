"""Reads policies of contenox, another system that asks people about tool calls: JSON documents without ``version``.

A policy can use such a document directly, or it can be translated to ``version: 1``.

In this dialect, unknown keys, odd timeouts and rules that never fire are only warnings. Values are compared by their
text. ``null`` counts as an absent value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from hitl.policy import text, values
from hitl.policy.dialects import ours
from hitl.policy.document import CONTENOX, All, Checked, Rule, When
from hitl.policy.globs import is_pattern
from hitl.policy.grammar import closest
from hitl.policy.model import ACTIONS, DEFAULT_EXECUTION_S, DEFAULT_TIMEOUT_S, MAX_TIMEOUT_S, MIN_TIMEOUT_S
from hitl.policy.operators.base import Condition, Operator
from hitl.policy.operators.command import programs
from hitl.policy.shell.lists import wrong_entry
from hitl.policy.wording import say
from hitl.proof.canonical import pointer_below

if TYPE_CHECKING:
    from hitl.policy.dialects.translation import Translation

_TOP_KEYS = ("version", "default_action", "rules", "compute", "attention")
_RULE_KEYS = ("tools", "tool", "when", "action", "timeout_s", "on_timeout")
#: Keys of ``version: 1`` that make a policy stricter. contenox doesn't know them. A document with such a key is
#: refused, because without the key the document would be weaker than its author meant.
_TIGHTENING = frozenset(("preset", "forbid", "risk_rules", "risk", "defaults"))
_MAX_NAMES, _MAX_NAME = 256, 512  # at most this many entries in a list of models, and characters in an entry


def is_contenox(parsed: text.ParsedDocument) -> bool:
    """Return whether a document is of this dialect: JSON without a version."""
    version = parsed.value.get("version")
    return parsed.format == "json" and (version is None or (type(version) is int and version == 0))


class Reader(ours.Reader):
    """Reads a document as contenox does. A part that would be unsafe is refused, or read more strictly."""

    def document(self) -> Checked:
        """Return the checked document. Problems are in ``problems``."""
        value = self.folded(self.parsed.value, "", _TOP_KEYS)
        for key in _TIGHTENING.intersection(value):
            self.refuse(pointer_below("", key), say("contenox.version", key=repr(key)), say("contenox.version.do"))
        self.keys({key: entry for key, entry in value.items() if key not in _TIGHTENING}, "", _TOP_KEYS)
        self.block(value.get("compute"), "/compute", _COMPUTE)
        self.block(value.get("attention"), "/attention", _ATTENTION)
        action = value.get("default_action")
        return Checked(
            dialect=CONTENOX,
            default_action=self.choice(
                "approve" if action in (None, "") else action, "/default_action", ACTIONS, "deny"
            ),
            timeout_s=DEFAULT_TIMEOUT_S,
            execution_s=DEFAULT_EXECUTION_S,
            risk={},
            risk_rules=(),
            forbid=(),
            rules=self.rules(value.get("rules"), "/rules", self.rule),
            warnings=tuple(self.warnings),
            content=self.parsed.value,
        )

    def strictly(self, path: str, message: str, suggestion: str | None = None) -> None:
        """Add a warning. The strict dialect adds a problem here, but contenox loads a document with this fault."""
        self.warn(path, message, suggestion)

    def keys(self, value: Mapping[str, Any], path: str, known: Iterable[str]) -> None:
        """Check that the keys are known. A key that begins with two slashes is a comment and is skipped."""
        super().keys({key: entry for key, entry in value.items() if not key.startswith("//")}, path, known)

    def folded(self, value: Mapping[str, Any], path: str, known: tuple[str, ...]) -> dict[str, Any]:
        """Return the object with its known keys in lower case, because contenox accepts these keys in any case."""
        found: dict[str, Any] = {}
        for key, entry in value.items():
            name = key.lower() if key.lower() in known else key
            if name != key:
                self.warn(pointer_below(path, key), say("contenox.read_as", name=repr(name)))
            found.setdefault(name, entry)
        return found

    def items(self, value: Any, path: str) -> list[Any]:
        """Return the entries of a list, or [] for ``null``."""
        return [] if value is None else super().items(value, path)

    def rule(self, value: dict[str, Any], path: str) -> dict[str, Any]:
        """Return the fields of a ``Rule`` record, read from one entry of the document's ``rules``.

        ``exclude_requester`` and ``require_reason``, which contenox doesn't know, must be true or false.
        """
        value = self.folded(value, path, _RULE_KEYS)
        self.keys(value, path, _RULE_KEYS)
        action = self.choice(value.get("action"), pointer_below(path, "action"), ACTIONS, "deny")
        found: dict[str, Any] = {
            "action": action,
            "tools": self.names(value.get("tools"), pointer_below(path, "tools")),
            "tool": self.names(value.get("tool"), pointer_below(path, "tool")),
            "when": All(self.group(value.get("when"), pointer_below(path, "when"))),
        }
        self.on_timeout(value.get("on_timeout"), pointer_below(path, "on_timeout"))
        timeout = value.get("timeout_s")
        for key in ("exclude_requester", "require_reason"):
            self.flag(value.get(key, False), pointer_below(path, key))
        return {
            **found,
            "timeout_s": None if timeout is None else self.seconds(timeout, pointer_below(path, "timeout_s")),
            "literal": action == "allow",
            "textual": True,
        }

    def on_timeout(self, value: Any, path: str) -> None:
        """Warn if ``on_timeout`` is ``approve``: it is read as ``deny``, because silence is never an approval.

        Add a problem for any other value except ``deny``, '' and null.
        """
        if value == "approve":
            self.warn(path, say("contenox.on_timeout"))
        elif value not in ("", None):
            super().on_timeout(value, path)

    def seconds(self, value: Any, path: str, low: int = MIN_TIMEOUT_S, high: int = MAX_TIMEOUT_S) -> int | None:
        """Return a whole number of seconds, brought within the bounds with a warning.

        In contenox, 0 and -1 mean no deadline; they are read as the upper bound.
        """
        if value in (0, -1) and type(value) is int:
            self.warn(path, say("contenox.deadline", value=value, high=high))
            return high
        if type(value) is not int or low <= value <= high:
            return super().seconds(value, path, low, high)
        if value < 0:
            self.refuse(path, say("contenox.negative"))
        else:
            self.warn(path, say("contenox.seconds", low=low, high=high))
        return min(max(value, low), high)

    def names(self, value: Any, path: str) -> tuple[str, ...]:
        """Return a rule's ``tools`` or ``tool`` as a tuple with one name or pattern, or () if the rule is for every
        name.
        """
        if value is None:
            return ()
        if isinstance(value, list):
            self.refuse(path, say("fault.takes.text"))
            return ()
        return super().names(value, path)

    def name(self, value: Any, path: str) -> None:
        """Check a tool name. Warn of a pattern, because contenox compares names letter by letter."""
        if not isinstance(value, str):
            super().name(value, path)
            return
        self.possible(value, path)
        if value != "*" and is_pattern(value):
            self.warn(path, say("contenox.exactly", value=repr(value)))

    def group(self, value: Any, path: str) -> tuple[When, ...]:
        """Return the conditions of a rule. The rule holds only if all of them hold. The list may be empty."""
        return tuple(self.when(entry, pointer_below(path, at)) for at, entry in enumerate(self.items(value, path)))

    def when(self, value: Any, path: str) -> When:
        """Return one checked condition. contenox has no groups of conditions, so a group is a problem."""
        if isinstance(value, dict):
            return self.condition(self.folded(value, path, ours.CONDITION_KEYS), path)
        return super().when(value, path)

    def unkeyed(self, path: str, op: str) -> None:
        """Accept a key for an operator that takes no key. Only ``version: 1`` refuses it."""

    def role(self, key: str, path: str) -> None:
        """Accept a key that begins with ``@``, because contenox has no roles."""

    def whole_names(self, value: Any, path: str) -> None:
        """Accept a pattern in a list of whole names. Only ``version: 1`` refuses it."""

    def value(self, value: dict[str, Any], path: str, op: str, operator: Operator) -> Any:
        """Return the value of a condition. If contenox has the operator too, the value is read as contenox reads it."""
        if operator.contenox_check is None:
            return super().value(value, path, op, operator)
        given = value.get("value")
        if operator.check is programs and isinstance(given, str):
            for why in filter(None, (wrong_entry(entry.strip()) for entry in given.split(","))):
                self.warn(path, why)
        return self.checked("" if given is None else given, path, op, operator, operator.contenox_check)

    def block(self, value: Any, path: str, known: Mapping[str, tuple[str, Callable[[Any], bool]]]) -> None:
        """Check a section that limits an agent, such as ``compute`` (turns, tokens, models), as contenox does.

        Warn that Sayso doesn't enforce the section. ``known`` maps each key to its allowed values in words, and to a
        function that checks a value.
        """
        if value is None:
            return
        self.warn(path, say("contenox.checked"))
        if not isinstance(value, dict):
            self.refuse(path, say("fault.takes.keys"))
            return
        for key, entry in value.items():
            if key not in known:
                self.refuse(pointer_below(path, key), say("contenox.key", key=repr(key)), closest(key, known))
            elif not known[key][1](entry):
                self.refuse(pointer_below(path, key), say("import.takes", takes=known[key][0]))


def _count(most: int) -> tuple[str, Callable[[Any], bool]]:
    return (
        say("takes.number", most=most),
        lambda value: value is None or (type(value) is int and 0 <= value <= most),
    )


def _are_names(value: Any) -> bool:
    if value is None:
        return True
    named = isinstance(value, list) and all(isinstance(one, str) and one.strip() for one in value)
    return named and len(value) <= _MAX_NAMES and all(len(one) <= _MAX_NAME for one in value)


#: The next two tables are the sections of limits, ``compute`` and ``attention``. Each key has its allowed values in
#: words, and a function that checks a value.
_NAMES = (say("takes.names", most=_MAX_NAMES), _are_names)
_COMPUTE: Final[Mapping[str, tuple[str, Callable[[Any], bool]]]] = {
    "maxTurns": _count(1),
    "maxToolCalls": _count(10_000_000),
    "maxTokens": _count(100_000_000_000),
    "modelAllowlist": _NAMES,
    "backendAllowlist": _NAMES,
    "onExhausted": ("'finish_stuck'", lambda value: value in (None, "", "finish_stuck")),
}
_ATTENTION: Final[Mapping[str, tuple[str, Callable[[Any], bool]]]] = {
    "allowAgentAnswers": (say("takes.flag"), lambda value: isinstance(value, bool)),
    "maxAgentAnswers": _count(1_000_000),
}


# --- translation to version 1


def translated(writer: Translation, checked: Checked) -> dict[str, Any]:
    """Return a ``version: 1`` document with the same rules, except rules that can never apply."""
    for warning in checked.warnings:
        writer.differ(warning.path.lstrip("/") or "document", warning.message)
    return {
        "version": 1,
        "default_action": checked.default_action,
        "rules": [found for rule in checked.rules if (found := _rule(writer, rule)) is not None],
    }


def _rule(writer: Translation, rule: Rule) -> dict[str, Any] | None:
    found: dict[str, Any] = {}
    for key, names in (("tools", rule.tools), ("tool", rule.tool)):
        if names:
            found[key] = names[0]
        if rule.literal and any(is_pattern(name) for name in names):
            writer.differ(rule.name, say("contenox.name", name=repr(names[0])))
            return None
    when = [_condition(writer, part, rule, at) for at, part in enumerate(rule.when.parts)]
    if None in when:
        writer.differ(rule.name, say("contenox.never"))
        return None
    if when:
        found["when"] = when
    found["action"] = rule.action
    if rule.timeout_s is not None and rule.action == "approve":
        found["timeout_s"] = rule.timeout_s
    return found


def _condition(writer: Translation, part: When, rule: Rule, at: int) -> dict[str, Any] | None:
    if not isinstance(part, Condition):
        return None
    value = _first(_first(rule.content, "when")[at], "value")
    value = "" if value is None else value
    if not part.key or (value in ("", None) and part.op not in ("eq", "no_command_substitution")):
        return None
    if part.op == "eq":
        return {"key": part.key, "op": "in", "value": _texts_of(value)}
    if part.op == "glob" and None in part.value:
        writer.refuse(rule.path, say("contenox.glob", value=repr(value)))
    if part.op == "host" and rule.action == "allow":
        writer.differ(rule.name, say("contenox.domain", value=repr(value)))
    if part.op == "no_command_substitution":
        return {"key": part.key, "op": part.op}
    return {"key": part.key, "op": part.op, "value": value}


def _first(content: Mapping[str, Any], name: str) -> Any:
    """Return the value of the first key that is ``name`` in any letter case, or None."""
    return next((entry for key, entry in content.items() if str(key).lower() == name), None)


def _texts_of(value: str) -> list[Any]:
    """Return a list with the text and, if the text spells a number or a boolean (``1``, ``true``), also that value."""
    word = {"true": True, "false": False}.get(value)
    number = values.number(value) if re.fullmatch(r"-?(?:0|[1-9]\d*)(?:\.\d+)?", value) else None
    if word is not None:
        return [value, word]
    return [value] if number is None else [value, int(number) if "." not in value else float(number)]
