"""Webhook delivery: the secret, order, retries, answers that are calls."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from simulators.telegram import Chat, TelegramServer, User
from simulators.telegram.webhooks import delay_after
from tests.simulators.conftest import RawBot

SECRET = "s3cret_-"


class Hook:
    """A webhook that answers as told and remembers what came."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.secrets: list[str | None] = []
        self.answers: list[web.Response] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.inside = 0
        self.most_inside = 0
        self.url = ""
        self.second = asyncio.Event()

    async def handle(self, request: web.Request) -> web.Response:
        """Take one delivery."""
        self.inside += 1
        self.most_inside = max(self.most_inside, self.inside)
        self.bodies.append(await request.json())
        if len(self.bodies) == 2:
            self.second.set()
        self.secrets.append(request.headers.get("X-Telegram-Bot-Api-Secret-Token"))
        await self.gate.wait()
        self.inside -= 1
        return self.answers.pop(0) if self.answers else web.Response()


@pytest.fixture
async def hook() -> AsyncIterator[Hook]:
    """A listening webhook."""
    target = Hook()
    application = web.Application()
    application.router.add_post("/hook", target.handle)
    async with TestServer(application, host="127.0.0.1") as server:
        target.url = str(server.make_url("/hook"))
        yield target


async def test_delays_grow_to_a_minute() -> None:
    """The first retry is at once, then 2, 4, 8 ... at most 60 seconds."""
    assert [0, 2, 4, 8, 16, 32, 60, 60] == [delay_after(failures) for failures in range(1, 9)]


async def test_updates_are_posted_with_the_secret(
    raw: RawBot, telegram: TelegramServer, hook: Hook, alice: User
) -> None:
    """What waits and what comes is posted; delivered updates are gone."""
    await telegram.say(alice, alice, "before")
    await raw.do("setWebhook", url=hook.url, secret_token=SECRET)
    await telegram.say(alice, alice, "after")
    await telegram.wait_drained()

    assert ["before", "after"] == [body["message"]["text"] for body in hook.bodies]
    assert [SECRET, SECRET] == hook.secrets


async def test_a_failed_delivery_is_repeated(raw: RawBot, telegram: TelegramServer, hook: Hook, alice: User) -> None:
    """A 500 and a 503 with Retry-After lead to the same update again; the failure is told."""
    hook.answers = [web.Response(status=500), web.Response(status=503, headers={"Retry-After": "1000"})]
    await raw.do("setWebhook", url=hook.url)
    await telegram.say(alice, alice, "hi")
    await telegram.wait_for(lambda: telegram.platform.desks[raw.bot.id].last_error.endswith("Unavailable"))
    info = await raw.do("getWebhookInfo")
    await telegram.advance(1001)
    await telegram.wait_drained()

    assert 3 == len(hook.bodies)
    assert 1 == len({body["update_id"] for body in hook.bodies})
    assert ("Wrong response from the webhook: 503 Service Unavailable", 1) == (
        info["last_error_message"],
        info["pending_update_count"],
    )


async def test_an_expired_press_is_given_up(
    raw: RawBot, telegram: TelegramServer, hook: Hook, private: Chat, alice: User
) -> None:
    """A retry that would come after 150 seconds is not made."""
    card = await raw.card(private)
    hook.answers = [web.Response(status=503, headers={"Retry-After": "151"})]
    await raw.do("setWebhook", url=hook.url)
    await telegram.press(alice, card, "Approve", chat=private)
    await telegram.wait_drained()

    assert 1 == len(hook.bodies)


async def test_one_person_in_order_others_beside(
    raw: RawBot, telegram: TelegramServer, hook: Hook, group: Chat, alice: User, bob: User
) -> None:
    """Presses of one person wait for each other, those of another don't."""
    card = await raw.card(group)
    await raw.do("setWebhook", url=hook.url)
    hook.gate.clear()
    for person in (alice, alice, bob):
        await telegram.press(person, card, "Approve", chat=group)
    await asyncio.wait_for(hook.second.wait(), 5)
    pressers = {body["callback_query"]["from"]["id"] for body in hook.bodies}
    hook.gate.set()
    await telegram.wait_drained()

    assert {alice.id, bob.id} == pressers
    assert (3, 2) == (len(hook.bodies), hook.most_inside)


async def test_connections_are_limited(
    raw: RawBot, telegram: TelegramServer, hook: Hook, group: Chat, alice: User, bob: User
) -> None:
    """With max_connections 1 nothing is parallel."""
    card = await raw.card(group)
    await raw.do("setWebhook", url=hook.url, max_connections=1)
    for person in (alice, bob):
        await telegram.press(person, card, "Approve", chat=group)
    await telegram.wait_drained()

    assert (2, 1) == (len(hook.bodies), hook.most_inside)


async def test_an_answer_may_be_a_call(
    raw: RawBot, telegram: TelegramServer, hook: Hook, private: Chat, alice: User
) -> None:
    """A 2xx body with a method is carried out; one that would delete the webhook is not."""
    hook.answers = [
        web.json_response({"method": "deleteWebhook"}),
        web.json_response({"method": "sendMessage", "chat_id": private.id, "text": "hello back"}),
    ]
    await raw.do("setWebhook", url=hook.url)
    await telegram.say(alice, alice, "one")
    await telegram.say(alice, alice, "two")

    assert "hello back" == (await telegram.wait_message(alice, "hello back")).text
    assert hook.url == (await raw.do("getWebhookInfo"))["url"]


async def test_gone_for_a_day_ends_the_webhook(raw: RawBot, telegram: TelegramServer, hook: Hook, alice: User) -> None:
    """410 for 23 hours removes it."""
    hook.answers = [web.Response(status=410, headers={"Retry-After": "3600"}) for _ in range(30)]
    await raw.do("setWebhook", url=hook.url)
    await telegram.say(alice, alice, "hi")
    for hour in range(1, 25):
        if telegram.platform.desks[raw.bot.id].webhook is None:
            break
        await telegram.wait_for(lambda hour=hour: len(hook.bodies) >= hour)  # type: ignore[misc]
        await telegram.advance(3601)

    assert "" == (await raw.do("getWebhookInfo"))["url"]


async def test_nobody_listens(raw: RawBot, telegram: TelegramServer, alice: User) -> None:
    """A refused connection is told and retried."""
    await raw.do("setWebhook", url="http://127.0.0.1:9/hook")
    await telegram.say(alice, alice, "hi")
    desk = telegram.platform.desks[raw.bot.id]
    await telegram.wait_for(lambda: desk.last_error)

    assert ("Connection refused", 1) == (desk.last_error, len(await telegram.pending()))


async def test_setting_and_deleting_are_told(raw: RawBot, hook: Hook) -> None:
    """The descriptions say what changed, and the info what is set."""
    told = [
        (await raw.call("setWebhook", url=hook.url, allowed_updates=["message"], max_connections=7))["description"],
        (await raw.call("setWebhook", url=hook.url, max_connections=7))["description"],
        (await raw.call("getWebhookInfo"))["result"],
        (await raw.call("setWebhook", url=""))["description"],
        (await raw.call("deleteWebhook"))["description"],
    ]

    assert [
        "Webhook was set",
        "Webhook is already set",
        {
            "url": hook.url,
            "has_custom_certificate": False,
            "pending_update_count": 0,
            "max_connections": 7,
            "allowed_updates": ["message"],
        },
        "Webhook was deleted",
        "Webhook is already deleted",
    ] == told


@pytest.mark.parametrize(
    ("params", "refusal"),
    [
        ({"url": "ftp://127.0.0.1/"}, "invalid webhook URL specified"),
        ({"url": "https://[/"}, "invalid webhook URL specified"),
        ({"url": "http://bot.example/"}, "bad webhook: An HTTPS URL must be provided for webhook"),
        (
            {"url": "https://bot.example:8080/"},
            "bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443",
        ),
        (
            {"url": "https://bot.example/"},
            "bad webhook: Failed to resolve host: Name or service not known",
        ),
        ({"url": "http://127.0.0.1/", "secret_token": "x" * 257}, "secret token is too long"),
        ({"url": "http://127.0.0.1/", "secret_token": "a b"}, "secret token contains unallowed characters"),
    ],
)
async def test_wrong_webhooks(raw: RawBot, params: dict[str, Any], refusal: str) -> None:
    """Addresses elsewhere, other schemes and bad secrets are refused."""
    assert f"Bad Request: {refusal}" == await raw.refused("setWebhook", **params)


async def test_a_webhook_can_begin_empty(raw: RawBot, telegram: TelegramServer, hook: Hook, alice: User) -> None:
    """Dropping pending updates forgets what waited."""
    await telegram.say(alice, alice, "before")
    await raw.do("setWebhook", url=hook.url, drop_pending_updates=True)
    await telegram.say(alice, alice, "after")
    await telegram.wait_drained()

    assert ["after"] == [body["message"]["text"] for body in hook.bodies]


async def test_setting_the_same_again_delivers_nothing_twice(
    raw: RawBot, telegram: TelegramServer, hook: Hook, alice: User
) -> None:
    """A delivery on its way is not begun anew by the same webhook."""
    hook.gate.clear()
    await raw.do("setWebhook", url=hook.url)
    await telegram.say(alice, alice, "hi")
    await telegram.wait_for(lambda: hook.bodies)
    await raw.do("setWebhook", url=hook.url)
    hook.gate.set()
    await telegram.wait_drained()

    assert 1 == len(hook.bodies)


async def test_a_webhook_ends_a_poll(raw: RawBot, telegram: TelegramServer, hook: Hook) -> None:
    """Who polls when a webhook is set gets 409."""
    polling = asyncio.create_task(raw.call("getUpdates", timeout=30))
    await telegram.wait_polling()
    await raw.do("setWebhook", url=hook.url)

    assert "Conflict: terminated by setWebhook request" == (await polling)["description"]
