"""Shared code of all operators: what a condition is used for, and how it is applied to an argument's values.

Each operator compiles a condition into a function of the call that answers YES, NO or UNSURE (``three_valued``). The
function is compiled for one of two uses. A condition *tightens* if its rule denies, asks or raises a risk: then one
possible meaning of the argument that fits is enough. A condition *loosens* if its rule allows or lowers a risk: then
every possible meaning must fit. ``not`` swaps the two uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hitl.policy import grammar, values
from hitl.policy.operators.scope import ANYWHERE, ROLE, CallScope
from hitl.policy.three_valued import NO, UNSURE, YES
from hitl.records import replace

MAX_PATH = 4096
_LONG = 256  # for each 256 characters, a text costs one more unit of the budget


class BadValue(ValueError):
    """A condition has a value that the operator can't use. The message names the values that the operator takes."""


# --- compiling

Test = Callable[[CallScope], int]
Judge = Callable[[Any], int]


@dataclass(frozen=True, slots=True)
class ConditionUse:
    """The use that a condition is compiled for.

    ``loosen`` says that the condition loosens; otherwise it tightens. ``negated`` says that it is under a ``not``,
    ``textual`` that it compares text forms, as contenox does, and ``rating`` that its rule sets a risk. ``asking`` says
    that its rule asks. If the condition held, a later deny rule could not decide.
    """

    loosen: bool
    negated: bool = False
    textual: bool = False
    rating: bool = False
    asking: bool = False

    def inside_not(self) -> ConditionUse:
        """Return the use for a condition inside a ``not``: a condition that would tighten loosens, and the reverse."""
        return ConditionUse(not self.loosen, not self.negated, self.textual, self.rating)

    @property
    def missing(self) -> int:
        """The answer if the argument is absent.

        For a deny or ask rule it is UNSURE, because the tool may read the value from another argument, or have a
        default. An allow rule doesn't hold, not even if the condition is under a ``not``.
        """
        return NO if self.loosen or (self.rating and not self.negated) else UNSURE

    def elsewhere(self, answer: int) -> int:
        """The answer for a call that lacks the argument, if the same condition on another argument gives ``answer``.

        In that case an ask rule that holds answers only UNSURE, so that a later deny rule can decide.
        """
        return min(answer, UNSURE) if self.asking else answer

    def other(self, key: str) -> int:
        """The answer for a value of a type that the condition can't compare."""
        return NO if self.loosen or key == ANYWHERE else UNSURE


@dataclass(frozen=True, slots=True)
class Condition:
    """A checked condition. ``value`` is the document's value after the operator's ``check``."""

    key: str
    op: str
    value: Any
    match: str = "exact"


def over_values(key: str, judge: Judge, use: ConditionUse, cost: int = 1) -> Test:
    """Return a test that judges an argument's value.

    If the value is a list, each element is judged; if it is an object, everything inside it.
    """
    steps = values.pointer(key)
    if key == ANYWHERE or len(steps) > 1 or key.startswith(ROLE):
        return scoped(key, lambda _: judge, use, cost)
    name, missing, absent, scalars = steps[0], use.missing, values.MISSING, values.SCALARS

    def test(scope: CallScope) -> int:
        value = scope.args.get(name, absent)
        if type(value) in scalars:
            if type(value) is str and len(value) > _LONG and not affords(scope, value, 1):
                return UNSURE
            return judge(value)
        return missing if value is absent else nested(value, judge, use, scope, cost)

    return test


def affords(scope: CallScope, value: Any, cost: int) -> bool:
    """Charge a call for one judgement. Return False once the call has used up its budget."""
    scope.work -= cost if type(value) is not str else cost + len(value) // _LONG
    return scope.work >= 0


def nested(value: Any, judge: Judge, use: ConditionUse, scope: CallScope, cost: int = 1) -> int:
    """Judge a value that may hold other values: each element of a list, and everything inside an object."""
    if isinstance(value, list | tuple):
        return every((ListElement(part) for part in value), judge, use, scope, cost)
    if isinstance(value, Mapping):
        found = every(values.leaves(value, most=max(scope.work, 0)), judge, replace(use, loosen=False), scope, cost)
        return UNSURE if use.loosen or found != YES else YES
    return judge(value) if affords(scope, value, cost) else UNSURE


class ListElement:
    """Marks a value as an element of a list. The element may itself be a list or an object."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def every(items: Iterable[Any], judge: Judge, use: ConditionUse, scope: CallScope, cost: int = 1) -> int:
    """Join the answers for several values. To tighten, one YES is enough; to loosen, every value must be YES.

    Return UNSURE if there are more values than the call's budget allows.
    """
    enough, result = (NO, YES) if use.loosen else (YES, NO)
    empty = True
    for item in items:
        empty = False
        if item is values.CUT or not affords(scope, item, cost):
            return UNSURE
        answer = nested(item.value, judge, use, scope, cost) if type(item) is ListElement else judge(item)
        if answer == enough:
            return enough
        result = min(result, answer) if use.loosen else max(result, answer)
    return use.missing if empty else result


def scoped(key: str, of: Callable[[CallScope], Judge], use: ConditionUse, cost: int = 1) -> Test:
    """Return a test as ``over_values`` does, for a judge that depends on the call. Each judgement costs ``cost``."""
    if key == ANYWHERE:
        anything = replace(use, rating=True, negated=False)
        return lambda scope: every(scope.leaves(), of(scope), anything, scope, cost)
    steps, missing = values.pointer(key), use.missing

    def test(scope: CallScope) -> int:
        if key.startswith(ROLE):
            found = scope.role(key[1:])
            if not found and scope.shape is not None:
                return NO  # the tool is known, and has no such argument here
            return every(map(ListElement, found), of(scope), use, scope, cost)
        value = values.lookup(scope.args, steps)
        if value is values.MISSING:
            return missing
        return nested(value, of(scope), use, scope, cost)

    return test


def of_texts(judge: Judge, key: str, use: ConditionUse) -> Judge:
    """Return a judge of texts that gives less certain answers for values of other types.

    For such a value, the judge's NO becomes UNSURE.

    If the condition loosens, or its key is ``*``, the judge is returned unchanged.
    """
    other = use.other(key)
    if other == NO:
        return judge
    return lambda value: judge(value) if type(value) is str else max(judge(value), other)


#: JSON Schemas for the values of conditions.
TEXT: Mapping[str, Any] = grammar.TEXT.schema
TEXTS: Mapping[str, Any] = grammar.one_or_some(TEXT)
FLAG: Mapping[str, Any] = {"enum": [True, False, "true", "false"]}
SCALAR: Mapping[str, Any] = {"type": ["string", "number", "boolean", "null"]}


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator: how its conditions are written, and how they are compiled."""

    #: Turns the value in the document into the condition's value. Raises BadValue.
    check: Callable[[Any], Any]
    build: Callable[[Condition, ConditionUse], Test]
    #: The values that the operator takes: in words (``takes``) and as JSON Schema (``schema``).
    takes: str
    schema: Mapping[str, Any] = field(default_factory=lambda: TEXTS)
    #: The first field says whether the condition has a key. The second says whether the key must name a single
    #: argument.
    keyed: bool = True
    one_argument: bool = False
    #: The first field says whether the condition needs a value. The second says whether it may have the key ``match``.
    #: With that key, a name in the value matches a part of a tool's name.
    valued: bool = True
    matches: bool = False
    #: The check in the contenox dialect, or None if contenox doesn't have the operator.
    contenox_check: Callable[[Any], Any] | None = None


# --- values of operators


def entries(value: Any) -> tuple[str, ...]:
    """Read a list that is written as a list of texts, or as one text with commas.

    Raises:
        BadValue: the list is empty, or has entries of another type.
    """
    if isinstance(value, str):
        found = split(value)
    elif isinstance(value, list) and all(isinstance(part, str) and part.strip() for part in value):
        found = tuple(part.strip() for part in value)
    else:
        raise BadValue("takes a list of texts, or one text with commas")
    if not found:
        raise BadValue("is an empty list")
    return found


def split(value: str) -> tuple[str, ...]:
    """Split a text at commas, without empty parts."""
    return tuple(part.strip() for part in value.split(",") if part.strip())


def a_text(value: Any) -> str:
    """Return the value. Raises BadValue if it isn't a text."""
    if not isinstance(value, str):
        raise BadValue("takes a text")
    return value


def scalar(value: Any) -> Any:
    """Return the value. Raises BadValue if it is a list or an object."""
    if isinstance(value, list | dict):
        raise BadValue("takes a text, number, true, false or null")
    return value


def flag(value: Any) -> bool:
    """Return true or false, which may also be written as a text. Raises BadValue for any other value."""
    if isinstance(value, bool):
        return value
    if value in ("true", "false"):
        return bool(value == "true")
    raise BadValue("takes true or false")
