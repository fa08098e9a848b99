"""`sayso ask`: a script waits for a yes, and what was shown is what runs."""

from __future__ import annotations

import contextlib
import hashlib
import json as jsonlib
import os
import secrets
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.common import AsJson, Config, SocketFile, connect, fail, print_json
from hitl.errors import (
    AlreadyDecided,
    CallDenied,
    CallUnknown,
    InvalidConfirmation,
    KeyConflict,
    NotApprover,
    Tampered,
    Unavailable,
)
from hitl.wording import say
from sayso_client import wording
from sayso_client.errors import ClientError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FrameType

#: Exit statuses by how a call ended for the one who asked; any other status means that another waiter got it.
STATUSES: Mapping[str, int] = {
    "rejected": 10,
    "expired": 11,
    "denied": 12,
    "undeliverable": 13,
    "refused": 13,
    "withdrawn": 14,
    "lapsed": 17,
}
USAGE, UNAVAILABLE, RELEASED_ALREADY, NOT_WAITED = 2, 13, 15, 16
#: And by what went wrong with the asking; anything else means that the service can't serve it now.
_FAILURES: Mapping[str, int] = {
    AlreadyDecided.code: RELEASED_ALREADY,
    CallDenied.code: STATUSES["denied"],
    NotApprover.code: STATUSES["denied"],
    KeyConflict.code: USAGE,
    CallUnknown.code: USAGE,
    InvalidConfirmation.code: USAGE,
}
NOT_STARTED = 127
#: A person, a supervisor, or a terminal that is closed.
_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_POLL_S = 30
_RECONNECT_S = 30
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command(context_settings={"allow_interspersed_args": True})(ask)


def ask(
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="What it is called on the card.")],
    command: Annotated[list[str] | None, typer.Argument(metavar="CMD", help="Behind --: run this if approved.")] = None,
    tools: Annotated[str, typer.Option("--tools", help="The group that the tool belongs to.")] = "shell",
    args: Annotated[str, typer.Option("--args", help="Arguments as a JSON object, shown on the card.")] = "{}",
    timeout: Annotated[str | None, typer.Option("--timeout", help="How long to wait: 90s, 5m, 2h.")] = None,
    note: Annotated[str, typer.Option("--note", help="Your words on the card, shown as yours.")] = "",
    key: Annotated[str | None, typer.Option("--key", help="Idempotency key: the same key is the same call.")] = None,
    at_once: Annotated[bool, typer.Option("--at-once", help="On a no, don't wait for its reason.")] = False,
    by_policy: Annotated[bool, typer.Option("--by-policy", help="Let the policy decide whether to ask.")] = False,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Print the ref and exit 16.")] = False,
    outcome: Annotated[Path | None, typer.Option("--outcome", help="Write how it ended to this file, as JSON.")] = None,
    config: Config = None,
    socket: SocketFile = None,
    json: AsJson = False,
) -> None:
    """Ask a person, wait, and run CMD only if the answer is yes.

    Exits with CMD's status; without CMD 0 means approved. 10 rejected (the reason is on stderr), 11 expired,
    12 denied by the policy, 13 unavailable, undeliverable or tampered, 14 withdrawn, 15 released to another
    waiter already, 16 not waited for, 17 lapsed, 2 usage.

    Who rejects by a button is asked why, and has 60 seconds to say. A terminal shows the no at once; the end
    comes with the reason or that time, or with Ctrl-C, or at once with --at-once. It is 10 in each case.

    Example: sayso ask deploy --note "release 1.4" -- ./deploy.sh prod
    """
    request = {
        "tools": tools,
        "tool": tool,
        "args": _arguments(args, command or []),
        "cwd": str(Path.cwd()),
        "note": note,
        "key": key or secrets.token_hex(16),
        "timeout_s": _seconds(timeout),
        "by_policy": by_policy,
    }
    asking = _Asking(lambda: connect(config, socket), request, outcome, at_once=at_once)
    try:
        status = asking.run(command or [], wait=not no_wait, as_json=json)
    except ClientError as error:
        asking.keep(error)
        fail(error.message, _FAILURES.get(error.code, UNAVAILABLE))
    raise typer.Exit(status)


@dataclass
class _Asking:
    """One ask, over as many connections as it takes."""

    open: Callable[[], Any]
    request: dict[str, Any]
    outcome: Path | None
    at_once: bool = False
    call: dict[str, Any] | None = None
    interrupted: bool = False
    waiting: bool = False
    said: str = ""

    def run(self, command: list[str], *, wait: bool, as_json: bool) -> int:
        """Ask, wait, run; the exit status."""
        before = _handled(dict.fromkeys(_ENDS, self._interrupt))
        try:
            self.call = self._send("ask", **self.request)["call"]
            if not wait:
                print_json(self.call) if as_json else typer.echo(self.call["short"])
                return NOT_WAITED
            self._tell_person()
            self._wait()
            if self._call.get("reason_until") and not (self.at_once or self.interrupted):
                self._hear_why()
        finally:
            _restore(before)
        if self.call["status"] not in {"approved", "allowed"}:
            return self._end(as_json=as_json)
        try:
            return self._run(command) if command else self._release(as_json=as_json)
        except ClientError as error:
            if error.code not in {AlreadyDecided.code, InvalidConfirmation.code}:
                raise
            return self._lost(as_json=as_json)

    def keep(self, error: ClientError) -> None:
        """Write the outcome file for an ask that failed."""
        self._write({"status": "failed", "error": {"code": error.code, "message": error.message}, "call": self.call})

    def _tell_person(self) -> None:
        """At a terminal, what an approver needs to know; a script's log stays as it was."""
        if sys.stderr.isatty() and self._call["status"] == "pending":
            told = say("command.waits", short=self._call["short"], until=self._call["expires_at"][11:19])
            typer.echo(f"sayso: {told}", err=True)

    def _wait(self) -> None:
        """Until people have decided; a signal that ends us withdraws the call first."""
        try:
            self.waiting = True
            while self._call["status"] == "pending" and not self.interrupted:
                self.call = self._send("wait", ref=self._call["ref"], until="decided", limit_s=_POLL_S)["call"]
        except KeyboardInterrupt:
            self.interrupted = True
        self.waiting = False
        if self.interrupted and self._call["status"] == "pending":
            self.call = self._withdrawn()

    def _hear_why(self) -> None:
        """Wait for the reason of a no while one may come. What is in the way of it changes nothing about the no."""
        if sys.stderr.isatty():
            self._say()
        with contextlib.suppress(KeyboardInterrupt, ClientError):
            self.waiting = True
            while self._call["reason_until"]:
                self.call = self._send("wait", ref=self._call["ref"], until="explained", limit_s=_POLL_S)["call"]
        self.waiting = False

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        """A signal ends the wait. Before, while the call is being asked, it is kept: a second one ends all at once."""
        del number, frame
        if self.waiting or self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True

    def _withdrawn(self) -> dict[str, Any]:
        """Taken back; if somebody said yes just before, nobody claims it and it lapses unrun."""
        try:
            withdrawn: dict[str, Any] = self._send("withdraw", target=self._call["ref"])["call"]
        except ClientError as error:
            if error.code != AlreadyDecided.code:
                raise
            return {**self._call, "status": "withdrawn", "message": error.message}
        return withdrawn

    def _release(self, *, as_json: bool) -> int:
        self.call = self._send("release", ref=self._call["ref"])["call"]
        self._write(self._call)
        if as_json:
            print_json(self.call)
        return 0

    def _run(self, command: list[str]) -> int:
        """Claim, run just what was asked and shown, report, and pass on the status.

        Raises Tampered for anything else: what listens on the socket may be no service of ours.
        """
        secret = secrets.token_urlsafe(32)
        leased = self._send("claim", ref=self._call["ref"], secret_hash=_sha256(secret))
        self.call = leased["call"]
        folder = self.request["cwd"]
        if (leased["args"]["argv"], leased["args"]["cwd"]) != (command, folder):
            raise ClientError(Tampered.code, wording.say("command.otherwise"))
        status, error = _execute(command, folder, self._call["ref"])
        result = "succeeded" if status == 0 else "failed"
        self.call = self._send(
            "finish", ref=self._call["ref"], secret=secret, result=result, exit_status=status, error=error
        )["call"]
        self._write(self._call | {"exit_status": status})
        return status

    def _lost(self, *, as_json: bool) -> int:
        """Approved, but no longer to be had: lapsed, refused where something changed, or another waiter's."""
        self.call = self._send("wait", ref=self._call["ref"], limit_s=0)["call"]
        return self._end(as_json=as_json)

    def _end(self, *, as_json: bool) -> int:
        call = self._call
        self._write(call)
        if as_json:
            print_json(call)
        status = STATUSES.get(call["status"], RELEASED_ALREADY)
        if status and call["status"] == "rejected" and call["reason"]:
            typer.echo(_visible(call["reason"]), err=True)
        elif status and call["message"] != self.said:
            self._say()
        return status

    def _say(self) -> None:
        self.said = self._call["message"]
        typer.echo(f"sayso: {self.said}", err=True)

    def _write(self, value: dict[str, Any]) -> None:
        if self.outcome is None:
            return
        try:
            self.outcome.write_text(jsonlib.dumps(value, ensure_ascii=False, indent=2) + "\n", "utf-8")
        except OSError as error:
            typer.echo(f"sayso: {self.outcome} can't be written: {error.strerror}", err=True)

    @property
    def _call(self) -> dict[str, Any]:
        if self.call is None:
            raise ClientError(Unavailable.code, Unavailable().message)
        return self.call

    def _send(self, op: str, **fields: Any) -> dict[str, Any]:
        """One request; a connection that breaks is made anew for half a minute, which the key makes safe."""
        give_up = time.monotonic() + _RECONNECT_S
        recorded = self.call is not None
        while True:
            client = None
            try:
                with self.open() as client:
                    answer: dict[str, Any] = client.call(op, **fields)
                    return answer
            except ClientError as error:
                if error.code != Unavailable.code:
                    raise
                recorded = recorded or (client is not None and client.broken)
                if not recorded or time.monotonic() >= give_up:
                    raise
                time.sleep(0.2)


def _execute(argv: list[str], cwd: str, ref: str) -> tuple[int, str | None]:
    """Its status as a shell tells it. Signals are the command's to answer: its end is still reported."""
    signals = _Signals()
    before = _handled(dict.fromkeys(_ENDS, signals.came))
    try:
        process = subprocess.Popen(argv, cwd=cwd, env={**os.environ, "SAYSO_REF": ref})  # noqa: S603 - the approved command
        signals.meant_for(process)
        returned = process.wait()
    except OSError as error:
        why = wording.say("command.not_started", program=argv[0], folder=cwd, error=error.strerror)
        typer.echo(f"sayso: {_visible(why)}", err=True)
        return NOT_STARTED, why
    finally:
        _restore(before)
    status = returned if returned >= 0 else 128 - returned
    return status, None if status == 0 else wording.say("command.status", status=status)


@dataclass
class _Signals:
    """What we are told while the command runs: it is to answer, and what came before it ran reaches it, too."""

    process: subprocess.Popen[bytes] | None = None
    early: list[int] = field(default_factory=list)

    def came(self, number: int, _: FrameType | None) -> None:
        """A terminal tells the command itself of interrupts and of its own end; what only we are sent is passed on."""
        if self.process is None:
            self.early.append(number)
        elif number == signal.SIGTERM:
            self.process.send_signal(number)

    def meant_for(self, process: subprocess.Popen[bytes]) -> None:
        """It runs."""
        self.process = process
        for number in self.early:
            process.send_signal(number)


def _handled(handlers: Mapping[signal.Signals, Callable[[int, FrameType | None], object]]) -> dict[signal.Signals, Any]:
    """Set the handlers but of signals that whoever started us ignores, as `nohup` does; what was there before."""
    chosen = {number: how for number, how in handlers.items() if signal.getsignal(number) is not signal.SIG_IGN}
    return {number: signal.signal(number, how) for number, how in chosen.items()}


def _restore(before: Mapping[signal.Signals, Any]) -> None:
    for number, handler in before.items():
        signal.signal(number, handler)


def _visible(text: str) -> str:
    from hitl.text import visible

    return visible(text)


def _arguments(args: str, command: list[str]) -> dict[str, Any]:
    try:
        given = jsonlib.loads(args)
    except ValueError as error:
        fail(f"--args isn't JSON: {error}", USAGE)
    if not isinstance(given, dict):
        fail("--args must be a JSON object", USAGE)
    if not command:
        return dict(given)
    if taken := {"argv", "cwd"} & set(given):
        fail(f"--args can't hold {', '.join(sorted(taken))} beside a command", USAGE)
    return {**given, "argv": command, "cwd": str(Path.cwd())}


def _seconds(text: str | None) -> int | None:
    if text is None:
        return None
    number, unit = (text[:-1], text[-1]) if text[-1:] in _UNITS else (text, "s")
    if not number.isdecimal():
        fail(f"--timeout {text} isn't a time; write 90s, 5m, 2h or 1d", USAGE)
    return int(number) * _UNITS[unit]


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
