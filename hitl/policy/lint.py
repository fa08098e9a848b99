"""Rules that cannot mean what they say: those that never fire, and allows that stand before denies.

A rule never fires if an earlier one of its list covers its tools and asks no more than it does, or if its own
conditions contradict each other.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from hitl.policy import globs, values
from hitl.policy.conditions import Condition
from hitl.policy.document import All, Checked, Rule
from hitl.policy.model import Problem


def impossible(checked: Checked) -> list[Problem]:
    """Every rule that can never fire."""
    found: list[Problem] = []
    for rules in (
        checked.forbid,
        checked.rules,
        tuple(rule for rule in checked.risk_rules if rule.risk is not None),
    ):
        found += _shadowed(rules)
    forbidden = _Earlier()
    for rule in checked.forbid:
        forbidden.add(rule)
    found += [
        _problem(rule, f"can never fire: 'forbid' {by.name} comes first")
        for rule in checked.rules
        if (by := forbidden.cover(rule))
    ]
    for rule in (*checked.forbid, *checked.rules, *checked.risk_rules):
        why = _contradiction(rule.when)
        if why:
            found.append(_problem(rule, f"can never fire: {why}"))
    return sorted(found, key=lambda problem: problem.line)


def findings(checked: Checked) -> list[Problem]:
    """Allows that stand before denies whose calls they may let pass."""
    found: list[Problem] = []
    for at, deny in enumerate(checked.rules):
        if deny.action == "deny":
            before = next(
                (rule for rule in checked.rules[:at] if rule.action == "allow" and _overlap(rule, deny)), None
            )
            if before is not None:
                found.append(
                    _problem(
                        deny,
                        f"comes after the allow {before.name}, which lets some of its calls pass",
                        f"put it before {before.name}, or into 'forbid'",
                    )
                )
    return found


def _problem(rule: Rule, message: str, suggestion: str | None = "remove it, or put it first") -> Problem:
    return Problem(rule.line, rule.path, f"{rule.name} {message}", suggestion)


def _shadowed(rules: Sequence[Rule]) -> list[Problem]:
    found: list[Problem] = []
    earlier = _Earlier()
    for rule in rules:
        by = earlier.cover(rule)
        if by is not None:
            found.append(_problem(rule, f"can never fire: {by.name} comes first and covers it"))
        earlier.add(rule)
    return found


class _Earlier:
    """Rules filed under one of their conditions: only those that ask no more than a later rule can cover it."""

    def __init__(self) -> None:
        self._filed: dict[str, list[tuple[Rule, frozenset[str]]]] = {}

    def add(self, rule: Rule) -> None:
        asked = _conditions(rule.when)
        self._filed.setdefault(min(asked, default=""), []).append((rule, asked))

    def cover(self, rule: Rule) -> Rule | None:
        asked = _conditions(rule.when)
        for key in ("", *asked):
            for one, conditions in self._filed.get(key, ()):
                named = _covers(one.tools, rule.tools) and _covers(one.tool, rule.tool)
                if named and conditions <= asked and _kinds_cover(one.kind, rule.kind):
                    return one
        return None


def _kinds_cover(wide: tuple[str, ...], narrow: tuple[str, ...]) -> bool:
    return not wide or (bool(narrow) and set(narrow) <= set(wide))


def _conditions(when: All) -> frozenset[str]:
    return frozenset(_canonical(part) for part in when.parts)


def _canonical(part: Any) -> str:
    if isinstance(part, Condition):
        value = part.value.pattern if part.op == "matches" else part.value
        return json.dumps([part.key, part.op, part.match, value], default=_shown, sort_keys=True)
    return repr(part)


def _shown(value: Any) -> Any:
    return sorted(value) if isinstance(value, frozenset) else str(value)


def _covers(wide: Sequence[str], narrow: Sequence[str]) -> bool:
    """Whether every name that ``narrow`` means is meant by ``wide``."""
    if not wide:
        return True
    return bool(narrow) and all(any(_name_covers(one, other) for one in wide) for other in narrow)


def _name_covers(wide: str, narrow: str) -> bool:
    if wide in (narrow, "*"):
        return True
    if not globs.is_name_glob(wide):
        return False
    if not globs.is_name_glob(narrow):
        return globs.name_pattern(wide).match(narrow) is not None
    stem = wide[:-1]
    return wide.endswith("*") and not globs.is_name_glob(stem) and narrow.startswith(stem)


def _overlap(allow: Rule, deny: Rule) -> bool:
    """Whether the two may apply to one call, as far as names and equalities tell."""
    names = all(_meet(a, b) for a, b in ((allow.tools, deny.tools), (allow.tool, deny.tool)))
    return names and _contradiction(All((*allow.when.parts, *deny.when.parts))) is None


def _meet(one: Sequence[str], other: Sequence[str]) -> bool:
    if not one or not other:
        return True
    return any(_name_covers(a, b) or _name_covers(b, a) for a in one for b in other)


def _contradiction(when: All) -> str | None:
    """Why conditions that must all hold cannot; None if they may."""
    by_key: dict[str, list[Condition]] = {}
    for part in when.parts:
        if isinstance(part, Condition) and part.key and part.key != "*":
            by_key.setdefault(part.key, []).append(part)
    for key, conditions in by_key.items():
        why = _clash(conditions)
        if why:
            return f"the conditions on {key!r} contradict each other ({why})"
    return None


def _clash(conditions: Sequence[Condition]) -> str | None:
    sets = [
        {values.text(one) for one in (part.value if part.op == "in" else (part.value,))}
        for part in conditions
        if part.op in ("eq", "in")
    ]
    if len(sets) > 1 and not set.intersection(*sets):
        return "no value is in both"
    low = max((part.value for part in conditions if part.op in ("gt", "ge")), default=None)
    high = min((part.value for part in conditions if part.op in ("lt", "le")), default=None)
    if (
        isinstance(low, int | Decimal)
        and isinstance(high, int | Decimal)
        and (low > high or (low == high and _open(conditions, low)))
    ):
        return "no number is in both"
    absent = any(part.op == "exists" and part.value is False for part in conditions)
    return "an absent argument has no value" if absent and len(conditions) > 1 else None


def _open(conditions: Sequence[Condition], limit: int | Decimal) -> bool:
    return any(part.op in ("gt", "lt") and part.value == limit for part in conditions)
