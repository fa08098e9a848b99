"""Receives events by signed requests or over Socket Mode: first records an event, then acknowledges it, later handles
it.

The raw event is committed to the inbox before Slack gets the answer that acknowledges it. So every acknowledged event
is recorded, and every recorded event is acknowledged, even if no listener handles it. An event is translated only after
that. The events of one conversation are handled in order.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import random
from typing import TYPE_CHECKING, Any

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError

from adapters.slack.bodies import event_of, read
from adapters.slack.errors import error_code, pause_of, promised
from adapters.slack.surface import PLATFORM
from adapters.slack.wording import say
from hitl.backoff import LONGEST_S, Backoff
from hitl.errors import Unavailable
from hitl.faults import reach

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from slack_sdk.web.async_client import AsyncWebClient

    from hitl import ports

SOURCE = PLATFORM
SIGNATURE_HEADER = "X-Slack-Signature"
TIMESTAMP_HEADER = "X-Slack-Request-Timestamp"
#: "Verifying requests from Slack": a request may be at most this many seconds old.
WINDOW_S = 300
#: A time stamp has at most this many digits. Until the year 2286, seconds have ten digits. Python can't convert more
#: than 4,300 digits.
_LONGEST_STAMP = 16
#: Seconds between pings. A connection that doesn't answer a ping within half of this time is closed and opened again.
HEARTBEAT_S = 20.0
#: The longest wait, in seconds, before a new connection is opened if the last connection ended without an error.
_AGAIN_S = 0.5
#: Slack's errors about a token or an app. Opening a new connection doesn't help against these errors.
_LASTING = frozenset(
    {
        "invalid_auth",
        "not_authed",
        "account_inactive",
        "token_revoked",
        "token_expired",
        "not_allowed_token_type",
        "missing_scope",
    }
)
OK, BAD, BUSY = 200, 400, 503
_log = logging.getLogger(__name__)


class EventRecorder:
    """Records the events that Slack sends. `missed` is called when events may have been lost."""

    def __init__(self, store: ports.Inbox, missed: Callable[[], None]) -> None:
        self._store = store
        self.missed = missed
        #: A function to call after each commit, or None.
        self.woken: Callable[[], None] | None = None

    async def take(self, raw: bytes) -> int:
        """Commit an event.

        Return the HTTP status for Slack: 200, 400 if Slack can't have sent the event, or 503 if the store fails.
        """
        try:
            await self.keep(raw)
        except Unavailable:
            self.missed()
            return BUSY
        except (LookupError, TypeError, ValueError):
            return BAD
        return OK

    async def keep(self, raw: bytes) -> None:
        """Commit an event once, even if Slack sends it several times. Raises Unavailable if the store can't commit it.

        Raises LookupError, TypeError or ValueError if Slack can't have sent it.
        """
        event, lane = event_of(read(raw))
        reach("events.received")
        await self._store.receive(SOURCE, event, lane, raw)
        reach("events.recorded")
        if self.woken:
            self.woken()


def is_signed(secret: str, headers: Mapping[str, str], body: bytes, now: float) -> bool:
    """Return whether Slack signed exactly this body within the last five minutes.

    "Verifying requests from Slack": HMAC-SHA256 over version, time stamp and raw body. The comparison takes constant
    time, and the body isn't parsed.
    """
    said, given = headers.get(TIMESTAMP_HEADER, ""), headers.get(SIGNATURE_HEADER, "")
    if not (said.isascii() and said.isdecimal() and len(said) <= _LONGEST_STAMP) or abs(now - int(said)) > WINDOW_S:
        return False
    right = hmac.digest(secret.encode(), b"v0:%s:%s" % (said.encode(), body), "sha256").hex()
    return hmac.compare_digest(f"v0={right}".encode(), given.encode())


class Sockets:
    """The connections of Socket Mode. There are several connections, and Slack sends each event over one of them.

    Without a connection, events may be lost. The recorder is notified when a time without connections begins, and when
    it ends.
    """

    def __init__(
        self,
        inbox: EventRecorder,
        client: AsyncWebClient,
        session: aiohttp.ClientSession,
        token: str,
        *,
        connections: int,
        heartbeat_s: float = HEARTBEAT_S,
        regained: Callable[[], None] | None = None,
    ) -> None:
        self._missed = inbox.missed
        self._regained = regained
        #: Whether any connection has been open since the start. Before the first connection, no events count as lost.
        self._began = False
        self._lines = [
            _Line(inbox, client, session, token, heartbeat_s, self._unheard, self._heard) for _ in range(connections)
        ]

    @property
    def trouble(self) -> str | None:
        """Return the reason why no events arrive, or None if at least one connection is up."""
        troubles = [line.trouble for line in self._lines]
        return None if None in troubles else troubles[0]

    def _unheard(self) -> None:
        if self.trouble is not None:
            self._missed()

    def _heard(self) -> None:
        """Handle the opening of a connection. If no other connection was open, fetch the messages that may have been
        lost.
        """
        self._unheard()
        if self.trouble is not None and self._began and self._regained:
            self._regained()
        self._began = True

    async def run(self) -> None:
        """Keep the connections up until cancelled."""
        async with asyncio.TaskGroup() as work:
            for line in self._lines:
                work.create_task(line.run())


class _Line:
    """One connection of Socket Mode. It is opened again when Slack ends it, after an error, and when a ping gets no
    answer.
    """

    def __init__(
        self,
        inbox: EventRecorder,
        client: AsyncWebClient,
        session: aiohttp.ClientSession,
        token: str,
        heartbeat_s: float,
        unheard: Callable[[], None],
        heard: Callable[[], None],
    ) -> None:
        self._inbox = inbox
        self._client = client
        self._session = session
        self._token = token
        self._heartbeat_s = heartbeat_s
        self._unheard = unheard
        self._heard = heard
        self._pauses = Backoff()
        self.trouble: str | None = say("trouble.slack.none")

    async def run(self) -> None:
        """Keep the connection up until cancelled."""
        while True:
            try:
                await self._connected()
                self.trouble = say("trouble.slack.ended")
                self._unheard()
                await asyncio.sleep(random.uniform(0.0, _AGAIN_S))  # noqa: S311 - a random wait needs no secure generator
            except SlackApiError as error:
                code = error_code(error)
                why = say("trouble.slack.refused", code=code) if code else say("trouble.slack.other")
                asked = pause_of(getattr(error.response, "headers", None) or {})
                await self._pause(why, max(LONGEST_S if code in _LASTING else 0.0, asked or 0.0))
            except (SlackClientError, aiohttp.ClientError, OSError, TimeoutError) as error:
                await self._pause(type(error).__name__)
            except Exception as error:  # noqa: BLE001 - any event may fail, and later events must still arrive
                await self._pause(say("trouble.slack.failed", error=type(error).__name__))

    async def _connected(self) -> None:
        """Open one connection and read it to its end. The connection's address is valid once, and only for seconds."""
        opened = await self._client.apps_connections_open(app_token=self._token)
        proxy = self._client.proxy
        url = str(promised(opened, "url"))
        async with self._session.ws_connect(url, heartbeat=self._heartbeat_s, proxy=proxy) as socket:
            async for message in socket:
                if message.type is aiohttp.WSMsgType.TEXT and not await self._took(socket, json.loads(message.data)):
                    return
        if self.trouble:
            raise ConnectionError("closed before it began")

    async def _took(self, socket: aiohttp.ClientWebSocketResponse, told: dict[str, Any]) -> bool:
        """Handle one message of Slack. Return True to read on, or False if Slack asks for a new connection."""
        if told.get("type") == "hello":
            self._heard()
            self.trouble = None
            self._pauses.reset()
            _log.info("slack.connected")
        elif told.get("type") == "disconnect":
            return False
        elif "envelope_id" in told and await self._recorded(told):
            await socket.send_json({"envelope_id": told["envelope_id"]})
        return True

    async def _recorded(self, envelope: dict[str, Any]) -> bool:
        status = await self._inbox.take(json.dumps(envelope.get("payload") or {}).encode())
        if status != OK:
            _log.warning("slack.not_acknowledged", {"type": envelope.get("type"), "status": status})
        return status == OK

    async def _pause(self, why: str, seconds: float = 0.0) -> None:
        self.trouble = why
        self._unheard()
        _log.warning("slack.connecting", {"trouble": why})
        usual = self._pauses.next()
        # The wait is random, because many apps lose their connection at the same moment. If Slack asks for a wait, this
        # wait is never shorter.
        await asyncio.sleep(max(seconds, usual * 0.8) * random.uniform(1.0, 1.4))  # noqa: S311 - a random wait needs no secure generator
