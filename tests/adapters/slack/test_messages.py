"""Cards, sentences and windows as Block Kit: they fit, they say what they say, and nothing in them is live."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.slack.messages import (
    LONGEST,
    PAGE,
    SECTION,
    Message,
    card_message,
    chunks,
    cut,
    length,
    notice_message,
    outcome_message,
    page_blocks,
    page_window,
    plain_message,
    reason_window,
)
from hitl import question
from hitl.call import Call, Decision, State, Verb
from hitl.cards.card import card
from hitl.cards.languages import wording_of
from hitl.cards.wording import say
from hitl.people import Directory
from hitl.people.names import Names
from hitl.proof.canonical import canonical
from hitl.proof.keyring import ButtonData, Keyring
from simulators.slack.blocks import MAX_TOTAL, block_problems, named, total, view_problems
from simulators.slack.sight import Shown, shown
from tests.adapters.nasty import LONG, calls, parked
from tests.sentences import says

KEYS = Keyring([("k1", b"1" * 32)])
PLACE = "slack:T1/C1"
#: Block Kit reference: a button's label and value, and blocks in a message.
LABEL, VALUE, MOST_BLOCKS = 75, 2000, 50
FEW = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
#: What a card may hold beside its text: frames, styles, mentions of those who may answer, and a time.
OURS = {"pre", "bold", "italic", "user", "date", "code", "quote"}
MANY = tuple(f"U{number:04}" for number in range(50))


def seen(message: Message) -> Shown:
    """As people see it."""
    return shown(message.text, named(message.blocks, "b"))


def is_within(message: Message) -> bool:
    """Whether Slack would take it."""
    blocks = list(message.blocks)
    return not block_problems(blocks) and total(blocks) <= MAX_TOTAL and len(blocks) <= MOST_BLOCKS


@FEW
@given(calls())
def test_a_card_always_fits_and_nothing_in_it_is_live(call: Call) -> None:
    """It shows every word of the card, and mentions nobody but those who may answer."""
    call = call.evolve(approvers=tuple(f"slack:T1/{user}" for user in MANY))
    told, message = card(call), card_message(call, KEYS, PLACE)
    looks = seen(message)
    words = (told.headline, told.place, told.note, *told.warnings, *(part.text for part in told.parts))

    assert is_within(message)
    assert OURS >= {mark.kind for mark in looks.marks}
    assert set(MANY) >= {mark.target for mark in looks.of("user")}
    assert [] == [word for word in words if word not in looks.text]
    assert "<" not in message.text


@FEW
@given(calls(), LONG, LONG)
def test_a_card_with_an_outcome_fits(call: Call, reason: str, output: str) -> None:
    """However long the reason and the output are; so do the notice and the sentence that stand for it."""
    ended = call.evolve(decision=Decision.REJECTED, reason=reason, output=output, decided_by="x", state=State.IDLE)
    card_, notice, said = card_message(ended, KEYS, PLACE), notice_message(ended, MANY[:1]), outcome_message(ended)

    assert all(map(is_within, (card_, notice, said)))
    assert [Verb.DETAILS] == [ButtonData.unpack(str(one.value)).verb for one in seen(card_).buttons]
    assert {"user"} >= {mark.kind for mark in seen(notice).marks} - {"pre"}


@FEW
@given(LONG.filter(bool), st.integers(-1, 40))
def test_pages_hold_the_whole(text: str, number: int) -> None:
    """Each fits into a message and a window, and together they are the text."""
    pages = chunks(text, PAGE)
    blocks = page_blocks("r", text, number)

    assert text == "".join(pages)
    assert is_within(Message(blocks, ""))
    assert [] == view_problems(page_window("r", text, number, "{}"))


@FEW
@given(LONG.filter(str.strip))
def test_a_sentence_fits_and_is_text(text: str) -> None:
    """Whatever it quotes."""
    message = plain_message(text)

    assert is_within(message)
    assert () == seen(message).marks


@pytest.mark.parametrize(("letter", "count"), [("x", LONGEST), ("😀", LONGEST // 2), ("é", LONGEST)])
def test_what_just_fits_is_whole(letter: str, count: int) -> None:
    """Counted in UTF-16 units; one more is cut in the middle and counted."""
    fits, over = letter * count, letter * (count + 1)

    assert fits == "".join(block["text"]["text"] for block in plain_message(fits).blocks)
    assert says(cut(over, LONGEST), "card.left_out")
    assert length(cut(over, LONGEST)) <= LONGEST


@pytest.mark.parametrize("letter", ["x", "😀", "x😀"])
@pytest.mark.parametrize("units", [1, 2, 7, SECTION])
def test_chunks_are_as_long_as_they_may_be(letter: str, units: int) -> None:
    """No piece is too long, none is empty, and no character is split or lost."""
    text = letter * 5000
    if units == 1 and "😀" in letter:
        return
    found = chunks(text, units)

    assert text == "".join(found)
    assert all(0 < length(piece) <= units for piece in found)
    assert len(found) <= 2 * length(text) // units + 1


def test_buttons_carry_sealed_data_for_just_this_call_and_channel() -> None:
    """46 characters each."""
    call = parked()
    buttons = seen(card_message(call, KEYS, PLACE)).buttons
    data = [ButtonData.unpack(str(one.value)) for one in buttons]

    assert [Verb.APPROVE, Verb.REJECT, Verb.DETAILS] == [one.verb for one in data]
    assert all(one.holds(KEYS, digest=call.digest, deadline=call.deadline, place=PLACE) for one in data)
    assert all(len(str(one.value)) == 46 <= VALUE and length(one.label) <= LABEL for one in buttons)


def test_no_argument_becomes_the_action_in_a_notification() -> None:
    """An argument of several lines could say that another payment is asked for."""
    args = {"to": "Mallory", "memo": "10 EUR to Ada\nto: Ada"}
    message = card_message(parked(tool="pay", sentence="", args=canonical(args)), KEYS, PLACE)

    assert "pay" in message.text
    assert "Ada" not in message.text


def test_an_empty_argument_is_said_to_be_empty() -> None:
    """In letters of ours: Slack takes no empty text."""
    empty = say("card.empty")
    message = card_message(parked(args=canonical({"path": "", "other": empty})), KEYS, PLACE)
    looks = seen(message)

    assert is_within(message)
    assert [empty] == [mark.text.strip() for mark in looks.of("italic")]
    assert f"other: {empty}" in looks.text


@pytest.mark.parametrize("verb", [Verb.APPROVE, Verb.REJECT])
def test_the_window_for_a_reason_is_one(verb: Verb) -> None:
    """With one field, and what it is about."""
    window: dict[str, Any] = reason_window("ABC234", verb, "{}")

    assert [] == view_problems(window)
    assert "ABC234" in shown("", window["blocks"]).text


@pytest.mark.parametrize("tool", ["bash", question.TOOL])
def test_labels_for_screen_readers_are_cut_in_the_languages_words(tool: str) -> None:
    """Of a question as of any other request: the count of what is left out is in the language of the card."""
    german = wording_of("de")
    asks = tool == question.TOOL
    long = {"question": "warum " * 40} if asks else {"command": "echo " + "x" * 200}
    call = parked(args=canonical(long), executor=question.EXECUTOR if asks else "workspace", tool=tool)
    blocks = card_message(call, KEYS, PLACE, wording=german).blocks
    labels = [button["accessibility_label"] for button in blocks[-1]["elements"]]
    push = cut(card(call, platform="slack", wording=german).push, 75, german)

    assert [cut(f"{button['text']['text']}: {push}", 75, german) for button in blocks[-1]["elements"]] == labels
    assert len(labels) >= 3


def test_a_person_who_is_called_you_is_mentioned_as_anybody() -> None:
    """A name decides nothing: only the card's one reader isn't mentioned."""
    ann = "slack:T1/UANN"
    names = Names(Directory(approvers=(ann,)))
    names.learn(ann, say("card.you"))
    call = parked(approvers=(ann,))

    def mentioned(reader: str) -> list[str]:
        return [mark.target for mark in seen(card_message(call, KEYS, PLACE, names, reader=reader)).of("user")]

    assert (["UANN"], []) == (mentioned(""), mentioned(ann))


def test_the_only_reader_has_no_button_that_would_be_refused() -> None:
    """A requester who can't decide has Details alone; the card's time has a date if it is on a later day."""
    people = Names(Directory(approvers=("slack:T1/U2",), requesters=("slack:T1/U1",)))
    call = parked(requester="slack:T1/U1", approvers=("slack:T1/U2",))
    late = call.evolve(deadline=call.created_at + timedelta(days=3))
    blocks = card_message(late, KEYS, PLACE, people, reader="slack:T1/U1").blocks
    dates = [date["format"] for date in _found(blocks, "date")]

    assert ["sayso:details"] == [button["action_id"] for button in _found(blocks, "button")]
    assert ["{date_short} {time}"] == dates
    assert 3 == len(list(_found(card_message(call, KEYS, PLACE, people, reader="slack:T1/U2").blocks, "button")))


def _found(value: Any, kind: str) -> Iterator[dict[str, Any]]:
    """Yield the blocks and elements of one type."""
    if isinstance(value, dict):
        if value.get("type") == kind:
            yield value
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from _found(item, kind)
