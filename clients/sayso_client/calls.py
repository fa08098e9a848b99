"""`Sayso` and `AsyncSayso`: put calls through the gate, and run each call that may run, once, in this process."""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
import os
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from secrets import token_hex
from typing import Any, ParamSpec, Self, TypeVar, Unpack, cast, overload

import certifi
import httpx

from sayso_client.client import refuse_foreign
from sayso_client.errors import ClientError, answered
from sayso_client.gating import Terms, Tool
from sayso_client.life import (
    WAIT_S,
    Asked,
    Life,
    Pause,
    Request,
    Run,
    Secret,
    Send,
    after_asking,
    after_push_back,
    asking_people,
    life,
)
from sayso_client.outcomes import Answer, NotRun, Ran
from sayso_client.remote import trusting
from sayso_client.settings import Configuration, configuration
from sayso_client.wording import say

P = ParamSpec("P")
T = TypeVar("T")

#: A request waits for people for up to WAIT_S seconds. The connection's read limit is longer than that.
_TIMEOUT = httpx.Timeout(10, read=WAIT_S + 15)
#: While the service can't be reached, requests are retried for this many seconds by default.
PATIENCE_S = 60.0
#: Seconds: the pauses between attempts grow from the first number to the second.
_PAUSE_FIRST_S, _PAUSE_MOST_S = 0.2, 5.0
#: HTTP statuses that mean "later": too many calls are pending, or the service is stopping or starting, or a proxy can't
#: reach it.
_LATER = frozenset({429, 502, 503, 504})
_REFUSED = 400
#: The service takes at most this many calls in one batch.
_MOST_IN_BATCH = 50
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Planned:
    """One call of a batch: its request, and the function that runs it."""

    request: Request
    work: Callable[[], Any]


class _Link:
    """The common part of both clients: builds requests, reads answers, and decides when to repeat a request."""

    def __init__(self, chosen: Configuration, patience_s: float) -> None:
        self._chosen = chosen
        self._patience_s = patience_s
        #: Whether the service has ever answered this client, and whether a failure to reach it was logged since its
        #: last answer.
        self._reached = self._is_told = False

    def _options(self) -> dict[str, Any]:
        """Return the options for an httpx client.

        The client takes nothing from the environment and follows no redirect.
        """
        headers = {"Accept": "application/json", "User-Agent": "sayso-client"}
        if self._chosen.token is not None:
            headers["Authorization"] = f"Bearer {self._chosen.token}"
        return {"base_url": self._chosen.url, "headers": headers, "timeout": _TIMEOUT, "trust_env": False}

    def _transport(self) -> dict[str, Any]:
        if self._chosen.url.startswith("http:"):
            # A request without TLS goes only to this machine, so no certificates are loaded. Loading them takes 20 ms.
            return {"verify": False, "uds": self._chosen.socket}
        return {"verify": trusting(self._chosen.ca_file or certifi.where())}

    def _refuse_foreign(self) -> None:
        """Raise ClientError if another user could have made the socket's folder first, to pose as the service."""
        if self._chosen.socket:
            refuse_foreign(os.path.dirname(self._chosen.socket))

    @staticmethod
    def _read(answer: httpx.Response) -> dict[str, Any]:
        """Return the document of an answer.

        Raises ClientError for a refusal, and for an answer that isn't the service's.
        """
        try:
            document = answer.json()
        except ValueError:
            document = None
        if not isinstance(document, dict) or answer.is_redirect:
            raise ClientError("UNAVAILABLE", say("reach.odd", status=answer.status_code))
        if answer.status_code < _REFUSED:
            return document
        if "code" not in document or "detail" not in document:
            raise ClientError("UNAVAILABLE", say("reach.odd", status=answer.status_code))
        raise answered(document)

    @staticmethod
    def _pause(answer: httpx.Response | None, tries: int) -> float:
        """Return the seconds to wait before the next attempt.

        If the service named a time (`Retry-After`), it is returned. Otherwise the time grows with each attempt.
        """
        told = answer.headers.get("Retry-After", "") if answer is not None else ""
        if told.isdecimal():
            return min(float(told), PATIENCE_S)
        return float(min(_PAUSE_FIRST_S * 2**tries, _PAUSE_MOST_S)) * random.uniform(0.5, 1.0)  # noqa: S311 - not for a secret

    def _missed(self, error: Exception, left_s: float) -> None:
        """Log the first failure to reach the service. Raise ClientError if no further attempt makes sense.

        No attempt makes sense when no time is left. No attempt makes sense either if the socket doesn't exist and this
        client has never reached the service. A service that restarts removes its socket only for a moment.

        The error's message may reach a model, so it doesn't name the service's address. The log and the note that is
        added to the error name it.
        """
        why = str(error).rpartition("] ")[2] or type(error).__name__
        where = self._chosen.socket or self._chosen.url
        is_absent = self._chosen.socket is not None and not os.path.lexists(self._chosen.socket)
        is_last = left_s <= 0 or (is_absent and not self._reached)
        if not self._is_told:
            again = say("reach.again", where=where, error=why, seconds=round(left_s))
            _log.warning(say("reach.tried", where=where) if is_last else again)
        self._is_told = True
        if is_last:
            lost = ClientError("UNAVAILABLE", say("reach.lost", error=type(error).__name__))
            lost.add_note(say("reach.tried", where=where))
            raise lost from error

    def _is_last(self, answer: httpx.Response, left_s: float) -> bool:
        """Return whether to use this answer, and not to send the request again."""
        self._reached, self._is_told = True, False
        return answer.status_code not in _LATER or left_s <= 0


class Sayso(_Link):
    """A client of the service for synchronous code. Any number of threads may use it.

    Every method raises ClientError: with the service's code and sentence if the service refuses, and with UNAVAILABLE
    if the service can't be reached for `patience_s` seconds. If its socket doesn't exist and this client has never
    reached the service, the error comes immediately. The log names the address at the first failure. If anything is
    unclear, nothing runs.
    """

    def __init__(self, chosen: Configuration | None = None, *, patience_s: float = PATIENCE_S) -> None:
        super().__init__(chosen or configuration(), patience_s)
        self._http = httpx.Client(transport=httpx.HTTPTransport(**self._transport()), **self._options())

    def __enter__(self) -> Self:
        """Return the client itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connections."""
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def call(self, request: Request, work: Callable[[], T]) -> Ran[T] | NotRun:
        """Ask for a call, wait, and run `work` if it may run. Errors of `work` are reported and raised again.

        If the report of a run fails, the result is a Ran with `reported` False.
        """
        return cast("Ran[T] | NotRun", self._live(life(request), work))

    def ask(self, request: Request) -> dict[str, Any]:
        """Ask for a call, and return its current state without claiming it.

        To run the call later, pass a request with the same `key` to `Sayso.call`.
        """
        return self._send(request.asking(request.arguments()))

    def batch(self, planned: Sequence[Planned]) -> list[Ran[Any] | NotRun]:
        """Ask for several calls in one request. Each is decided separately, and runs in a thread as soon as it may.

        If too many calls are pending or were asked for recently, the service refuses a call of the batch. The client
        then asks for this call again alone, after the pause that the service names, for ten minutes at most.

        Raises ClientError if the batch can't be asked for. If a call's function raised, or the call wasn't recorded,
        its result is a NotRun with the status `failed`.
        """
        if not planned:
            return []
        batch = _Batch(planned)
        lives = batch.lives(self._send(batch.asking()))
        with ThreadPoolExecutor(max_workers=len(planned), thread_name_prefix="sayso") as threads:
            begun = [threads.submit(self._outcome, each, plan.work) for each, plan in zip(lives, planned, strict=True)]
        return [done.result() for done in begun]

    def ask_human(self, question: str, options: Sequence[str] = (), **terms: Unpack[Asked]) -> Answer:
        """Ask people a question, and wait. The answer is one of `options` or, without `options`, a text that a person
        writes.

        Never ask for a secret: text in an answer that looks like a secret is masked.
        """
        return _answer(self._live(asking_people(question, options, terms), _nothing))

    def read(self, ref: str) -> dict[str, Any]:
        """Return the current state of a call."""
        return self._send(Send("GET", f"/v1/calls/{ref}"))

    @overload
    def gated(self, function: Callable[P, T]) -> Callable[P, T | NotRun]: ...

    @overload
    def gated(self, **terms: Unpack[Terms]) -> Callable[[Callable[P, T]], Callable[P, T | NotRun]]: ...

    def gated(self, function: Callable[P, T] | None = None, **terms: Unpack[Terms]) -> Any:
        """Put a function behind the gate, as a decorator: `@sayso.gated`, or `@sayso.gated(ask=True)`.

        Calling the function asks first. It returns the function's value, or a NotRun that says why it didn't run.

        Raises TypeError for a coroutine function: calling it runs nothing yet, so the report of a run would be false.
        """

        def put(function: Callable[P, T]) -> Callable[P, T | NotRun]:
            tool = Tool(function, terms)
            if inspect.iscoroutinefunction(function):
                raise TypeError(say("gated.coroutine", function=function.__name__))

            @functools.wraps(function)
            def called(*args: P.args, **kwargs: P.kwargs) -> T | NotRun:
                came = self.call(tool.request(*args, **kwargs), lambda: function(*args, **kwargs))
                return came.value if isinstance(came, Ran) else came

            return called

        return put if function is None else put(function)

    def _outcome(self, one: Life, work: Callable[[], Any]) -> Ran[Any] | NotRun:
        try:
            return self._live(one, work)
        except Exception as error:  # noqa: BLE001 - an error of one call must not end the other calls of the batch
            return _failed(error)

    def _live(self, one: Life, work: Callable[[], Any]) -> Ran[Any] | NotRun:
        step = _first(one)
        while not isinstance(step, Ran | NotRun):
            try:
                came = self._carried_out(step, work)
            except BaseException as error:  # noqa: BLE001 - `life` handles the error, and raises it again
                step = _thrown(one, error)
            else:
                step = _next(one, came)
        return step

    def _carried_out(self, step: Send | Run | Pause, work: Callable[[], Any]) -> Any:
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return None
        return work() if isinstance(step, Run) else self._send(step)

    def _send(self, step: Send) -> dict[str, Any]:
        give_up, tries = time.monotonic() + min(self._patience_s, step.patience_s), 0
        while True:
            answer = None
            try:
                self._refuse_foreign()
                answer = self._http.request(step.method, step.path, json=step.body, headers=step.headers)
            except httpx.TransportError as error:
                self._missed(error, give_up - time.monotonic())
            if answer is not None and self._is_last(answer, give_up - time.monotonic()):
                return self._read(answer)
            time.sleep(min(self._pause(answer, tries), max(0.0, give_up - time.monotonic())))
            tries += 1


class AsyncSayso(_Link):
    """A client of the service for code on an event loop.

    It works like `Sayso`; `work` may also be a coroutine function.
    """

    def __init__(self, chosen: Configuration | None = None, *, patience_s: float = PATIENCE_S) -> None:
        super().__init__(chosen or configuration(), patience_s)
        self._http = httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(**self._transport()), **self._options())

    async def __aenter__(self) -> Self:
        """Return the client itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connections."""
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def call(self, request: Request, work: Callable[[], Awaitable[T] | T]) -> Ran[T] | NotRun:
        """Ask for a call, wait, and run `work` if it may run. Errors of `work` are reported and raised again.

        If the task is cancelled while people are asked, the call is withdrawn.
        """
        return cast("Ran[T] | NotRun", await self._live(life(request), work))

    async def ask(self, request: Request) -> dict[str, Any]:
        """Ask for a call, as `Sayso.ask` does."""
        return await self._send(request.asking(request.arguments()))

    async def batch(self, planned: Sequence[Planned]) -> list[Ran[Any] | NotRun]:
        """Ask for several calls in one request, as `Sayso.batch` does. Each call runs as soon as it may."""
        if not planned:
            return []
        batch = _Batch(planned)
        lives = batch.lives(await self._send(batch.asking()))
        begun = (self._outcome(each, plan.work) for each, plan in zip(lives, planned, strict=True))
        return list(await asyncio.gather(*begun))

    async def ask_human(self, question: str, options: Sequence[str] = (), **terms: Unpack[Asked]) -> Answer:
        """Ask people a question, as `Sayso.ask_human` does."""
        return _answer(await self._live(asking_people(question, options, terms), _nothing))

    async def read(self, ref: str) -> dict[str, Any]:
        """Return the current state of a call."""
        return await self._send(Send("GET", f"/v1/calls/{ref}"))

    @overload
    def gated(self, function: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T | NotRun]]: ...

    @overload
    def gated(
        self, **terms: Unpack[Terms]
    ) -> Callable[[Callable[P, Awaitable[T]]], Callable[P, Awaitable[T | NotRun]]]: ...

    def gated(self, function: Callable[P, Awaitable[T]] | None = None, **terms: Unpack[Terms]) -> Any:
        """Put a coroutine function behind the gate, as `Sayso.gated` does."""

        def put(function: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T | NotRun]]:
            tool = Tool(function, terms)

            @functools.wraps(function)
            async def called(*args: P.args, **kwargs: P.kwargs) -> T | NotRun:
                async def work() -> T:
                    return await function(*args, **kwargs)

                came: Ran[T] | NotRun = await self.call(tool.request(*args, **kwargs), work)
                return came.value if isinstance(came, Ran) else came

            return called

        return put if function is None else put(function)

    async def _outcome(self, one: Life, work: Callable[[], Any]) -> Ran[Any] | NotRun:
        try:
            return await self._live(one, work)
        except Exception as error:  # noqa: BLE001 - an error of one call must not end the other calls of the batch
            return _failed(error)

    async def _live(self, one: Life, work: Callable[[], Any]) -> Ran[Any] | NotRun:
        step = _first(one)
        while not isinstance(step, Ran | NotRun):
            try:
                came = await self._carried_out(step, work)
            except BaseException as error:  # noqa: BLE001 - `life` handles the error, and raises it again
                step = _thrown(one, error)
            else:
                step = _next(one, came)
        return step

    async def _carried_out(self, step: Send | Run | Pause, work: Callable[[], Any]) -> Any:
        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            return None
        return await _done(work) if isinstance(step, Run) else await self._send(step)

    async def _send(self, step: Send) -> dict[str, Any]:
        give_up, tries = time.monotonic() + min(self._patience_s, step.patience_s), 0
        while True:
            answer = None
            try:
                self._refuse_foreign()
                answer = await self._http.request(step.method, step.path, json=step.body, headers=step.headers)
            except httpx.TransportError as error:
                self._missed(error, give_up - time.monotonic())
            if answer is not None and self._is_last(answer, give_up - time.monotonic()):
                return self._read(answer)
            await asyncio.sleep(min(self._pause(answer, tries), max(0.0, give_up - time.monotonic())))
            tries += 1


async def _done(work: Callable[[], Any]) -> Any:
    came = work()
    return await came if inspect.isawaitable(came) else came


Step = Send | Run | Pause | Ran[Any] | NotRun


def _first(one: Life) -> Step:
    return _next(one, None)


def _next(one: Life, came: Any) -> Step:
    try:
        return one.send(came)
    except StopIteration as ended:
        return cast("Ran[Any] | NotRun", ended.value)


def _thrown(one: Life, error: BaseException) -> Step:
    try:
        return one.throw(error)
    except StopIteration as ended:
        return cast("Ran[Any] | NotRun", ended.value)


class _Batch:
    """A batch of calls. One request asks for all of them. Then each call goes through its own steps (`Life`)."""

    def __init__(self, planned: Sequence[Planned]) -> None:
        if len(planned) > _MOST_IN_BATCH:
            raise ClientError("ARGUMENTS", say("arguments.batch", count=len(planned), most=_MOST_IN_BATCH))
        self._requests = [plan.request for plan in planned]
        self._args = [request.arguments() for request in self._requests]
        self._secrets = [Secret() for _ in planned]
        self._key = token_hex(16)

    def asking(self) -> Send:
        """Return the one request that asks for all calls of the batch."""
        calls = [
            {"id": str(at), **request.body(args), "secret_hash": secret.hash}
            for at, (request, args, secret) in enumerate(zip(self._requests, self._args, self._secrets, strict=True))
        ]
        return Send("POST", "/v1/batches", {"calls": calls}, {"Idempotency-Key": self._key})

    def lives(self, answer: Mapping[str, Any]) -> list[Life]:
        """Return a generator `Life` for each call, in the order of the batch.

        Each generator begins with the call's state in `answer`, the service's answer to `asking`.
        """
        by_id = {each["id"]: each for each in answer["calls"]}
        found = [by_id[str(at)] for at in range(len(self._requests))]
        kept = zip(self._requests, self._args, self._secrets, found, strict=True)
        return [self._after(request, args, secret, each) for request, args, secret, each in kept]

    def _after(self, request: Request, args: Mapping[str, Any], secret: Secret, outcome: Mapping[str, Any]) -> Life:
        if outcome["problem"]:
            return after_push_back(replace(request, key=f"{self._key}/{outcome['id']}"), outcome["problem"])
        return after_asking(request, args, secret, outcome["call"])


def _failed(error: Exception) -> NotRun:
    if isinstance(error, ClientError):
        return NotRun("failed", error.message)
    return NotRun("failed", f"{type(error).__name__}: {error}")


def _nothing() -> None:
    """Do nothing. A question to people has this function as its `work`, because nothing runs after the answer."""


def _answer(came: Ran[Any] | NotRun) -> Answer:
    if isinstance(came, Ran):
        call: Mapping[str, Any] = came.value
        return Answer(call["output"], call["decided_by"], call["status"], call["message"], came.ref)
    return Answer(None, came.decided_by, came.status, came.message, came.ref)
