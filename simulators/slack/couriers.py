"""Delivery to apps, over HTTP or a socket: signed, answered in three seconds, events tried again.

An event that fails is tried again at once, after one minute and after five, with
`x-slack-retry-num` and `x-slack-retry-reason` (over a socket: `retry_attempt`, `retry_reason`), unless
the answer bears `X-Slack-No-Retry: 1`. Interactions and commands are tried once: who acted sees that
it failed. All waiting is on the server's clock.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

import aiohttp

from simulators.slack.errors import Json
from simulators.slack.platform import Attempt, Delivery, Platform
from simulators.slack.signing import CONTENT_TYPE, Headers, encoded, signed
from simulators.slack.sockets import Link, Sockets
from simulators.slack.state import App

ANSWER_SECONDS: Final = 3.0
# Seconds from a failure to the next try.
RETRIES: Final = (0.0, 60.0, 300.0)
NO_RETRY: Final = "X-Slack-No-Retry"
BROKEN: Final = "connection_failed"
ROBOT: Final = {"User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)"}

Settle = Callable[[Delivery], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one try went; `error` is "" for well, else Slack's name for what was wrong."""

    error: str = ""
    status: int = 0
    answer: Any = None
    final: bool = False


TIMEOUT: Final = Outcome("http_timeout")


class Couriers:
    """Carries out the platform's deliveries; `settle` hears of each interaction that ended."""

    def __init__(self, platform: Platform, sockets: Sockets, settle: Settle) -> None:
        self._platform = platform
        self._sockets = sockets
        self._settle = settle
        self._begun = 0
        self._running: set[asyncio.Task[None]] = set()
        self._http: aiohttp.ClientSession | None = None
        self.down = False

    async def run(self) -> None:
        """Deliver until cancelled."""
        async with aiohttp.ClientSession(headers=ROBOT) as self._http:
            try:
                while True:
                    change = self._platform.change()
                    self._begin()
                    await change.wait()
            finally:
                await self._stop()

    def _begin(self) -> None:
        for delivery in self._platform.deliveries[self._begun :]:
            task = asyncio.create_task(self._deliver(delivery))
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        self._begun = len(self._platform.deliveries)

    async def _stop(self) -> None:
        running = list(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _deliver(self, delivery: Delivery) -> None:
        outcome = await self._try(delivery, 0)
        waits = RETRIES if delivery.kind == "events_api" else ()
        for retry, wait in enumerate(waits, 1):
            if not outcome.error or outcome.final:
                break
            await self._platform.clock.sleep_until(self._platform.clock.now() + wait)
            outcome = await self._try(delivery, retry)
        delivery.state = "failed" if outcome.error else "delivered"
        self._settle(delivery)
        self._platform.touch()

    async def _try(self, delivery: Delivery, retry: int) -> Outcome:
        app = self._platform.world.apps[delivery.app_id]
        began = self._platform.clock.now()
        carry = self._over_socket if app.socket_mode else self._over_http
        outcome = Outcome(BROKEN) if self.down else await carry(app, delivery, retry)
        delivery.attempts.append(Attempt(began, retry, outcome.error, outcome.status, outcome.answer))
        self._platform.touch()
        return outcome

    async def _in_time(self, work: Awaitable[Outcome], late_outcome: Outcome = TIMEOUT) -> Outcome:
        """Return how the work went, or the other if it took too long on the server's clock."""
        clock = self._platform.clock
        working = asyncio.ensure_future(work)
        late = asyncio.ensure_future(clock.sleep_until(clock.now() + ANSWER_SECONDS))
        try:
            await asyncio.wait({working, late}, return_when=asyncio.FIRST_COMPLETED)
            return working.result() if working.done() else late_outcome
        finally:
            working.cancel()
            late.cancel()
            await asyncio.gather(working, late, return_exceptions=True)

    # HTTP ----------------------------------------------------------------------------------

    async def _over_http(self, app: App, delivery: Delivery, retry: int) -> Outcome:
        if not app.request_url:
            return Outcome(BROKEN)
        body, mime = encoded(delivery.kind, delivery.payload)
        headers = {CONTENT_TYPE: mime, **signed(app.signing_secret, str(int(self._platform.signing_clock())), body)}
        if retry:
            reason = delivery.attempts[-1].error
            headers |= {"X-Slack-Retry-Num": str(retry), "X-Slack-Retry-Reason": reason}
        return await self._in_time(self._post(app.request_url, body, headers))

    async def _post(self, url: str, body: bytes, headers: Headers) -> Outcome:
        assert self._http is not None
        try:
            async with self._http.post(url, data=body, headers=headers, allow_redirects=False) as answer:
                text = await answer.text()
                if answer.ok and answer.status < 300:
                    return Outcome(status=answer.status, answer=_answer(text))
                final = answer.headers.get(NO_RETRY) == "1"
                return Outcome("http_error", answer.status, text, final)
        except (aiohttp.ClientError, OSError):
            return Outcome(BROKEN)

    async def send(self, url: str, body: bytes, headers: Headers) -> Outcome:
        """Post something once that is no delivery: a forgery, a challenge."""
        return await self._in_time(self._post(url, body, headers))

    # Sockets -------------------------------------------------------------------------------

    async def _over_socket(self, app: App, delivery: Delivery, retry: int) -> Outcome:
        """Send an envelope over a connection, and over another if that breaks before the answer."""
        last = delivery.attempts[-1].status if delivery.attempts else 0
        outcome = Outcome(BROKEN)
        while outcome.error == BROKEN and (link := self._sockets.pick(app.id, last)):
            envelope = self._envelope(delivery, f"{delivery.id}-{self._platform.number()}", retry)
            outcome = await self._in_time(self._exchange(link, envelope), Outcome("timeout", link.number))
        return outcome

    def _envelope(self, delivery: Delivery, envelope_id: str, retry: int) -> Json:
        last = delivery.attempts[-1].error if delivery.attempts else ""
        tried = {"retry_attempt": retry, "retry_reason": last} if delivery.kind == "events_api" else {}
        return {
            "envelope_id": envelope_id,
            "type": delivery.kind,
            "payload": delivery.payload,
            "accepts_response_payload": delivery.kind != "events_api",
            **tried,
        }

    async def _exchange(self, link: Link, envelope: Json) -> Outcome:
        envelope_id = envelope["envelope_id"]
        acknowledged: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        link.waiting[envelope_id] = acknowledged
        try:
            await link.send(envelope)
            return Outcome(status=link.number, answer=await acknowledged)
        except ConnectionError:
            return Outcome(BROKEN, link.number)
        finally:
            link.waiting.pop(envelope_id, None)


def _answer(text: str) -> Any:
    """Return an answer's body: what its JSON holds, or its text."""
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text
