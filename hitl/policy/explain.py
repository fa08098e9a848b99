"""Explains a rule's conditions in words: each condition, its answer, and the value in the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hitl.policy import values
from hitl.policy.document import AnyOf, Not, When
from hitl.policy.operators.base import Condition, ConditionUse, Test
from hitl.policy.operators.scope import ANYWHERE, ROLE, CallScope
from hitl.policy.shell.effects import Effects
from hitl.policy.wording import say

#: The last part of the key of the sentence for each answer of a condition: NO, UNSURE and YES.
_ANSWERS = ("no", "unsure", "yes")


def describe(
    when: When, scope: CallScope, use: ConditionUse, compile_when: Callable[[When, ConditionUse], Test]
) -> str:
    """Return one line of text with each condition of a rule, its answer, and the value in the call."""
    if isinstance(when, Condition):
        return say(
            f"explain.answer.{_ANSWERS[compile_when(when, use)(scope)]}", asked=_asked(when), given=_given(when, scope)
        )
    if isinstance(when, Not):
        return say("explain.not", part=describe(when.part, scope, use.inside_not(), compile_when))
    if not when.parts:
        return say("explain.every")
    joined = say("explain.or") if isinstance(when, AnyOf) else say("explain.and")
    return joined.join(describe(part, scope, use, compile_when) for part in when.parts)


def for_other_tools(names: str) -> str:
    """Return the text about a rule that is for other tools than the call's tool. `names` are the rule's tools."""
    return say("explain.other", names=names)


def _asked(condition: Condition) -> str:
    return f"{condition.key} {condition.op}" if condition.key else condition.op


def _value(key: str, scope: CallScope) -> Any:
    if key == ANYWHERE:
        return scope.args
    if not key.startswith(ROLE):
        return values.lookup(scope.args, values.pointer(key))
    found = scope.role(key[1:])
    return found[0] if len(found) == 1 else found or values.MISSING


def _given(condition: Condition, scope: CallScope) -> str:
    if condition.op == "command_effects":
        told = scope.effects(condition.key)
        if isinstance(told, Effects):
            return say("explain.does", effects=", ".join(sorted(told.does)))
        return told or say("explain.absent")
    if condition.op.startswith(("command_", "no_command")):
        found = scope.shell(condition.key)
        if found is not None:
            runs = say("explain.runs", programs=", ".join(found.programs()) or say("explain.runs.none"))
            return "; ".join((runs, *found.doubts[:3]))
    value = _value(condition.key, scope)
    if value is values.MISSING:
        return say("explain.absent")
    shown = values.text(value) if not isinstance(value, dict | list) else str(value)
    return say("explain.given", value=repr(shown[:80]))
