"""Keeps the caller's trace context (W3C Trace Context), so that traces of calls can continue the caller's trace."""

from __future__ import annotations

import re
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.datastructures import Headers

#: The `traceparent` header of the request that this task answers, or '' if the request has none.
TRACEPARENT: ContextVar[str] = ContextVar("traceparent", default="")
#: The form of the header in version 00. Headers of later versions begin in the same form (W3C Trace Context, 3.2.2 and
#: 4.3).
_FORM = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.{0,200})?")


def note(headers: Headers) -> None:
    """Keep the request's `traceparent` header for this task and the tasks that it starts. Ignore a malformed header."""
    given = headers.get("traceparent", "")
    TRACEPARENT.set(given[:55] if _FORM.fullmatch(given) else "")
