"""The methods and events of the views for agents: who may use them where, and what they refuse."""

from __future__ import annotations

from typing import Any

import pytest

from simulators.slack import Channel, ControlError, SlackServer, User
from tests.simulators.conftest import Endpoint, RawApp
from tests.simulators.test_slack_events import heard

PROMPTS = [{"title": "What is pending?", "message": "/sayso pending"}]


async def test_a_pane_begins_with_a_head_in_the_apps_name(
    slack: SlackServer, hands: RawApp, endpoint: Endpoint, ops: Channel, ada: User
) -> None:
    """The event names person, direct conversation, thread, and what the person looks at."""
    hands.app.pane = "assistant"
    head = await slack.open_pane(ada, beside=ops)
    await slack.look_beside(ada, head, ops)
    [began] = await heard(slack, endpoint, "assistant_thread_started")
    [moved] = await heard(slack, endpoint, "assistant_thread_context_changed")
    [root] = await heard(slack, endpoint, "message", "assistant_app_thread")

    assert began["assistant_thread"] == moved["assistant_thread"]
    assert (ada.id, head.channel_id, head.ts, ops.id) == (
        began["assistant_thread"]["user_id"],
        began["assistant_thread"]["channel_id"],
        began["assistant_thread"]["thread_ts"],
        began["assistant_thread"]["context"]["channel_id"],
    )
    assert (hands.app.user_id, head.ts, head.ts) == (root["user"], root["ts"], root["thread_ts"])


async def test_only_an_app_with_the_assistant_view_has_panes(slack: SlackServer, hands: RawApp, ada: User) -> None:
    """Neither has an app with the agent view."""
    hands.app.pane = "agent"
    with pytest.raises(ControlError, match="no assistant view"):
        await slack.open_pane(ada)


async def test_a_title_is_the_head_of_its_pane(
    slack: SlackServer, hands: RawApp, endpoint: Endpoint, ada: User
) -> None:
    """The change of the head is an event as any change of a message is."""
    hands.app.pane = "assistant"
    head = await slack.open_pane(ada)
    where = {"channel_id": head.channel_id, "thread_ts": head.ts}
    await hands.do("assistant.threads.setTitle", **where, title="Clean up")
    [changed] = await heard(slack, endpoint, "message", "message_changed")

    assert "Clean up" == changed["message"]["assistant_app_thread"]["title"]
    assert "Clean up" == changed["message"]["text"]


async def test_a_prompt_sends_its_message(slack: SlackServer, hands: RawApp, ada: User) -> None:
    """In the person's name, in the thread where it is shown."""
    hands.app.pane = "assistant"
    head = await slack.open_pane(ada)
    where = {"channel_id": head.channel_id, "thread_ts": head.ts}
    await hands.do("assistant.threads.setSuggestedPrompts", **where, prompts=PROMPTS)
    said = await slack.choose_prompt(ada, "What is pending?", thread=head)

    assert ("/sayso pending", ada.id, head.ts) == (said.text, said.user_id, said.thread_ts)
    with pytest.raises(ControlError, match="no prompt"):
        await slack.choose_prompt(ada, "What is pending?")


@pytest.mark.parametrize(
    ("pane", "threadless", "in_thread"),
    [("agent", "", ""), ("assistant", "not_agent_app", ""), ("", "not_agent_app", "")],
)
async def test_prompts_without_a_thread_are_for_the_agent_view(
    slack: SlackServer, hands: RawApp, ada: User, pane: Any, threadless: str, in_thread: str
) -> None:
    """There, prompts with a thread are accepted and never shown."""
    hands.app.pane = pane
    said = await slack.say(ada, hands.app, "hello")
    method = "assistant.threads.setSuggestedPrompts"
    answers = [
        await hands.call(method, channel_id=said.channel_id, prompts=PROMPTS, **more)
        for more in ({}, {"thread_ts": said.ts})
    ]
    shown = slack.world.channels[said.channel_id].prompts

    assert [threadless, in_thread] == [answer.get("error", "") for answer in answers]
    assert ([""] if pane == "agent" else [said.ts]) == list(shown)


@pytest.mark.parametrize(
    ("method", "more"),
    [("setTitle", {"title": "x"}), ("setSuggestedPrompts", {"prompts": PROMPTS})],
)
async def test_what_is_no_thread_of_a_direct_conversation_is_refused(
    slack: SlackServer, hands: RawApp, ops: Channel, ada: User, method: str, more: dict[str, Any]
) -> None:
    """In Slack's words; without the scope nothing is looked at."""
    name = f"assistant.threads.{method}"
    said = await slack.say(ada, ops, "hello")
    direct = await slack.direct(ada, hands.app)

    assert "channel_not_found" == await hands.refused(name, channel_id="D404", thread_ts="5.0", **more)
    assert "invalid_thread_ts" == await hands.refused(name, channel_id=direct.id, thread_ts=said.ts, **more)
    assert "invalid_thread_ts" == await hands.refused(name, channel_id=ops.id, thread_ts=said.ts, **more)
    await slack.revoke_scope("assistant:write", hands.app)
    assert "missing_scope" == await hands.refused(name, channel_id="D404", thread_ts="5.0", **more)


@pytest.mark.parametrize("prompts", [[], PROMPTS * 5, [{"title": "x"}], "x", None])
async def test_prompts_are_one_to_four(slack: SlackServer, hands: RawApp, ada: User, prompts: Any) -> None:
    """Each has a title and a message."""
    said = await slack.say(ada, hands.app, "hello")
    refused = await hands.refused(
        "assistant.threads.setSuggestedPrompts", channel_id=said.channel_id, thread_ts=said.ts, prompts=prompts
    )

    assert refused in {"invalid_arguments", "invalid_json"}
