"""A signature is a declaration: arguments are what it says, or the call is refused by name."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from adapters.executors.arguments import check, parameters_of
from hitl.errors import InvalidConfirmation


def _tool(  # noqa: PLR0913  one argument of each kind
    text: str,
    *,
    count: int = 1,
    share: float = 0.5,
    loud: bool = False,
    names: list[str] | None = None,
    more: dict[str, int] | None = None,
    how: Literal["fast", "slow"] = "fast",
    anything: Any = None,
) -> None:
    """Takes one argument of each kind."""


PARAMETERS = parameters_of(_tool, skip=0)


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
    check(PARAMETERS, args)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({}, "The argument text is missing. Nothing was asked."),
        ({"text": 1}, "The argument text must be a string. Nothing was asked."),
        ({"text": None}, "The argument text must be a string. Nothing was asked."),
        ({"text": "a", "count": True}, "The argument count must be an integer. Nothing was asked."),
        ({"text": "a", "count": 1.5}, "The argument count must be an integer. Nothing was asked."),
        ({"text": "a", "count": "1"}, "The argument count must be an integer. Nothing was asked."),
        ({"text": "a", "loud": 1}, "The argument loud must be true or false. Nothing was asked."),
        (
            {"text": "a", "names": ["a", 2]},
            "The argument names must be a list, each item a string or null. Nothing was asked.",
        ),
        (
            {"text": "a", "more": {"a": "b"}},
            "The argument more must be an object, each value an integer or null. Nothing was asked.",
        ),
        ({"text": "a", "how": "Fast"}, "The argument how must be one of 'fast', 'slow'. Nothing was asked."),
    ],
)
def test_what_does_not_fit_is_refused_by_name(args: dict[str, Any], message: str) -> None:
    """The refusal names the argument and what it must be."""
    with pytest.raises(InvalidConfirmation) as refusal:
        check(PARAMETERS, args)

    assert message == refusal.value.message


def test_an_unknown_argument_is_refused() -> None:
    """A misspelt argument is not silently dropped; it is shown safely."""
    with pytest.raises(InvalidConfirmation, match=r"txt\\u\{202e\} is not an argument of this tool; it takes"):
        check(PARAMETERS, {"txt\u202e": "a"})


def test_a_signature_must_declare_everything() -> None:
    """No catch-all, no missing type, no type that JSON hasn't."""

    def catches_all(**args: str) -> None:
        """Takes whatever comes."""

    def has_bytes(data: bytes) -> None:
        """Takes what JSON can't carry."""

    for function in (catches_all, has_bytes, lambda x: x):
        with pytest.raises(TypeError):
            parameters_of(function, skip=0)
