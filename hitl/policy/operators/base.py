"""What all operators share: the use that a condition is compiled for, and how a judge of one value meets an argument.

Each operator compiles a condition into a function of the call that answers YES, NO or UNSURE (``logic``). It is
compiled for one of two uses. To *tighten* (deny, approve, raise a risk), any reading of the argument that fits is
enough. To *loosen* (allow, lower a risk), every reading must fit. ``not`` swaps the two.
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
_LONG = 256  # characters that cost as much as one more judgement


class BadValue(ValueError):
    """A condition's value that the operator cannot use; the message says what it takes."""


# --- compiling

Test = Callable[[CallScope], int]
Judge = Callable[[Any], int]


@dataclass(frozen=True, slots=True)
class ConditionUse:
    """What a condition is compiled for.

    ``negated``: it is under a ``not``. ``textual``: compare text forms, as contenox does. ``rating``: it sets a risk.
    """

    loosen: bool
    negated: bool = False
    textual: bool = False
    rating: bool = False

    def inside_not(self) -> ConditionUse:
        """The use of what a ``not`` holds."""
        return ConditionUse(not self.loosen, not self.negated, self.textual, self.rating)

    @property
    def missing(self) -> int:
        """What an absent argument answers.

        A deny or an ask can't be told then: the tool may read it from another argument, or assume a value. An allow
        doesn't fire, also not through a ``not``.
        """
        return NO if self.loosen or (self.rating and not self.negated) else UNSURE

    def other(self, key: str) -> int:
        """What a value answers that is of another kind than the condition compares with."""
        return NO if self.loosen or key == ANYWHERE else UNSURE


@dataclass(frozen=True, slots=True)
class Condition:
    """A checked condition: ``value`` is what the operator's ``check`` made of the document's."""

    key: str
    op: str
    value: Any
    match: str = "exact"


def over_values(key: str, judge: Judge, use: ConditionUse, cost: int = 1) -> Test:
    """Apply a judge of single values to an argument: each element of a list, everything in an object."""
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
    """Pay for one judgement; False once the call has cost too much."""
    scope.work -= cost if type(value) is not str else cost + len(value) // _LONG
    return scope.work >= 0


def nested(value: Any, judge: Judge, use: ConditionUse, scope: CallScope, cost: int = 1) -> int:
    """What a value answers that may hold others: each element of a list, and everything inside an object."""
    if isinstance(value, list | tuple):
        return every((ListElement(part) for part in value), judge, use, scope, cost)
    if isinstance(value, Mapping):
        found = every(values.leaves(value, most=max(scope.work, 0)), judge, replace(use, loosen=False), scope, cost)
        return UNSURE if use.loosen or found != YES else YES
    return judge(value) if affords(scope, value, cost) else UNSURE


class ListElement:
    """An element of a list, which may hold values itself."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def every(items: Iterable[Any], judge: Judge, use: ConditionUse, scope: CallScope, cost: int = 1) -> int:
    """One YES is enough to tighten, one NO to not loosen. What is too much to look at can't be told."""
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
    """As ``over_values``, for judges that look at the call as well. ``cost``: of one judgement."""
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
    """A judge of texts: for any other kind of value that it doesn't find, it can't be told."""
    other = use.other(key)
    if other == NO:
        return judge
    return lambda value: judge(value) if type(value) is str else max(judge(value), other)


#: JSON Schemas of values.
TEXT: Mapping[str, Any] = grammar.TEXT.schema
TEXTS: Mapping[str, Any] = grammar.one_or_some(TEXT)
FLAG: Mapping[str, Any] = {"enum": [True, False, "true", "false"]}
SCALAR: Mapping[str, Any] = {"type": ["string", "number", "boolean", "null"]}


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator: what a condition with it is written as, and how that compiles."""

    #: What the value of a document comes to. Raises BadValue.
    check: Callable[[Any], Any]
    build: Callable[[Condition, ConditionUse], Test]
    #: What the value may be, in words and as JSON Schema.
    takes: str
    schema: Mapping[str, Any] = field(default_factory=lambda: TEXTS)
    #: Whether it looks at an argument; whether that must be one by name.
    keyed: bool = True
    one_argument: bool = False
    #: Whether it needs a value; whether its names may be parts of names (``match``).
    valued: bool = True
    matches: bool = False
    #: The check in the dialect of contenox, for the operators that it has.
    contenox_check: Callable[[Any], Any] | None = None


# --- values of operators


def entries(value: Any) -> tuple[str, ...]:
    """A list written as a list of texts or as one text with commas.

    Raises:
        BadValue: nothing in it, or entries of another type.
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
    """The parts of a text with commas, without empty ones."""
    return tuple(part.strip() for part in value.split(",") if part.strip())


def a_text(value: Any) -> str:
    """The value. Raises BadValue if it is no text."""
    if not isinstance(value, str):
        raise BadValue("takes a text")
    return value


def scalar(value: Any) -> Any:
    """The value. Raises BadValue if it is a list or an object."""
    if isinstance(value, list | dict):
        raise BadValue("takes a text, number, true, false or null")
    return value


def flag(value: Any) -> bool:
    """The truth value, which may also be written as a text. Raises BadValue if it is neither."""
    if isinstance(value, bool):
        return value
    if value in ("true", "false"):
        return bool(value == "true")
    raise BadValue("takes true or false")
