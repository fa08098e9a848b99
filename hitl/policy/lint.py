"""Finds rules that can never fire, and rules that are probably mistakes.

A rule never fires if an earlier rule of its list applies to the same tools and has no conditions that this rule lacks.
It also never fires if its own conditions contradict each other. A document with such a rule is refused. ``findings``
warns of four probable mistakes:

- an allow rule before a deny rule
- an allow rule for calls about which an earlier deny rule may be in doubt
- a tool group that looks like a tool
- a key that looks like a path
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from hitl.policy import globs, values
from hitl.policy.document import UNKNOWN, All, Checked, Not, Rule, When
from hitl.policy.model import Problem
from hitl.policy.operators.base import Condition
from hitl.policy.operators.scope import ANYWHERE, ROLE
from hitl.policy.tables import names
from hitl.policy.tables.tools import shape
from hitl.policy.wording import say


def impossible(checked: Checked) -> list[Problem]:
    """Return a problem for every rule that can never fire."""
    found: list[Problem] = []
    for rules in (
        checked.forbid,
        checked.rules,
        tuple(rule for rule in checked.risk_rules if rule.risk is not None),
    ):
        found += [_problem(rule, say("lint.covered", rule=by.name)) for rule, by in covered(rules)]
    forbidden = _Earlier()
    for rule in checked.forbid:
        forbidden.add(rule)
    found += [
        _problem(rule, say("lint.forbidden", rule=by.name)) for rule in checked.rules if (by := forbidden.cover(rule))
    ]
    for rule in (*checked.forbid, *checked.rules, *checked.risk_rules):
        why = _contradiction(rule.when)
        if why:
            found.append(_problem(rule, say("lint.never", why=why)))
    return sorted(found, key=lambda problem: problem.line)


def findings(checked: Checked) -> list[Problem]:
    """Return a warning for each probable mistake in a document that loads."""
    return [*_before_denies(checked), *_not_told(checked), *_groups(checked), *_keys(checked)]


def _before_denies(checked: Checked) -> list[Problem]:
    """Return a warning for each deny rule after an allow rule that allows some of the deny rule's calls.

    If the deny rule is a preset's, an allow rule of the document with conditions isn't a mistake. It is probably meant
    as an exception to the preset.
    """
    found: list[Problem] = []
    for at, deny in enumerate(checked.rules):
        if deny.action != "deny":
            continue
        allows = (
            rule
            for rule in checked.rules[:at]
            if rule.action == "allow" and not rule.source and not (deny.source and rule.when.parts)
        )
        before = next((rule for rule in allows if _overlap(rule, deny)), None)
        if before is not None:
            found.append(_too_early(before, deny))
    return found


def _too_early(allow: Rule, deny: Rule) -> Problem:
    if deny.source:
        said = say("lint.before_preset", rule=deny.name, preset=repr(deny.source))
        return _problem(allow, said, say("lint.before_preset.do"))
    said = say("lint.after_allow", rule=allow.name)
    return _problem(deny, said, say("lint.after_allow.do", rule=allow.name))


def _not_told(checked: Checked) -> list[Problem]:
    """Return a warning for each allow rule that doesn't require an argument which an earlier deny rule tests.

    For a call without that argument, nobody can tell whether the deny rule applies. So a person is asked, although the
    author meant to allow the call.
    """
    found: list[Problem] = []
    denies = [(rule, _compared(rule.when)) for rule in checked.forbid]
    for rule in checked.rules:
        if rule.action == "deny":
            denies.append((rule, _compared(rule.when)))
        elif rule.action == "allow" and not rule.source:
            needed = {part.key for part in rule.when.parts if isinstance(part, Condition) and part.value is not False}
            unmet = ((deny, key) for deny, keys in denies for key in keys if key not in needed and _overlap(rule, deny))
            if first := next(unmet, None):
                found.append(_doubted(rule, *first))
    return found


def _doubted(allow: Rule, deny: Rule, key: str) -> Problem:
    said = say("lint.untold", key=repr(key), rule=deny.name)
    return _problem(allow, said, say("lint.untold.do", key=key, rule=deny.name))


def _compared(when: When) -> list[str]:
    """Return the names of the arguments that a condition compares. If a call lacks one of them, the condition answers
    UNSURE.
    """
    if isinstance(when, Condition):
        told = when.key in ("", ANYWHERE) or when.key.startswith(ROLE) or when.op in ("exists", "annotation")
        return [] if told else [when.key]
    parts = (when.part,) if isinstance(when, Not) else when.parts
    return [key for part in parts for key in _compared(part)]


#: Verbs at the beginning of tools' names. Names of tool groups don't begin with a verb.
_VERBS = names(
    "add allow append apply approve archive assign attach build call cancel charge clear close commit convert copy "
    "create deactivate delete deploy describe destroy disable download drop edit enable exec execute export fetch find "
    "get grant import insert install invoke kill launch list load lock merge modify move open patch pay ping post "
    "publish purge push put query read refund remove rename replace reset restart restore revoke rotate run save "
    "schedule send set share start stop submit suspend transfer truncate unlock update upload wipe write"
)
_TOOLS = names("bash zsh powershell read write edit grep glob ls cat rm")


def _groups(checked: Checked) -> list[Problem]:
    """Return a warning for each rule whose ``tools``, the names of tool groups, has a name that looks like a tool."""
    used = {name for rule in _own(checked) for name in rule.tool}
    found: list[Problem] = []
    for rule in _own(checked):
        alike = [name for name in rule.tools if name in used or name.lower() in _TOOLS or _begins_with_verb(name)]
        if alike and not rule.tool:
            said = say("lint.group", name=repr(alike[0]))
            found.append(_problem(rule, said, say("lint.group.do", name=alike[0])))
    return found


def _begins_with_verb(name: str) -> bool:
    words = re.findall(r"[A-Z]?[a-z]+", name.replace("*", ""))
    return len(words) > 1 and words[0].lower() in _VERBS


def _keys(checked: Checked) -> list[Problem]:
    """Return a warning for each condition whose key has dots, such as ``user.name``. A key with dots names one
    argument, not a value inside an argument.
    """
    found: list[Problem] = []
    for rule in _own(checked):
        for key in _compared(rule.when):
            if key[0] == "$" or (key[0] != "/" and re.search(r"\w[.\[]\w", key)):
                path = "/" + re.sub(r"\.|\[|\]\.?", "/", key.lstrip("$.")).strip("/")
                found.append(_problem(rule, say("lint.dots", name=repr(key)), say("lint.dots.do", path=repr(path))))
    return found


def _own(checked: Checked) -> list[Rule]:
    """Return the rules of the document itself, without the rules of its presets."""
    return [rule for rule in (*checked.forbid, *checked.rules, *checked.risk_rules) if not rule.source]


def _problem(rule: Rule, message: str, suggestion: str = "") -> Problem:
    told = suggestion or say("lint.covered.do")
    return Problem(rule.line, rule.path, f"{rule.name} {message}", told)


def covered(rules: Sequence[Rule]) -> list[tuple[Rule, Rule]]:
    """Return pairs of a rule and an earlier rule. The earlier rule applies to every call to which the later rule
    applies.
    """
    found: list[tuple[Rule, Rule]] = []
    earlier = _Earlier()
    for rule in rules:
        by = earlier.cover(rule)
        if by is not None:
            found.append((rule, by))
        earlier.add(rule)
    return found


class _Earlier:
    """The earlier rules of a list, each filed under one of its conditions.

    An earlier rule covers a later rule only if each condition of the earlier rule is a condition of the later rule too.
    So `cover` needs to search only the rules filed under the later rule's conditions.
    """

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
        value = part.value.pattern if part.op in ("matches", "path_matches") else part.value
        return json.dumps([part.key, part.op, part.match, value], default=_shown, sort_keys=True)
    return repr(part)


def _shown(value: Any) -> Any:
    return sorted(value) if isinstance(value, frozenset) else str(value)


def _covers(wide: Sequence[str], narrow: Sequence[str]) -> bool:
    """Return whether the names and patterns of ``wide`` match every tool name that those of ``narrow`` match."""
    if not wide:
        return True
    return bool(narrow) and all(any(_name_covers(one, other) for one in wide) for other in narrow)


def _name_covers(wide: str, narrow: str) -> bool:
    if wide in (narrow, "*"):
        return True
    if not globs.is_pattern(wide):
        return False
    if not globs.is_pattern(narrow):
        return globs.name_pattern(wide).match(narrow) is not None
    stem = wide[:-1]
    return wide.endswith("*") and not globs.is_pattern(stem) and narrow.startswith(stem)


def _kinds(rule: Rule) -> set[str]:
    """Return the kinds of tools that a rule is for, or an empty set if the rule is for tools of any kind."""
    if rule.kind or not rule.tool or any(globs.is_pattern(name) for name in rule.tool):
        return set(rule.kind)
    shapes = (shape(tools, name) for tools in rule.tools or ("",) for name in rule.tool)
    return {UNKNOWN if known is None else known.kind for known in shapes}


def _overlap(allow: Rule, deny: Rule) -> bool:
    """Return whether both rules could apply to the same call, judged by kinds, names, equalities and bounds."""
    kinds = _kinds(allow), _kinds(deny)
    if kinds[0] and kinds[1] and not kinds[0] & kinds[1]:
        return False
    names = all(_meet(a, b) for a, b in ((allow.tools, deny.tools), (allow.tool, deny.tool)))
    return names and _contradiction(All((*allow.when.parts, *deny.when.parts))) is None


def _meet(one: Sequence[str], other: Sequence[str]) -> bool:
    if not one or not other:
        return True
    return any(_name_covers(a, b) or _name_covers(b, a) for a in one for b in other)


def _contradiction(when: All) -> str | None:
    """Return the reason, in words, why no call can meet all of these conditions, or None."""
    by_key: dict[str, list[Condition]] = {}
    for part in when.parts:
        if isinstance(part, Condition) and part.key and part.key != "*":
            by_key.setdefault(part.key, []).append(part)
    for key, conditions in by_key.items():
        why = _clash(conditions)
        if why:
            return say("lint.contradiction", key=repr(key), why=why)
    return None


def _clash(conditions: Sequence[Condition]) -> str | None:
    sets = [
        {values.text(one) for one in (part.value if part.op == "in" else (part.value,))}
        for part in conditions
        if part.op in ("eq", "in")
    ]
    if len(sets) > 1 and not set.intersection(*sets):
        return say("lint.contradiction.value")
    low = max((part.value for part in conditions if part.op in ("gt", "ge")), default=None)
    high = min((part.value for part in conditions if part.op in ("lt", "le")), default=None)
    if (
        isinstance(low, int | Decimal)
        and isinstance(high, int | Decimal)
        and (low > high or (low == high and _open(conditions, low)))
    ):
        return say("lint.contradiction.number")
    absent = any(part.op == "exists" and part.value is False for part in conditions)
    return say("lint.contradiction.absent") if absent and len(conditions) > 1 else None


def _open(conditions: Sequence[Condition], limit: int | Decimal) -> bool:
    return any(part.op in ("gt", "lt") and part.value == limit for part in conditions)
