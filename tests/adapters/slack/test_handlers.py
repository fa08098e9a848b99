"""What Slack sends as neutral events: who, where, what; and what is nobody's decision."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import pytest

from adapters.slack.alone import Alone, Kept
from adapters.slack.bodies import Me, event_of, is_shared, read, tells_of_agent_view
from adapters.slack.handlers import commanded, explained, pressed, said
from adapters.slack.surface import parse_place, place_of
from hitl.call import Verb
from hitl.events import Command, Echo, Explained, Opened, Press, Reaction, Text
from hitl.replies import Span, SpanKind

ME = Me("T1", "UBOT")


def event(**fields: Any) -> dict[str, Any]:
    """A message in a channel, as Slack tells of it."""
    said = {"type": "message", "channel": "C1", "user": "U1", "text": "yes", "ts": "1700000000.000100", "team": "T1"}
    return {"type": "event_callback", "event_id": "Ev1", "team_id": "T1", "event": said | fields}


def understand(body: dict[str, Any], me: Me) -> Any:
    """What the listener of its kind reads in a body."""
    if "event" in body:
        return said(body, me)
    if "command" in body:
        return commanded(body, me)
    return explained(body, me) if body["type"] == "view_submission" else pressed(body, me)


def heard(**fields: Any) -> Any:
    """The event that it is."""
    found = understand(event(**fields), ME)
    assert found is not None
    return found


def press(**fields: Any) -> dict[str, Any]:
    """A press on a card."""
    return {
        "type": "block_actions",
        "user": {"id": "U1", "team_id": "T1"},
        "team": {"id": "T1"},
        "container": {"type": "message", "message_ts": "5.0", "channel_id": "C1"},
        "channel": {"id": "C1"},
        "trigger_id": "tr",
        "actions": [{"action_id": "sayso:approve", "value": "data", "action_ts": "6.0"}],
        **fields,
    }


def card(*elements: object) -> dict[str, Any]:
    """The fields of a message of ours with these elements in a block."""
    return {"user": "UBOT", "bot_id": "B1", "blocks": [{"type": "divider"}, {"type": "actions", "elements": elements}]}


APPROVE = {"type": "button", "action_id": "sayso:approve", "value": "data"}


@pytest.mark.parametrize(
    ("fields", "conversation"),
    [
        ({}, "slack:T1/C1"),
        ({"thread_ts": "5.0"}, "slack:T1/C1/5.0"),
        ({"thread_ts": "1700000000.000100"}, "slack:T1/C1"),
        ({"channel": "D9", "thread_ts": "5.0"}, "slack:T1/D9/5.0"),
    ],
)
def test_a_card_of_ours_comes_back_to_us(fields: dict[str, Any], conversation: str) -> None:
    """It says where it stands, under which id, and what its button holds."""
    found = heard(**card({"type": "button", "action_id": "sayso:reject"}, APPROVE), **fields)

    assert (Echo, conversation, "data") == (type(found), found.conversation, found.data)
    assert f"{fields.get('channel', 'C1')}:1700000000.000100" == found.message


@pytest.mark.parametrize("blocks", [None, [], [None], [{"elements": None}], [{"elements": ["x"]}]])
def test_what_else_we_wrote_is_nothing(blocks: object) -> None:
    """Without a card's button, or with one that holds no text."""
    for fields in ({"user": "UBOT", "blocks": blocks}, card(APPROVE | {"value": 7})):
        assert None is understand(event(**fields), ME)


@pytest.mark.parametrize("fields", [{"user": "U1"}, {"user": None}, {"subtype": "message_changed"}])
def test_a_button_in_what_is_not_ours_is_nothing(fields: dict[str, Any]) -> None:
    """Another app's, a webhook's, or a change to one of ours."""
    assert None is understand(event(**card(APPROVE) | fields), ME)


@pytest.mark.parametrize(
    ("fields", "conversation", "flags"),
    [
        ({}, "slack:T1/C1", ""),
        ({"text": "<@UBOT> delete x"}, "slack:T1/C1/1700000000.000100", "addressed"),
        ({"thread_ts": "5.0"}, "slack:T1/C1/5.0", "private"),
        ({"thread_ts": "5.0", "text": "<@UBOT|sayso>: go"}, "slack:T1/C1/5.0", "private addressed"),
        ({"thread_ts": "5.0", "parent_user_id": "UBOT"}, "slack:T1/C1/5.0", "private overheard"),
        ({"channel": "D9"}, "slack:T1/U1", "private addressed"),
        ({"channel": "D9", "thread_ts": "5.0"}, "slack:T1/U1/5.0", "private addressed"),
    ],
)
def test_where_a_message_stands(fields: dict[str, Any], conversation: str, flags: str) -> None:
    """A mention begins a thread; a direct conversation is named as the person is."""
    found = heard(**fields)
    raised = [name for name in ("private", "addressed", "overheard") if getattr(found, name)]

    assert (conversation, flags.split()) == (found.conversation, raised)
    assert ("slack:T1/U1", Text) == (found.identity, type(found))


@pytest.mark.parametrize(
    "fields",
    [
        {"subtype": "message_changed"},
        {"subtype": "message_deleted"},
        {"subtype": "bot_message"},
        {"subtype": "channel_join"},
        {"bot_id": "B1"},
        {"user": "UBOT"},
        {"user": None},
        {"hidden": True},
        {"type": "reaction_removed"},
        {"type": "app_home_opened"},
    ],
)
def test_what_is_no_word_of_a_person_is_nothing(fields: dict[str, Any]) -> None:
    """It doesn't fail either where fields are missing."""
    assert understand(event(**fields), ME) is None


@pytest.mark.parametrize(
    ("fields", "opened"),
    [
        (
            {"type": "app_home_opened", "tab": "messages", "channel": "D1"},
            Opened(identity="slack:T1/U1", conversation="slack:T1/U1"),
        ),
        (
            {"type": "assistant_thread_started", "assistant_thread": {"user_id": "U1", "thread_ts": "5.0"}},
            Opened(identity="slack:T1/U1", conversation="slack:T1/U1/5.0", waits=True),
        ),
    ],
)
def test_an_opened_view_is_a_private_conversation(fields: dict[str, Any], opened: Opened) -> None:
    """The tab of the agent view is the conversation itself, the pane of the assistant view a thread in it."""
    assert opened == heard(**fields)


def test_the_head_of_a_thread_is_said_in_the_direct_conversation_itself() -> None:
    """Slack names the head's own thread if it has replies, and in the agent view."""
    found = heard(channel="D1", thread_ts="1700000000.000100")

    assert ("slack:T1/U1", None) == (found.conversation, found.thread)


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"text": "/sayso approve ABC234"}, Command),
        ({"text": "/SAYSO Approve ABC234", "thread_ts": "5.0"}, Command),
        ({"text": "/sayso approve ABC234", "channel": "C1"}, Text),
        ({"text": "/sayso approve ABC234", "channel": "C1", "thread_ts": "5.0"}, Text),
        ({"text": "`/sayso approve ABC234`"}, Text),
        ({"text": "&gt; /sayso approve ABC234"}, Text),
        ({"text": "/sayso approve ABC234\nor not"}, Text),
        ({"text": "please /sayso approve ABC234"}, Text),
        ({"text": "/saysoapprove ABC234"}, Text),
        ({"text": "/sayso approve ABC234", "edited": {"user": "U1", "ts": "6.0"}}, Text),
        ({"text": "/sayso approve ABC234", "app_id": "A9"}, Text),
    ],
)
def test_only_a_whole_plain_message_in_private_is_a_command(fields: dict[str, Any], kind: type) -> None:
    """Suggested prompts send a message, and Slack's own commands can't be given in threads."""
    found = heard(**{"channel": "D1"} | fields)

    assert kind is type(found)
    if isinstance(found, Command):
        thread = f"/{fields['thread_ts']}" if "thread_ts" in fields else ""
        assert ("approve", "ABC234", f"slack:T1/U1{thread}") == (found.name, found.text, found.conversation)


@pytest.mark.parametrize(
    ("fields", "tells"),
    [
        ({"type": "app_context_changed"}, True),
        ({"channel": "D1", "app_context": {"entities": []}}, True),
        ({"channel": "D1", "thread_ts": "1700000000.000100"}, False),
        ({"channel": "C1", "app_context": {}}, False),
    ],
)
def test_what_a_person_looks_at_shows_that_the_app_has_the_agent_view(*, fields: dict[str, Any], tells: bool) -> None:
    """Slack says so only to such an app, and doesn't say it otherwise."""
    assert tells is tells_of_agent_view(event(**fields))


def test_a_broadcast_copy_is_barred() -> None:
    """Known by its sub-type."""
    assert "chat.broadcast" == heard(subtype="thread_broadcast", thread_ts="5.0").barred


@pytest.mark.parametrize(
    ("fields", "identity", "barred"),
    [
        ({"team": "T9"}, "slack:T9/U1", None),
        ({"team": "T1", "user_team": "E9"}, "slack:E9/U1", None),
        ({"team": None}, "slack:?/U1", "chat.stranger"),
    ],
)
def test_in_a_shared_channel_only_the_author_tells_the_team(
    fields: dict[str, Any], identity: str, barred: str | None
) -> None:
    """The event's own team may be anybody's there."""
    body = event(**fields) | {"is_ext_shared_channel": True}
    found = understand(body, ME)

    assert is_shared(body)
    assert found is not None
    assert (identity, barred) == (found.identity, found.barred)


@pytest.mark.parametrize(
    ("name", "text"),
    [("+1", "👍"), ("+1::skin-tone-4", "👍"), ("-1::skin-tone-2", "👎"), ("x", "❌"), ("eyes", ":eyes:")],
)
def test_a_reaction_is_what_its_name_says(name: str, text: str) -> None:
    """In any skin tone."""
    body = event(type="reaction_added", reaction=name, item={"type": "message", "channel": "C1", "ts": "5.0"})
    found = understand(body, ME)

    assert isinstance(found, Reaction)
    assert (text, "C1:5.0") == (found.text, found.message)


def test_our_own_reaction_and_one_to_a_file_are_nothing() -> None:
    """Only people react, and to messages."""
    item = {"type": "message", "channel": "C1", "ts": "5.0"}
    ours = event(type="reaction_added", user="UBOT", reaction="+1", item=item)
    other = event(type="reaction_added", reaction="+1", item={"type": "file", "file": "F1"})

    assert [None, None] == [understand(ours, ME), understand(other, ME)]


@pytest.mark.parametrize(
    ("more", "conversation", "thread"),
    [
        ({}, "slack:T1/C1", ""),
        ({"container": {"message_ts": "5.0", "channel_id": "C1", "thread_ts": "4.0"}}, "slack:T1/C1/4.0", "4.0"),
        ({"container": {"message_ts": "5.0", "channel_id": "C1", "thread_ts": "5.0"}}, "slack:T1/C1", ""),
        ({"channel": {"id": "D9"}}, "slack:T1/U1", ""),
    ],
)
def test_a_press_names_its_card(more: dict[str, Any], conversation: str, thread: str) -> None:
    """A card at the head of a thread stands in its channel."""
    found = understand(press(**more), ME)

    assert isinstance(found, Press)
    assert ("data", conversation) == (found.data, found.conversation)
    assert (thread, "tr") == (Alone.unpack(str(found.press)).thread, Alone.unpack(str(found.press)).trigger)


def test_an_organisations_people_have_their_workspace() -> None:
    """Where the app is the organisation's, no workspace is named; else the organisation is."""
    org = {"team": None, "enterprise": {"id": "E1"}, "is_enterprise_install": True}
    first = understand(press(**org, user={"id": "W1", "team_id": "T7"}), ME)
    second = understand(press(**org, user={"id": "W1"}), ME)

    assert ("slack:T7/W1", "slack:E1/W1") == (first and first.identity, second and second.identity)


def test_a_window_remembers_what_it_is_about() -> None:
    """The call, the place, and what was asked for."""
    kept = Kept("a-ref", "slack:T1/C1/4.0", "C1", "4.0", "reject")
    view = {
        "id": "V1",
        "callback_id": "sayso:reason",
        "private_metadata": kept.pack(),
        "state": {"values": {"reason": {"reason": {"value": " because "}}}},
    }
    body = {"type": "view_submission", "user": {"id": "U1", "team_id": "T1"}, "view": view}
    found = understand(body, ME)

    assert isinstance(found, Explained)
    assert ("a-ref", "because", Verb.REJECT) == (found.ref, found.text, found.verb)


@pytest.mark.parametrize(
    ("typed", "command", "rest"),
    [
        ("", "help", ""),
        ("Approve ABC234 because  it is", "approve", "ABC234 because  it is"),
        ("withdraw ABC234", "withdraw", "ABC234"),
        ("whoami", "whoami", ""),
    ],
)
def test_a_commands_first_word_is_what_it_does(typed: str, command: str, rest: str) -> None:
    """`withdraw` is what other platforms call cancel."""
    body = {"command": "/sayso", "text": typed, "team_id": "T1", "user_id": "U1", "channel_id": "C1"}
    found = understand(body, ME)

    assert isinstance(found, Command)
    assert (command, rest) == (found.name, found.text)


def test_a_message_carries_its_formatting() -> None:
    """The text as people see it, with spans, and without our own name in front."""
    found = heard(text="<@UBOT>: ~yes~ please")

    assert ("yes please", (Span(0, 3, SpanKind.STRUCK),)) == (found.text, found.spans)


@pytest.mark.parametrize("place", ["slack:T1/C1", "slack:T1/C1/5.0", "slack:T1/U1"])
def test_places_are_read_back(place: str) -> None:
    """Team, channel or person, thread."""
    assert place == place_of(*parse_place(place))


@pytest.mark.parametrize("place", ["telegram:1", "slack:", "slack:T1", "slack:T1/", "slack:/C1", "slack:T1/C1/5.0/6"])
def test_what_is_no_place_is_refused(place: str) -> None:
    """Rather than guessed at."""
    with pytest.raises(ValueError, match=":"):
        parse_place(place)


def test_it_is_the_same_whichever_way_it_comes() -> None:
    """As JSON, in a form's field, or as a command's form."""
    form = {"command": "/sayso", "text": ""}

    assert press() == read(json.dumps(press()).encode())
    assert press() == read(urlencode({"payload": json.dumps(press())}).encode())
    assert form == read(urlencode(form).encode())


def test_a_mention_is_kept_once() -> None:
    """It is sent twice, under two ids; everything else by its own."""
    twice = [event(text="<@UBOT> hi"), event(text="<@UBOT> hi", type="app_mention") | {"event_id": "Ev2"}]
    edits = [event(subtype="message_changed") | {"event_id": name} for name in ("Ev3", "Ev4")]

    assert 1 == len({event_of(body) for body in twice})
    assert 2 == len({event_of(body) for body in edits})
    assert event_of(press())[0] != event_of(press(trigger_id="other"))[0]


def test_a_press_waits_for_nobodys_talk() -> None:
    """It has a lane of its own in its channel, for each person."""
    lanes = [event_of(body)[1] for body in (event(), press(), press(user={"id": "U2"}))]

    assert ["slack:C1", "slack:C1/press/U1", "slack:C1/press/U2"] == lanes
