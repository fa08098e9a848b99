"""Typed lines as events: what a line can be about, by what was on the screen when it was begun."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from adapters.terminal.chat import TerminalChat
from adapters.terminal.handlers import understand
from hitl.call import Call, Verb
from hitl.events import Heard, Press, Text
from hitl.proof.keyring import ButtonData, Keyring
from hitl.testing import a_call

NOW = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)
BEFORE, AFTER = NOW - timedelta(seconds=1), NOW + timedelta(seconds=1)
KEYS = Keyring([("k1", b"1" * 32)])
PLACE = "terminal:1"


@pytest.fixture
def chat() -> TerminalChat:
    """A terminal with nothing on it."""
    return TerminalChat(lambda _: None, width=None, colour=False)


def typed(line: str, card: Call | None, *, waits: bool = True) -> Heard:
    """What a line is, finished a moment after the card appeared."""
    return understand(line, identity="local:1000", place=PLACE, at=AFTER, card=card, waits=waits, keys=KEYS)


@pytest.mark.parametrize(
    ("line", "verb"),
    [("a", Verb.APPROVE), ("r", Verb.REJECT), ("d", Verb.DETAILS), (" A \n", Verb.APPROVE), ("R", Verb.REJECT)],
)
def test_a_key_alone_on_a_line_presses_the_button_of_the_card(line: str, verb: Verb) -> None:
    """With the data that a button of that card would hold there, sealed as on any surface."""
    call = a_call(NOW)
    pressed = typed(line, call)

    assert isinstance(pressed, Press)
    data = ButtonData.unpack(pressed.data)
    assert (verb, call.ref) == (data.verb, data.ref)
    assert data.holds(KEYS, digest=call.digest, deadline=call.deadline, place=PLACE)
    assert ("local:1000", PLACE, AFTER) == (pressed.identity, pressed.conversation, pressed.at)


@pytest.mark.parametrize("line", ["abort", "absolutely not", "aa", "a b", "yes", "d!", "view", "", "ä"])
def test_anything_more_than_a_key_is_text(line: str) -> None:
    """A refusal may begin with the letter of a yes. Nobody else is there, so it is for us and may decide."""
    said = typed(line, a_call(NOW))

    assert isinstance(said, Text)
    assert (line, True, True) == (said.text, said.private, said.addressed)


@pytest.mark.parametrize(("line", "words"), [("a", "yes"), ("R", "no"), ("d", "details")])
def test_a_key_that_is_for_no_card_is_what_it_stands_for(line: str, words: str) -> None:
    """While something waits: it is read and questioned like any words. Else it is a letter."""
    waiting, idle = typed(line, None), typed(line, None, waits=False)

    assert isinstance(waiting, Text)
    assert isinstance(idle, Text)
    assert (words, line) == (waiting.text, idle.text)


def test_a_line_is_about_the_latest_message_if_it_was_begun_after_the_card_appeared(chat: TerminalChat) -> None:
    """The same moment counts as after."""
    call = a_call(NOW)
    chat.post(call, NOW)
    found = {}
    for begun_at in (BEFORE, NOW, AFTER):
        chat.begun_at = begun_at
        found[begun_at] = chat.latest(PLACE, None)

    assert {BEFORE: None, NOW: call.ref, AFTER: call.ref} == found


def test_after_other_talk_a_line_is_about_nothing(chat: TerminalChat) -> None:
    """Until something about the card is said again."""
    call = a_call(NOW)
    chat.begun_at = AFTER
    chat.post(call, NOW)
    chat.say("the weather is fine")
    assert None is chat.latest(PLACE, None)

    chat.say("it still waits", call.ref)
    assert call.ref == chat.latest(PLACE, None)
