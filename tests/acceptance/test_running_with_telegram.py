"""`sayso run` with Telegram: it works while that is down, stops at once, keeps its token, refuses half a webhook."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from typing import TYPE_CHECKING

import httpx
import pytest

from hitl.cards.wording import say
from simulators.telegram import TelegramServer
from tests.acceptance.installation import ALONE, ME, until
from tests.sentences import says

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from tests.acceptance.installation import Installation

pytestmark = pytest.mark.forked

TOKEN = "7100000001:AAtest_" + "0" * 28
SETTINGS = """
[telegram]
api = "{api}"
timeout_s = 2
"""


async def test_a_stop_in_a_long_poll_is_quick_and_clean(install: Callable[..., Installation]) -> None:
    """Within two seconds, with exit status 0; no line of the log holds the token."""
    async with TelegramServer() as server:
        bot = await server.bot()
        told = {"SAYSO_TELEGRAM__TOKEN": bot.token}
        service = install(settings=SETTINGS.format(api=server.root_url), environment=told)
        await asyncio.to_thread(service.start)
        await server.wait_polling(timeout=20)
        began = time.monotonic()
        status = await asyncio.to_thread(service.stop)
        took = time.monotonic() - began

    assert 0 == status
    assert took < 2
    assert bot.token.partition(":")[2] not in service.log


def test_it_runs_while_telegram_is_down(install: Callable[..., Installation]) -> None:
    """Calls are taken and people at a terminal can answer; the log says what is missing, without the token."""
    service = install(
        settings=ALONE + SETTINGS.format(api="http://127.0.0.1:9"), environment={"SAYSO_TELEGRAM__TOKEN": TOKEN}
    )
    service.start()
    told = until(lambda: [one for one in service.call("ping")["troubles"] if "Error" in one], "trouble")

    assert ["telegram: no connection to http://127.0.0.1:9 (NetworkError)"] == told
    assert 0 == service.stop()
    assert "telegram.connecting" in service.log
    assert TOKEN.partition(":")[2] not in service.log


async def test_a_wrong_token_is_told_as_such(install: Callable[..., Installation]) -> None:
    """It is no trouble of the network, which somebody would look for in the wrong place."""
    async with TelegramServer() as server:
        await server.bot()
        settings = ALONE + SETTINGS.format(api=server.root_url)
        service = install(settings=settings, environment={"SAYSO_TELEGRAM__TOKEN": TOKEN.replace("test", "none")})
        await asyncio.to_thread(service.start)
        told = await asyncio.to_thread(
            until, lambda: [one for one in service.call("ping")["troubles"] if "yet" not in one], "trouble"
        )
        await asyncio.to_thread(service.stop)

    assert any("token" in one for one in told)
    assert not any("connection" in one for one in told)


@contextlib.asynccontextmanager
async def polling(install: Callable[..., Installation], people: str) -> AsyncIterator[Installation]:
    """A service with these settings of people and routes, from its first poll of a Telegram of its own to its stop."""
    async with TelegramServer() as server:
        bot = await server.bot()
        settings = people + SETTINGS.format(api=server.root_url)
        service = install(settings=settings, environment={"SAYSO_TELEGRAM__TOKEN": bot.token})
        await asyncio.to_thread(service.start)
        await server.wait_polling(timeout=20)
        yield service
        await asyncio.to_thread(service.stop)


async def test_show_says_where_a_card_could_not_be_shown(install: Callable[..., Installation]) -> None:
    """With the platform's own words, while the request waits for an approver at a terminal."""
    async with polling(install, f'routes = ["telegram:7"]\n{ALONE}') as service:
        ref = service.call("ask", tool="deploy", args={"argv": ["true"]})["call"]["ref"]
        await asyncio.to_thread(until, lambda: "not_shown" in service.events(ref), "a card that is refused")
        told = await asyncio.to_thread(service.run, "show", ref)

    (line,) = [line for line in told.stdout.splitlines() if "not_shown" in line]
    assert line.endswith(say("show.not_shown", route="telegram:7", why="Chat not found"))


async def test_whoever_waits_hears_that_a_card_could_not_be_shown(install: Callable[..., Installation]) -> None:
    """Once, with the platform's own words; an approver at a terminal can still answer."""
    async with polling(install, f'routes = ["telegram:7"]\n{ALONE}') as service:
        waiting = service.begin("ask", "deploy", "--", "true")
        assert waiting.stderr is not None
        lines = [await asyncio.to_thread(waiting.stderr.readline) for _ in range(2)]
        service.call("decide", target=service.call("pending")["calls"][0]["ref"], verb="approve")
        _, rest = await asyncio.to_thread(waiting.communicate)

    assert says(lines[1], "command.unseen", route="telegram:7", why="Chat not found")
    assert 0 == waiting.returncode
    assert not says(rest, "command.unseen")


async def test_a_mended_route_is_no_trouble_after_a_reload(install: Callable[..., Installation]) -> None:
    """The refusal makes the service unready; the operator who mends it needn't restart the service."""
    people = f'approvers = ["telegram:9"]\nroutes = ["telegram:7"]\nrequesters = ["{ME}"]\noperators = ["{ME}"]\n'
    async with polling(install, people) as service:
        service.call("ask", tool="deploy", args={"argv": ["true"]})
        (trouble,) = await asyncio.to_thread(until, lambda: service.call("ping")["troubles"], "the refused card")
        service.config.write_text(service.config.read_text().replace("telegram:7", "telegram:9"))
        await asyncio.to_thread(service.run, "reload")
        mended = service.call("ping")["troubles"]

    assert says(trouble, "trouble.route", route="telegram:7", why="Chat not found")
    assert [] == mended


PROBED = (
    SETTINGS
    + """
[metrics]
port = 0

[http]
port = 0
"""
)
PROBES = {"http": ("/healthz", "/readyz"), "metrics": ("/metrics",)}


def probe(service: Installation) -> list[int]:
    """Ask what monitors ask, ten times over; the status of every answer."""
    ports = dict(re.findall(r"(http|metrics)\.ready\W.*port\W+(\d+)", service.log))
    urls = [f"http://127.0.0.1:{ports[name]}{path}" for name, paths in PROBES.items() for path in paths]
    return [httpx.get(url, timeout=30, trust_env=False).status_code for url in urls * 10]


async def test_no_probe_touches_a_chat(install: Callable[..., Installation]) -> None:
    """A monitor may ask every second: the bot sends nothing for it and asks the platform nothing but what is new."""
    async with TelegramServer() as server:
        bot = await server.bot()
        service = install(
            settings=ALONE + PROBED.format(api=server.root_url), environment={"SAYSO_TELEGRAM__TOKEN": bot.token}
        )
        await asyncio.to_thread(service.start)
        await server.wait_polling(timeout=20)
        before = len(server.platform.calls)
        answers = await asyncio.to_thread(probe, service)
        asked = {call.method for call in server.platform.calls[before:]}
        await asyncio.to_thread(service.stop)

    assert {200} == set(answers)
    assert asked <= {"getUpdates"}


WEBHOOK = 'receive = "webhook"\nwebhook_url = "https://sayso.example"\n'
HALF: dict[str, tuple[str, dict[str, str], str]] = {
    "no secret": (WEBHOOK + "[http]\nport = 0\n", {}, "webhook_secret"),
    "no port": (WEBHOOK, {"SAYSO_TELEGRAM__WEBHOOK_SECRET": "s"}, "http.port"),
}


@pytest.mark.parametrize("half", HALF)
def test_half_a_webhook_is_refused(install: Callable[..., Installation], half: str) -> None:
    """Without its secret anybody could press buttons; without a port nobody could be heard."""
    settings, environment, named = HALF[half]
    service = install(settings=SETTINGS.format(api="http://127.0.0.1:9") + settings)
    refused = service.run("run", "--config", str(service.config), SAYSO_TELEGRAM__TOKEN=TOKEN, **environment)

    assert 2 == refused.returncode
    assert named in refused.stderr
    assert "Traceback" not in refused.stderr
