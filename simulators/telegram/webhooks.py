"""Delivery of updates to webhooks: one at a time per lane, again and again until it works.

Delays are those of the official server: a first retry at once, then after 2, 4, 8 ... up to 60
seconds, or what `Retry-After` says (at most an hour), until the update expires. 410 for 23 hours
ends the webhook. All delays are on the server's clock, so a test can speed them up.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import aiohttp

from simulators.telegram.errors import Json
from simulators.telegram.params import to_int
from simulators.telegram.platform import Desk, Platform, Webhook
from simulators.telegram.updates import Update

SECRET_HEADER: Final = "X-Telegram-Bot-Api-Secret-Token"
MAX_DELAY: Final = 60
MAX_RETRY_AFTER: Final = 3600
GONE: Final = 410
GONE_FOR: Final = 23 * 3600
ANSWER_TIMEOUT: Final = 30.0
NOT_FROM_ANSWERS: Final = ("get", "setwebhook", "deletewebhook", "close", "logout")

LaneKey = tuple[int, str, int]
Caller = Callable[[Desk, Json], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one delivery went; `error` is "" for well."""

    error: str = ""
    status: int = 0
    retry_after: int = 0
    answer: Json | None = None


def delay_after(failures: int) -> int:
    """Return the seconds until the next try after so many failures."""
    return 0 if failures <= 1 else min(2 ** (failures - 1), MAX_DELAY)


class WebhookPump:
    """Delivers what waits for the bots that have webhooks.

    `call` carries out a method that came as the answer to a delivery.
    """

    def __init__(self, platform: Platform, call: Caller) -> None:
        self._platform = platform
        self._call = call
        self._lanes: dict[LaneKey, asyncio.Task[None]] = {}
        self._open: dict[int, tuple[Webhook, asyncio.Semaphore]] = {}
        self._gone_since: dict[int, float] = {}
        self._http: aiohttp.ClientSession | None = None

    async def run(self) -> None:
        """Deliver until cancelled."""
        async with aiohttp.ClientSession() as self._http:
            try:
                while True:
                    change = self._platform.change()
                    self._start_lanes()
                    await change.wait()
            finally:
                await self._stop_lanes()

    def _start_lanes(self) -> None:
        for desk in self._platform.desks.values():
            if desk.webhook:
                self._start(desk, desk.webhook)

    def _start(self, desk: Desk, hook: Webhook) -> None:
        for lane in {update.lane for update in desk.queue.pending()}:
            key = desk.bot.id, lane, id(hook)
            if key not in self._lanes:
                self._lanes[key] = asyncio.create_task(self._drain(desk, hook, lane))
                self._lanes[key].add_done_callback(partial(self._finished, key))

    def _finished(self, key: LaneKey, _task: asyncio.Task[None]) -> None:
        del self._lanes[key]

    async def _stop_lanes(self) -> None:
        running = list(self._lanes.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _drain(self, desk: Desk, hook: Webhook, lane: str) -> None:
        while desk.webhook is hook:
            update = next((one for one in desk.queue.pending() if one.lane == lane), None)
            if update is None:
                return
            await self._deliver(desk, hook, update)

    async def _deliver(self, desk: Desk, hook: Webhook, update: Update) -> None:
        failures = 0
        while desk.webhook is hook:
            async with self._slot(desk, hook):
                outcome = await self._post(hook, update)
            if not outcome.error:
                await self._delivered(desk, update, outcome)
                return
            failures += 1
            self._failed(desk, outcome)
            if not await self._wait(desk, update, outcome.retry_after or delay_after(failures)):
                return

    def _slot(self, desk: Desk, hook: Webhook) -> asyncio.Semaphore:
        """Return what limits the connections of this webhook."""
        held = self._open.get(desk.bot.id)
        if held is None or held[0] is not hook:
            self._open[desk.bot.id] = hook, asyncio.Semaphore(hook.max_connections)
        return self._open[desk.bot.id][1]

    async def _wait(self, desk: Desk, update: Update, seconds: float) -> bool:
        """Sleep before a retry; False when the update would be too old by then, which drops it."""
        again_at = self._platform.clock.now() + seconds
        if again_at > update.expires:
            desk.queue.forget(update.id)
            return False
        await self._platform.clock.sleep_until(again_at)
        return update in desk.queue.pending()

    async def _delivered(self, desk: Desk, update: Update, outcome: Outcome) -> None:
        desk.queue.forget(update.id)
        self._gone_since.pop(desk.bot.id, None)
        self._platform.touch()
        method = str((outcome.answer or {}).get("method", "")).lower()
        if method and not method.startswith(NOT_FROM_ANSWERS):
            await self._call(desk, outcome.answer or {})

    def _failed(self, desk: Desk, outcome: Outcome) -> None:
        desk.last_error, desk.last_error_at = outcome.error, self._platform.clock.date()
        if outcome.status != GONE:
            self._gone_since.pop(desk.bot.id, None)
        elif self._platform.clock.now() > self._gone_since.setdefault(desk.bot.id, self._now()) + GONE_FOR:
            desk.webhook = None
        self._platform.touch()

    def _now(self) -> float:
        return self._platform.clock.now()

    async def _post(self, hook: Webhook, update: Update) -> Outcome:
        headers = {SECRET_HEADER: hook.secret} if hook.secret else {}
        try:
            return await self._exchange(hook.url, update.as_json(), headers)
        except TimeoutError:
            return Outcome("Read timeout expired")
        except (aiohttp.ClientError, OSError):
            return Outcome("Connection refused")

    async def _exchange(self, url: str, body: Json, headers: dict[str, str]) -> Outcome:
        assert self._http is not None
        # Webhooks are on loopback here, where no certificate could be checked.
        request = self._http.post(
            url,
            json=body,
            headers=headers,
            ssl=False,
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=ANSWER_TIMEOUT),
        )
        async with request as answer:
            if 200 <= answer.status <= 299:
                return Outcome(answer=_json_object(await answer.read()))
            error = f"Wrong response from the webhook: {answer.status} {answer.reason}"
            asked = to_int(answer.headers.get("Retry-After")) or 0
            return Outcome(error, answer.status, min(max(asked, 0), MAX_RETRY_AFTER))


def _json_object(body: bytes) -> Json | None:
    """Return the object that a body holds, None for anything else."""
    try:
        value: Any = json.loads(body)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
