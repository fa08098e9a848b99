"""Updates as events: what each is, who sent it, where, and what can't be anybody's decision."""

from __future__ import annotations

from typing import Any

import pytest
from telegram import Update

from adapters.telegram.handlers import KINDS
from adapters.telegram.receiver import order_of
from adapters.telegram.surface import parse_place, place_of
from adapters.telegram.words import Me
from hitl.events import Command, Moved, Press, Reaction, Text
from hitl.replies import Span, SpanKind

ME = Me(7, "sayso_bot")
ANN = {"id": 42, "is_bot": False, "first_name": "Ann"}
BOT = {"id": 7, "is_bot": True, "first_name": "Sayso", "username": "sayso_bot"}
OTHER_BOT = {"id": 8, "is_bot": True, "first_name": "Other"}
PRIVATE = {"id": 42, "type": "private", "first_name": "Ann"}
GROUP = {"id": -100, "type": "supergroup", "title": "Ops"}
CHANNEL = {"id": -200, "type": "channel", "title": "News"}
CARD = {"message_id": 5, "date": 1, "chat": GROUP, "from": BOT, "text": "the card"}
EMOJI = [{"type": "emoji", "emoji": "👍"}]


def heard(**kind: Any) -> Any:
    """What an update is understood as."""
    (name,) = kind
    return KINDS[name].translate(Update.de_json({"update_id": 1, **kind}, None), ME) if name in KINDS else None


def message(text: str | None = "yes", **fields: Any) -> dict[str, Any]:
    """A message of Ann's in the group."""
    said = {} if text is None else {"text": text}
    return {"message_id": 9, "date": 1, "chat": GROUP, "from": ANN, **said, **fields}


def mention(text: str = "@sayso_bot") -> dict[str, Any]:
    """An entity at the start of a text."""
    return {"type": "mention", "offset": 0, "length": len(text)}


MESSAGES: dict[str, tuple[dict[str, Any], tuple[str, str, bool, str | None]]] = {
    "in private": (message(chat=PRIVATE), ("telegram:42", "yes", True, None)),
    "in a group": (message(), ("telegram:-100", "yes", False, None)),
    "in answer to the card": (message(reply_to_message=CARD), ("telegram:-100", "yes", True, "-100:5")),
    "in answer to somebody": (
        message(reply_to_message={**CARD, "from": ANN}),
        ("telegram:-100", "yes", False, None),
    ),
    "a mention": (
        message("@sayso_bot: delete x", entities=[mention()]),
        ("telegram:-100", "delete x", True, None),
    ),
    "a mention of another": (
        message("@other_bot yes", entities=[mention("@other_bot")]),
        ("telegram:-100", "@other_bot yes", False, None),
    ),
    "in a topic": (
        message(message_thread_id=3, is_topic_message=True),
        ("telegram:-100/3", "yes", False, None),
    ),
    "in General": (
        message(message_thread_id=1, is_topic_message=True),
        ("telegram:-100", "yes", False, None),
    ),
    "in a thread of replies": (message(message_thread_id=5), ("telegram:-100", "yes", False, None)),
    "a sticker on the card": (
        message(None, reply_to_message=CARD),
        ("telegram:-100", "", True, "-100:5"),
    ),
    "a caption on the card": (
        message(None, caption="yes", reply_to_message=CARD),
        ("telegram:-100", "", True, "-100:5"),
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_is_what_it_says_and_where(name: str) -> None:
    """Conversation, text, whether it is for us, and which message of ours it answers."""
    update, expected = MESSAGES[name]
    event = heard(message=update)

    assert isinstance(event, Text)
    assert expected == (event.conversation, event.text, event.addressed, event.answers)
    assert ("telegram:42", None) == (event.identity, event.barred)


@pytest.mark.parametrize("text", ["/approve  ABC234", "/Approve@Sayso_Bot ABC234"])
def test_a_command_is_its_name_and_what_follows(text: str) -> None:
    """In any case, and by our name or without it."""
    event = heard(message=message(text))

    assert isinstance(event, Command)
    assert ("telegram:-100", "approve", "ABC234") == (event.conversation, event.name, event.text)


ORIGIN = {"type": "hidden_user", "sender_user_name": "x", "date": 1}
BARRED: dict[str, tuple[dict[str, Any], str]] = {
    "an edit": ({"edited_message": message(edit_date=2, reply_to_message=CARD)}, "chat.edited"),
    "an edit in private": ({"edited_message": message(edit_date=2, chat=PRIVATE)}, "chat.edited"),
    "a channel's post": ({"channel_post": message(chat=CHANNEL, reply_to_message=CARD)}, "chat.channel"),
    "a forward": ({"message": message(forward_origin=ORIGIN, chat=PRIVATE)}, "chat.forwarded"),
    "an anonymous admin": ({"message": message(sender_chat=GROUP, reply_to_message=CARD)}, "chat.anonymous"),
    "an anonymous command": ({"message": message("/approve ABC234", sender_chat=GROUP)}, "chat.anonymous"),
    "a channel in a group": ({"message": message(sender_chat=CHANNEL, reply_to_message=CARD)}, "chat.channel"),
    "a bot": ({"message": {**message(reply_to_message=CARD), "from": OTHER_BOT}}, "chat.bot"),
    "through a bot": ({"message": message(via_bot=OTHER_BOT, reply_to_message=CARD)}, "chat.bot"),
    "for a business": ({"message": message(sender_business_bot=OTHER_BOT, reply_to_message=CARD)}, "chat.bot"),
}


@pytest.mark.parametrize("name", BARRED)
def test_what_is_nobodys_decision_is_named(name: str) -> None:
    """With the sentence that says why, where it was meant for us."""
    update, why = BARRED[name]
    event = heard(**update)

    assert isinstance(event, Text)
    assert why == event.barred


IGNORED: dict[str, dict[str, Any]] = {
    "an edit among others": {"edited_message": message(edit_date=2)},
    "a post in a channel": {"channel_post": message(chat=CHANNEL)},
    "a forward among others": {"message": message(forward_origin=ORIGIN)},
    "another bot's command": {"message": message("/approve@other_bot ABC234")},
    "an anonymous command for nobody": {"message": message("/ban x", sender_chat=GROUP)},
    "a picture": {"message": message(None, caption="yes")},
    "somebody came": {"message": message(None, new_chat_members=[ANN])},
    "a poll": {"poll_answer": {"poll_id": "1", "user": ANN, "option_ids": [0], "option_persistent_ids": ["a"]}},
    "what doesn't exist yet": {"telepathy": {"from": ANN}},
}


@pytest.mark.parametrize("name", IGNORED)
def test_what_is_not_for_us_is_nothing(name: str) -> None:
    """Nothing is answered and nothing recorded."""
    assert heard(**IGNORED[name]) is None


def press(**fields: Any) -> Press:
    """A press of Ann's."""
    event = heard(callback_query={"id": "q", "from": ANN, "chat_instance": "i", "data": "d", **fields})
    assert isinstance(event, Press)
    return event


def test_a_press_names_its_message_and_its_topic() -> None:
    """As far as Telegram tells: an old message without its topic, no message at all without its chat."""
    topic = {**CARD, "message_thread_id": 3, "is_topic_message": True}
    old = {"message_id": 5, "date": 0, "chat": GROUP}

    assert ("telegram:-100/3", "-100:5") == (press(message=topic).conversation, press(message=topic).message)
    assert ("telegram:-100", "-100:5") == (press(message=old).conversation, press(message=old).message)
    assert ("telegram:42", None) == (press(inline_message_id="i").conversation, press(inline_message_id="i").message)
    assert "chat.bot" == press(message=CARD, **{"from": OTHER_BOT}).barred


def test_a_reaction_is_what_was_added() -> None:
    """What was there before, or is taken away, says nothing; who hides can't be told."""
    base = {"chat": GROUP, "message_id": 5, "date": 1}
    added = heard(message_reaction={**base, "user": ANN, "old_reaction": [], "new_reaction": EMOJI})
    hidden = heard(message_reaction={**base, "actor_chat": GROUP, "old_reaction": [], "new_reaction": EMOJI})

    assert added is not None
    assert hidden is not None
    assert (Reaction, "👍", "-100:5", None) == (type(added), added.text, added.message, added.barred)
    assert "chat.anonymous" == hidden.barred
    assert heard(message_reaction={**base, "user": ANN, "old_reaction": EMOJI, "new_reaction": []}) is None
    assert heard(message_reaction={**base, "user": ANN, "old_reaction": EMOJI, "new_reaction": EMOJI}) is None


def test_our_name_in_front_is_cut_off_and_formatting_moves_with_the_words() -> None:
    """A span covers the same words before and after the bot's own mention is cut; that mention itself is no span."""
    struck = {"type": "strikethrough", "offset": 13, "length": 2}
    event = heard(message=message("@sayso_bot: \N{THUMBS UP SIGN}ok", entities=[mention(), {**struck, "offset": 14}]))

    assert event is not None
    assert ("\N{THUMBS UP SIGN}ok", (Span(1, 3, SpanKind.STRUCK),)) == (event.text, event.spans)


@pytest.mark.parametrize(
    ("said", "words"), [("yes {}", "yes"), ("yes {} !", "yes"), ("yes, {}", "yes"), ("yes {}?", "yes {}?")]
)
def test_our_name_at_the_end_is_cut_off(said: str, words: str) -> None:
    """It says whom the text is for. A question mark behind it stays, and the name with it."""
    text = said.format("@sayso_bot")
    event = heard(message=message(text, entities=[{**mention(), "offset": text.index("@")}]))

    assert event is not None
    assert (words.format("@sayso_bot"), ()) == (event.text, event.spans)


def test_only_a_mention_of_another_is_a_span() -> None:
    """A mention of the bot further on in a text addresses nobody else."""
    text = "yes @sayso_bot @ben"
    entities = [{"type": "mention", "offset": 4, "length": 10}, {"type": "mention", "offset": 15, "length": 4}]
    event = heard(message=message(text, entities=entities))

    assert event is not None
    assert (Span(15, 19, SpanKind.MENTION),) == event.spans


@pytest.mark.parametrize(
    "text", ["/approved", "/yesx", "/approve, fine", "/ok!", "/run.sh yes", "/approve@sayso_botx yes"]
)
def test_a_word_with_a_slash_decides_nothing_unless_it_is_a_command_of_ours(text: str) -> None:
    """It is another command, for nobody here, or a word for a program, which is marked as code."""
    event = heard(message=message(text, reply_to_message=CARD))
    command = isinstance(event, Command) and event.name not in {"approve", "reject"}
    marked = isinstance(event, Text) and [span.kind for span in event.spans] == [SpanKind.CODE]

    assert event is None or command or marked


@pytest.mark.parametrize(
    ("fields", "private"),
    [
        ({}, True),
        ({"reply_to_message": CARD}, True),
        ({"reply_to_message": {**CARD, "from": ANN}}, False),
        ({"external_reply": {"origin": {"type": "hidden_user", "sender_user_name": "x", "date": 1}}}, False),
        ({"reply_to_story": {"chat": CHANNEL, "id": 3}}, False),
    ],
)
def test_words_that_answer_something_else_are_not_unaddressed(fields: dict[str, Any], private: bool) -> None:  # noqa: FBT001
    """In a private chat, a reply to a message that isn't ours can't decide a call that it doesn't name."""
    event = heard(message=message(chat=PRIVATE, **fields))

    assert event is not None
    assert private == event.private


def test_the_language_of_the_persons_app_is_passed_on() -> None:
    """Telegram tells it with the person who wrote."""
    event = heard(message={**message(), "from": {**ANN, "language_code": "pt-br"}})

    assert event is not None
    assert "pt-br" == event.language


def test_a_group_that_moved_says_where_to() -> None:
    """Telegram tells the old one."""
    event = heard(message=message(None, migrate_to_chat_id=-300))

    assert event is not None
    assert (Moved, "telegram:-100", "telegram:-300") == (type(event), event.conversation, event.moved_to)


def test_each_conversation_has_an_order_and_each_persons_presses_one() -> None:
    """Whatever kind of update it is, also one that nobody knows yet."""
    query = {"id": "q", "from": ANN, "message": CARD}

    assert "telegram:-100" == order_of({"update_id": 1, "message": message()})
    assert "telegram:-100" == order_of({"update_id": 1, "telepathy": {"chat": GROUP}})
    assert "telegram:-100/press/42" == order_of({"update_id": 1, "callback_query": query})
    assert "telegram:" == order_of({"update_id": 1, "poll_answer": {"user": ANN}})
    assert "telegram:" == order_of({"update_id": 1, "message": "garbage"})


def test_places_are_chats_and_topics() -> None:
    """Back and forth; another platform's is refused."""
    assert (-100, 3) == parse_place(place_of(-100, 3))
    assert (-100, None) == parse_place(place_of(-100, 1)) == parse_place(place_of(-100, None))
    with pytest.raises(ValueError, match="slack"):
        parse_place("slack:T1/C1")
