"""The common part of the adapters of agent frameworks: it puts one tool call of a model through the gate.

A framework gives the adapter a call and a way to run it. The adapter returns a value or a sentence for the model, and
raises only the tool's own errors: if the service can't be reached, the sentence says that nothing ran.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypedDict, TypeVar

from sayso_client.calls import AsyncSayso, Sayso
from sayso_client.errors import ClientError
from sayso_client.life import Request
from sayso_client.outcomes import NotRun, Ran
from sayso_client.wording import say

T = TypeVar("T")


class Terms(TypedDict, total=False):
    """Settings for all calls of one agent."""

    #: The group of the agent's tools in policies. By default, this is the framework's name.
    tools: str
    #: The agent's own name for itself.
    agent: str
    #: Ask a person even if the policy allows the call.
    ask: bool
    #: Seconds to wait for people, at most as many as the policy gives.
    timeout_s: int
    #: `origin` is the conversation to ask in, if the token may name it. `on_behalf_of` is the person for whom the agent
    #: asks; with a token, this must be the token's owner.
    origin: str
    on_behalf_of: str


def key_of(*parts: str) -> str:
    """Return an idempotency key made of these parts, such as a thread, a step and the model's id of the call."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def missing(extra: str, error: ImportError) -> ImportError:
    """Return an error that names the extra of the package `sayso-client` that installs a missing framework."""
    return ImportError(say("extra.missing", extra=extra, module=error.name), name=error.name)


class _Started(Generic[T]):
    """Work that remembers whether it was started. After the start, an error is the work's, not the service's."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self.yes = False

    def __call__(self) -> T:
        """Start the work. If the work is asynchronous, return its awaitable."""
        self.yes = True
        return self._work()


def run_gated(sayso: Sayso, request: Request, work: Callable[[], T]) -> Ran[T] | NotRun:
    """Ask for a call, wait, and run `work` once if it may run. Raises the errors of `work`."""
    started = _Started(work)
    try:
        came = sayso.call(request, started)
    except ClientError as error:
        if started.yes:
            raise
        return _unasked(error)
    if isinstance(came, Ran) or came.status != "succeeded":
        return came
    with contextlib.suppress(ClientError):
        return _again(sayso.read(came.ref))
    return came


async def arun_gated(sayso: AsyncSayso, request: Request, work: Callable[[], Awaitable[T]]) -> Ran[T] | NotRun:
    """Ask for a call, as `run_gated` does, on an event loop."""
    started = _Started(work)
    try:
        came: Ran[T] | NotRun = await sayso.call(request, started)
    except ClientError as error:
        if started.yes:
            raise
        return _unasked(error)
    if isinstance(came, Ran) or came.status != "succeeded":
        return came
    with contextlib.suppress(ClientError):
        return _again(await sayso.read(came.ref))
    return came


def _unasked(error: ClientError) -> NotRun:
    """Return the outcome of a call whose request or claim failed."""
    return NotRun(error.code.lower(), error.message, error.ref or "")


def _again(call: dict[str, Any]) -> NotRun:
    """Return the outcome of a call that ran earlier, for example if a step is repeated.

    It contains the recorded output.
    """
    return NotRun("succeeded", call["output"] or call["message"], call["ref"])


def pending(sayso: Sayso, request: Request) -> dict[str, Any] | None:
    """Ask for a call that has a key, and return it while it is pending.

    Returns None if the call is decided, or if the service can't be reached; `run_gated` then returns the outcome.
    """
    try:
        return _pending(sayso.ask(request))
    except ClientError:
        return None


async def apending(sayso: AsyncSayso, request: Request) -> dict[str, Any] | None:
    """Ask for a call, as `pending` does, on an event loop."""
    try:
        return _pending(await sayso.ask(request))
    except ClientError:
        return None


def _pending(call: dict[str, Any]) -> dict[str, Any] | None:
    kept = {name: call.get(name) for name in ("ref", "short", "tool", "message", "expires_at")}
    return kept if call.get("status") == "pending" else None
