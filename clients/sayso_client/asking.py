"""One call from asking to its end, over as many connections as it takes."""

from __future__ import annotations

import contextlib
import os
import time

from sayso_client.commands import CHANGED, Ended, handled, restore, run
from sayso_client.errors import ClientError
from sayso_client.scripts import ARGUMENT, changed
from sayso_client.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType
    from typing import Any, Self

    from sayso_client.client import Client

    #: A call as the service shows it to who asked.
    Call = dict[str, Any]

_POLL_S = 30
_RECONNECT_S = 30
#: timeout(1) signals the command and then its group, so one wish to stop arrives twice. A signal within this time of
#: the first one is the same wish.
_SAME_WISH_S = 1.0
#: The statuses of a call that another waiter took.
_TAKEN = frozenset({"running", "released", "succeeded", "failed", "timed_out", "unknown"})


class Asking:
    """A request to run one tool, from asking until it was run, handed over or refused.

    Use it as a context manager around `ask`, `wait` and `hear_why`: SIGINT, SIGTERM and SIGHUP then end the waiting
    instead of the process. Every method raises ClientError when the service refuses, or can't be reached again.

    `connect` opens a connection. `request` holds the fields of the service's `ask`; a key is added if there is none.
    """

    def __init__(self, connect: Callable[[], Client], request: dict[str, Any]) -> None:
        self._connect = connect
        self._request = {**request, "key": request.get("key") or os.urandom(16).hex()}
        self._waiting = False
        self._before: dict[Any, Any] = {}
        #: The call as it was last seen; empty until the service has recorded it.
        self.call: Call = {}
        #: Whether a signal has come that ends the waiting.
        self.interrupted = False
        self._interrupted_at = 0.0

    def __enter__(self) -> Self:
        """Itself, with signals handled."""
        self._before = handled(self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        """Handle signals as before."""
        restore(self._before)

    @property
    def approved(self) -> bool:
        """Whether the call may run."""
        return self.call["status"] in {"approved", "allowed"}

    def ask(self) -> Call:
        """Ask, and return the call, which may be decided already."""
        self.call = self._send("ask", **self._request)["call"]
        return self.call

    def wait(self) -> Call:
        """Return the call once people have decided. A signal withdraws the call, unless they were faster."""
        with contextlib.suppress(KeyboardInterrupt):
            self._wait_while("decided", lambda: self.call["status"] == "pending" and not self.interrupted)
        if self.interrupted and self.call["status"] == "pending":
            self._withdraw()
        return self.call

    def hear_why(self) -> Call:
        """Return the rejected call once its reason came, or can't come any more.

        A signal or a service that is gone ends this wait, and changes nothing about the rejection.
        """
        with contextlib.suppress(KeyboardInterrupt, ClientError):
            self._wait_while("explained", lambda: self.call["reason_until"] is not None)
        return self.call

    def release(self) -> bool:
        """Take over the approved call, whose run won't be reported; False if it can't be had any more."""
        return self._take("release") is not None

    def run(self, command: Sequence[str]) -> Ended | None:
        """Run the command of the approved call, report how it ended, and return that.

        It isn't run if one of its scripts has changed since it was asked; that is how it ended then.

        Returns None when the call can't be had any more, or the report comes too late; `call` then says why.

        Raises ClientError with TAMPERED, before anything runs, when the service gives out another command or folder
        than was asked for: what listens on the socket may be no service of ours.
        """
        import hashlib

        secret, folder = os.urandom(32).hex(), self._request["cwd"]
        leased = self._take("claim", secret_hash=hashlib.sha256(secret.encode()).hexdigest())
        if leased is None:
            return None
        if (leased["args"]["argv"], leased["args"]["cwd"]) != (list(command), folder):
            raise ClientError("TAMPERED", say("command.otherwise"))
        if path := changed(self._request["args"].get(ARGUMENT, {}), folder):
            ended = Ended(CHANGED, say("command.changed", path=path), started=False)
        else:
            ended = run(command, folder, self.call["ref"])
        report = {"result": "failed" if ended.status else "succeeded", "exit_status": ended.status, "error": ended.why}
        return ended if self._take("finish", secret=secret, **report) else None

    def _take(self, op: str, **fields: Any) -> dict[str, Any] | None:
        """Claim, finish or release; None if the call lapsed, was refused or is another waiter's."""
        try:
            answer = self._send(op, ref=self.call["ref"], **fields)
        except ClientError as error:
            if error.code not in {"ALREADY_DECIDED", "HITL_001"}:
                raise
            self.call = self._send("wait", ref=self.call["ref"], limit_s=0)["call"]
            if op != "finish" and self.call["status"] in _TAKEN:
                self.call["message"] = say("command.taken", short=self.call["short"])
            return None
        self.call = answer["call"]
        return answer

    def _wait_while(self, until: str, goes_on: Callable[[], bool]) -> None:
        try:
            self._waiting = True
            while goes_on():
                self.call = self._send("wait", ref=self.call["ref"], until=until, limit_s=_POLL_S)["call"]
        finally:
            self._waiting = False

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        """A signal ends the wait; while the call is being asked it is kept until then. A second one ends all at once,
        unless it comes so soon that it is the same wish: that must not cut the withdrawal.
        """
        del number, frame
        now, first = time.monotonic(), not self.interrupted
        if first:
            self.interrupted, self._interrupted_at = True, now
        if self._waiting if first else now - self._interrupted_at >= _SAME_WISH_S:
            raise KeyboardInterrupt

    def _withdraw(self) -> None:
        """Take the call back; if somebody said yes just before, nobody claims it and it lapses unrun."""
        try:
            self.call = self._send("withdraw", target=self.call["ref"])["call"]
        except ClientError as error:
            if error.code != "ALREADY_DECIDED":
                raise
            self.call = {**self.call, "status": "withdrawn", "message": error.message}

    def _send(self, op: str, **fields: Any) -> dict[str, Any]:
        """One request; a connection that breaks is made again for half a minute, which the key makes safe."""
        give_up = time.monotonic() + _RECONNECT_S
        recorded = bool(self.call)
        while True:
            client = None
            try:
                with self._connect() as client:
                    return client.call(op, **fields)
            except ClientError as error:
                recorded = recorded or (client is not None and client.broken)
                if error.code != "UNAVAILABLE" or not recorded or time.monotonic() >= give_up:
                    raise
                time.sleep(0.2)
