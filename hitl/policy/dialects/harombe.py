"""Reads policies of harombe: the section ``security.hitl`` of a harombe configuration, or only a list of rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from hitl.policy import text
from hitl.policy.dialects.translation import Translation, is_seconds
from hitl.policy.globs import is_pattern
from hitl.policy.model import RISKS
from hitl.policy.operators import OPERATORS
from hitl.policy.operators.base import BadValue
from hitl.policy.wording import say

# Seconds. harombe's own timeout. It counts for a rule if the rule, its risk level and the section set no timeout.
_TIMEOUT_S: Final = 60
_HIGH: Final = ("high", "critical")
_SECTION = ("enabled", "rules", "hitl_rules", "policies", "default_timeout", "timeout", "approval_timeout",
            "notification", "high_risk_tools", "auto_approve_low_risk")  # fmt: skip
_SKIPS: Final = say("harombe.skip")
_LEVEL = ("require_approval", "timeout", "allow_skip", "require_reason")


@dataclass(frozen=True, slots=True)
class _Level:
    """The settings of one risk level, from the key ``policies``.

    ``asks`` says whether the level's calls need an approval. It is None if the level doesn't set it.
    """

    asks: bool | None = None
    timeout_s: int | None = None
    require_reason: bool = False


def read(writer: Translation, parsed: text.ParsedDocument) -> dict[str, Any]:
    """Return a ``version: 1`` document with the same rules. The document asks about every tool that no rule names."""
    section, path = _section(writer, parsed.value, "")
    rules = section.get("rules", section.get("hitl_rules", [] if set(section) - {"rules", "hitl_rules"} else None))
    if not isinstance(rules, list):
        writer.refuse(f"{path}/rules" if isinstance(parsed.value, dict) else "", say("harombe.rules"))
        return {"version": 1}
    writer.differ(
        "document",
        say("harombe.without"),
    )
    levels = _levels(writer, section.get("policies", {}), f"{path}/policies")
    default = _settings(writer, section, path)
    prefix = f"{path}/rules" if isinstance(parsed.value, dict) else path
    found = [_rule(writer, rule, f"{prefix}/{at}", at, levels) for at, rule in enumerate(rules)]
    return {
        "version": 1,
        "default_action": "approve",
        "defaults": {"timeout_s": default},
        "risk": {level: told for level in RISKS if (told := _told(levels.get(level, _Level())))},
        "rules": [rule for rule in (*found, _risky(section.get("high_risk_tools"))) if rule is not None],
    }


def _section(writer: Translation, value: Any, path: str) -> tuple[dict[str, Any], str]:
    """Find the section about approvals. Return it, and its path in the document.

    The section may be below ``security`` and ``hitl``, or be the whole document. Each setting next to ``security`` or
    ``hitl`` is reported as a difference, because Sayso doesn't follow it.
    """
    if isinstance(value, list):
        return {"rules": value}, path
    if not isinstance(value, dict):
        return {"rules": None}, path
    for key in ("security", "hitl"):
        if isinstance(value.get(key), dict):
            for other, entry in value.items():
                if other != key:
                    writer.left_out(f"{path}/{other}".strip("/").replace("/", "."), entry, say("harombe.part"))
            return _section(writer, value[key], f"{path}/{key}")
    if path == "/security":
        writer.refuse(path, say("harombe.section"))
        return {"rules": []}, path
    for key in value:
        if key not in _SECTION:
            writer.refuse(f"{path}/{key}", say("import.key", key=repr(key)))
    return value, path


def _settings(writer: Translation, section: dict[str, Any], path: str) -> int:
    """Read all settings of the section except the rules and the risk levels.

    Add a difference for each setting that Sayso doesn't follow. Return the default timeout in seconds.
    """
    _switch(
        writer,
        section,
        "enabled",
        path,
        off=say("harombe.enabled"),
    )
    _switch(
        writer, section, "auto_approve_low_risk", path,
        on=say("harombe.auto"),
    )  # fmt: skip
    if "notification" in section:
        writer.left_out("notification", section["notification"], say("harombe.routes"))
    tools = section.get("high_risk_tools", [])
    if not isinstance(tools, list) or not all(map(_is_name, tools)):
        writer.refuse(f"{path}/high_risk_tools", say("harombe.high_risk"))
    found = _TIMEOUT_S
    for key in ("approval_timeout", "timeout", "default_timeout"):
        if key not in section:
            continue
        if is_seconds(section[key]):
            found = writer.timeout(key, section[key])
        else:
            writer.refuse(f"{path}/{key}", say("import.takes.seconds", key=repr(key)))
    return found


def _switch(writer: Translation, section: dict[str, Any], key: str, path: str, *, on: str = "", off: str = "") -> None:
    if key not in section:
        return
    if not isinstance(section[key], bool):
        writer.refuse(f"{path}/{key}", say("import.takes.flag", key=repr(key)))
    elif said := on if section[key] else off:
        writer.differ(key, f"{str(section[key]).lower()} {said}")


def _risky(tools: Any) -> dict[str, Any] | None:
    if not isinstance(tools, list) or not tools:
        return None
    return {"id": "high-risk-tools", "tool": list(tools), "action": "approve", "risk": "high"}


# --- reading the settings of each risk level


def _levels(writer: Translation, value: Any, path: str) -> dict[str, _Level]:
    if not isinstance(value, dict):
        writer.refuse(path, say("harombe.levels"))
        return {}
    for key in value:
        if key not in RISKS:
            writer.refuse(f"{path}/{key}", say("harombe.level", key=repr(key)))
    return {level: _level(writer, value[level], f"{path}/{level}", level) for level in RISKS if level in value}


def _level(writer: Translation, value: Any, path: str, level: str) -> _Level:
    if not isinstance(value, dict):
        writer.refuse(path, say("fault.do.takes", options=", ".join(_LEVEL)))
        return _Level()
    for key, entry in value.items():
        if key not in _LEVEL:
            writer.refuse(f"{path}/{key}", say("import.key", key=repr(key)))
        elif key == "timeout" and not is_seconds(entry):
            writer.refuse(f"{path}/{key}", say("import.takes.timeout"))
        elif key != "timeout" and not isinstance(entry, bool):
            writer.refuse(f"{path}/{key}", say("import.takes.flag", key=repr(key)))
    if writer.problems:
        return _Level()
    where = f"policies.{level}"
    asks = value.get("require_approval")
    if asks is False and level in _HIGH:
        writer.differ(where, say("harombe.unasked", risk=level))
        asks = True
    elif asks is False:
        writer.differ(where, say("harombe.level.unasked"))
    if value.get("allow_skip"):
        writer.differ(where, _SKIPS)
    timeout = writer.timeout(where, value["timeout"]) if "timeout" in value else None
    return _Level(asks, timeout, value.get("require_reason", False))


def _told(level: _Level) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if level.timeout_s is not None:
        found["timeout_s"] = level.timeout_s
    if level.require_reason:
        found["require_reason"] = True
    return found


# --- translation of rules


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


#: Key of a rule -> a function that checks its value, and its allowed values in words.
_PARTS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "tools": (
        lambda value: isinstance(value, list) and bool(value) and all(map(_is_name, value)),
        say("takes.tool_names"),
    ),
    "risk": (lambda value: value in RISKS, say("takes.risk")),
    "require_approval": (_is_flag, say("takes.flag")),
    "require_reason": (_is_flag, say("takes.flag")),
    "allow_skip": (_is_flag, say("takes.flag")),
    "timeout": (is_seconds, say("takes.seconds")),
    "conditions": (lambda value: value is None or isinstance(value, list), say("takes.conditions")),
    "description": (lambda value: value is None or isinstance(value, str), say("takes.text")),
    "id": (lambda value: isinstance(value, str | int), say("takes.text")),
    "name": (lambda value: isinstance(value, str | int), say("takes.text")),
}


def _rule(writer: Translation, rule: Any, path: str, at: int, levels: Mapping[str, _Level]) -> dict[str, Any] | None:
    where = f"rule {at}"
    if not isinstance(rule, dict):
        writer.refuse(path, say("harombe.rule"))
        return None
    if not _is_rule(writer, rule, path):
        return None
    level = levels.get(rule["risk"], _Level())
    asks = _asks(writer, rule, where, level)
    found: dict[str, Any] = {
        "tool": list(rule["tools"]),
        "action": "approve" if asks else "allow",
        "risk": rule["risk"],
    }
    for name in rule["tools"]:
        if is_pattern(name):
            writer.differ(where, say("harombe.name", name=repr(name)))
    place = _Place(writer, path, where, asks)
    when = [part for one in rule.get("conditions") or () for part in _condition(place, one)]
    if when:
        found["when"] = when
    if asks:
        found |= _asking(writer, rule, where)
    _describe(writer, rule, where, found)
    return found


def _asks(writer: Translation, rule: dict[str, Any], where: str, level: _Level) -> bool:
    """Return whether the translated rule asks people for an approval.

    The setting ``require_approval`` of the rule decides, or else the setting of its risk level. Without both, the
    translated rule asks. It also asks if the risk level asks, or if the risk is high or critical; then add a difference
    if the original rule doesn't ask.
    """
    asks = rule.get("require_approval", level.asks if level.asks is not None else True)
    if not asks and level.asks:
        writer.differ(where, say("harombe.rule.unasked", risk=rule["risk"]))
        return True
    if not asks and rule["risk"] in _HIGH:
        writer.differ(where, say("harombe.unasked", risk=rule["risk"]))
        return True
    if not asks and rule.get("require_reason"):
        writer.differ(where, say("harombe.reason"))
    return bool(asks)


def _asking(writer: Translation, rule: dict[str, Any], where: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if "timeout" in rule:
        found["timeout_s"] = writer.timeout(where, rule["timeout"])
    if rule.get("require_reason"):
        found["require_reason"] = True
    if rule.get("allow_skip"):
        writer.differ(where, _SKIPS)
    return found


def _describe(writer: Translation, rule: dict[str, Any], where: str, found: dict[str, Any]) -> None:
    if isinstance(rule.get("description"), str) and rule["description"].strip():
        found["message"] = rule["description"]
    for key in ("id", "name"):
        if key in rule and "message" not in found and str(rule[key]).strip():
            found["message"] = str(rule[key])
        elif key in rule:
            writer.differ(where, say("harombe.description", key=key, text=repr(rule[key])))


def _is_rule(writer: Translation, rule: dict[str, Any], path: str) -> bool:
    """Return whether each part of a rule has a valid value. Add a problem for each invalid part, with its name."""
    wrong = {key: say("import.missing") for key in ("tools", "risk") if key not in rule}
    for key, value in rule.items():
        fits, takes = _PARTS.get(key, (None, ""))
        if fits is None:
            wrong[key] = say("import.unknown")
        elif not fits(value):
            wrong[key] = say("import.takes", takes=takes)
    for key, what in wrong.items():
        writer.refuse(f"{path}/{key}", f"{key!r} {what}")
    return not wrong


# --- translation of conditions


@dataclass(frozen=True, slots=True)
class _Place:
    """The rule that is being translated, and the translation that collects its differences and problems.

    ``path`` is the rule's path in the document, ``where`` names it for people, and ``asks`` says whether the rule asks
    people or allows calls.
    """

    writer: Translation
    path: str
    where: str
    asks: bool

    def differ(self, what: str) -> None:
        self.writer.differ(self.where, what)

    def refuse(self, what: str) -> None:
        self.writer.refuse(self.path, what)


def _condition(place: _Place, condition: Any) -> list[dict[str, Any]]:
    if not isinstance(condition, dict) or not _is_name(condition.get("param")):
        place.refuse(say("harombe.condition"))
        return []
    unknown = set(condition) - {"param", "equals", "in", "matches"}
    if unknown:
        place.refuse(
            say("harombe.operator", name=repr(min(unknown))),
        )
    if wrong := _wrong_value(condition):
        place.refuse(wrong)
        return []
    key = condition["param"]
    found: list[dict[str, Any]] = []
    if "equals" in condition:
        found.append(_equal_to([condition["equals"]], key))
    if "in" in condition:
        found.append(_equal_to(condition["in"], key))
    if "matches" in condition:
        found += _pattern(place, condition["matches"], key)
    return found or [{"key": key, "op": "exists", "value": True}]


def _wrong_value(condition: dict[str, Any]) -> str | None:
    """Return the fault in the values of a condition, in words, or None."""
    members = condition.get("in", [None])
    if not isinstance(members, list) or not members:
        return say("harombe.in")
    if any(isinstance(one, list | dict) for one in (condition.get("equals"), *members)):
        return say("harombe.equals")
    pattern = condition.get("matches", ".")
    if not isinstance(pattern, str):
        return say("harombe.matches")
    if _LOOKAHEAD.fullmatch(pattern) or _LOOKS_AROUND.search(pattern):
        return None
    try:
        OPERATORS["matches"].check(pattern)
    except BadValue as error:
        return say("harombe.matches.error", why=error)
    return None


def _equal_to(wanted: list[Any], key: str) -> dict[str, Any]:
    """Return a condition that holds if the argument equals a wanted value as in Python, where 1 equals true."""
    found: list[Any] = []
    for one in wanted:
        found.append(one)
        if isinstance(one, bool):
            found.append(int(one))
        elif one in (0, 1) and not isinstance(one, str):
            found.append(bool(one))
    return {"key": key, "op": "in", "value": found}


_LOOKS_AROUND = re.compile(r"\(\?[=!<]|\\[1-9]")
_LOOKAHEAD = re.compile(r"(\(\?[a-z]+\))?\^?\(\?!([^()]*)\)(.*)", re.DOTALL)
_FLAGS = re.compile(r"^\(\?[a-z]+\)")
_PATH_NAMES = re.compile(
    r"(?i)(?:^|_|\b)(?:path|file|filename|filepath|dir|directory|folder|dest|destination|src)s?(?:$|_)"
)
_PATH_LIKE = re.compile(r"(?:^|[|(])\^?(?:\\?/|~|\\?\.{1,2}/)|\\?\.(?:ssh|aws|gnupg|kube|git|env)\b")


def _is_path(pattern: str, key: str) -> bool:
    return "://" not in pattern and bool(_PATH_NAMES.search(key) or _PATH_LIKE.search(pattern))


def _pattern(place: _Place, pattern: str, key: str) -> list[dict[str, Any]]:
    """Return the conditions for a regular expression. harombe matches an expression only at the start of the text.

    In a rule that asks, the translated expression may match anywhere in the text, so that the rule asks about more
    calls.
    """
    negative = _LOOKAHEAD.fullmatch(pattern)
    op = "path_matches" if _is_path(pattern, key) else "matches"
    if negative is not None:
        flags, without, rest = negative.groups(default="")
        found: list[dict[str, Any]] = [{"key": key, "op": "exists", "value": True}]
        found.append({"not": {"key": key, "op": op, "value": f"{flags}^(?:{without})"}})
        return found + (_pattern(place, f"{flags}^{rest}", key) if rest else [])
    if _LOOKS_AROUND.search(pattern):
        place.refuse(
            say("harombe.pattern", pattern=repr(pattern)),
        )
        return []
    flags = starts[0] if (starts := _FLAGS.findall(pattern)) else ""
    plain = pattern[len(flags) :]
    if op == "path_matches":
        place.differ(say("harombe.path", key=repr(key), pattern=repr(pattern)))
    if not place.asks:
        return [{"key": key, "op": op, "value": f"{flags}^(?:{plain})"}]
    if not all(part.startswith("^") for part in plain.split("|")):
        place.differ(say("harombe.start", pattern=repr(pattern), key=repr(key)))
    return [{"key": key, "op": op, "value": pattern}]
