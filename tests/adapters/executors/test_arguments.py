"""A signature is a declaration: arguments are what it says, or the call is refused by name."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from adapters.executors.arguments import check, parameters_of
from hitl.errors import InvalidConfirmation
from hitl.wording import say
from tests.sentences import raises


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


def _either(*kinds: str) -> str:
    """Return the words for a value of one of these types."""
    return say("type.or").join(map(say, kinds))


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
        ({}, say("args.missing", name="text")),
        ({"text": 1}, say("args.type", name="text", type=say("type.string"))),
        ({"text": None}, say("args.type", name="text", type=say("type.string"))),
        ({"text": "a", "count": True}, say("args.type", name="count", type=say("type.integer"))),
        ({"text": "a", "count": 1.5}, say("args.type", name="count", type=say("type.integer"))),
        ({"text": "a", "count": "1"}, say("args.type", name="count", type=say("type.integer"))),
        ({"text": "a", "loud": 1}, say("args.type", name="loud", type=say("type.boolean"))),
        (
            {"text": "a", "names": ["a", 2]},
            say("args.type", name="names", type=say("type.list.of", type=_either("type.string", "type.null"))),
        ),
        (
            {"text": "a", "more": {"a": "b"}},
            say("args.type", name="more", type=say("type.object.of", type=_either("type.integer", "type.null"))),
        ),
        ({"text": "a", "how": "Fast"}, say("args.type", name="how", type=say("type.choice", choices="'fast', 'slow'"))),
    ],
)
def test_what_does_not_fit_is_refused_by_name(args: dict[str, Any], message: str) -> None:
    """The refusal names the argument and what it must be."""
    with pytest.raises(InvalidConfirmation) as refusal:
        check(PARAMETERS, args)

    assert message == refusal.value.message


def test_an_unknown_argument_is_refused() -> None:
    """A misspelt argument is not silently dropped; it is shown safely."""
    with raises(InvalidConfirmation, "args.unknown", name=r"txt\u{202e}"):
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
