"""The life of one call, as its caller sees it: ask, wait, claim, check, run once, report.

This module describes that life once, as a generator of steps. `calls.py` carries the steps out, blocking or on an event
loop: it sends requests, runs the function, and passes the results back to the generator.

All requests are safe to repeat: asking has an idempotency key; claiming and reporting have the claimant's secret.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import math
import secrets
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, TypedDict
from urllib.parse import quote

import rfc8785

from sayso_client.errors import ClientError, answered
from sayso_client.outcomes import NotRun, Ran
from sayso_client.wire import preference
from sayso_client.wording import say

#: The longest wait for people in one request, in seconds. Proxies commonly close a request after 60 s.
WAIT_S = 30
#: The longest output that is reported, in characters. The service refuses more than 65,536.
_LONGEST_OUTPUT = 16_384
_LONGEST_ERROR = 2_000
#: The states in which a call can be claimed now, or can perhaps be claimed later.
_CLAIMABLE = frozenset({"pending", "allowed", "approved"})
#: The states of a call that was approved. If its claim is refused, this caller must not run it.
_APPROVED = frozenset({"allowed", "approved", "running", "succeeded", "failed", "timed_out", "unknown", "released"})
_STILL_PENDING = "STILL_PENDING"
#: Error codes that mean that the call exists, but can't be claimed: it must not run now, or must not run again.
_UNCLAIMED = frozenset({"ALREADY_DECIDED", _STILL_PENDING, "HITL_001", "CONF_EXPIRED", "TAMPERED"})
#: The fields of a call that this module reads from the service's answers.
_FIELDS = frozenset({"ref", "status", "reason", "reason_until", "decided_by", "message", "requester", "digest"})
#: The name of the argument that holds the paths and hashes of the files on which the call depends.
FILES = "files"
#: Seconds for which a call of a batch is asked again while too many calls are pending or were asked recently.
_PUSHED_BACK_S = 600
_PUSHED_BACK = "TOO_MANY_PENDING"
#: Seconds between two attempts, if the service names none.
_PAUSE_S = 10
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Send:
    """A request to the API. Its answer is the JSON document; a refusal is a ClientError.

    The request is repeated for at most `patience_s` seconds, and no longer than the client's own patience.
    """

    method: str
    path: str
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    patience_s: float = math.inf


@dataclass(frozen=True, slots=True)
class Run:
    """The step at which the caller of the generator runs the function. It comes at most once."""


@dataclass(frozen=True, slots=True)
class Pause:
    """The step at which the caller of the generator waits for `seconds`."""

    seconds: float


#: A generator that yields steps, receives the result of each, and returns the outcome.
Life: TypeAlias = Generator[Send | Run | Pause, Any, Ran[Any] | NotRun]
#: Returns the request that ends a call after its caller was interrupted. The function gets the service's latest answer
#: about the call.
TakingBack: TypeAlias = Callable[[dict[str, Any]], Send]


@dataclass(frozen=True, slots=True)
class Request:
    """A call to ask for. `files` are paths whose contents the call depends on: they are hashed, shown and checked.

    With `ask`, a person is asked even if the policy allows the call. `timeout_s` is how long to wait for people, at
    most as long as the policy says. `origin` is the conversation to ask in, if the token may name it. `key` names this
    one call: asking again with the same key, also after a restart, finds the existing call and never runs it a second
    time.
    """

    tool: str
    args: Mapping[str, Any]
    tools: str = "python"
    agent: str | None = None
    session: str | None = None
    note: str | None = None
    origin: str | None = None
    on_behalf_of: str | None = None
    ask: bool = False
    timeout_s: int | None = None
    files: Sequence[str] = ()
    key: str | None = None

    def arguments(self) -> dict[str, Any]:
        """Return the arguments, with the current hashes of the files.

        Raises ClientError with the code ARGUMENTS if JSON can't represent a value exactly, or a file can't be read.
        """
        args = dict(self.args)
        if self.files:
            if FILES in args:
                raise _wrong("arguments.files", name=FILES)
            args[FILES] = {name: _hash_of(name) for name in self.files}
        for name, value in args.items():
            try:
                rfc8785.dumps(value)
            except (ValueError, RecursionError) as error:
                raise _wrong("arguments.json", name=name, kind=type(value).__name__) from error
        return args

    def body(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """Return the body of the request to the API."""
        named = {
            "tools": self.tools,
            "tool": self.tool,
            "args": args,
            "agent": self.agent,
            "session": self.session,
            "note": self.note,
            "origin": self.origin,
            "on_behalf_of": self.on_behalf_of,
            "ask": self.ask or None,
            "timeout_s": self.timeout_s,
        }
        return {name: value for name, value in named.items() if value is not None}

    def asking(self, args: Mapping[str, Any], secret_hash: str | None = None) -> Send:
        """Return the step that asks for the call. With `secret_hash`, an allowed call is also claimed."""
        body = {**self.body(args), "secret_hash": secret_hash} if secret_hash else self.body(args)
        return Send("POST", "/v1/calls", body, {"Idempotency-Key": self.key or secrets.token_hex(16)})


class Secret:
    """A secret that proves who claimed the call. It stays in this process; the service knows only its SHA-256."""

    def __init__(self) -> None:
        self.value = secrets.token_hex(32)
        self.hash = hashlib.sha256(self.value.encode()).hexdigest()


def life(request: Request) -> Life:
    """Ask for a call, and take it through all steps to its report."""
    args, secret = request.arguments(), Secret()
    try:
        call = yield from _asked(request.asking(args, secret.hash), partial(_taken_back, request, secret))
    except ClientError as error:
        return _refused(error, known=request.key is not None)
    return (yield from after_asking(request, args, secret, call))


def _asked(asking: Send, taking_back: TakingBack) -> Generator[Send, Any, dict[str, Any]]:
    """Ask, and return the service's first answer. If the caller is interrupted, send the request of `taking_back`."""
    try:
        # This request doesn't wait. So if the caller is interrupted later, the ref is known and the call can be
        # withdrawn.
        call: dict[str, Any] = yield asking
    except ClientError:
        raise
    except BaseException:
        # The service may have recorded the call before it could answer. The same key finds that call.
        with contextlib.suppress(ClientError):
            call = yield asking
            yield taking_back(call)
        raise
    return call


def _log_pending(call: Mapping[str, Any]) -> None:
    """Log that people are asked. Otherwise the program would be silent for minutes."""
    if call["status"] == "pending" and "short" in call and "expires_at" in call:
        _log.info(say("gated.pending", short=call["short"], until=call["expires_at"]))


def _waited(call: dict[str, Any]) -> Generator[Send, Any, dict[str, Any]]:
    """Wait until a call isn't pending, and return it. If the caller is interrupted, withdraw the call."""
    _log_pending(call)
    try:
        while call["status"] == "pending":
            call = _whole((yield Send("GET", f"{_path(call)}?wait={WAIT_S}", headers=preference(None, attended=True))))
    except BaseException:
        with contextlib.suppress(ClientError):
            yield _withdrawal(call)
        raise
    return call


def _claimed(
    request: Request, secret: Secret, call: dict[str, Any], clock: Callable[[], float] = time.monotonic
) -> Generator[Send, Any, tuple[dict[str, Any], dict[str, Any] | None]]:
    """Wait for the decision on a call, and claim it in the same request.

    Return the call and its claim. If the call may not run, return the call and None; after a rejection, the call has
    the reason. If the caller is interrupted, withdraw the call or, if it was claimed just then, report it as not run.
    """
    _log_pending(call)
    wanted = {"secret_hash": secret.hash, "digest": call["digest"]}
    # If the caller chose a key, another process can come back for the call.
    attended = request.key is None
    claim = Send("POST", f"{_path(call)}/claim", wanted, preference(WAIT_S, attended=attended))
    wait = Send("GET", f"{_path(call)}?wait={WAIT_S}&until=explained", headers=preference(None, attended=attended))
    try:
        while call["status"] in _CLAIMABLE:
            begun = clock()
            try:
                claimed = yield claim
            except ClientError as error:
                if error.code not in _UNCLAIMED:
                    raise
                # The answer came too early if the service is of an older version, or if a proxy drops `Prefer`. In
                # these cases, a separate request waits for people.
                if error.code != _STILL_PENDING or clock() - begun < WAIT_S / 2:
                    call = _whole((yield wait))
                if error.code != _STILL_PENDING and call["status"] in _APPROVED:
                    return call | {"status": "refused", "message": error.message, "reason": None}, None
            else:
                return _whole(claimed.get("call", {})), claimed
        if call["reason_until"]:
            call = _whole((yield wait))
    except BaseException:
        with contextlib.suppress(ClientError):
            yield from _given_up(request, secret, call)
        raise
    return call, None


def _given_up(request: Request, secret: Secret, call: dict[str, Any]) -> Generator[Send, Any, None]:
    """Withdraw a call. If it was approved just before, it lapses instead. If it was claimed, report it as not run."""
    try:
        yield _withdrawal(call, left=True)
    except ClientError as error:
        if error.code == "ALREADY_DECIDED":
            yield _not_run(request, secret, call)


def after_asking(request: Request, args: Mapping[str, Any], secret: Secret, call: dict[str, Any]) -> Life:
    """Continue a call after the service's first answer: wait for the decision and claim, check, run, and report."""
    path = _path(_whole(call))
    claim = call.get("claim")
    if claim is None:
        call, claim = yield from _claimed(request, secret, call)
    if claim is None:
        return NotRun(call["status"], call["message"], call["ref"], call["reason"], call["decided_by"])
    if unfit := _unfit(request, args, call, claim):
        with contextlib.suppress(ClientError):
            yield _report(path, secret, "failed", error=unfit)
        return NotRun("refused", unfit, call["ref"])
    # From here on a report that fails must not replace the function's value or error: the function ran.
    try:
        value = yield Run()
    except Exception as error:
        with _told_if_lost(call):
            yield _report(path, secret, "failed", error=f"{type(error).__name__}: {_text(error)}")
        raise
    except BaseException:
        # The function was interrupted, so its effect isn't known.
        with _told_if_lost(call):
            yield _report(path, secret, "unknown")
        raise
    answer = None
    with _told_if_lost(call):
        answer = yield _report(path, secret, "succeeded", output="" if value is None else _text(value))
    return Ran(call["ref"], value, reported=answer is not None)


def after_push_back(request: Request, problem: Mapping[str, Any], clock: Callable[[], float] = time.monotonic) -> Life:
    """Ask again, without the others, for a call of a batch for which the service had no room.

    The first request comes after the pause that the service named. Requests are repeated for ten minutes at most.
    `request` has the key that the call had in the batch. Only the asking is repeated, and never the steps after it.
    If `problem` has another cause, nothing is asked again: the outcome is that of a single call with this problem.
    Raises ClientError when the ten minutes have passed.
    """
    error, pause = answered(dict(problem)), problem.get("retry_after") or _PAUSE_S
    if error.code != _PUSHED_BACK:
        return _refused(error, known=False)
    args, secret, end = request.arguments(), Secret(), clock() + _PUSHED_BACK_S
    asking = request.asking(args, secret.hash)
    while (left := end - clock()) > 0:
        yield Pause(min(pause, left))
        pause = _PAUSE_S
        try:
            patient = replace(asking, patience_s=max(0.0, end - clock()))
            call = yield from _asked(patient, partial(_taken_back, request, secret))
        except ClientError as refused:
            if refused.code != _PUSHED_BACK:
                return _refused(refused, known=True)
            error = refused
        else:
            # The batch made this key, so no other process can come back for the call. Therefore the call is handled
            # like a call without a key.
            return (yield from after_asking(replace(request, key=None), args, secret, call))
    raise error


class Asked(TypedDict, total=False):
    """The settings of a question to people, besides its words and options."""

    #: The agent's own name for itself.
    agent: str
    session: str
    #: The agent's note, which people see as the agent's own words.
    note: str
    #: The conversation to ask in. A token may name only its own conversations.
    origin: str
    #: The person for whom the agent asks: the token's owner or, without a token, the caller. The service refuses any
    #: other person.
    on_behalf_of: str
    #: Seconds to wait for people, at most as many as the policy gives.
    timeout_s: int


def asking_people(question: str, options: Sequence[str], terms: Asked) -> Life:
    """Ask people a question and wait for the answer.

    Returns a Ran with the answered call, or a NotRun if nobody answered. Nothing is run.
    """
    body = {"question": question, **terms} | ({"options": list(options)} if options else {})
    asking = Send("POST", "/v1/questions", body, {"Idempotency-Key": secrets.token_hex(16)})
    try:
        call = _whole((yield from _asked(asking, _withdrawal)))
    except ClientError as error:
        return _refused(error, known=False)
    call = yield from _waited(call)
    if call["status"] == "succeeded":
        return Ran(call["ref"], call)
    return NotRun(call["status"], call["message"], call["ref"], call["reason"], call["decided_by"])


def _path(call: Mapping[str, Any]) -> str:
    return f"/v1/calls/{quote(call['ref'], safe='')}"


def _withdrawal(call: dict[str, Any], *, left: bool = False) -> Send:
    return Send("POST", f"{_path(_whole(call))}/withdraw", {"left": True} if left else {})


def _taken_back(request: Request, secret: Secret, call: dict[str, Any]) -> Send:
    """Return the step that ends a call for which nobody waits: withdraw it, or report a claimed call as not run."""
    if call.get("claim") is None:
        return _withdrawal(call)
    return _not_run(request, secret, call)


def _not_run(request: Request, secret: Secret, call: dict[str, Any]) -> Send:
    return _report(_path(_whole(call)), secret, "failed", error=say("unfit.interrupted", tool=request.tool))


def _whole(call: dict[str, Any]) -> dict[str, Any]:
    """Return the call. Raises ClientError if fields are missing, because then another server has answered."""
    if not call.keys() >= _FIELDS:
        raise ClientError("UNAVAILABLE", say("reach.odd", status=200))
    return call


def _refused(error: ClientError, ref: str = "", *, known: bool) -> NotRun:
    """Return the outcome of a call that can't run: denied, rejected a moment ago, or not to be claimed. Raise any other
    error again.

    `known` says that the service may have recorded the call earlier, under the same key.
    """
    if error.code == "CALL_DENIED":
        return NotRun("denied", error.message, error.ref or ref, error.message)
    if error.code == "REJECTED_RECENTLY":
        return NotRun("rejected", error.message, error.ref or ref)
    if known and error.code in _UNCLAIMED:
        return NotRun("refused", error.message, error.ref or ref)
    raise error


def _unfit(request: Request, args: Mapping[str, Any], call: Mapping[str, Any], claim: Mapping[str, Any]) -> str | None:
    """Return a reason if the call that would run now isn't the call that was approved, else None.

    The digest covers everything that people were shown. Here the digest is computed again, from the arguments that are
    about to run.
    """
    if rfc8785.dumps(claim.get("args")) != rfc8785.dumps(args) or digest(request, args, call) != call["digest"]:
        return say("unfit.args", tool=request.tool)
    for name, approved in args.get(FILES, {}).items() if request.files else ():
        try:
            now = _hash_of(name)
        except ClientError as error:
            return error.message
        if now != approved:
            return say("unfit.file", name=name)
    return None


def digest(request: Request, args: Mapping[str, Any], call: Mapping[str, Any]) -> str:
    """Return the SHA-256 over the RFC 8785 form of everything that defines this call, as the service computes it."""
    whole: dict[str, Any] = {
        "args": args,
        "cwd": None,
        "definition": "",
        "executor": f"caller:{call['requester']}",
        "preconditions": [],
        "tool": request.tool,
        "tools": request.tools,
    }
    return hashlib.sha256(rfc8785.dumps(whole)).hexdigest()


def _report(path: str, secret: Secret, result: str, *, output: str = "", error: str | None = None) -> Send:
    body = {"secret": secret.value, "result": result, "output": output[:_LONGEST_OUTPUT]}
    return Send("POST", f"{path}/finish", {**body, "error": error[:_LONGEST_ERROR]} if error else body)


@contextlib.contextmanager
def _told_if_lost(call: Mapping[str, Any]) -> Iterator[None]:
    """A context manager that logs a failed report instead of raising its error."""
    try:
        yield
    except ClientError as error:
        _log.warning(say("run.unreported", ref=call["ref"], error=error.code))


def _text(value: object) -> str:
    """Return `str(value)` as text that UTF-8 can hold, or the name of its type if `str` raises."""
    try:
        return str(value).encode("utf-8", "replace").decode()
    except Exception:  # noqa: BLE001 - the function ran, whatever its value is
        return type(value).__name__


def _hash_of(name: str) -> str:
    try:
        with Path(name).open("rb") as file:
            return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
    except OSError as error:
        raise _wrong("arguments.file", name=name, error=error.strerror or type(error).__name__) from error


def _wrong(key: str, **facts: object) -> ClientError:
    return ClientError("ARGUMENTS", say(key, **facts))
