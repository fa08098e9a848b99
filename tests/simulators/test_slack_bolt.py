"""The server as slack_bolt sees it: an AsyncApp over HTTP, and over Socket Mode."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
import uvicorn
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.adapter.starlette.async_handler import AsyncSlackRequestHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from simulators.slack import Channel, SlackServer, User
from tests.simulators.conftest import CARD, RawApp

FORM = {
    "type": "modal",
    "callback_id": "reason",
    "title": {"type": "plain_text", "text": "Reject"},
    "submit": {"type": "plain_text", "text": "Reject"},
    "blocks": [
        {
            "type": "input",
            "block_id": "why",
            "label": {"type": "plain_text", "text": "Reason"},
            "element": {"type": "plain_text_input", "action_id": "text", "multiline": True},
        }
    ],
}


def listeners(app: AsyncApp) -> AsyncApp:
    """Return the app with a card, two buttons, a form, a command and a reaction."""

    @app.event("app_mention")
    async def mentioned(event: dict[str, Any], client: AsyncWebClient) -> None:
        await client.chat_postMessage(channel=event["channel"], thread_ts=event["ts"], text="Run it?", blocks=CARD)

    @app.action("yes")
    async def approve(ack: Any, body: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        where = body["container"]
        text = f"Approved by <@{body['user']['id']}>"
        await client.chat_update(channel=where["channel_id"], ts=where["message_ts"], text=text)

    @app.action("no")
    async def reject(ack: Any, body: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        await client.views_open(trigger_id=body["trigger_id"], view=FORM)

    @app.view("reason")
    async def reasoned(ack: Any, view: dict[str, Any]) -> None:
        text = view["state"]["values"]["why"]["text"]["value"]
        if text == "no":
            await ack(response_action="errors", errors={"why": "Say more"})
        else:
            await ack()

    @app.command("/sayso")
    async def command(ack: Any, command: dict[str, Any], respond: Any) -> None:
        await ack(f"You said {command['text']}")
        await respond("Nothing is pending", response_type="in_channel")

    @app.event("reaction_added")
    async def reacted(event: dict[str, Any], client: AsyncWebClient) -> None:
        item = event["item"]
        await client.chat_postMessage(
            channel=item["channel"], thread_ts=item["ts"], text=f"<@{event['user']}> said {event['reaction']}"
        )

    @app.event(re.compile(".*"))
    async def other() -> None:
        return None

    return app


@pytest.fixture
async def over_http(slack: SlackServer, hands: RawApp) -> AsyncIterator[AsyncApp]:
    """A stock application behind uvicorn."""
    client = AsyncWebClient(token=hands.app.bot_token, base_url=slack.api_url)
    app = listeners(AsyncApp(client=client, signing_secret=hands.app.signing_secret))
    handler = AsyncSlackRequestHandler(app)

    async def endpoint(request: Request) -> Response:
        return await handler.handle(request)

    star = Starlette(routes=[Route("/slack/events", endpoint, methods=["POST"])])
    server = uvicorn.Server(uvicorn.Config(star, port=0, log_level="warning", ws="none", lifespan="off"))
    serving = asyncio.create_task(server.serve())
    await slack.wait_for(lambda: server.started)
    port = server.servers[0].sockets[0].getsockname()[1]
    await slack.point(hands.app, f"http://127.0.0.1:{port}/slack/events")
    yield app
    server.should_exit = True
    await serving


@pytest.fixture
async def over_socket(slack: SlackServer, hands: RawApp) -> AsyncIterator[AsyncSocketModeHandler]:
    """A stock application on a socket."""
    await slack.socket_mode(hands.app)
    app = listeners(AsyncApp(client=AsyncWebClient(token=hands.app.bot_token, base_url=slack.api_url)))
    handler = AsyncSocketModeHandler(app, hands.app.app_token)
    await handler.connect_async()  # type: ignore[no-untyped-call]
    await slack.wait_connected()
    yield handler
    await handler.close_async()  # type: ignore[no-untyped-call]


@pytest.fixture(params=["over_http", "over_socket"])
def bolt(request: pytest.FixtureRequest) -> Any:
    """The application, both ways."""
    return request.getfixturevalue(request.param)


@pytest.mark.usefixtures("bolt")
async def test_a_card_approved(slack: SlackServer, ops: Channel, ada: User) -> None:
    """Mention, card in the thread, press, edit: the whole way."""
    asked = await slack.mention(ada, ops, "deploy it")
    card = await slack.wait_message(ops, "Run it?", button="Approve", thread=asked)
    pressed = await slack.press(ada, card, "Approve")
    assert pressed is not None
    done = await slack.wait_message(ops, "Approved", edits=1)

    assert "delivered" == (await slack.wait_delivery(pressed)).state
    assert (card.ts, ()) == (done.ts, done.labels)
    assert (ada.id,) == tuple(mark.target for mark in done.shown.of("user"))


@pytest.mark.usefixtures("bolt")
async def test_a_rejection_with_a_reason(slack: SlackServer, ops: Channel, ada: User) -> None:
    """A press opens a form; an error keeps it open, a good answer closes it."""
    await slack.mention(ada, ops, "deploy it")
    card = await slack.wait_message(ops, button="Reject")
    await slack.press(ada, card, "Reject")
    form = await slack.wait_view(ada, "Reject")
    await slack.wait_delivery(await slack.submit(ada, form, {"Reason": "no"}))
    errors = (await slack.view(form)).errors
    await slack.wait_delivery(await slack.submit(ada, form, {"Reason": "not on a Friday"}))

    assert {"why": "Say more"} == errors
    assert [] == await slack.views(ada)


@pytest.mark.usefixtures("bolt")
async def test_a_command_is_answered(slack: SlackServer, ops: Channel, ada: User) -> None:
    """The answer to a command is seen by one, what goes to the response_url by all."""
    await slack.command(ada, ops, "/sayso", "pending")
    whisper = await slack.wait_ephemeral(ada, "You said pending")
    said = await slack.wait_message(ops, "Nothing is pending")

    assert ada.id == whisper.visible_to
    assert "" == said.visible_to


@pytest.mark.usefixtures("bolt")
async def test_a_reaction_is_heard(slack: SlackServer, hands: RawApp, ops: Channel, ada: User) -> None:
    """A skin tone is part of the name."""
    card = await hands.send(ops)
    await slack.react(ada, card, "+1::skin-tone-4")

    assert "said +1::skin-tone-4" in (await slack.wait_message(ops, "said", thread=card)).text


async def test_the_url_is_verified(slack: SlackServer, over_http: AsyncApp) -> None:
    """The application returns the challenge."""
    assert over_http is not None
    assert await slack.challenge()


@pytest.mark.usefixtures("over_http")
@pytest.mark.parametrize(
    ("flaw", "status"),
    [
        ("none", 200),
        ("bad_signature", 401),
        ("other_body", 401),
        ("old", 401),
        ("no_signature", 401),
        ("no_headers", 401),
    ],
)
async def test_forgeries_are_refused(slack: SlackServer, flaw: str, status: int) -> None:
    """A request with a wrong proof gets a 401."""
    outcome = await slack.forge(
        "interactive", {"type": "block_actions", "actions": [{"action_id": "other"}]}, flaw=flaw
    )

    assert {200: 404}.get(status, status) == outcome.status


async def test_a_refresh_moves_to_a_new_socket(
    slack: SlackServer, hands: RawApp, over_socket: AsyncSocketModeHandler, ops: Channel, ada: User
) -> None:
    """A told disconnect makes the library open another socket, and nothing is lost."""
    assert over_socket is not None
    before = (await slack.links())[0].number
    await slack.disconnect()
    await slack.wait_for(lambda: [one for one in slack.sockets.of(hands.app.id) if one.number > before], 10)
    await slack.mention(ada, ops, "deploy it")

    assert ("Approve", "Reject") == (await slack.wait_message(ops, button="Approve")).labels
