"""Turns errors into problem documents (RFC 9457), all in the same form."""

from __future__ import annotations

import logging
from difflib import get_close_matches
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.routing import compile_path

from hitl.cards.misfits import misfit
from hitl.cards.text import one_line
from hitl.cards.wording import IN_ENGLISH, say, sentence
from hitl.errors import Failed, InvalidConfirmation, SaysoError, TooManyPending, Unavailable
from hitl.outcomes import Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fastapi import FastAPI
    from starlette.requests import Request
    from starlette.responses import Response

    from hitl.people.names import Names

MEDIA_TYPE = "application/problem+json"
#: For each status, the seconds for the header Retry-After if the error itself names no time.
_RETRY_S = {TooManyPending.status: 10, Unavailable.status: 2}
#: The most characters of a mistake's place in the request.
_LONGEST_PLACE = 120
#: The number of parts of the place of a field at the top of the body: `body` and the field's name.
_OF_THE_BODY = 2
_log = logging.getLogger(__name__)


def problem(error: SaysoError, *, errors: Sequence[str] = (), names: Names | None = None) -> dict[str, Any]:
    """Return the problem document of an error. With `names`, its `detail` names people by their display names."""
    told = error.told(IN_ENGLISH, names)
    return _document(error.code, error.status, told, errors) | {"retry_after": _retry_after(error)}


def answer(error: SaysoError, *, errors: Sequence[str] = (), names: Names | None = None) -> Response:
    """Return the response to a refused request."""
    return response(problem(error, errors=errors, names=names), headers_of(error))


def response(document: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    """Return the response for a problem document."""
    return JSONResponse(document, int(document["status"]), headers, media_type=MEDIA_TYPE)


def headers_of(error: SaysoError) -> Mapping[str, str]:
    """Return the headers of a refusal, which say when to retry or how to authenticate."""
    if error.status == HTTPStatus.UNAUTHORIZED:
        return {"WWW-Authenticate": "Bearer"}
    wait = _retry_after(error)
    return {} if wait is None else {"Retry-After": str(wait)}


def _retry_after(error: SaysoError) -> int | None:
    """Return the seconds after which the request may succeed, or None if a retry can't help."""
    wait = error.fact.particulars.get("wait") if error.fact and error.fact.what == Refusal.FLOOD else None
    return wait if isinstance(wait, int) else _RETRY_S.get(error.status)


def handle(app: FastAPI) -> None:
    """Make an application answer every error with a problem document."""
    app.add_exception_handler(SaysoError, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _plain)
    app.add_exception_handler(Exception, _failed)


def invalid(request: Request, error: RequestValidationError) -> InvalidConfirmation:
    """Return an error for a request that doesn't fit its model. The error names the first five mistakes.

    If there is no body that was read as JSON, the error says only that.
    """
    if unread := _unread(error):
        return InvalidConfirmation(unread)
    return InvalidConfirmation(say("api.invalid", problems="; ".join(_mistakes(request, error)[:5])))


def _unread(error: RequestValidationError) -> str | None:
    """Return the sentence about a body that isn't there, isn't JSON or came without the content type of JSON, else
    None.
    """
    for found in error.errors():
        if found["type"] == "json_invalid":
            return say("api.no_json", at=found["loc"][-1])
        if tuple(found["loc"]) == ("body",) and found["type"] == "missing":
            return say("api.no_body")
        # FastAPI passes a body as bytes if its content type isn't JSON.
        if tuple(found["loc"]) == ("body",) and isinstance(found["input"], bytes):
            return say("api.no_json_type")
    return None


def _mistakes(request: Request, error: RequestValidationError) -> list[str]:
    return [f"{_place(found['loc'], error.body)}: {_wrong(request, found)}" for found in error.errors()]


def _place(levels: Sequence[Any], body: Any) -> str:
    """Return the place of a mistake, such as `body.args.lines.0`.

    For values of any JSON type, pydantic also puts the type's name into the place (`body.args.lines.list.0`). The name
    of a type isn't in the body, so it is left out.
    """
    named = [str(levels[0])]
    within: Any = body if levels[0] == "body" else None
    for level in levels[1:]:
        inside = level in within if isinstance(within, dict) else isinstance(within, list) and isinstance(level, int)
        if inside:
            within = within[level]
        if inside or level == levels[-1]:
            named.append(str(level))
    return one_line(".".join(named), _LONGEST_PLACE)


def _wrong(request: Request, found: Mapping[str, Any]) -> str:
    """Return why a value doesn't fit. For an unknown field of the body, name the most similar field."""
    if found["type"] != "extra_forbidden":
        return sentence(misfit(found["type"], found.get("ctx", {})))
    taken = getattr(request.scope["route"], "body_field", None)
    fields = (
        getattr(taken.field_info.annotation, "model_fields", ()) if taken and len(found["loc"]) == _OF_THE_BODY else ()
    )
    near = get_close_matches(str(found["loc"][-1]), list(fields), n=1)
    return say("near.field", near=near[0]) if near else say("api.unknown")


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, SaysoError)  # noqa: S101 - the handler is registered for this class
    return answer(error, names=request.app.state.operations.names)


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    return answer(invalid(request, error), errors=[] if _unread(error) else _mistakes(request, error)[:20])


async def _plain(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    # FastAPI raises HTTPException for a body that it can't decode.
    if isinstance(cause := error.__cause__, UnicodeDecodeError):
        return answer(InvalidConfirmation(say("api.no_utf8", at=cause.start)))
    if isinstance(cause, RecursionError | ValueError):
        return answer(InvalidConfirmation(say("api.too_much")))
    phrase = HTTPStatus(error.status_code).phrase
    code = phrase.upper().replace(" ", "_").replace("-", "_")
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = ", ".join(_methods(request))
        detail = say("api.no_method", method=request.method, allowed=allowed)
        return response(_document(code, error.status_code, detail, ()), {"Allow": allowed})
    is_unknown = error.status_code == HTTPStatus.NOT_FOUND and error.detail == phrase
    detail = say("api.no_path") if is_unknown else str(error.detail or phrase)
    return response(_document(code, error.status_code, detail, ()), error.headers)


def _methods(request: Request) -> list[str]:
    """Return the methods that a path allows. FastAPI itself would name only the methods of the path's first route."""
    paths = request.app.openapi()["paths"].items()
    found = [verbs for path, verbs in paths if compile_path(path)[0].match(request.scope["path"])]
    return sorted({verb.upper() for verbs in found for verb in verbs}) or ["GET"]


async def _failed(request: Request, error: Exception) -> Response:
    _log.error("http.request_failed", {"path": request.url.path}, exc_info=error)
    return answer(Failed(say("reach.failed")))


def _document(code: str, status: int, detail: str, errors: Sequence[str]) -> dict[str, Any]:
    return {
        "type": f"urn:sayso:error:{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code,
        "ref": None,
        "errors": list(errors),
        "retry_after": None,
    }
