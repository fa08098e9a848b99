"""The caller's place in its own trace (W3C Trace Context), for whoever writes traces of calls."""

from __future__ import annotations

import re
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.datastructures import Headers

#: The `traceparent` of the request that this task answers, '' without one.
TRACEPARENT: ContextVar[str] = ContextVar("traceparent", default="")
#: Version 00 of the header; later versions begin the same way (W3C Trace Context, 3.2.2 and 4.3).
_FORM = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.{0,200})?")


def note(headers: Headers) -> None:
    """Keep the header for this task and for those that it starts. A header of another form is ignored."""
    given = headers.get("traceparent", "")
    TRACEPARENT.set(given[:55] if _FORM.fullmatch(given) else "")
