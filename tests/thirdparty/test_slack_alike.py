"""Our Slack server beside minutehand's: the same calls and the same acts, read from the same documentation by others.

Where both were made apart and agree, neither is likely to be wrong. What minutehand doesn't check (most of Block Kit,
tokens, scopes) is left out; where it is wrong stands in README.md beside this file.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from simulators.slack import SlackServer
from tests.patience import PATIENCE_S
from tests.simulators.conftest import Endpoint
from tests.thirdparty.third_slack import Minutehand, needed, running

pytestmark = [pytest.mark.thirdparty, needed]

TEXT = {"type": "plain_text", "text": "x"}
SECTION = {"type": "section", "text": TEXT}
BUTTON = {"type": "button", "action_id": "go", "value": "v", "style": "primary", "text": TEXT}
FIELD = {"type": "input", "block_id": "b", "label": TEXT, "element": {"type": "plain_text_input", "action_id": "a"}}
MODAL = {"type": "modal", "callback_id": "c", "title": TEXT, "submit": TEXT, "blocks": [FIELD]}
NOBODY = "1700000000.000001"
#: The method, its arguments (`ours` is a message of the app's, `theirs` one of Ann's), and how both answer.
CALLS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("auth.test", {}, "ok"),
    ("no.such", {}, "unknown_method"),
    ("chat.postMessage", {"channel": "room"}, "no_text"),
    ("chat.postMessage", {"channel": "room", "text": ""}, "no_text"),
    ("chat.postMessage", {"channel": "C0NOPE", "text": "x"}, "channel_not_found"),
    ("chat.postMessage", {"channel": "room", "blocks": [SECTION]}, "ok"),
    ("chat.postMessage", {"channel": "room", "blocks": [{}]}, "invalid_blocks"),
    ("chat.postMessage", {"channel": "room", "blocks": [SECTION] * 51}, "invalid_blocks"),
    ("chat.postMessage", {"channel": "room", "text": "x" * 40_001}, "ok"),
    ("chat.postMessage", {"channel": "ann", "text": "x"}, "ok"),
    ("chat.update", {"channel": "room", "ts": NOBODY, "text": "x"}, "message_not_found"),
    ("chat.update", {"channel": "room", "ts": "ours"}, "no_text"),
    ("chat.update", {"channel": "room", "ts": "ours", "text": "x" * 4_001}, "msg_too_long"),
    ("chat.update", {"channel": "room", "ts": "ours", "text": "new"}, "ok"),
    ("chat.update", {"channel": "room", "ts": "theirs", "text": "x"}, "cant_update_message"),
    ("chat.delete", {"channel": "room", "ts": NOBODY}, "message_not_found"),
    ("chat.delete", {"channel": "room", "ts": "theirs"}, "cant_delete_message"),
    ("chat.postEphemeral", {"channel": "room", "user": "ann", "text": "x"}, "ok"),
    ("chat.postEphemeral", {"channel": "room", "user": "ann"}, "no_text"),
    ("views.open", {"trigger_id": "none", "view": MODAL}, "invalid_trigger_id"),
    ("views.open", {"trigger_id": "none"}, "invalid_arguments"),
    ("views.update", {"view_id": "V0NOPE", "view": MODAL}, "not_found"),
    ("users.info", {"user": "ann"}, "ok"),
    ("users.info", {"user": "U0NOPE"}, "user_not_found"),
    ("conversations.info", {"channel": "room"}, "ok"),
    ("conversations.info", {"channel": "C0NOPE"}, "channel_not_found"),
    ("conversations.open", {"users": "ann"}, "ok"),
    ("conversations.open", {"users": "U0NOPE"}, "user_not_found"),
    ("conversations.open", {}, "users_list_not_supplied"),
    ("conversations.replies", {"channel": "room", "ts": "theirs"}, "ok"),
    ("conversations.replies", {"channel": "room", "ts": NOBODY}, "thread_not_found"),
    ("conversations.replies", {"channel": "room", "ts": "1.000001"}, "thread_not_found"),
    ("reactions.add", {"channel": "room", "timestamp": NOBODY, "name": "+1"}, "message_not_found"),
    ("reactions.add", {"channel": "room", "timestamp": "ours", "name": "+1"}, "ok"),
    ("reactions.add", {"channel": "room", "timestamp": "ours", "name": "+1"}, "already_reacted"),
)
#: Methods that take no JSON.
_FORMS = ("users.info", "conversations.info", "conversations.replies")
#: Fields that we leave out: of what is shown nothing hangs on them here.
_LEFT_OUT = (".message.bot_profile.icons", ".view.submit_disabled")


class Side:
    """One of the two servers: a client of it, and what names stand for there."""

    def __init__(self, token: str, url: str, names: dict[str, str]) -> None:
        self.client = AsyncWebClient(token, base_url=url)
        self.names = names

    async def answer(self, method: str, given: dict[str, Any]) -> str:
        """How a call is answered: the error, or `ok`."""
        named = {key: self.names.get(value, value) if isinstance(value, str) else value for key, value in given.items()}
        is_form = method in _FORMS
        try:
            await self.client.api_call(method, params=named if is_form else None, json=None if is_form else named)
        except SlackApiError as error:
            return str(error.response["error"])
        return "ok"

    async def post(self, **more: Any) -> str:
        """A message of the app's."""
        return str((await self.client.chat_postMessage(channel=self.names["room"], text="x", **more))["ts"])


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    """A request URL for both."""
    target = Endpoint()
    target.gate.set()
    application = web.Application()
    application.router.add_post("/slack/events", target.handle)
    async with TestServer(application, host="127.0.0.1") as server:
        target.url = str(server.make_url("/slack/events"))
        yield target


@pytest.fixture
def minutehand(tmp_path: Path, endpoint: Endpoint) -> Iterator[Minutehand]:
    """Theirs."""
    with running(tmp_path, endpoint.url) as server:
        yield server


@asynccontextmanager
async def our_side(endpoint: Endpoint) -> AsyncIterator[tuple[SlackServer, Side]]:
    """Ours, with Ann in the same channel."""
    async with SlackServer() as server:
        app, ann = await server.app(), await server.user("Ann")
        room = await server.channel("ops", members=[ann, app.bot])
        await server.point(app, endpoint.url)
        yield server, Side(app.bot_token, server.api_url, {"room": room.id, "ann": ann.id})


def their_side(server: Minutehand) -> Side:
    """Theirs, as a client sees it."""
    return Side("xoxb-1", f"{server.url}/api/", {"room": server.room, "ann": server.people["ann"]})


async def test_calls_are_answered_alike(minutehand: Minutehand, endpoint: Endpoint) -> None:
    """With the same errors, by name."""
    theirs = their_side(minutehand)
    said = await asyncio.to_thread(minutehand.does, "ann", "say", text="hi")
    theirs.names |= {"theirs": said["ts"], "ours": await theirs.post()}
    async with our_side(endpoint) as (server, ours):
        message = await server.say(ours.names["ann"], ours.names["room"], "hi")
        ours.names |= {"theirs": message.ts, "ours": await ours.post()}
        answers = [
            (method, given, await ours.answer(method, given), await theirs.answer(method, given))
            for method, given, _ in CALLS
        ]

    assert [(method, given, error, error) for method, given, error in CALLS] == answers


async def test_what_people_do_is_told_alike(minutehand: Minutehand, endpoint: Endpoint) -> None:
    """Every field that minutehand sends with an event, a press, a window or a command we send too, of the same type."""
    async with our_side(endpoint) as (server, ours):
        await acts(server, ours, endpoint)
    mine = shapes(endpoint)
    endpoint.bodies.clear()
    await their_acts(minutehand, their_side(minutehand), endpoint)

    assert {"message", "message in a thread", "app_mention", "reaction_added"} < mine.keys()
    assert {"block_actions", "view_submission"} < mine.keys()
    assert {} == {name: lacking for name, fields in shapes(endpoint).items() if (lacking := fields - mine[name])}


async def acts(server: SlackServer, side: Side, endpoint: Endpoint) -> None:
    """Ann writes, mentions, answers, reacts, presses and fills in a window, on our server."""
    ann, room = side.names["ann"], side.names["room"]
    root = await server.say(ann, room, "hi")
    await server.mention(ann, room, "do it")
    card = await side.post(thread_ts=root.ts, blocks=[{"type": "actions", "elements": [BUTTON]}])
    await server.say(ann, room, "yes", thread=root)
    await server.react(ann, card, "+1", channel=room)
    await server.press(ann, card, "go", channel=room)
    await opened(side, endpoint)
    await server.submit(ann, await server.wait_view(ann), {"a": "x"})
    await server.wait_drained()


async def their_acts(server: Minutehand, side: Side, endpoint: Endpoint) -> None:
    """The same on theirs, which fills in the window as a part of the press."""
    root = (await asyncio.to_thread(server.does, "ann", "say", text="hi"))["ts"]
    await asyncio.to_thread(server.does, "ann", "say", text="do it", mention=True)
    card = await side.post(thread_ts=root, blocks=[{"type": "actions", "elements": [BUTTON]}])
    await asyncio.to_thread(server.does, "ann", "say", text="yes", thread=root)
    await asyncio.to_thread(server.does, "ann", "react", ts=card, reaction="+1")
    pressing = asyncio.to_thread(server.does, "ann", "press", ts=card, action="go", reason="x")
    await asyncio.gather(pressing, opened(side, endpoint))


async def opened(side: Side, endpoint: Endpoint) -> None:
    """The press opens a window."""
    async with asyncio.timeout(PATIENCE_S):
        while not endpoint.payloads:  # noqa: ASYNC110 - what came is only looked at
            await asyncio.sleep(0.01)
    await side.client.views_open(trigger_id=endpoint.payloads[0]["trigger_id"], view=MODAL)


def shapes(endpoint: Endpoint) -> dict[str, set[str]]:
    """The fields of each kind of thing that came, with their types."""
    found = {one["type"]: set(fields(one)) for one in endpoint.payloads}
    return found | {_kind(one): set(fields(one)) for one in endpoint.events}


def _kind(event: dict[str, Any]) -> str:
    return f"{event['type']} in a thread" if event.get("thread_ts") else str(event["type"])


def fields(value: Any, path: str = "") -> Iterator[str]:
    """Every field at every depth; of a list the first says what all are like."""
    if path.startswith(_LEFT_OUT):
        return
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from fields(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for inner in value[:1]:
            yield from fields(inner, f"{path}[]")
    else:
        yield f"{path}: {type(value).__name__}"
