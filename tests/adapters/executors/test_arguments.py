"""A tool's model declares its arguments: they are what it says, or the call is refused by name."""

from __future__ import annotations

from typing import Any, Literal

import jsonschema
import pytest

from adapters.executors.arguments import Arguments, Declared
from hitl.errors import InvalidConfirmation
from tests.sentences import raises


class OneOfEachKind(Arguments):
    """One argument of each kind."""

    text: str
    count: int = 1
    share: float = 0.5
    loud: bool = False
    names: list[str] | None = None
    more: dict[str, int] | None = None
    how: Literal["fast", "slow"] = "fast"
    anything: Any = None


DECLARED = Declared(OneOfEachKind)


@pytest.mark.parametrize(
    "args",
    [
        {"text": "a"},
        {"text": "", "count": 3, "share": 2, "loud": True},
        {"text": "a", "share": 0.25, "names": [], "more": {}},
        {"text": "a", "names": ["a", "b"], "more": {"a": 1}, "how": "slow", "anything": [{}]},
        {"text": "a", "names": None},
    ],
)
def test_what_fits_is_taken(args: dict[str, Any]) -> None:
    """Every argument of its declared type passes, an integer also where a number is wanted."""
    parsed = DECLARED.parse(args)

    assert args == parsed.model_dump(exclude_unset=True)
    jsonschema.validate(args, DECLARED.schema)


@pytest.mark.parametrize(
    ("args", "name"),
    [
        ({"text": 1}, "text"),
        ({"text": None}, "text"),
        ({"text": "a", "count": True}, "count"),
        ({"text": "a", "count": 1.5}, "count"),
        ({"text": "a", "count": "1"}, "count"),
        ({"text": "a", "loud": 1}, "loud"),
        ({"text": "a", "names": ["a", 2]}, "names.1"),
        ({"text": "a", "more": {"a": "b"}}, "more.a"),
        ({"text": "a", "how": "Fast"}, "how"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(args: dict[str, Any], name: str) -> None:
    """Nothing is converted; the refusal names the argument, and its schema refuses the same."""
    with raises(InvalidConfirmation, "args.type", name=name):
        DECLARED.parse(args)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(args, DECLARED.schema)


def test_a_missing_argument_is_named() -> None:
    """It has no default, so the call can't be asked."""
    with raises(InvalidConfirmation, "args.missing", name="text"):
        DECLARED.parse({})


def test_an_unknown_argument_is_refused() -> None:
    """A misspelt argument is not silently dropped; it is shown safely."""
    with raises(InvalidConfirmation, "args.unknown", name=r"txt\u{202e}"):
        DECLARED.parse({"txt\u202e": "a"})


def test_a_refusal_repeats_no_value() -> None:
    """An argument may hold a secret."""
    with pytest.raises(InvalidConfirmation) as refused:
        DECLARED.parse({"text": "a", "count": "sk-INVENTED", "how": "sk-INVENTED"})

    assert "INVENTED" not in refused.value.message
