"""Recorded events on their way through Bolt: to our listeners, then to an operator's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.alone import Kept
from adapters.slack.bodies import Me
from adapters.slack.handlers import Dispatcher
from hitl.events import Command, Explained, Heard, PageTurned, Press, Reaction, Text
from hitl.platforms import Untaken

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from slack_bolt.app.async_app import AsyncApp

ME = Me("T1", "UBOT")
MESSAGE = {"type": "message", "channel": "C1", "user": "U1", "text": "yes", "ts": "1700000000.000100", "team": "T1"}
VIEW = {
    "id": "V1",
    "type": "modal",
    "callback_id": "sayso:reason",
    "private_metadata": Kept("a-ref", "slack:T1/C1", "C1", "", "reject").pack(),
    "state": {"values": {"reason": {"reason": {"value": "no"}}}},
}


def event(**fields: Any) -> dict[str, Any]:
    """A message in a channel, or what `fields` make of it."""
    return {"type": "event_callback", "event_id": "Ev1", "team_id": "T1", "event": MESSAGE | fields}


def press(action: str) -> dict[str, Any]:
    """A button of a card was pressed."""
    return {
        "type": "block_actions",
        "team": {"id": "T1"},
        "user": {"id": "U1", "team_id": "T1"},
        "channel": {"id": "C1"},
        "container": {"message_ts": "5.0", "channel_id": "C1"},
        "actions": [{"action_id": action, "value": "data", "type": "button", "block_id": "b"}],
    }


def dispatcher(register: Callable[[AsyncApp], None] | None = None) -> Dispatcher:
    """A dispatcher whose client reaches nobody."""
    made = Dispatcher(AsyncWebClient("xoxb-1", base_url="http://127.0.0.1:9/"), register)
    made.start(ME)
    return made


async def heard(body: dict[str, Any], register: Callable[[AsyncApp], None] | None = None) -> list[Heard | None]:
    """What our listeners hand on."""
    found: list[Heard | None] = []

    async def hear(one: Heard | None) -> None:
        found.append(one)

    await dispatcher(register).dispatch(body, hear)
    return found


@pytest.mark.parametrize("body_type", ["assistant_thread_context_changed", "app_context_changed"])
async def test_what_a_person_looks_at_beside_a_view_says_nothing(body_type: str) -> None:
    """An app with a view for agents gets these events; they are taken, and nobody said anything."""
    thread = {"user_id": "U1", "channel_id": "D1", "thread_ts": "5.0", "context": {}}
    body = {"type": "event_callback", "event_id": "Ev1", "team_id": "T1"}

    assert [None] == await heard({**body, "event": {"type": body_type, "assistant_thread": thread}})


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (event(), Text),
        (event(type="app_mention", text="<@UBOT> hi"), Text),
        (event(type="reaction_added", reaction="+1", item={"type": "message", "channel": "C1", "ts": "5.0"}), Reaction),
        (press("sayso:approve"), Press),
        (press("sayso:page:2"), PageTurned),
        ({"type": "view_submission", "user": {"id": "U1", "team_id": "T1"}, "view": VIEW}, Explained),
        ({"command": "/sayso", "text": "help", "user_id": "U1", "team_id": "T1", "channel_id": "C1"}, Command),
    ],
)
async def test_each_kind_of_event_has_a_listener(body: dict[str, Any], kind: type[Heard]) -> None:
    """Messages, mentions, reactions, buttons, windows and commands; each is heard once."""
    assert [kind] == [type(one) for one in await heard(body)]


@pytest.mark.parametrize(
    "body",
    [
        {"type": "view_submission", "user": {"id": "U1"}, "view": VIEW | {"callback_id": "other"}},
        {"command": "/other", "text": "", "user_id": "U1", "team_id": "T1", "channel_id": "C1"},
        {"type": "event_callback", "event_id": "Ev1", "team_id": "T1", "event": {"type": "team_join"}},
        {"type": "shortcut", "callback_id": "x", "user": {"id": "U1"}},
        press("vote") | {"view": {"id": "V2", "type": "modal", "private_metadata": "theirs"}},
    ],
)
async def test_an_event_that_no_listener_takes_comes_back(body: dict[str, Any]) -> None:
    """Another window or its button, another command or event: it isn't done, so the inbox sets it aside in view."""
    with pytest.raises(Untaken):
        await heard(body)


async def test_a_press_of_an_unknown_button_is_answered_and_decides_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """It is passed on without its data, like a button that was forged; the log names the button."""
    [one] = await heard(press("sayso:snooze"))

    assert isinstance(one, Press)
    assert ("", "slack:T1/U1") == (one.data, one.identity)
    assert ["slack.unknown_button"] == [record.message for record in caplog.records if "slack." in record.message]


async def test_a_button_of_an_operators_listener_is_theirs() -> None:
    """A press that an operator's listener takes isn't ours to answer."""

    def register(app: AsyncApp) -> None:
        @app.action("vote")
        async def listen(ack: Callable[[], Awaitable[None]]) -> None:
            await ack()

    assert [] == await heard(press("vote"), register)


async def test_what_a_listener_raises_comes_back() -> None:
    """Bolt would answer 500 and forget it."""

    async def hear(_: Heard | None) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await dispatcher().dispatch(event(), hear)


async def test_a_message_that_nobody_can_read_comes_back() -> None:
    """A translator's error is a listener's error."""
    with pytest.raises(KeyError):
        await heard(event(channel=None) | {"event": {"type": "reaction_added"}})


async def test_an_operators_listener_comes_after_ours_and_cannot_replace_it() -> None:
    """Both hear the same message; a global middleware of theirs that stops everything stops only theirs."""
    order: list[str] = []

    def register(app: AsyncApp) -> None:
        @app.event("message")
        async def listen(body: dict[str, Any]) -> None:
            order.append(body["event"]["text"])

    def stopping(app: AsyncApp) -> None:
        @app.middleware
        async def stop() -> None:
            order.append("stopped")

    async def hear(one: Heard | None) -> None:
        assert isinstance(one, Text)
        order.append("ours")

    await dispatcher(register).dispatch(event(), hear)
    await dispatcher(stopping).dispatch(event(), hear)

    assert ["ours", "yes", "ours", "stopped"] == order


async def test_an_operators_listener_takes_what_ours_do_not() -> None:
    """Such an event is done; and what their listener raises comes back too."""

    def register(app: AsyncApp) -> None:
        @app.event("team_join")
        async def opened() -> None:
            """Nothing to do."""

        @app.command("/pizza")
        async def order(ack: Callable[[], Any]) -> None:
            await ack()
            raise ZeroDivisionError

    opened = {"type": "event_callback", "event_id": "Ev1", "team_id": "T1", "event": {"type": "team_join"}}

    assert [] == await heard(opened, register)
    with pytest.raises(ZeroDivisionError):
        await heard({"command": "/pizza", "text": "", "user_id": "U1", "channel_id": "C1"}, register)
