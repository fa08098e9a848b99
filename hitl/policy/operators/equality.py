"""The operators that test whether an argument is present, and its value: ``exists``, ``eq``, ``ne``, ``in``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any
from unicodedata import normalize

from hitl.policy import values
from hitl.policy.grammar import some
from hitl.policy.operators.base import (
    FLAG,
    MAX_PATH,
    SCALAR,
    TEXT,
    BadValue,
    Condition,
    ConditionUse,
    Judge,
    Operator,
    Test,
    a_text,
    entries,
    flag,
    over_values,
    scalar,
)
from hitl.policy.three_valued import NO, UNSURE, YES, opposite
from hitl.policy.wording import say
from hitl.records import replace


def _members(value: Any) -> tuple[Any, ...]:
    if isinstance(value, str):
        return entries(value)
    if not isinstance(value, list) or not value:
        raise BadValue(say("fault.takes.some"))
    return tuple(scalar(part) for part in value)


Comparison = Callable[[Any], int | None]


def _comparison(wanted: Any, use: ConditionUse) -> Comparison:
    """Return a function that compares an argument's value with ``wanted``, and answers YES, NO or UNSURE.

    It returns None for a value whose type can't be compared with ``wanted``.
    """
    shown = values.text(wanted)
    alike = UNSURE if use.loosen else YES  # the answer if the text is another spelling of the wanted value
    if use.textual:
        return lambda value: YES if values.text(value) == shown else NO
    of_kind = _KINDS[type(wanted)]

    def compare(value: Any) -> int | None:
        if type(value) is type(wanted) and value == wanted:
            return YES
        answer = of_kind(wanted, value, alike)
        return answer if answer or values.text(value) != shown else alike

    return compare


def _numbers(wanted: Any, value: Any, alike: int) -> int | None:
    found = values.number(value)
    if found is None:
        return None
    if found != values.number(wanted):
        return NO
    return alike if isinstance(value, str) else YES


def _truths(wanted: Any, value: Any, alike: int) -> int | None:
    if isinstance(value, bool):
        return NO
    word = value.strip().lower() if isinstance(value, str) else None
    return (alike if word == values.text(wanted) else NO) if word in ("true", "false") else None


def _texts(wanted: Any, value: Any, alike: int) -> int | None:
    if isinstance(value, str):
        return UNSURE if folded(value, longest_alike([wanted])) == folded(wanted) else NO
    number = None if isinstance(value, bool) else values.number(value)
    if number is None or values.number(wanted) is None:
        return None
    return alike if number == values.number(wanted) else NO


def _nothing_wanted(_wanted: Any, _value: Any, _alike: int) -> int | None:
    return NO


#: Type of the wanted value -> the function that compares it with an argument's value. The function's parameters are the
#: wanted value, the argument's value, and the answer for another spelling of the wanted value.
_KINDS: dict[type, Callable[[Any, Any, int], int | None]] = {
    int: _numbers, float: _numbers, Decimal: _numbers, bool: _truths, str: _texts, type(None): _nothing_wanted,
}  # fmt: skip


def folded(text: str, most: int = MAX_PATH) -> str:
    """Return a text in a form without differences that people overlook: outer blanks, case, and variants of letters
    (NFKC).

    A non-ASCII text longer than ``most`` only loses its outer blanks. It can't be equal to a wanted text, which is
    shorter.
    """
    if text.isascii():
        return text.strip().lower()
    plain = text.strip()
    return plain if len(plain) > most else normalize("NFKC", plain).strip().casefold()


def longest_alike(texts: Iterable[str]) -> int:
    """Return the greatest length of a text whose folded form can equal the folded form of one of these texts.

    One letter may be written with a few characters, such as a base letter and its marks.
    """
    return 8 * max(map(len, texts), default=0) + 64


def _build_eq(condition: Condition, use: ConditionUse) -> Test:
    if use.textual:  # in contenox, an absent argument is unequal to every value
        use = replace(use, rating=True)
    return over_values(condition.key, _equal(condition, use), use)


def _equal(condition: Condition, use: ConditionUse) -> Judge:
    if isinstance(condition.value, str) and not use.textual:
        return _among_texts(condition.key, (condition.value,), use)
    compare, other = _comparison(condition.value, use), use.other(condition.key)

    def judge(value: Any) -> int:
        answer = compare(value)
        return other if answer is None else answer

    return judge


def _build_ne(condition: Condition, use: ConditionUse) -> Test:
    equal = _equal(condition, use.inside_not())
    return over_values(condition.key, lambda value: opposite(equal(value)), use)


def _build_in(condition: Condition, use: ConditionUse) -> Test:
    if all(isinstance(wanted, str) for wanted in condition.value) and not use.textual:
        return over_values(condition.key, _among_texts(condition.key, condition.value, use), use)
    compares = [_comparison(wanted, use) for wanted in condition.value]
    other = use.other(condition.key)

    def judge(value: Any) -> int:
        answers = [answer for compare in compares if (answer := compare(value)) is not None]
        return max(answers) if answers else other

    return over_values(condition.key, judge, use, len(compares))


def _among_texts(key: str, wanted: Iterable[str], use: ConditionUse) -> Judge:
    """Return a function that tests whether a value is one of these texts, and answers YES, NO or UNSURE.

    It gives the same answer as a comparison with each text, by one look-up in a set.
    """
    texts = frozenset(wanted)
    overlooked, most = frozenset(map(folded, texts)), longest_alike(texts)
    numbers = frozenset(found for one in texts if (found := values.number(one)) is not None)
    other, alike = use.other(key), UNSURE if use.loosen else YES

    def judge(value: Any) -> int:
        if isinstance(value, str):
            return YES if value in texts else UNSURE if folded(value, most) in overlooked else NO
        if values.text(value) in texts:
            return alike
        number = None if isinstance(value, bool) else values.number(value)
        if number is None or not numbers:
            return other
        return alike if number in numbers else NO

    return judge


def _build_exists(condition: Condition, _use: ConditionUse) -> Test:
    steps, wanted = values.pointer(condition.key), condition.value
    return lambda scope: YES if (values.lookup(scope.args, steps) is not values.MISSING) == wanted else NO


OPERATORS: Mapping[str, Operator] = {
    "eq": Operator(scalar, _build_eq, say("takes.scalar"), SCALAR, contenox_check=a_text),
    "ne": Operator(scalar, _build_ne, say("takes.scalar"), SCALAR),
    "in": Operator(_members, _build_in, say("takes.scalars"), {"anyOf": [TEXT, some(SCALAR)]}),
    "exists": Operator(flag, _build_exists, say("takes.flag"), FLAG, one_argument=True),
}
