"""Joins a document with the presets that it names: the document's rules first, then the rules of each preset.

The document's ``forbid`` and ``risk_rules`` are added to the preset's. An action of the document (``default_action``,
``risk.<level>.action``) counts only if it is stricter than the preset's, so the document can't allow a call that the
preset's action denies. The document's ``defaults`` and its timeouts for risk levels replace the preset's, because a
longer wait allows nothing. A card of the document replaces the preset's card for the same tool, because a card decides
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, reduce
from typing import Any

from hitl.policy import text
from hitl.policy.dialects import check
from hitl.policy.document import Checked, Level, Rule
from hitl.policy.model import ACTIONS, RISKS, Action, PolicyInvalid, Problem, Risk
from hitl.policy.presets import presets
from hitl.policy.wording import say
from hitl.records import replace


def compose(own: Checked, parsed: text.ParsedDocument, name: str) -> Checked:
    """Join a document with the presets that it names; a document without presets is returned unchanged.

    ``parsed`` gives the line numbers for warnings. ``name`` is the document's name, for errors.

    Raises:
        PolicyInvalid: a rule of the document has the same id as a rule of a preset.
    """
    named = own.content.get("preset") if isinstance(own.content, dict) else None
    if named is None:
        return own
    wanted = named if isinstance(named, list) else [named]
    parts = [_preset(one) for one in wanted]
    _refuse_same_ids(own, parts, name)
    found = reduce(_together, parts)
    return replace(
        _together(own, found),
        warnings=(*own.warnings, *_without_effect(own, found, parsed)),
        content={"document": own.content, "presets": dict(zip(wanted, (part.content for part in parts), strict=True))},
    )


@lru_cache(maxsize=16)
def _preset(name: str) -> Checked:
    checked = check(text.parse(presets()[name], name=name, format="yaml"), name)
    lists: dict[str, Any] = {
        key: tuple(replace(rule, source=name) for rule in getattr(checked, key))
        for key in ("rules", "forbid", "risk_rules")
    }
    return replace(checked, **lists)


def _refuse_same_ids(own: Checked, parts: Sequence[Checked], name: str) -> None:
    taken = {
        rule.name: rule.source for part in parts for rules in _lists(part) for rule in rules if "id" in rule.content
    }
    problems = [
        Problem(
            rule.line, f"{rule.path}/id", say("fault.preset.id", rule=repr(rule.name), preset=repr(taken[rule.name]))
        )
        for rules in _lists(own)
        for rule in rules
        if "id" in rule.content and rule.name in taken
    ]
    if problems:
        raise PolicyInvalid(name, problems)


def _lists(checked: Checked) -> tuple[tuple[Rule, ...], ...]:
    return checked.forbid, checked.rules, checked.risk_rules


def _together(first: Checked, then: Checked) -> Checked:
    """Join two documents. The rules of ``first`` come before the rules of ``then``.

    The result has the stricter action. It has each other setting from ``first``, or else from ``then``.
    """
    stated = first.content.get("defaults", {})
    levels = {level: _level(level, first, then) for level in RISKS}
    return replace(
        first,
        default_action=_stricter(_default(first), _default(then)),
        timeout_s=first.timeout_s if "timeout_s" in stated else then.timeout_s,
        execution_s=first.execution_s if "execution_s" in stated else then.execution_s,
        risk={level: found for level, found in levels.items() if found != Level()},
        rules=_appended(first.rules, then.rules),
        forbid=_appended(first.forbid, then.forbid),
        risk_rules=_appended(first.risk_rules, then.risk_rules),
        cards={**then.cards, **first.cards},
    )


def _default(checked: Checked) -> Action | None:
    """Return the action that the document states for calls that match no rule, or None if it states none."""
    return checked.default_action if "default_action" in checked.content else None


def _stricter(one: Action | None, other: Action | None) -> Action:
    return max((found for found in (one, other) if found is not None), key=ACTIONS.index, default="approve")


def _action(checked: Checked, level: Risk) -> Action | None:
    told = checked.risk.get(level, Level()).action
    return told if told is not None else _default(checked)


def _level(level: Risk, first: Checked, then: Checked) -> Level:
    one, other = first.risk.get(level, Level()), then.risk.get(level, Level())
    found = _stricter(_action(first, level), _action(then, level))
    whole = _stricter(_default(first), _default(then))
    return Level(
        found if found != whole or one.action or other.action else None,
        one.timeout_s or other.timeout_s,
        one.require_reason or other.require_reason,
    )


def _appended(first: Sequence[Rule], then: Sequence[Rule]) -> tuple[Rule, ...]:
    """Join two lists of rules. The ``path`` of each rule of the second list gets the rule's index in the joined list.

    A rule of the second list without an id gets its preset's name before its own name, such as ``default: rules[3]``.
    """
    placed = []
    for at, rule in enumerate(then, start=len(first)):
        head = rule.path.rpartition("/")[0]
        named = rule.name if "id" in rule.content else f"{rule.source}: {rule.name}"
        placed.append(replace(rule, path=f"{head}/{at}", name=named))
    return (*first, *placed)


def _without_effect(own: Checked, preset: Checked, parsed: text.ParsedDocument) -> list[Problem]:
    """Return a warning for each action of the document that has no effect, because the preset's action is stricter."""
    found = []
    stated = _default(own)
    if stated is not None and ACTIONS.index(stated) < ACTIONS.index(_stricter(None, _default(preset))):
        found.append(_problem(parsed, "/default_action", stated, preset.default_action))
    for level, told in own.risk.items():
        closed = _stricter(None, _action(preset, level))
        if told.action is not None and ACTIONS.index(told.action) < ACTIONS.index(closed):
            found.append(_problem(parsed, f"/risk/{level}/action", told.action, closed))
    return found


def _problem(parsed: text.ParsedDocument, path: str, given: Action, closed: Action) -> Problem:
    said = say("lint.default", given=repr(given), closed=repr(closed))
    return Problem(parsed.line(path), path, said, say("lint.default.do"))
