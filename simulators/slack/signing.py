"""Slack's request signatures, version v0, and requests that bear a wrong one."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable
from typing import Final
from urllib.parse import urlencode

from simulators.slack.errors import Json

TIMESTAMP: Final = "X-Slack-Request-Timestamp"
SIGNATURE: Final = "X-Slack-Signature"
CONTENT_TYPE: Final = "Content-Type"
FORM: Final = "application/x-www-form-urlencoded"
STALE_SECONDS: Final = 60 * 5 + 1

Headers = dict[str, str]


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Return the signature of a body sent at a time."""
    signed = hmac.new(secret.encode(), f"v0:{timestamp}:".encode() + body, hashlib.sha256)
    return f"v0={signed.hexdigest()}"


def signed(secret: str, timestamp: str, body: bytes) -> Headers:
    """Return the headers that prove that a request is Slack's."""
    return {TIMESTAMP: timestamp, SIGNATURE: signature(secret, timestamp, body)}


def encoded(kind: str, payload: Json) -> tuple[bytes, str]:
    """Return a payload as it is posted: events as JSON, interactions in a form's field, commands as a form."""
    if kind == "events_api":
        return json.dumps(payload).encode(), "application/json"
    fields = {"payload": json.dumps(payload)} if kind == "interactive" else payload
    return urlencode(fields).encode(), FORM


def _without(name: str) -> Callable[[str, int, bytes], Headers]:
    def forge(secret: str, now: int, body: bytes) -> Headers:
        headers = signed(secret, str(now), body)
        del headers[name]
        return headers

    return forge


def _shifted(seconds: int) -> Callable[[str, int, bytes], Headers]:
    return lambda secret, now, body: signed(secret, str(now + seconds), body)


def _non_numeric(secret: str, _now: int, body: bytes) -> Headers:
    return signed(secret, "yesterday", body)


# What may be wrong with a request's proof, by name; "none" is a right one.
FORGERIES: Final[dict[str, Callable[[str, int, bytes], Headers]]] = {
    "none": _shifted(0),
    "bad_signature": lambda secret, now, body: signed(f"not-{secret}", str(now), body),
    "other_body": lambda secret, now, body: signed(secret, str(now), body + b" "),
    "old_version": lambda secret, now, body: {TIMESTAMP: str(now), SIGNATURE: signature(secret, str(now), body)[3:]},
    "old": _shifted(-STALE_SECONDS),
    "future": _shifted(STALE_SECONDS),
    "non_numeric": _non_numeric,
    "no_signature": _without(SIGNATURE),
    "no_timestamp": _without(TIMESTAMP),
    "no_headers": lambda _secret, _now, _body: {},
}
