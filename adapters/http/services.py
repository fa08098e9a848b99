"""The routes that aren't about calls: the caller's identity, verdicts, readings of texts, tokens, and the service's
agent.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from fastapi import APIRouter, Path, Request
from starlette.responses import Response, StreamingResponse

from adapters.http import documents, models
from adapters.http.callers import Anyone, Caller, Operator
from adapters.http.calls import Ops
from adapters.http.responses import answer, documented
from adapters.http.tokens import Tokens
from adapters.http.wording import say
from hitl.cards.wording import sentence
from hitl.errors import CallUnknown, InvalidConfirmation, NotApprover, ReloadRefused, SaysoError, Unauthenticated
from hitl.outcomes import Refusal, fact

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from adapters.http.operations import Operations
    from hitl.gate.response import Submitted
    from hitl.people.directory import Tried

router = APIRouter(prefix="/v1")
_CHAT_ID = "^[A-Za-z0-9_-]{1,64}$"
#: At most this many lines of one conversation may be queued.
_MOST_LINES = 100


# -- identity, verdicts and readings ---------------------------------------------------------------------------


@router.get("/me", tags=["service"], summary="Who am I?", responses=documented(models.MeAnswer))
async def me(ops: Ops, caller: Anyone) -> Response:
    """Return the caller's identity, the origins and routes that its requests may name, and the faults that keep the
    service from gating calls.
    """
    credential = caller.credential
    return answer(
        {
            "identity": caller.identity,
            "principal": caller.principal,
            "on_behalf_of": caller.owner,
            "scopes": sorted(scope.value for scope in caller.scopes),
            "origins": list(credential.origins) if credential else [caller.conversation],
            "routes": list(credential.routes) if credential else [],
            "troubles": list(await ops.troubles()),
            "state": ops.state_for(caller),
        }
    )


@router.post(
    "/policy/evaluate", tags=["service"], summary="Judge a call", responses=documented(models.VerdictAnswer, 413, 422)
)
async def evaluate(ops: Ops, caller: Anyone, body: models.EvaluateRequest) -> Response:
    """Return the policy's current verdict on a call. Nothing is recorded, and the answer permits nothing."""
    return answer(ops.asking.evaluate(caller, body))


@router.post("/replies/parse", tags=["service"], summary="Read a reply", responses=documented(models.ParseAnswer, 413))
async def parse(caller: Anyone, body: models.ParseRequest) -> Response:
    """Return the readings of a person's text: how the reply reader understands it. Nothing is decided."""
    del caller
    # This runs on the event loop's thread. The reader builds its tables while it reads, and they are for one thread.
    return answer(_parsed(body))


def _parsed(body: models.ParseRequest) -> dict[str, Any]:
    from hitl.replies import read, verdict  # noqa: PLC0415 - the import takes long, so the first text does it

    readings = read(body.text, language=body.language)
    return {**_reading(verdict(readings)), "readings": [_reading(reading) for reading in readings]}


def _reading(reading: Any) -> dict[str, Any]:
    named = {"reason": reading.reason, "target": reading.target, "why": reading.why and sentence(reading.why)}
    return {"verdict": reading.verdict.value, **named}


# -- tokens -------------------------------------------------------------------------------------------------------


def _operated(request: Request, caller: Caller) -> Tokens:
    """Return the store of tokens if the caller is an operator on the Unix socket. No bearer token may manage tokens.

    Raises NotApprover for anybody else.
    """
    if caller.credential is not None:
        raise NotApprover(fact(Refusal.SCOPE, who=caller.identity))
    found: Tokens = request.app.state.tokens
    found.check_operator(caller)
    return found


@router.post(
    "/tokens",
    status_code=201,
    tags=["tokens"],
    summary="Make a token",
    responses=documented(models.TokenMade, 409, 413, status=201, says="The token, shown this once."),
)
async def make_token(request: Request, caller: Operator, body: models.TokenRequest) -> Response:
    """Make a bearer token. Only an operator may do this, over the Unix socket. Only the token's hash is stored."""
    token, credential = await _operated(request, caller).make(caller, body)
    return answer(documents.token_view(credential) | {"token": token}, 201)


@router.post("/reload", tags=["service"], summary="Reload", responses=documented(models.ReloadAnswer, 422))
async def reload(request: Request, caller: Operator) -> Response:
    """Apply the people, routes and policy of the current settings, all of them or none. Return what was applied.

    Only an operator may do this, over the Unix socket.
    """
    _operated(request, caller)
    taking = request.app.state.reload
    if taking is None:
        raise ReloadRefused(say("reload.none"))
    return answer(dict(await taking(caller.principal)))


@router.post("/tests", tags=["service"], summary="Test", responses=documented(models.TestAnswer, 422))
async def test(request: Request, caller: Operator, ops: Ops, body: models.TestRequest) -> Response:
    """Send each approver of each conversation a test request, on each of their surfaces. Approving it runs nothing.

    Only an operator may do this, over the Unix socket.
    """
    _operated(request, caller)
    tested = await ops.asking.test(caller, body.timeout_s)
    return answer({"tests": [await _tested(ops, *one) for one in tested]})


async def _tested(ops: Operations, tried: Tried, made: Submitted | SaysoError) -> dict[str, Any]:
    about = {"place": tried.place, "approver": tried.approver, "surface": tried.surface or None}
    if isinstance(made, SaysoError):
        return about | {"call": None, "routes": [], "error": made.message}
    return about | {"call": await ops.reading.view(made.call), "routes": list(made.call.routes), "error": None}


@router.get("/tokens", tags=["tokens"], summary="List tokens", responses=documented(models.TokenList))
async def list_tokens(request: Request, caller: Operator) -> Response:
    """List all tokens, with the time of their last use."""
    return answer({"tokens": [documents.token_view(found) for found in _operated(request, caller).all()]})


@router.delete("/tokens/{name}", tags=["tokens"], summary="Revoke a token", responses=documented(models.TokenView, 404))
async def revoke_token(
    request: Request, ops: Ops, caller: Operator, name: Annotated[str, Path(min_length=1, max_length=64)]
) -> Response:
    """Revoke a token immediately, and end its streams and waiting requests. Its name is never used again."""
    revoked = await _operated(request, caller).revoke(caller, name)
    ops.waiters.revoked(revoked.identity)
    request.app.state.feed.wake()
    return answer(documents.token_view(revoked))


# -- a conversation with the service's agent ----------------------------------------------------------------------


class Attached(Protocol):
    """One open conversation of a caller with the service's agent."""

    async def hear(self, line: str) -> None:
        """Handle one line from the caller."""

    def leave(self) -> None:
        """End the conversation, because the caller has disconnected."""


class Chats:
    """The conversations that callers have open.

    `attach` starts a conversation for an identity; its second argument is a function that shows a text to the caller.
    `check` raises Unauthenticated for a caller who may no longer use the API.
    """

    def __init__(
        self,
        attach: Callable[[str, Callable[[str], None]], Attached],
        stopping: asyncio.Event,
        check: Callable[[Caller], None],
    ) -> None:
        self._attach = attach
        self._stopping = stopping
        self._check = check
        self._open: dict[str, tuple[str, asyncio.Queue[str]]] = {}

    def say(self, identity: str, name: str, line: str) -> None:
        """Queue a caller's line for the conversation with this name.

        Raises CallUnknown if the caller has no conversation with this name, and InvalidConfirmation if its queue is
        full.
        """
        whose, lines = self._open.get(name, ("", None))
        if whose != identity or lines is None:
            raise CallUnknown(say("api.http.chat.none"))
        if lines.qsize() >= _MOST_LINES:
            raise InvalidConfirmation(say("api.http.chat.full", most=_MOST_LINES))
        lines.put_nowait(line)

    async def held(self, caller: Caller) -> AsyncIterator[dict[str, Any]]:
        """Open a conversation. Yield its name, each text that the conversation shows, and `done` after each answered
        line.

        If the caller may no longer use the API, the conversation ends before the next text or `done`.
        """
        name, identity = secrets.token_urlsafe(16), caller.identity
        lines: asyncio.Queue[str] = asyncio.Queue()
        out: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        attached = self._attach(identity, lambda text: out.put_nowait({"show": text}))
        self._open[name] = (identity, lines)
        hearing = asyncio.ensure_future(_hear(attached, lines, out))
        stopping = asyncio.ensure_future(self._stopping.wait())
        stopping.add_done_callback(lambda _: out.put_nowait(None))
        try:
            yield {"chat": name}
            while (told := await out.get()) is not None:
                self._check(caller)
                yield told
        except Unauthenticated:
            return
        finally:
            del self._open[name]
            attached.leave()
            for task in (hearing, stopping):
                task.cancel()


async def _hear(attached: Attached, lines: asyncio.Queue[str], out: asyncio.Queue[dict[str, Any] | None]) -> None:
    while True:
        await attached.hear(await lines.get())
        out.put_nowait({"done": True})


def _chats(request: Request, caller: Caller) -> Chats:
    if caller.credential is not None:
        raise NotApprover(fact(Refusal.SCOPE, who=caller.identity))
    found: Chats = request.app.state.chats
    return found


@router.post(
    "/chat",
    tags=["chat"],
    summary="Talk to the service's agent",
    responses={
        **documented(models.ChatLine),
        200: {
            "description": "One ChatLine as JSON on each line, until the caller hangs up.",
            "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
        },
    },
)
async def open_chat(request: Request, caller: Anyone) -> Response:
    """Open a conversation with the service's agent, on the Unix socket only. It lasts as long as this response."""
    held = _chats(request, caller).held(caller)
    lines = (json.dumps(told) + "\n" async for told in held)
    return StreamingResponse(lines, media_type="application/x-ndjson", headers={"Cache-Control": "no-store"})


@router.post(
    "/chat/{chat}",
    status_code=202,
    tags=["chat"],
    summary="Say a line",
    responses=documented(models.Heard, 404, 413, status=202),
)
async def say_line(
    request: Request, caller: Anyone, body: models.LineRequest, chat: Annotated[str, Path(pattern=_CHAT_ID)]
) -> Response:
    """Say one line in an open conversation. The answers arrive in the response that opened the conversation."""
    _chats(request, caller).say(caller.identity, chat, body.say)
    return answer({"heard": True}, 202)
