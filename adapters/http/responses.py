"""Builds the API's answers, and declares them for the OpenAPI document. Tests compare answers and declarations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from fastapi import Header, Path, Query
from pydantic import BaseModel
from starlette.responses import Response

from adapters.http.models import LONGEST_WAIT_S, Problem
from adapters.http.problems import MEDIA_TYPE
from hitl.errors import InvalidConfirmation

if TYPE_CHECKING:
    from collections.abc import Mapping

Ref = Annotated[
    str,
    Path(min_length=1, max_length=256, description="The ref of a call, or its six characters.", examples=["K7Q2MX"]),
]
Wait = Annotated[float, Query(ge=0, le=LONGEST_WAIT_S, description="Wait so many seconds for a change.")]
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        description="The same key, digest and origin return the same call; anything else is 409, as is `ask` for a call"
        " that the policy allowed unasked.",
    ),
]
_ATTENDED_SAYS = (
    "`attended` says that nobody will take the answer if this connection ends: if the caller of its own request doesn't"
    " come back with `attended` within 10 seconds, the request is withdrawn, or lapses if it was approved meanwhile."
)
Prefer = Annotated[
    str | None,
    Header(
        description=f"`wait=SECONDS` waits in this request. {_ATTENDED_SAYS}", examples=["wait=5", "wait=30, attended"]
    ),
]
PreferAttended = Annotated[str | None, Header(description=_ATTENDED_SAYS, examples=["attended"])]
PreferQueue = Annotated[
    str | None,
    Header(
        description=(
            "`wait=SECONDS` waits in this request. `queue` waits in line, in order, while too many calls are pending or"
            f" were asked recently: for the time of `wait`, or 30 seconds. Then the answer is 429. {_ATTENDED_SAYS}"
        ),
        examples=["wait=5"],
    ),
]
#: The error statuses that any route may answer with, each with its description.
_ALWAYS = {
    400: "The request can't be used as it is.",
    401: "No working bearer token came with the request.",
    403: "The caller may not do this.",
    429: "Too many requests; see Retry-After.",
    503: "The service can't record this now. Nothing was changed.",
}
_SOMETIMES = {
    404: "There is no such call for this caller.",
    409: "The call is in another state, or was changed or repeated.",
    410: "The time for an answer is over.",
    413: "The body is too large.",
    422: "The policy can't be used.",
    500: "The service failed on this request, or the call fails its integrity check.",
}
#: Patterns that each find one preference in the header Prefer (RFC 7240).
_WAIT, _QUEUE, _ATTENDED = (
    re.compile(rf"(?:^|[,;\s]){one}(?:$|[,;\s])") for one in (r"wait\s*=\s*(\d{1,4})", "queue", "attended")
)


def documented(model: type[BaseModel], *codes: int, status: int = 200, says: str = "Done.") -> dict[int | str, Any]:
    """Return the `responses` of a route for FastAPI: the type of its answer, and the statuses of its errors."""
    problems = _ALWAYS | {code: _SOMETIMES[code] for code in codes}
    schema = {"schema": {"$ref": f"#/components/schemas/{Problem.__name__}"}}
    refused: dict[int | str, Any] = {
        code: {"description": told, "content": {MEDIA_TYPE: schema}} for code, told in problems.items()
    }
    return {status: {"model": model, "description": says}, **refused}


def answer(document: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a response with a document as its JSON body. Caches may not keep any answer of the API."""
    body = msgspec.json.encode(document)
    return Response(body, status, {"Cache-Control": "no-store", **(headers or {})}, "application/json")


def preferred_wait(prefer: str | None) -> float:
    """Return the seconds that a request wants to wait, from its Prefer header (RFC 7240).

    Raises InvalidConfirmation if the wait is too long.
    """
    found = _WAIT.search(prefer or "")
    seconds = int(found[1]) if found else 0
    if seconds > LONGEST_WAIT_S:
        raise InvalidConfirmation(f"Prefer: wait={seconds} is longer than {LONGEST_WAIT_S} seconds. Nothing was done.")
    return seconds


def prefers_queue(prefer: str | None) -> bool:
    """Return whether the Prefer header of a request asks to wait in line until there is room."""
    return _QUEUE.search(prefer or "") is not None


def prefers_attended(prefer: str | None) -> bool:
    """Return whether a Prefer header contains `attended`, which says that nobody takes the answer if the connection
    ends.
    """
    return _ATTENDED.search(prefer or "") is not None
