"""The operators that test the call's tool: ``destructive_set``, ``annotation``, ``isolated``."""

from __future__ import annotations

from collections.abc import Mapping

from hitl.policy.model import PolicyCall
from hitl.policy.operators.base import FLAG, Condition, ConditionUse, Operator, Test, entries, flag
from hitl.policy.operators.scope import CallScope
from hitl.policy.three_valued import NO, UNSURE, YES
from hitl.policy.wording import say


def _build_destructive(condition: Condition, use: ConditionUse) -> Test:
    names: tuple[str, ...] = condition.value
    folded = frozenset(name.casefold() for name in names)

    def test(scope: CallScope) -> int:
        tool = scope.call.tool
        if condition.match == "substring":
            called, wanted = (tool, names) if use.loosen else (tool.casefold(), folded)
            return YES if any(name in called for name in wanted) else NO
        return YES if tool in names or (not use.loosen and tool.casefold() in folded) else NO

    return test


#: The ways to compare a tool's name with the names in a condition: the whole name (the default), or a part of it.
MATCHES = ("exact", "substring")

# The value that is used for a hint that a tool doesn't give (MCP 2026-07-28, tool annotations).
HINTS: Mapping[str, bool] = {
    "readOnlyHint": False,
    "destructiveHint": True,
    "idempotentHint": False,
    "openWorldHint": True,
}


def hint(call: PolicyCall, name: str) -> tuple[bool, bool]:
    """Return a tool's hint as its server claims it, and the value that is used if a rule allows calls.

    For a trusted server, both values are the claim. For an untrusted server, the second value is the worst one, so that
    the claim alone can't allow a call.
    """
    worst = HINTS[name]
    given = (call.annotations or {}).get(name, worst)
    claimed = given if isinstance(given, bool) else worst
    return claimed, claimed if call.trusted_annotations else worst


def _build_annotation(condition: Condition, use: ConditionUse) -> Test:
    name, wanted = condition.key, condition.value

    def test(scope: CallScope) -> int:
        readings = [reading == wanted for reading in hint(scope.call, name)]
        return YES if all(readings) else NO if not any(readings) else UNSURE if use.loosen else YES

    return test


def _build_isolated(condition: Condition, _use: ConditionUse) -> Test:
    wanted: bool = condition.value
    return lambda scope: YES if scope.call.isolated == wanted else NO


OPERATORS: Mapping[str, Operator] = {
    "destructive_set": Operator(entries, _build_destructive, say("takes.tools"), keyed=False, matches=True),
    "isolated": Operator(flag, _build_isolated, say("takes.flag"), FLAG, keyed=False),
    "annotation": Operator(flag, _build_annotation, say("takes.flag"), FLAG),
}
