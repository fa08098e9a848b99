"""Code that all operators share: the use of a condition, and its test on each value of an argument.

Each operator compiles a condition into a function of the call that answers YES, NO or UNSURE (``three_valued``). The
function is compiled for one of two uses. A condition *tightens* if its rule denies, asks or raises a risk. It holds if
one possible meaning of the argument fits. A condition *loosens* if its rule allows calls or lowers a risk. It holds
only if every possible meaning fits. ``not`` swaps the two uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hitl.policy import grammar, values
from hitl.policy.operators.scope import ANYWHERE, ROLE, CallScope
from hitl.policy.three_valued import NO, UNSURE, YES
from hitl.policy.wording import say
from hitl.records import replace

MAX_PATH = 4096
_LONG = 256  # A text costs one more unit of the call's budget for each 256 characters.


class BadValue(ValueError):
    """Raised for a condition's value that the operator can't use. The message names the values that it takes."""


# --- tests, judges and conditions

Test = Callable[[CallScope], int]
Judge = Callable[[Any], int]


@dataclass(frozen=True, slots=True)
class ConditionUse:
    """The use for which a condition is compiled.

    - ``loosen`` says that the condition loosens; otherwise it tightens.
    - ``negated`` says that the condition is inside a ``not``.
    - ``textual`` says that the condition compares values by their text, as contenox does.
    - ``rating`` says that the condition's rule sets a risk.
    - ``asking`` says that the condition's rule asks a person.
    """

    loosen: bool
    negated: bool = False
    textual: bool = False
    rating: bool = False
    asking: bool = False

    def inside_not(self) -> ConditionUse:
        """Return the use for a condition inside a ``not``, with the opposite of ``loosen`` and ``negated``."""
        return ConditionUse(not self.loosen, not self.negated, self.textual, self.rating)

    @property
    def missing(self) -> int:
        """The answer if the call doesn't have the argument.

        It is NO if ``loosen`` is true, and for a risk rule outside a ``not``. Otherwise it is UNSURE, because the tool
        may have a default, or read the value from another argument.
        """
        return NO if self.loosen or (self.rating and not self.negated) else UNSURE

    def elsewhere(self, answer: int) -> int:
        """Return the answer for a call that lacks the condition's argument, but has the tested value in another
        argument.

        ``answer`` is the condition's answer for that value. A condition of an ask rule answers at most UNSURE. With
        YES, the rule would hold, and no later deny rule could decide.
        """
        return min(answer, UNSURE) if self.asking else answer

    def other(self, key: str) -> int:
        """Return the answer, NO or UNSURE, for an argument whose value has a type that the condition can't compare."""
        return NO if self.loosen or key == ANYWHERE else UNSURE


@dataclass(frozen=True, slots=True)
class Condition:
    """A checked condition. ``value`` is the result of the operator's ``check`` on the value in the document."""

    key: str
    op: str
    value: Any
    match: str = "exact"


def over_values(key: str, judge: Judge, use: ConditionUse, cost: int = 1) -> Test:
    """Return a test that calls ``judge`` on the value of the argument ``key``.

    If the value is a list, ``judge`` gets each element. If the value is an object, ``judge`` gets every scalar and
    every key inside it. ``every`` then joins the answers to one answer.
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
    """Take the cost of testing one value from the call's budget. Return False if the budget is used up."""
    scope.work -= cost if type(value) is not str else cost + len(value) // _LONG
    return scope.work >= 0


def nested(value: Any, judge: Judge, use: ConditionUse, scope: CallScope, cost: int = 1) -> int:
    """Return the answer for a value.

    For a list, ``every`` joins the answers for the elements. For an object, the answer is YES if the condition tightens
    and a scalar or key inside the object gives YES. Otherwise it is UNSURE.
    """
    if isinstance(value, list | tuple):
        return every((ListElement(part) for part in value), judge, use, scope, cost)
    if isinstance(value, Mapping):
        found = every(values.leaves(value, most=max(scope.work, 0)), judge, replace(use, loosen=False), scope, cost)
        return UNSURE if use.loosen or found != YES else YES
    return judge(value) if affords(scope, value, cost) else UNSURE


class ListElement:
    """Marks a value as an element of a list, which is judged by itself. The element may be a list or an object too."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def every(items: Iterable[Any], judge: Judge, use: ConditionUse, scope: CallScope, cost: int = 1) -> int:
    """Return one answer for several values: the lowest answer with ``use.loosen``, else the highest.

    Return ``use.missing`` if there are no values. Return UNSURE if testing the values would cost more than is left of
    the call's budget.
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
    """Return a test like that of ``over_values``. ``of`` makes the judge for a call. ``cost`` is the cost of testing a
    value, in units of the call's budget.
    """
    if key == ANYWHERE:
        anything = replace(use, rating=True, negated=False)
        return lambda scope: every(scope.leaves(), of(scope), anything, scope, cost)
    steps, missing = values.pointer(key), use.missing

    def test(scope: CallScope) -> int:
        if key.startswith(ROLE):
            found = scope.role(key[1:])
            if not found and scope.shape is not None:
                return NO  # the table of tools lists this tool, and the call has no argument in that role
            return every(map(ListElement, found), of(scope), use, scope, cost)
        value = values.lookup(scope.args, steps)
        if value is values.MISSING:
            return missing
        return nested(value, of(scope), use, scope, cost)

    return test


def of_texts(judge: Judge, key: str, use: ConditionUse) -> Judge:
    """Return a function like ``judge`` that answers UNSURE instead of NO if the value isn't a text.

    The reason is that a tool may read a number or a list as a text.

    With ``use.loosen``, or with the key ``*``, ``judge`` is returned unchanged.
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
    """An operator of conditions: which keys and values it takes, and how it is compiled."""

    #: A function that takes the value in the document and returns the condition's value. It raises BadValue.
    check: Callable[[Any], Any]
    build: Callable[[Condition, ConditionUse], Test]
    #: The values that the operator takes: in words for messages (``takes``), and as JSON Schema (``schema``).
    takes: str
    schema: Mapping[str, Any] = field(default_factory=lambda: TEXTS)
    #: ``keyed`` says whether the condition has a key. ``one_argument`` says whether the key must name a single
    #: argument.
    keyed: bool = True
    one_argument: bool = False
    #: ``valued`` says whether the condition needs a value. ``matches`` says whether the condition may have the entry
    #: ``match``. With ``match: substring``, a name in the value matches every tool whose name contains it.
    valued: bool = True
    matches: bool = False
    #: The ``check`` for documents of contenox, or None if contenox doesn't have the operator.
    contenox_check: Callable[[Any], Any] | None = None


# --- checks of values


def entries(value: Any) -> tuple[str, ...]:
    """Return the entries of a list of texts, or of one text with commas.

    Raises:
        BadValue: the list is empty, or has entries of another type.
    """
    if isinstance(value, str):
        found = split(value)
    elif isinstance(value, list) and all(isinstance(part, str) and part.strip() for part in value):
        found = tuple(part.strip() for part in value)
    else:
        raise BadValue(say("fault.takes.texts"))
    if not found:
        raise BadValue(say("fault.empty.list"))
    return found


def split(value: str) -> tuple[str, ...]:
    """Return the parts of a text between its commas, without empty parts."""
    return tuple(part.strip() for part in value.split(",") if part.strip())


def a_text(value: Any) -> str:
    """Return the value. Raises BadValue if it isn't a text."""
    if not isinstance(value, str):
        raise BadValue(say("fault.takes.text"))
    return value


def scalar(value: Any) -> Any:
    """Return the value. Raises BadValue if it is a list or an object."""
    if isinstance(value, list | dict):
        raise BadValue(say("fault.takes.scalar"))
    return value


def flag(value: Any) -> bool:
    """Return true or false, which may also be written as a text. Raises BadValue for any other value."""
    if isinstance(value, bool):
        return value
    if value in ("true", "false"):
        return bool(value == "true")
    raise BadValue(say("fault.takes.flag"))
