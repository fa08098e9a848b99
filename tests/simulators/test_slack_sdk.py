"""The server as slack_sdk's AsyncWebClient sees it."""

from __future__ import annotations

from typing import Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import (
    AsyncConnectionErrorRetryHandler,
    AsyncRateLimitErrorRetryHandler,
    AsyncServerErrorRetryHandler,
)
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from simulators.slack import Channel, Garbage, Hang, Refuse, Reset, SlackServer, User
from tests.simulators.conftest import CARD, RawApp


@pytest.fixture
def client(hands: RawApp) -> AsyncWebClient:
    """The library's client with all its retries."""
    retries = [
        AsyncConnectionErrorRetryHandler(max_retry_count=1),
        AsyncRateLimitErrorRetryHandler(max_retry_count=1),
        AsyncServerErrorRetryHandler(max_retry_count=1),
    ]
    return AsyncWebClient(hands.app.bot_token, base_url=hands.slack.api_url, retry_handlers=retries, timeout=2)


async def test_the_library_reads_what_we_send(
    client: AsyncWebClient, slack: SlackServer, ops: Channel, ada: User
) -> None:
    """Messages, whispers, people, channels, links and files come as answers that are ok."""
    sent = await client.chat_postMessage(channel=ops.id, text="x", blocks=CARD, unfurl_links=False)
    ts = str(sent["ts"])
    updated = await client.chat_update(channel=ops.id, ts=ts, text="y", blocks=[])
    await client.chat_postEphemeral(channel=ops.id, user=ada.id, text="psst")
    direct = await client.conversations_open(users=[ada.id])
    found = await client.users_lookupByEmail(email=ada.email)
    info = await client.users_info(user=ada.id)
    link = await client.chat_getPermalink(channel=ops.id, message_ts=ts)
    await client.reactions_add(channel=ops.id, timestamp=ts, name="eyes")
    replies = await client.conversations_replies(channel=ops.id, ts=ts)
    uploaded = await client.files_upload_v2(channel=ops.id, content="bytes", filename="a.txt", title="A")
    assert uploaded["ok"]
    [file] = [one.files[0] for one in await slack.messages(ops) if one.files]

    assert ("y", ()) == (updated["text"], (await slack.message(ts, ops)).labels)
    assert str(direct["channel"]["id"]).startswith("D")
    assert found["user"]["id"] == info["user"]["id"] == ada.id
    assert str(link["permalink"]).endswith(ts.replace(".", ""))
    assert "eyes" == replies["messages"][0]["reactions"][0]["name"]
    assert ("a.txt", b"bytes") == (file.name, (await slack.file(file.id)).content)


async def test_an_error_is_the_librarys(client: AsyncWebClient, ops: Channel) -> None:
    """A refusal raises SlackApiError with code and metadata."""
    with pytest.raises(SlackApiError) as refused:
        await client.chat_postMessage(channel=ops.id, text="x", blocks=[{"type": "hologram"}])

    assert "invalid_blocks" == refused.value.response["error"]
    assert 1 == len(refused.value.response["response_metadata"]["messages"])


@pytest.mark.parametrize("fault", [Refuse("ratelimited", 429, 1), Refuse("internal_error", 500), Reset()])
async def test_the_library_repeats(client: AsyncWebClient, slack: SlackServer, ops: Channel, fault: Any) -> None:
    """Rate limits, server errors and broken connections are met with one more call."""
    await slack.fail("chat.postMessage", fault)
    await client.chat_postMessage(channel=ops.id, text="x")

    assert 2 == len(await slack.calls("chat.postMessage"))
    assert 1 == len(ops.messages)


@pytest.mark.parametrize(("fault", "error"), [(Garbage(200, "<html>"), Exception), (Hang(4), TimeoutError)])
async def test_trouble_is_told(
    client: AsyncWebClient, slack: SlackServer, ops: Channel, fault: Any, error: type[Exception]
) -> None:
    """Broken answers and long waits reach the caller as the library has it."""
    await slack.fail("chat.postMessage", fault, times=2)
    client.timeout = 1
    with pytest.raises(error):
        await client.chat_postMessage(channel=ops.id, text="x")


async def test_the_librarys_webhook_client(slack: SlackServer, hands: RawApp, ops: Channel, ada: User) -> None:
    """It posts to a response_url."""
    pressed = await slack.press(ada, await hands.card(ops), "Approve")
    assert pressed is not None
    answer = await AsyncWebhookClient(pressed.payload["response_url"]).send(text="Done", replace_original=True)

    assert (200, "ok") == (answer.status_code, answer.body)
    assert "Done" == (await slack.wait_message(ops, "Done", edits=1)).text
