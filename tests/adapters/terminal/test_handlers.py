"""Typed lines as replies: what a line can be about, by what was on the screen when it was begun."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from adapters.terminal.handlers import Desk
from hitl.model import Call, Kind, Reply, Verb
from hitl.testing import a_call

NOW = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)
BEFORE, AFTER = NOW - timedelta(seconds=1), NOW + timedelta(seconds=1)


@pytest.fixture
def desk() -> Desk:
    """A terminal with nothing on it."""
    return Desk("local:1000", "terminal:1")


def reply(desk: Desk, line: str, open_calls: list[Call], begun_at: datetime = AFTER) -> Reply:
    """What a line is, finished a moment after the card appeared."""
    return desk.to_reply(line, begun_at=begun_at, at=AFTER, open_calls=open_calls)


@pytest.mark.parametrize(
    ("line", "verb"),
    [("a", Verb.APPROVE), ("d", Verb.REJECT), ("v", Verb.DETAILS), (" A \n", Verb.APPROVE), ("D", Verb.REJECT)],
)
def test_a_key_alone_on_a_line_is_a_button(desk: Desk, line: str, verb: Verb) -> None:
    """It is pressed on the card that was shown last."""
    call = a_call(NOW)
    desk.showed_card(call, NOW)
    pressed = reply(desk, line, [call])

    assert (Kind.BUTTON, verb, call.ref) == (pressed.kind, pressed.verb, pressed.target)
    assert ("local:1000", "terminal", "terminal:1", AFTER) == (
        pressed.identity,
        pressed.surface,
        pressed.conversation,
        pressed.pressed_at,
    )


@pytest.mark.parametrize("line", ["abort", "absolutely not", "aa", "a b", "yes", "d!", "view", "", "ä"])
def test_anything_more_than_a_key_is_text(desk: Desk, line: str) -> None:
    """A refusal may begin with the letter of a yes."""
    call = a_call(NOW)
    desk.showed_card(call, NOW)
    said = reply(desk, line, [call])

    assert (Kind.TEXT, None, None, line) == (said.kind, said.verb, said.target, said.text)
    assert (call.ref, True) == (said.follows, said.private)


@pytest.mark.parametrize("line", ["a", "yes"])
def test_a_line_begun_before_the_card_is_not_about_it(desk: Desk, line: str) -> None:
    """Whatever it says and whenever it is finished."""
    call = a_call(NOW)
    desk.showed_card(call, NOW)
    said = reply(desk, line, [call], begun_at=BEFORE)

    assert (Kind.TEXT, None, None) == (said.kind, said.target, said.follows)


def test_a_line_begun_as_the_card_appeared_is_about_it(desk: Desk) -> None:
    """The same moment counts as after."""
    call = a_call(NOW)
    desk.showed_card(call, NOW)

    assert call.ref == reply(desk, "yes", [call], begun_at=NOW).follows


def test_after_other_talk_a_line_follows_nothing(desk: Desk) -> None:
    """A key isn't a button then, and a yes isn't about the card, until something about the card is said again."""
    call = a_call(NOW)
    desk.showed_card(call, NOW)
    desk.said()
    assert (Kind.TEXT, None) == (reply(desk, "a", [call]).kind, reply(desk, "yes", [call]).follows)

    desk.said(call)
    assert (Kind.BUTTON, call.ref) == (reply(desk, "a", [call]).kind, reply(desk, "yes", [call]).follows)


def test_a_key_for_a_card_that_is_over_is_text(desk: Desk) -> None:
    """Nothing is left to press."""
    call = a_call(NOW)
    desk.showed_card(call, NOW)

    assert Kind.TEXT is reply(desk, "a", []).kind


def test_with_nothing_shown_a_key_is_text(desk: Desk) -> None:
    """A call that waits but never was on this screen can't be meant."""
    said = reply(desk, "a", [a_call(NOW)])

    assert (Kind.TEXT, None) == (said.kind, said.follows)
