"""Takes one call through its steps: ask, wait for the decision, run or release it, and report the result.

If the connection breaks, another connection is opened.
"""

from __future__ import annotations

import contextlib
import os
import time

from sayso_client.commands import CHANGED, Ended, handled, restore, run
from sayso_client.errors import ClientError
from sayso_client.repeating import Repeating
from sayso_client.scripts import ARGUMENT, changed
from sayso_client.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType
    from typing import Any, Self

    from sayso_client.client import Client

    #: A call as the service shows it to its requester.
    Call = dict[str, Any]

#: Seconds of the first wait for a decision, and of each later wait. The first wait is short: after it, the command can
#: report that a card couldn't be shown.
_FIRST_POLL_S, _POLL_S = 5, 30
#: timeout(1) signals the command and then its group, so one stop arrives as two signals. A second signal within this
#: many seconds counts as the same stop.
_SAME_WISH_S = 1.0
#: Codes with which the service refuses a claim because of the call's state.
_UNCLAIMED = frozenset({"ALREADY_DECIDED", "CONF_EXPIRED", "HITL_001", "STILL_PENDING"})
#: The statuses of a call that another process took.
_TAKEN = frozenset({"running", "released", "succeeded", "failed", "timed_out", "unknown"})


class Asking:
    """A request to run one tool, from asking until it was run, released or refused.

    Use it as a context manager around `ask`, `wait` and `hear_why`: then SIGINT, SIGTERM and SIGHUP end the waiting and
    not the process. Every method raises ClientError if the service refuses, or can't be reached again.

    `connect` opens a connection. `request` holds the fields of the service's `ask`; a missing idempotency key is added.
    Without a key of the caller's own, nobody can come back for the call after this process, so the service withdraws
    the call if this process is killed.

    `line` sends the requests.
    """

    def __init__(self, connect: Callable[[], Client], request: dict[str, Any]) -> None:
        self._connect = connect
        self.line = Repeating(connect)
        self._comes_back = bool(request.get("key"))
        self._attended = False
        self._request = {**request, "key": request.get("key") or os.urandom(16).hex()}
        self._secret = os.urandom(32).hex()
        self._leased: dict[str, Any] | None = None
        self._claims = False
        self._waiting = False
        self._before: dict[Any, Any] = {}
        #: The latest known state of the call; empty until the service has recorded it.
        self.call: Call = {}
        #: Whether a signal has come that ends the waiting.
        self.interrupted = False
        self._interrupted_at = 0.0

    def __enter__(self) -> Self:
        """Install the signal handlers, and return this object."""
        self._before = handled(self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        """Restore the signal handlers."""
        restore(self._before)

    @property
    def approved(self) -> bool:
        """Return whether the call was approved or allowed, and no other process has taken it."""
        return self._leased is not None or self.call["status"] in {"approved", "allowed"}

    @property
    def timeout_s(self) -> int | None:
        """The seconds that the request gives people to decide, or None if the policy alone sets this time."""
        wanted: int | None = self._request.get("timeout_s")
        return wanted

    def ask(self) -> Call:
        """Ask, and return the call. It may be decided already."""
        self.call = self.line.send("ask", **self._request)["call"]
        self._attended = not self._comes_back
        return self.call

    def wait(self, watch: Callable[[Call], None] | None = None, *, claims: bool = False) -> Call:
        """Return the call when people have decided. A signal withdraws the call, unless people decided first.

        `watch` gets the pending call with its record, after some seconds and then twice a minute. With `claims`, the
        approval also claims the call for `run`.
        """
        self._claims = claims
        with contextlib.suppress(KeyboardInterrupt):
            self._wait_while("decided", lambda: self.call["status"] == "pending" and not self.interrupted, watch)
        if self.interrupted and self.call["status"] == "pending":
            self._withdraw()
        return self.call

    def hear_why(self) -> Call:
        """Return the rejected call when the reason for its rejection has arrived, or can't arrive any more.

        A signal, or a lost service, ends this wait and changes nothing about the rejection.
        """
        with contextlib.suppress(KeyboardInterrupt, ClientError):
            self._wait_while("explained", lambda: self.call["reason_until"] is not None and not self.interrupted)
        return self.call

    def release(self) -> bool:
        """Take the approved call, so that the caller can run it itself. The service gets no report of the run.

        Return False if the call can't be taken any more.
        """
        return self._take("release") is not None

    def run(self, command: Sequence[str]) -> Ended | None:
        """Run the command of the approved call, report the result to the service, and return the result.

        If the service can't be reached any more, the result has `reported` False: the command has run.

        If a script of the command has changed since the request, the command isn't run, and the result says so.

        Returns None if another process has the call, if the call has ended, or if the report comes too late; `call`
        then says why.

        Raises ClientError with TAMPERED, before anything runs, if the service returns another command or folder than
        the request names: a false service may be listening on the socket.
        """
        folder = self._request["cwd"]
        leased = self._leased or self._take("claim", secret_hash=self._secret_hash())
        if leased is None:
            return None
        if (leased["args"]["argv"], leased["args"]["cwd"]) != (list(command), folder):
            raise ClientError("TAMPERED", say("command.otherwise"))
        if path := changed(self._request["args"].get(ARGUMENT, {}), folder):
            ended = Ended(CHANGED, say("command.changed", path=path), started=False)
        else:
            ended = run(command, folder, self.call["ref"])
        report = {"result": "failed" if ended.status else "succeeded", "exit_status": ended.status, "error": ended.why}
        try:
            return ended if self._take("finish", secret=self._secret, **report) else None
        except ClientError as error:
            if error.code != "UNAVAILABLE":
                raise
            ended.reported = False
            return ended

    def _take(self, op: str, **fields: Any) -> dict[str, Any] | None:
        """Claim, finish or release the call.

        Return None if the call lapsed, was refused, or belongs to another process.
        """
        try:
            answer = self.line.send(op, ref=self.call["ref"], **fields)
        except ClientError as error:
            if error.code not in _UNCLAIMED:
                raise
            self.call = self.line.send("wait", ref=self.call["ref"], limit_s=0)["call"]
            if op != "finish" and self.call["status"] in _TAKEN:
                self.call["message"] = say("command.taken", short=self.call["short"])
            return None
        self.call = answer["call"]
        return answer

    def _secret_hash(self) -> str:
        import hashlib

        return hashlib.sha256(self._secret.encode()).hexdigest()

    def _hear(self, until: str, limit_s: int) -> None:
        """Wait at most `limit_s` seconds until the call is decided or explained (`until`), and update `self.call`.

        If this object claims calls and `until` is `decided`, an approval also claims the call.
        """
        if not self._claims or until != "decided":
            fields = {"until": until, "limit_s": limit_s, "attended": self._attended}
            self.call = self.line.send("wait", ref=self.call["ref"], **fields)["call"]
            return
        begun = time.monotonic()
        fields = {"secret_hash": self._secret_hash(), "limit_s": limit_s, "attended": self._attended}
        self._leased = self._take("claim", **fields)
        if self.call["status"] == "pending" and time.monotonic() - begun < limit_s / 2:
            # The claim came back too early: the service has an older version, or a proxy drops `Prefer`.
            self._claims = False

    def _wait_while(self, until: str, goes_on: Callable[[], bool], watch: Callable[[Call], None] | None = None) -> None:
        limit_s = _FIRST_POLL_S if watch else _POLL_S
        self.line.recorded = True
        try:
            self._waiting = True
            while goes_on():
                self._hear(until, limit_s)
                limit_s = _POLL_S
                if watch and goes_on():
                    # This uses a separate connection. If it fails, the wait for people continues over the first
                    # connection.
                    with contextlib.suppress(ClientError), self._connect() as client:
                        watch(client.call("show", target=self.call["ref"])["call"])
        finally:
            self._waiting = False

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal. The first signal ends the wait, but not before the service has answered `ask`.

        A second signal ends everything immediately. If it comes within `_SAME_WISH_S`, it counts as the first signal,
        and must not interrupt the withdrawal.
        """
        del number, frame
        now, first = time.monotonic(), not self.interrupted
        if first:
            self.interrupted, self._interrupted_at = True, now
        if self._waiting if first else now - self._interrupted_at >= _SAME_WISH_S:
            raise KeyboardInterrupt

    def _withdraw(self) -> None:
        """Withdraw the call. If it was approved just before, notify the service that it won't run."""
        try:
            self.call = self.line.send("withdraw", target=self.call["ref"])["call"]
        except ClientError as error:
            if error.code != "ALREADY_DECIDED":
                raise
            with contextlib.suppress(ClientError):
                self._leave()
            self.call = {**self.call, "status": "withdrawn", "message": error.message}

    def _leave(self) -> None:
        """End an approved call without a run. If this process has claimed the call, report that it didn't run."""
        try:
            self.line.send("withdraw", target=self.call["ref"], left=True)
        except ClientError as error:
            if error.code != "ALREADY_DECIDED" or not self._claims:
                raise
            why = say("unfit.interrupted", tool=self._request["tool"])
            self.line.send("finish", ref=self.call["ref"], secret=self._secret, result="failed", error=why)
