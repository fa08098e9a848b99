"""Planted secrets, tokens and keys appear nowhere in what an operator keeps: log, metrics, record, statistics."""

from __future__ import annotations

import asyncio
import json
import re
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from simulators.telegram import TelegramServer
from tests.acceptance.installation import ALONE, ME, Installation, until

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.long

#: Made up, in the formats of those who issue them; each is planted where such a secret would be.
ARGUMENT = "ghp_7Qz2mXk9Lw4ZtRv8NcYb3Ud6Fg1Hj5Ps0EoI"
PASSWORD = "corrupt-horse-battery-stapler"
REASON = "xoxb-190271-" + "8431907" + "-Kq3ZtRv8NcYb3Ud6Fg1Hj5Ps"
WEBHOOK = "Webhook_Secret_4kPq"
CUSTOMER = "CUST-4711"

DEBUG = {"SAYSO_LOG_LEVEL": "debug"}
SETTINGS = r"""
[metrics]
port = 0

[http]
port = 0

[masks]
customer = 'CUST-\d{{4}}'

[telegram]
api = "{api}"
timeout_s = 2
"""


def planted(service: Installation, token: str, bearer: str) -> dict[str, str]:
    """Every canary by its name, the master keys among them."""
    keys = json.loads((service.state / "keys.json").read_text())
    found = {"argument": ARGUMENT, "password": PASSWORD, "reason": REASON, "webhook": WEBHOOK, "bearer": bearer}
    found["customer"] = CUSTOMER
    found["telegram"] = token.partition(":")[2]
    return found | {f"key {place}": text for place, text in enumerate(_texts(keys)) if len(text) > 20}


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for one in inside for text in _texts(one)]


def use(service: Installation) -> tuple[str, str]:
    """Ask, approve, reject, fail, and call the API; the bearer token, and what `/metrics` then says."""
    bearer = service.run("token", "create", "ci", "--scope", "agent", "--owner", ME).stdout.strip()
    service.say(
        f"run echo {ARGUMENT} {CUSTOMER}",
        "yes",
        f"run curl -u admin:{PASSWORD} https://x.example",
        f"no because {REASON}",
        f"read {ARGUMENT}",
        f"read {CUSTOMER}",
    )
    service.say(f"run exit 3 # password={PASSWORD}", "yes")
    ports = dict(re.findall(r"(http|metrics)\.ready\W.*port\W+(\d+)", service.log))
    headers = {"Authorization": f"Bearer {bearer}"}
    body = {"tools": "deploy", "tool": "release", "args": {"password": PASSWORD, "note": ARGUMENT}}
    for method, path in (("GET", "/v1/me"), ("POST", "/v1/calls"), ("GET", f"/v1/calls/{ARGUMENT}")):
        url = f"http://127.0.0.1:{ports['http']}{path}"
        httpx.request(method, url, headers=headers, json=body, timeout=30, trust_env=False)
    return bearer, httpx.get(f"http://127.0.0.1:{ports['metrics']}/metrics", timeout=30, trust_env=False).text


@pytest.mark.parametrize("form", ["text", "json"])
async def test_no_canary_gets_out_at_debug_level(install: Callable[..., Installation], form: str) -> None:
    """With all libraries at debug level, over polling, cards, decisions, failed runs, the API and a restart."""
    async with TelegramServer() as server:
        bot = await server.bot()
        settings = ALONE + SETTINGS.format(api=server.root_url)
        settings = f'routes = ["telegram:7"]\n{settings}'
        secrets = {"SAYSO_TELEGRAM__TOKEN": bot.token, "SAYSO_TELEGRAM__WEBHOOK_SECRET": WEBHOOK}
        service = install(settings=settings, environment={**secrets, **DEBUG, "SAYSO_LOG": form})
        await asyncio.to_thread(service.start)
        await server.wait_polling(timeout=20)
        bearer, scraped = await asyncio.to_thread(use, service)
        await asyncio.to_thread(until, lambda: "outbox.refused" in service.log, "a card that is refused")
        await asyncio.to_thread(service.stop)

    record = service.run("audit", "export").stdout + service.run("audit", "export", "--format", "csv").stdout
    kept = {"log": service.log, "metrics": scraped, "record": record, "stats": service.run("stats").stdout}
    canaries = planted(service, bot.token, bearer)
    found = [(where, name) for where, text in kept.items() for name, secret in canaries.items() if secret in text]

    assert len(bearer) > 20
    assert "sayso_calls_total" in scraped
    assert len(record.splitlines()) > 10
    assert "uvicorn.error" in service.log, "libraries log their normal work only at debug level"
    assert "[masked customer 9]" in record
    assert [] == found


async def test_each_line_of_a_json_log_is_one_object(install: Callable[..., Installation]) -> None:
    """A log collector reads every line from the first to the last, and finds the call by its correlation id."""
    async with TelegramServer() as server:
        bot = await server.bot()
        settings = f'routes = ["telegram:7"]\n{ALONE}' + SETTINGS.format(api=server.root_url)
        service = install(settings=settings, environment={"SAYSO_TELEGRAM__TOKEN": bot.token, "SAYSO_LOG": "json"})
        await asyncio.to_thread(service.start)
        asked = await asyncio.to_thread(service.begin, "ask", "deploy", "--", "true")
        await asyncio.to_thread(until, lambda: "outbox.refused" in service.log, "a card that is refused")
        (call,) = service.waiting()
        asked.terminate()
        asked.communicate()
        await asyncio.to_thread(service.stop)

    lines = [json.loads(line) for line in service.log.splitlines()]

    assert {"service.ready", "service.stopped"} <= {line["event"] for line in lines}
    assert call["ref"] in {line.get("correlation_id") for line in lines if line["event"] == "outbox.refused"}
