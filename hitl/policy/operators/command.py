"""The operators that test the programs and effects of a command: ``command_...`` and ``no_command_substitution``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hitl.policy import values
from hitl.policy.operators.base import (
    FLAG,
    BadValue,
    Condition,
    ConditionUse,
    Operator,
    Test,
    a_text,
    entries,
    flag,
    split,
)
from hitl.policy.operators.scope import ROLE, CallScope, plain_words
from hitl.policy.shell import ShellReading, read_line
from hitl.policy.shell.found import EFFECTS
from hitl.policy.shell.lists import Prefixes, Programs, wrong_entry
from hitl.policy.three_valued import NO, UNSURE, YES
from hitl.policy.wording import say


def programs(value: Any) -> tuple[str, ...]:
    """Return the entries of a list of programs, or of one text with commas.

    Raises:
        BadValue: no command could match an entry; the message gives a correction.
    """
    found = entries(value)
    for entry in found:
        if why := wrong_entry(entry):
            raise BadValue(why)
    return found


def _nothing(value: Any) -> bool:
    if value in (None, "", True, "true"):
        return True
    raise BadValue(say("fault.takes.nothing"))


def contenox_entries(value: Any) -> tuple[str, ...]:
    """Return the entries of a text with commas, as contenox reads it. Raises BadValue if the value isn't a text."""
    return split(a_text(value))


def _build_programs(condition: Condition, use: ConditionUse) -> Test:
    listed = Programs.of(condition.value, folds=not use.textual)

    def test(scope: CallScope) -> int:
        found = _reading(scope, condition, use)
        if found is None or not condition.value:
            return use.missing if condition.value else NO
        answer = _named(scope, condition, use, _strict(listed.judge(found), found, use))
        return min(answer, UNSURE) if listed.options and use.loosen else answer

    return test


def _lacks(scope: CallScope, condition: Condition, use: ConditionUse) -> bool:
    """Return whether the call lacks the argument that a contenox condition names.

    Other dialects look for the command in the call's other arguments too; contenox doesn't.
    """
    return use.textual and condition.key not in scope.args


def _named(scope: CallScope, condition: Condition, use: ConditionUse, answer: int) -> int:
    """Return ``answer``, the condition's answer for the call's command. For an ask rule, return at most UNSURE if the
    command isn't in the argument that the condition names.
    """
    if not use.asking or condition.key.startswith(ROLE):
        return answer
    absent = values.lookup(scope.args, values.pointer(condition.key)) is values.MISSING
    return use.elsewhere(answer) if absent else answer


def _reading(scope: CallScope, condition: Condition, use: ConditionUse) -> ShellReading | None:
    """Return the parsed command of the call, or None if the call has no command."""
    if _lacks(scope, condition, use):
        return None
    value = scope.args.get(condition.key)
    if use.textual and value is not None and type(value) in values.SCALARS and "args" not in scope.args:
        return read_line(values.text(value))
    return scope.shell(condition.key)


def _strict(answer: int, reading: ShellReading, use: ConditionUse) -> int:
    """Return ``answer``, the condition's answer for the line.

    If the rule allows calls (``use.loosen``), return UNSURE for a line with doubts or without commands.
    """
    return UNSURE if use.loosen and (reading.doubts or not reading.commands) else answer


def _build_prefixes(condition: Condition, use: ConditionUse) -> Test:
    listed = Prefixes.of(condition.value)

    def test(scope: CallScope) -> int:
        found = None if _lacks(scope, condition, use) else scope.shell(condition.key)
        if found is None:
            return use.missing
        answer = listed.judge(plain_words(scope.args, condition.key), found, least=2 if use.textual else 1)
        return _named(scope, condition, use, answer)

    return test


def _build_resolvable(condition: Condition, use: ConditionUse) -> Test:
    wanted: bool = condition.value

    def test(scope: CallScope) -> int:
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
            raise BadValue(say("fault.effect", name=repr(name), effects=", ".join(EFFECTS)))
    return frozenset(found)


def _build_effects(condition: Condition, use: ConditionUse) -> Test:
    """Compile ``command_effects``.

    In a rule that denies or asks, the condition holds if the line has one of the effects. In a rule that allows, it
    needs three things: the line has no other effects, the effects of all its programs are known, and the policy allows
    each of its paths.
    """
    wanted: frozenset[str] = condition.value

    def test(scope: CallScope) -> int:
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


def _build_substitution(condition: Condition, use: ConditionUse) -> Test:
    steps = values.pointer(condition.key)

    def test(scope: CallScope) -> int:
        absent = values.lookup(scope.args, steps) is values.MISSING
        if absent and (use.textual or use.loosen):
            return use.missing
        texts = [leaf for leaf in values.leaves(scope.args) if isinstance(leaf, str)]
        if any(mark in text for text in texts for mark in _SUBSTITUTES):
            return use.elsewhere(YES) if absent else YES
        if absent:
            return use.missing
        found = scope.shell(condition.key)
        return YES if found is not None and found.substitution else NO

    return test


OPERATORS: Mapping[str, Operator] = {
    **dict.fromkeys(
        ("command_blacklist", "command_ask_always"),
        Operator(
            programs,
            _build_programs,
            say("takes.programs"),
            one_argument=True,
            contenox_check=contenox_entries,
        ),
    ),
    "command_prefix_allowlist": Operator(
        entries, _build_prefixes, say("takes.beginnings"), one_argument=True, contenox_check=contenox_entries
    ),
    "command_effects": Operator(
        _effect_names, _build_effects, say("takes.effects", effects=", ".join(EFFECTS)), one_argument=True
    ),
    "command_resolvable": Operator(flag, _build_resolvable, say("takes.flag"), FLAG, one_argument=True),
    "no_command_substitution": Operator(
        _nothing,
        _build_substitution,
        "nothing",
        {"enum": [True, "true", "", None]},
        valued=False,
        contenox_check=_nothing,
    ),
}
