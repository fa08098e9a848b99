"""Telegram's calls: the secret before everything, and 200 only for what is recorded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from starlette.requests import Request

from adapters.http.app import LONGEST_BODY, app
from adapters.telegram.receiver import SECRET_HEADER, UpdateRecorder
from adapters.telegram.webhook import PATH, endpoint
from bot.platforms import mounted
from hitl.errors import SettingsError
from hitl.testing import SetClock
from tests.adapters.disk import Disk
from tests.hitl.world import NOON

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

SECRET = "the-secret-of-now"
UPDATE = {"update_id": 5, "message": {"chat": {"id": -100}, "text": "yes"}}


@pytest.fixture
def store() -> Disk:
    """An empty one."""
    return Disk(SetClock(NOON))


@pytest.fixture
async def client(store: Disk) -> AsyncIterator[httpx.AsyncClient]:
    """Somebody on the other end of the webhook."""

    async def ready() -> list[str]:
        return ["the disk is full"] if store.full else []

    served = app(ready, [mounted(endpoint(UpdateRecorder(store, lambda: None), SECRET))])
    async with httpx.AsyncClient(transport=httpx.ASGITransport(served), base_url="http://sayso") as client:
        yield client


async def sent(client: httpx.AsyncClient, content: Any, secret: str | bytes | None = SECRET) -> int:
    """The status that a call got."""
    headers = (
        [] if secret is None else [(SECRET_HEADER.encode(), secret if isinstance(secret, bytes) else secret.encode())]
    )
    return (await client.post(PATH, content=content, headers=headers)).status_code


async def test_an_update_is_recorded_before_it_is_acknowledged(client: httpx.AsyncClient, store: Disk) -> None:
    """Whole, once, however often it is sent."""
    statuses = [await sent(client, json.dumps(UPDATE)) for _ in range(2)]
    (kept,) = await store.incoming()

    assert [200, 200] == statuses
    assert (UPDATE, "5", "telegram:-100") == (json.loads(kept.body), kept.id, kept.order)


@pytest.mark.parametrize("secret", [None, "", "the-secret-of-yesterday", SECRET + "x", SECRET.upper(), "é"])
async def test_without_the_secret_nothing_is_even_read(
    client: httpx.AsyncClient, store: Disk, secret: str | None
) -> None:
    """Wrong, missing or old: refused before the body is touched."""
    read: list[str] = []

    async def body() -> AsyncIterator[bytes]:
        read.append("some")
        yield json.dumps(UPDATE).encode()

    request = Request(
        {"type": "http", "method": "POST", "path": PATH, "headers": _headers(secret)},
        receive=_receive(body()),
    )
    answer = await mounted(endpoint(UpdateRecorder(store, lambda: None), SECRET)).endpoint(request)

    assert (401, []) == (answer.status_code, read)
    assert 401 == await sent(client, json.dumps(UPDATE), None if secret is None else secret.encode())
    assert [] == list(await store.incoming())


async def test_wrong_secrets_are_logged_at_a_limited_rate(
    client: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    """An operator who set another secret at Telegram finds a line; a stranger can't fill the disk with such lines."""
    told = [await sent(client, json.dumps(UPDATE), "another") for _ in range(20)]

    assert {401} == set(told)
    assert ["telegram.wrong_secret"] == [record.message for record in caplog.records if "secret" in record.message]


def _headers(secret: str | None) -> list[tuple[bytes, bytes]]:
    return [] if secret is None else [(SECRET_HEADER.lower().encode(), secret.encode())]


def _receive(body: AsyncIterator[bytes]) -> Callable[[], Awaitable[dict[str, Any]]]:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": await anext(body), "more_body": False}

    return receive


@pytest.mark.parametrize("body", ["", "{", "[]", "null", "5", '"x"', "{}", '{"message": {}}', "\x00", "[[1]]"])
async def test_what_is_no_update_is_refused(client: httpx.AsyncClient, store: Disk, body: str) -> None:
    """And not kept."""
    assert 400 == await sent(client, body)
    assert [] == list(await store.incoming())


async def test_what_nobody_understands_yet_is_kept(client: httpx.AsyncClient, store: Disk) -> None:
    """Telegram would repeat it for a day otherwise, and hold up what comes after."""
    assert 200 == await sent(client, json.dumps({"update_id": 6, "telepathy": {"thought": []}}))
    assert ["6"] == [event.id for event in await store.incoming()]


async def test_too_long_a_body_is_refused(client: httpx.AsyncClient) -> None:
    """Before all of it is read."""
    assert 413 == await sent(client, b" " * (LONGEST_BODY + 1))


async def test_a_store_in_trouble_is_told_so_that_telegram_tries_again(client: httpx.AsyncClient, store: Disk) -> None:
    """Nothing is acknowledged that isn't kept; readiness says the same, liveness doesn't."""
    store.full = True
    statuses = [(await client.get(path)).status_code for path in ("/healthz", "/readyz")]

    assert 503 == await sent(client, json.dumps(UPDATE))
    assert [200, 503] == statuses
    store.full = False
    assert 200 == await sent(client, json.dumps(UPDATE))
    assert 200 == (await client.get("/readyz")).status_code


async def test_only_a_post_does_anything(client: httpx.AsyncClient) -> None:
    """No URL here changes anything on GET."""
    statuses = {(await client.request(method, PATH)).status_code for method in ("GET", "PUT", "DELETE")}

    assert {405} == statuses


def test_a_webhook_without_a_secret_is_refused() -> None:
    """It would let anybody press buttons."""
    with pytest.raises(SettingsError, match="webhook_secret"):
        endpoint(None, "")  # type: ignore[arg-type]
