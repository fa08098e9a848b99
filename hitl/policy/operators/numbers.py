"""The operators that bound a number (``lt``, ``le``, ``gt``, ``ge``), or the length of a value (``size``)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from hitl.policy import values
from hitl.policy.grammar import closed
from hitl.policy.operators.base import BadValue, Condition, ConditionUse, Operator, Test, over_values
from hitl.policy.operators.scope import CallScope
from hitl.policy.three_valued import NO, UNSURE, YES
from hitl.policy.wording import say

_MAX_DIGITS = 400
_NUMBER_COST = 2  # units of the call's budget (MAX_WORK) for testing one value; ``eq`` takes 1 unit


def _decimal(value: Any) -> int | Decimal:
    found = values.number(value)
    if found is None:
        raise BadValue(say("fault.takes.number"))
    whole = found.adjusted() < _MAX_DIGITS and found == found.to_integral_value()
    return int(found) if whole else found  # an int compares faster than a Decimal


_BOUNDS: dict[str, Callable[[Any, Any], bool]] = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def _sizes(value: Any) -> tuple[tuple[str, int], ...]:
    bounds = value if isinstance(value, dict) else {"ge": value, "le": value}
    if not bounds or not set(bounds) <= set(_BOUNDS):
        raise BadValue(say("fault.takes.size"))
    if not all(isinstance(bound, int) and not isinstance(bound, bool) and bound >= 0 for bound in bounds.values()):
        raise BadValue(say("fault.takes.whole"))
    low = max(bounds.get("ge", 0), bounds.get("gt", -1) + 1)
    high = min((bounds[name] - (name == "lt") for name in ("le", "lt") if name in bounds), default=low)
    if low > high:
        raise BadValue(say("fault.size"))
    return tuple(bounds.items())


def _build_bound(condition: Condition, use: ConditionUse) -> Test:
    compare, limit = _BOUNDS[condition.op], condition.value

    def judge(value: Any) -> int:
        if type(value) is int:
            return YES if compare(value, limit) else NO
        found = values.number(value)
        return UNSURE if found is None else YES if compare(found, limit) else NO

    return over_values(condition.key, judge, use, _NUMBER_COST)


def _build_size(condition: Condition, use: ConditionUse) -> Test:
    steps, bounds = values.pointer(condition.key), condition.value

    def test(scope: CallScope) -> int:
        value = values.lookup(scope.args, steps)
        if value is values.MISSING:
            return use.missing
        found = values.size(value)
        if found is None:
            return UNSURE
        return YES if all(_BOUNDS[name](found, bound) for name, bound in bounds) else NO

    return test


_NUMBER = {"anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^\s*[-+]?[0-9.]+([eE][-+]?[0-9]+)?\s*$"}]}
_COUNT = {"type": "integer", "minimum": 0}
OPERATORS: Mapping[str, Operator] = {
    **dict.fromkeys(_BOUNDS, Operator(_decimal, _build_bound, "a number", _NUMBER)),
    "size": Operator(
        _sizes,
        _build_size,
        say("takes.size"),
        {"anyOf": [_COUNT, {**closed(dict.fromkeys(_BOUNDS, _COUNT)), "minProperties": 1}]},
        one_argument=True,
    ),
}
