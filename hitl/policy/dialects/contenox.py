"""contenox: an envelope of rules, read as its own dialect is and written as a document of ours."""

from __future__ import annotations

import re
from typing import Any

from hitl.policy import text, values
from hitl.policy.dialects.writing import Writer
from hitl.policy.document import Rule, When, check
from hitl.policy.globs import is_pattern
from hitl.policy.operators.base import Condition


def read(writer: Writer, parsed: text.Parsed) -> dict[str, Any]:
    """The document with the same rules, as far as each means something."""
    checked = check(parsed, "contenox")
    for warning in checked.warnings:
        writer.differ(warning.path.lstrip("/") or "document", warning.message)
    return {
        "version": 1,
        "default_action": checked.default_action,
        "rules": [found for rule in checked.rules if (found := _rule(writer, rule)) is not None],
    }


def _rule(writer: Writer, rule: Rule) -> dict[str, Any] | None:
    found: dict[str, Any] = {}
    for key, names in (("tools", rule.tools), ("tool", rule.tool)):
        if names:
            found[key] = names[0]
        if rule.literal and any(is_pattern(name) for name in names):
            writer.differ(rule.name, f"the name {names[0]!r} matched no tool; the allow is left out")
            return None
    when = [_condition(writer, part, rule, at) for at, part in enumerate(rule.when.parts)]
    if None in when:
        writer.differ(rule.name, "left out: a condition of it can never hold")
        return None
    if when:
        found["when"] = when
    found["action"] = rule.action
    if rule.timeout_s is not None and rule.action == "approve":
        found["timeout_s"] = rule.timeout_s
    return found


def _condition(writer: Writer, part: When, rule: Rule, at: int) -> dict[str, Any] | None:
    if not isinstance(part, Condition):
        return None
    given = {str(key).lower(): entry for key, entry in rule.content["when"][at].items()}
    value = given.get("value", "")
    if not part.key or (value in ("", None) and part.op not in ("eq", "no_command_substitution")):
        return None
    if part.op == "eq":
        return {"key": part.key, "op": "in", "value": _texts_of(value)}
    if part.op == "glob" and None in part.value:
        writer.refuse(rule.path, f"the glob {value!r} is malformed and never matched")
    if part.op == "host" and rule.action == "allow":
        writer.differ(rule.name, f"allows {value!r} itself, no longer the domains below it; write '*.' for those")
    if part.op == "no_command_substitution":
        return {"key": part.key, "op": part.op}
    return {"key": part.key, "op": part.op, "value": value}


def _texts_of(value: str) -> list[Any]:
    """A text, and the number or truth value that it is the text of."""
    word = {"true": True, "false": False}.get(value)
    number = values.number(value) if re.fullmatch(r"-?(?:0|[1-9]\d*)(?:\.\d+)?", value) else None
    if word is not None:
        return [value, word]
    return [value] if number is None else [value, int(number) if "." not in value else float(number)]
