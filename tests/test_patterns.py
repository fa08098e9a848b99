"""Regular expressions that mean the same to each Python that Sayso supports."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from re import _constants, _parser  # type: ignore[attr-defined] # Only this module tells the parts of an expression.
from typing import Any

import pytest

import hitl

#: Python 3.11.2 (Debian 12) matches these parts wrongly inside a possessive repeat: `(?!...)`, and repeats that can
#: backtrack.
UNSAFE = {_constants.ASSERT_NOT, _constants.MAX_REPEAT, _constants.MIN_REPEAT}
#: A text with a possessive repeat of a group is an expression too: a template, or a part of an expression.
POSSESSIVE_GROUP = re.compile(r"\)(?:[*+?]|\{\d+,\d*\})\+")


def parts(items: Any) -> Iterator[tuple[Any, Any]]:
    """Give each part of a parsed expression as its kind and its arguments, at every depth."""
    for item in items:
        if isinstance(item, tuple) and item and isinstance(item[0], type(_constants.MAX_REPEAT)):
            yield item
        if isinstance(item, tuple | list | _parser.SubPattern):
            yield from parts(item)


def is_unsafe(expression: str) -> bool:
    """Return whether the expression has an unsafe part inside a possessive repeat."""
    repeats = [inside for kind, inside in parts(_parser.parse(expression)) if kind is _constants.POSSESSIVE_REPEAT]
    return any(kind in UNSAFE for inside in repeats for kind, _ in parts(inside))


def expressions(value: Any) -> Iterator[str]:
    """Give the source of each expression in a module's value."""
    value = getattr(value, "__self__", value)
    if isinstance(value, str):
        if POSSESSIVE_GROUP.search(value):
            yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from expressions(each)
    elif hasattr(type(value), "__struct_fields__") or isinstance(value, re.Pattern):
        yield from expressions(
            [getattr(value, name, None) for name in getattr(value, "__struct_fields__", ["pattern"])]
        )
    elif type(value).__module__ == "hitl.patterns":
        yield from expressions(value.pattern)


def test_no_possessive_repeat_holds_what_an_older_python_matches_wrongly() -> None:
    """Python 3.11.2 ignores a `(?!...)` in a possessive repeat. It matches atomic groups correctly."""
    modules = [import_module(found.name) for found in pkgutil.walk_packages(hitl.__path__, "hitl.")]
    found = {
        (module.__name__, name): source
        for module in modules
        for name, value in vars(module).items()
        for source in expressions(value)
    }

    assert ("hitl.policy.paths", "PLAIN") in found
    assert {} == {place: source for place, source in found.items() if is_unsafe(source)}


@pytest.mark.parametrize("expression", [r"(?:(?!b)[a-z])*+", r"(?:-?[a-z]{2})++", r"a(?:b|(?:c+|d){1,9}+)"])
def test_an_unsafe_expression_is_found(expression: str) -> None:
    """The search finds unsafe parts at each depth."""
    assert is_unsafe(expression)


@pytest.mark.parametrize("expression", [r"(?>(?:(?!b)[a-z])*)", r"(?:a|b++)*+", r"(?!a)b*+"])
def test_a_safe_expression_passes(expression: str) -> None:
    """Atomic groups, and possessive repeats without an unsafe part, pass."""
    assert not is_unsafe(expression)
