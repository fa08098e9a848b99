"""Webhooks of the Agent Approval Protocol: they tell a paused agent that its request is decided.

An operator names the address and the secret of each agent's receiver in the settings, so no request can make this
service send anything elsewhere. A notice holds the ids of the agent and of the request, and no outcome: the agent asks
for the decision with its own token. A lost or forged notice therefore lets nothing run.

The form is that of the published receiver (`agentapprovalprotocol` 0.3.3), which follows Standard Webhooks: an HMAC
over id, time and body.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import json
import logging
import uuid
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from cachetools import FIFOCache

from adapters.http.aap import KEYS, timestamp
from hitl.call import Decision

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hitl.call import Call
    from hitl.ports import Clock

_log = logging.getLogger(__name__)
#: Seconds before each attempt. An approved request must be consumed within five minutes, so a later notice would be of
#: no use.
PAUSES_S = (0.0, 1.0, 5.0, 30.0, 120.0)
#: The longest time for one attempt, in seconds. The protocol sets this limit.
_LIMIT_S = 10.0
#: At most this many notices are being sent at the same time. A further notice is dropped, and the log says so.
_MOST = 1_000
#: The refs of at most this many requests are remembered, so that a later change of a request sends no second notice.
_REMEMBERED = 10_000
_PREFIX = "whsec_"
_SHORTEST_KEY = 24


@dataclass(frozen=True, slots=True)
class Receiver:
    """The receiver of one agent's notices: its `instance` (the name of the agent's token), its address and its signing
    key.
    """

    instance: str
    url: str
    key: bytes


def key_of(secret: str) -> bytes:
    """Return the signing key of a secret: `whsec_` and base64 of at least 24 bytes. Raises ValueError."""
    if not secret.startswith(_PREFIX):
        raise ValueError(_PREFIX)
    try:
        key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except binascii.Error as error:
        raise ValueError("base64") from error
    if len(key) < _SHORTEST_KEY:
        raise ValueError("short")
    return key


class Notices:
    """Follows the gate's changes, and sends one notice for each decision on an agent's request, with a few retries.

    Notices that haven't been sent when the service stops are lost.
    """

    def __init__(self, receivers: Mapping[str, Receiver], clock: Clock, pauses_s: Sequence[float] = PAUSES_S) -> None:
        """`receivers` is token identity -> the receiver of the agent with this token."""
        self._receivers = receivers
        self._clock = clock
        self._pauses_s = pauses_s
        self._told: FIFOCache[str, None] = FIFOCache(_REMEMBERED)
        self._sending: set[asyncio.Task[None]] = set()

    def changed(self, call: Call) -> None:
        """Send a notice if this change decided a request of an agent that has a receiver."""
        receiver = self._receivers.get(call.requester)
        if receiver is None or not _is_resolved(call) or call.ref in self._told:
            return
        if len(self._sending) >= _MOST:
            _log.warning("notice.dropped", {"ref": call.ref, "agent": receiver.instance})
            return
        self._told[call.ref] = None
        task = asyncio.get_running_loop().create_task(self._send(receiver, call.ref))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def stop(self) -> None:
        """Stop sending: cancel the notices that haven't been sent yet."""
        for task in self._sending:
            task.cancel()
        await asyncio.gather(*self._sending, return_exceptions=True)

    async def _send(self, receiver: Receiver, ref: str) -> None:
        message_id, why = str(uuid.uuid4()), ""
        told = {"instance_id": receiver.instance, "request_id": ref, "created_at": timestamp(self._clock.now())}
        body = json.dumps({"id": message_id, "type": "request.resolved", **told}).encode()
        for pause_s in self._pauses_s:
            await asyncio.sleep(pause_s)
            try:
                async with asyncio.timeout(_LIMIT_S):
                    status = await _post(receiver.url, self._signed(receiver.key, message_id, body), body)
            except (OSError, ValueError, TimeoutError) as error:
                why = type(error).__name__
            else:
                if HTTPStatus(200) <= status < HTTPStatus.MULTIPLE_CHOICES:
                    return
                why = f"HTTP {status}"
        _log.warning("notice.lost", {"ref": ref, "agent": receiver.instance, "why": why})

    def _signed(self, key: bytes, message_id: str, body: bytes) -> dict[str, str]:
        at = str(int(self._clock.now().timestamp()))
        digest = hmac.new(key, f"{message_id}.{at}.".encode() + body, hashlib.sha256).digest()
        signature = f"v1,{base64.b64encode(digest).decode()}"
        return {"webhook-id": message_id, "webhook-timestamp": at, "webhook-signature": signature}


def _is_resolved(call: Call) -> bool:
    """Return whether a request of this protocol waits no longer, and its agent may not know this yet.

    A request that was decided immediately or has been consumed doesn't count. After a rejection, the request waits
    until its reason has come, or until no reason can come any more.
    """
    asked_here = call.key is not None and call.key.startswith(KEYS)
    pending = call.decision in {None, Decision.ALLOWED, Decision.DENIED} or call.awaits_reason
    return asked_here and not pending and call.version > 1 and call.claim is None


async def _post(url: str, headers: Mapping[str, str], body: bytes) -> int:
    """Send `body` by POST, and return the status of the answer.

    No redirect is followed, and the answer's body isn't read.
    """
    to = urlsplit(url)
    secure = to.scheme == "https"
    path = (to.path or "/") + (f"?{to.query}" if to.query else "")
    port = to.port or (443 if secure else 80)
    reader, writer = await asyncio.open_connection(to.hostname, port, ssl=secure or None)
    try:
        named = {"Host": to.netloc, "Content-Type": "application/json", "Content-Length": str(len(body)), **headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in {**named, "Connection": "close"}.items())
        writer.write(f"POST {path} HTTP/1.1\r\n{head}\r\n".encode("ascii") + body)
        await writer.drain()
        version, status, *_ = (await reader.readline()).split()
        if not version.startswith(b"HTTP/1."):
            raise ValueError("no HTTP")
        return int(status)
    finally:
        writer.close()
