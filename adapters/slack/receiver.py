"""How events come in: by signed requests, or over Socket Mode. Both record first, acknowledge second, decide later.

One Bolt app takes what either brings. Its first middleware commits the raw event to the inbox and then answers, which
is the acknowledgement: so nothing is acknowledged that isn't recorded, and nothing that is recorded is left without
one, whether anybody here reads it or not. It is read only afterwards, and decided in the order of its lane.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import random
from typing import TYPE_CHECKING, Any

import aiohttp
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackApiError, SlackClientError

from adapters.slack.errors import ELSE, error_code, pause_of, promised
from adapters.slack.handlers import event_of, read
from hitl.backoff import LONGEST_S, Backoff
from hitl.errors import Unavailable
from hitl.faults import reach

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from slack_sdk.web.async_client import AsyncWebClient

    from hitl import ports

SOURCE = "slack"
SIGNATURE_HEADER = "X-Slack-Signature"
TIMESTAMP_HEADER = "X-Slack-Request-Timestamp"
#: "Verifying requests from Slack": how old a request may be.
WINDOW_S = 300
#: Python refuses to read numbers of more than 4,300 digits; seconds have ten until the year 2286.
_LONGEST_STAMP = 16
#: A connection is dead that answers no ping within half of this.
HEARTBEAT_S = 20.0
#: The longest wait after a connection that was well and ended.
_AGAIN_S = 0.5
#: What Slack says of a token or an app that no reconnecting mends.
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
_OK, _BAD, _BUSY = 200, 400, 503
_log = logging.getLogger(__name__)


def _nothing() -> None:
    """Where nobody wants to know."""


class Inbox:
    """Records what Slack sends; `woken` is called after each commit, `missed` when something may have passed us by."""

    def __init__(self, store: ports.Inbox, woken: Callable[[], None], missed: Callable[[], None] = _nothing) -> None:
        self._store = store
        self._woken = woken
        self.missed = missed

    async def keep(self, raw: bytes) -> None:
        """Commit what came, once, however often it is sent. Raises Unavailable when that can't be done.

        Raises LookupError, TypeError or ValueError for what Slack doesn't send.
        """
        event, lane = event_of(read(raw))
        reach("slack.received")
        await self._store.receive(SOURCE, event, lane, raw)
        reach("slack.recorded")
        self._woken()


def bolt(client: AsyncWebClient, inbox: Inbox) -> AsyncApp:
    """The app that records and acknowledges. Signatures were checked by whoever hands in a request."""

    async def keep(request: AsyncBoltRequest, body: dict[str, Any], next_: Callable[[], Awaitable[Any]]) -> Any:
        if body.get("type") == "url_verification" or "ssl_check" in body:
            return await next_()
        raw = request.raw_body.encode() if request.mode == "http" else json.dumps(body).encode()
        try:
            await inbox.keep(raw)
        except Unavailable:
            inbox.missed()
            return BoltResponse(status=_BUSY)
        except (LookupError, TypeError, ValueError):
            return BoltResponse(status=_BAD)
        return BoltResponse(status=_OK, body="")

    async def nobody(**_: Any) -> AuthorizeResult:
        return AuthorizeResult(enterprise_id=None, team_id=None)

    logger = logging.getLogger("slack_bolt.sayso")
    # Without a name, the library names the app after a file that it finds on the stack. That takes a tenth of a second.
    return AsyncApp(
        name="sayso",
        client=client,
        logger=logger,
        before_authorize=keep,
        authorize=nobody,
        request_verification_enabled=False,
    )


def is_signed(secret: str, headers: Mapping[str, str], body: bytes, now: float) -> bool:
    """Whether Slack signed just this body, within the last five minutes; compared in constant time, unread.

    "Verifying requests from Slack": HMAC-SHA256 over version, time stamp and raw body.
    """
    said, given = headers.get(TIMESTAMP_HEADER, ""), headers.get(SIGNATURE_HEADER, "")
    if not (said.isascii() and said.isdecimal() and len(said) <= _LONGEST_STAMP) or abs(now - int(said)) > WINDOW_S:
        return False
    right = hmac.digest(secret.encode(), b"v0:%s:%s" % (said.encode(), body), "sha256").hex()
    return hmac.compare_digest(f"v0={right}".encode(), given.encode())


class Sockets:
    """Socket Mode: several connections, each event on one of them. `trouble` says why none is up, if so.

    While none is, what happens may pass us by: `missed` is called when that begins, and when it ends.
    """

    def __init__(
        self,
        app: AsyncApp,
        client: AsyncWebClient,
        session: aiohttp.ClientSession,
        token: str,
        *,
        connections: int,
        heartbeat_s: float = HEARTBEAT_S,
        missed: Callable[[], None] = _nothing,
    ) -> None:
        self._missed = missed
        self._lines = [_Line(app, client, session, token, heartbeat_s, self._unheard) for _ in range(connections)]

    @property
    def trouble(self) -> str | None:
        """What is in the way of events, where no connection brings any."""
        troubles = [line.trouble for line in self._lines]
        return None if None in troubles else troubles[0]

    def _unheard(self) -> None:
        if self.trouble is not None:
            self._missed()

    async def run(self) -> None:
        """For ever."""
        async with asyncio.TaskGroup() as work:
            for line in self._lines:
                work.create_task(line.run())


class _Line:
    """One connection, made anew whenever it ends: by Slack's wish, by a fault, or because no ping comes back."""

    def __init__(
        self,
        app: AsyncApp,
        client: AsyncWebClient,
        session: aiohttp.ClientSession,
        token: str,
        heartbeat_s: float,
        unheard: Callable[[], None],
    ) -> None:
        self._app = app
        self._client = client
        self._session = session
        self._token = token
        self._heartbeat_s = heartbeat_s
        self._unheard = unheard
        self._pauses = Backoff()
        self.trouble: str | None = "no connection to Slack yet"

    async def run(self) -> None:
        """For ever."""
        while True:
            try:
                await self._connected()
                self.trouble = "the connection ended, the next isn't up yet"
                self._unheard()
                await asyncio.sleep(random.uniform(0.0, _AGAIN_S))  # noqa: S311 - a wait is no secret
            except SlackApiError as error:
                code = error_code(error)
                why = f"Slack refuses a connection: {code}" if code else ELSE
                asked = pause_of(getattr(error.response, "headers", None) or {})
                await self._pause(why, max(LONGEST_S if code in _LASTING else 0.0, asked or 0.0))
            except (SlackClientError, aiohttp.ClientError, OSError, TimeoutError) as error:
                await self._pause(type(error).__name__)
            except Exception as error:  # noqa: BLE001 - whatever an event holds, the next ones must come
                await self._pause(f"{ELSE}: {type(error).__name__}")

    async def _connected(self) -> None:
        """One connection from its address, which is good once and for seconds, to its end."""
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
        """Take one message; False where Slack wants another connection."""
        if told.get("type") == "hello":
            self._unheard()
            self.trouble = None
            self._pauses.reset()
            _log.info("slack.connected")
        elif told.get("type") == "disconnect":
            return False
        elif "envelope_id" in told and await self._recorded(told):
            await socket.send_json({"envelope_id": told["envelope_id"]})
        return True

    async def _recorded(self, envelope: dict[str, Any]) -> bool:
        request = AsyncBoltRequest(mode="socket_mode", body=envelope.get("payload") or {})
        response = await self._app.async_dispatch(request)
        if response.status != _OK:
            _log.warning("slack.not_acknowledged", {"type": envelope.get("type"), "status": response.status})
        return bool(response.status == _OK)

    async def _pause(self, why: str, seconds: float = 0.0) -> None:
        self.trouble = why
        self._unheard()
        _log.warning("slack.connecting", {"trouble": why})
        usual = self._pauses.next()
        # Not all at once: many lose their connection at the same moment. Never sooner than Slack asks for.
        await asyncio.sleep(max(seconds, usual * 0.8) * random.uniform(1.0, 1.4))  # noqa: S311 - a wait is no secret
