"""Finds the rules of a list that may hold for a call, without trying each rule.

The index files a rule under one of its conditions: ``eq`` and ``in`` under the value, ``lt`` and other bounds under the
number, ``glob`` under the literal folder or file name. All regular expressions on one argument are searched together.
If the value of an argument isn't plain (a list, or a path with two meanings), every rule that is filed under this
argument is a candidate. The index may return too many rules, but never too few.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence
from decimal import Decimal
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar

from hitl.policy import values
from hitl.policy.globs import literal_folder
from hitl.policy.operators.base import Condition
from hitl.policy.operators.equality import folded, longest_alike
from hitl.policy.operators.scope import ANYWHERE, ROLE
from hitl.policy.operators.text import MAX_SUBJECT, any_required, pattern_set
from hitl.policy.paths import PLAIN, plain_path

if TYPE_CHECKING:
    from hitl.policy.document import Rule

Finder = Callable[[Any, list[int]], None]

SMALL: Final = 4  # for so few rules, trying each rule is faster than a look-up
_NEVER = 1 << 62
_MAX_TOPS = 8
_MAX_HINTED = 256  # characters; for a longer text, the quick search before RE2 saves no time
_NUMERIC = frozenset(("lt", "le", "gt", "ge"))
_INDEXED = _NUMERIC | {"eq", "in", "glob", "matches"}


class HasRule(Protocol):
    """A type with the attribute ``rule``, such as a compiled rule."""

    @property
    def rule(self) -> Rule:
        """The rule as the document states it."""


R = TypeVar("R", bound=HasRule)


class Index(Generic[R]):
    """The rules of one list for one tool, in order, with a fast search for the rules that may hold for a call."""

    __slots__ = ("_always", "_finders", "rules")

    def __init__(self, rules: Sequence[R], *, plain_paths: bool) -> None:
        self.rules = tuple(rules)
        self._finders: tuple[tuple[str, Finder, _Argument], ...] = ()
        self._always: list[int] = []
        if len(rules) > SMALL:
            self._file(plain_paths=plain_paths)

    def _file(self, *, plain_paths: bool) -> None:
        arguments: dict[str, _Argument] = {}
        for at, compiled in enumerate(self.rules):
            gate = _gate(compiled, plain_paths=plain_paths)
            if gate is None or not arguments.setdefault(gate.key, _Argument()).file(gate, at, compiled.rule):
                self._always.append(at)
        self._finders = tuple((key, one.finder(), one) for key, one in arguments.items() if one.every)

    def candidates(self, args: Mapping[str, Any]) -> Sequence[R]:
        """Return the rules that may hold for these arguments, in order."""
        if not self._finders:
            return self.rules
        found: list[int] = []
        missing = values.MISSING
        absent: list[_Argument] = []
        for key, find, argument in self._finders:
            value = args.get(key, missing)
            if value is not missing:
                find(value, found)
            elif argument.absent:
                absent.append(argument)
        if absent:
            first = min(argument.doubted for argument in absent)
            found += [at for argument in absent for at in argument.absent if at <= first]
        if self._always:
            found += self._always
        elif not found:
            return ()
        rules = self.rules
        return [rules[at] for at in sorted(set(found))] if len(found) > 1 else (rules[found[0]],)


def _gate(compiled: HasRule, *, plain_paths: bool) -> Condition | None:
    """Return the condition under which the index files a rule, or None if the rule has no suitable condition.

    The rule can hold only if this condition holds. Its operator can be indexed, and its key is the name of an argument.
    """
    gates = (
        part for part in compiled.rule.when.parts if isinstance(part, Condition) and _fits(part, plain=plain_paths)
    )
    return next(gates, None)


def _fits(part: Condition, *, plain: bool) -> bool:
    if part.op not in _INDEXED or not part.key or part.key[0] in ("/", ANYWHERE, ROLE):
        return False
    return part.op != "glob" or (
        plain and all(one is not None and one.absolute and one.alternatives for one in part.value)
    )


class _Thresholds:
    """The rules whose only condition is a bound on one argument, ordered by the bound.

    All bounds are lower bounds, or all are upper bounds. For upper bounds, ``sign`` is -1. Each value and each bound is
    multiplied by ``sign``, which turns upper bounds into lower bounds. If a value is below ``least``, no rule holds.
    """

    __slots__ = ("_first", "_limits", "_places", "least", "sign")

    def __init__(self, entries: Sequence[tuple[int | Decimal, int]], sign: int) -> None:
        self.sign = sign
        ordered = sorted((limit * sign, place) for limit, place in entries)
        self._limits = [limit for limit, _ in ordered]
        self._places = [place for _, place in ordered]
        self._first = list(accumulate(self._places, min))
        self.least = self._limits[0]

    def find(self, value: int | Decimal, found: list[int]) -> None:
        """Add to ``found`` the first rule of the list whose bound is below the value, and every rule whose bound equals
        the value.

        If the bound of a rule is below the value, the condition certainly holds. So no later rule with such a bound can
        decide.
        """
        signed = value * self.sign
        limits = self._limits
        below = bisect_left(limits, signed)
        if below:
            found.append(self._first[below - 1])
        while below < len(limits) and limits[below] == signed:
            found.append(self._places[below])
            below += 1


class _Argument:
    """The rules that are filed under conditions on one argument.

    ``every`` lists the indexes of these rules. ``absent`` lists the deny and ask rules that answer UNSURE if the
    argument is missing. The list ends with the first rule that has no other condition, because after this rule the
    verdict is in doubt anyway. ``doubted`` is the index of that rule.
    """

    __slots__ = (
        "_bounds",
        "_folders",
        "_names",
        "_odd",
        "_patterns",
        "_places",
        "_texts",
        "absent",
        "doubted",
        "every",
    )

    def __init__(self) -> None:
        self.every: list[int] = []
        self.absent: list[int] = []
        self.doubted = _NEVER
        self._odd: list[int] = []
        self._texts: dict[str, list[int]] = {}
        self._bounds: dict[int, list[tuple[int | Decimal, int]]] = {1: [], -1: []}
        self._folders: dict[str, list[int]] = {}
        self._names: dict[str, list[int]] = {}
        self._patterns: list[str] = []
        self._places: list[int] = []

    def file(self, gate: Condition, at: int, rule: Rule) -> bool:
        """File a rule under its condition ``gate``. Return False if the index can't file such a condition; the rule
        must then always be tried.
        """
        whole = len(rule.when.parts) == 1
        filed = self._numeric(gate, at, whole=whole) if gate.op in _NUMERIC else self._textual(gate, at)
        if filed:
            self.every.append(at)
            if rule.action in ("deny", "approve") and self.doubted == _NEVER:
                self.absent.append(at)
                if whole and not (
                    rule.textual and gate.op == "eq"
                ):  # in contenox, an absent argument isn't equal to any value, so this rule answers NO
                    self.doubted = at
        return filed

    def _numeric(self, gate: Condition, at: int, *, whole: bool) -> bool:
        if whole:
            self._bounds[1 if gate.op in ("gt", "ge") else -1].append((gate.value, at))
        return whole

    def _textual(self, gate: Condition, at: int) -> bool:
        if gate.op == "glob":
            return self._globs(gate, at)
        if gate.op == "matches":
            self._patterns.append(gate.value.pattern)
            self._places.append(at)
            return True
        for wanted in gate.value if gate.op == "in" else (gate.value,):
            places = self._texts.setdefault(folded(wanted), []) if isinstance(wanted, str) else self._odd
            if places[-1:] != [at]:
                places.append(at)
        return True

    def _globs(self, gate: Condition, at: int) -> bool:
        places = [_place(alternative) for glob in gate.value for alternative in glob.alternatives]
        if None in places:
            return False
        for place in places:
            if place is not None:
                (self._names if place[0] else self._folders).setdefault(place[1], []).append(at)
        return True

    def finder(self) -> Finder:
        """Return the Finder of this argument: a function with two parameters, a value of the argument and a list. It
        adds to the list the indexes of the rules that may hold for this value.
        """
        limits = tuple(_Thresholds(entries, sign) for sign, entries in self._bounds.items() if entries)
        textual = [
            finder
            for finder, wanted in (
                (_find_text(self._texts, self._odd, self.every), self._texts or self._odd),
                (_find_path(self._folders, self._names, self.every), self._folders or self._names),
                (_find_match(self._patterns, self._places, self.every), self._patterns),
            )
            if wanted
        ]
        if limits:
            return _find_number(limits, self.every) if not textual else _find_every(self.every)
        return textual[0] if len(textual) == 1 else _find_all(textual)


def _find_every(every: list[int]) -> Finder:
    return lambda _, found: found.extend(every)


def _find_all(finders: Sequence[Finder]) -> Finder:
    def find(value: Any, found: list[int]) -> None:
        for each in finders:
            each(value, found)

    return find


def _find_text(texts: Mapping[str, list[int]], odd: list[int], every: list[int]) -> Finder:
    """Return a Finder for rules that compare the argument with texts.

    ``texts`` files these rules by the folded text. The rules in ``odd`` compare with a number, true, false or null. A
    text may spell such a value in many ways, so these rules are candidates for every text. For a value that isn't a
    text, all rules in ``every`` are candidates.
    """
    most = longest_alike(texts)

    def find(value: Any, found: list[int]) -> None:
        places = texts.get(folded(value, most)) if type(value) is str else every
        if places:
            found += places
        if odd and type(value) is str:
            found += odd

    return find


def _find_path(folders: Mapping[str, list[int]], names: Mapping[str, list[int]], every: list[int]) -> Finder:
    tops = frozenset(folder[: max(folder.find("/", 1), 0) or None] for folder in folders)
    elsewhere = _elsewhere(tops) if not names else None

    def find(value: Any, found: list[int]) -> None:
        if type(value) is not str:
            found += every
            return
        if elsewhere is not None and elsewhere(value):
            return
        if not plain_path(value):
            found += every
            return
        folded = value.lower()
        at = folded.find("/", 1)
        if (folded[:at] if at > 0 else folded) in tops:
            while at > 0:
                places = folders.get(folded[:at])
                if places:
                    found += places
                at = folded.find("/", at + 1)
            found += folders.get(folded, ())
        if names:
            found += names.get(folded[folded.rfind("/") + 1 :], ())

    return find


def _elsewhere(tops: Collection[str]) -> Callable[[str], object] | None:
    """Return a function that tests whether a plain path is outside all of these top folders, such as ``/home``.

    Return None if there are more than _MAX_TOPS folders.
    """
    if len(tops) > _MAX_TOPS:
        return None
    closed = "|".join(map(re.escape, tops))
    return re.compile(rf"(?!(?i:{closed})(?:/|\Z)){PLAIN}", re.ASCII).fullmatch


def _find_match(patterns: Sequence[str], places: list[int], every: list[int]) -> Finder:
    match = pattern_set(patterns) if patterns else None
    hinted = any_required(patterns)

    def find(value: Any, found: list[int]) -> None:
        if type(value) is not str:
            found += every
        elif match is None or len(value) > MAX_SUBJECT or not value.isascii():
            found += places
        elif hinted is not None and len(value) <= _MAX_HINTED and not hinted(value):
            return
        elif hits := match(value):
            found += [places[at] for at in hits]

    return find


def _find_number(limits: tuple[_Thresholds, ...], every: list[int]) -> Finder:
    def find(value: Any, found: list[int]) -> None:
        exact = value if type(value) is int else _exact(value)
        if exact is None:
            found += every
            return
        for each in limits:
            if exact * each.sign >= each.least:
                each.find(exact, found)

    return find


def _place(alternative: str) -> tuple[bool, str] | None:
    """Return the key under which a glob is filed: (False, its folder) or (True, its file name).

    A glob without wildcards is filed under its whole path. Return None if the folder and the file name have wildcards.
    """
    folder, name = literal_folder(alternative), alternative.rpartition("/")[2]
    if folder:
        return False, folder.casefold()
    return None if any(mark in name for mark in "*?[\\") else (True, name.casefold())


def _exact(value: Any) -> Decimal | None:
    return values.number(value) if isinstance(value, float | Decimal) else None
