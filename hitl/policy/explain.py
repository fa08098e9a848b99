"""Explains a rule's conditions in words: each condition, its answer, and the value in the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hitl.policy import values
from hitl.policy.document import AnyOf, Not, When
from hitl.policy.operators.base import Condition, ConditionUse, Test
from hitl.policy.operators.scope import ANYWHERE, ROLE, CallScope
from hitl.policy.shell.effects import Effects

_WORDS = ("no", "cannot tell", "yes")


def describe(
    when: When, scope: CallScope, use: ConditionUse, compile_when: Callable[[When, ConditionUse], Test]
) -> str:
    """Return one line of text with each condition of a rule, its answer, and the value in the call."""
    if isinstance(when, Condition):
        return f"{_asked(when)}: {_WORDS[compile_when(when, use)(scope)]} ({_given(when, scope)})"
    if isinstance(when, Not):
        return f"not [{describe(when.part, scope, use.inside_not(), compile_when)}]"
    if not when.parts:
        return "matches every call of this tool"
    joined = "; or " if isinstance(when, AnyOf) else "; and "
    return joined.join(describe(part, scope, use, compile_when) for part in when.parts)


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
            return f"it does: {', '.join(sorted(told.does))}"
        return told or "the call has no such argument"
    if condition.op.startswith(("command_", "no_command")):
        found = scope.shell(condition.key)
        if found is not None:
            programs, doubts = ", ".join(found.programs()) or "no program", "; ".join(found.doubts[:3])
            return f"runs {programs}" + (f"; {doubts}" if doubts else "")
    value = _value(condition.key, scope)
    if value is values.MISSING:
        return "the call has no such argument"
    shown = values.text(value) if not isinstance(value, dict | list) else str(value)
    return f"the call has {shown[:80]!r}"
