"""`sayso ask`: a script waits for a yes, and what was shown is what runs."""

from __future__ import annotations

import json as jsonlib
import sys
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
    RejectedRecently,
)
from hitl.wording import say
from sayso_client.errors import ClientError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sayso_client.asking import Asking, Call

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
    RejectedRecently.code: STATUSES["rejected"],
    NotApprover.code: STATUSES["denied"],
    KeyConflict.code: USAGE,
    CallUnknown.code: USAGE,
    InvalidConfirmation.code: USAGE,
}
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
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help="If a person must decide, print the ref and exit 16.")
    ] = False,
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
    from sayso_client.asking import Asking

    words = command or []
    request = {
        "tools": tools,
        "tool": tool,
        "args": _arguments(args, words),
        "cwd": str(Path.cwd()),
        "note": note,
        "key": key,
        "timeout_s": _seconds(timeout),
        "by_policy": by_policy,
    }
    asking = Asking(lambda: connect(config, socket), request)
    try:
        with asking:
            call = asking.ask()
            if no_wait and call["status"] == "pending":
                print_json(call) if json else typer.echo(call["short"])
                raise typer.Exit(NOT_WAITED)
            said = "" if no_wait else _wait(asking, at_once=at_once)
        ended = _take(asking, words) if asking.approved else None
    except ClientError as error:
        told = {"code": error.code, "message": error.message}
        _keep(outcome, {"status": "failed", "error": told, "call": asking.call or None})
        fail(error.message, _FAILURES.get(error.code, UNAVAILABLE))
    ran = bool(words) and ended is not None
    _keep(outcome, {**asking.call, "exit_status": ended} if ran else asking.call)
    if json and not ran:
        print_json(asking.call)
    raise typer.Exit(_refused(asking.call, said) if ended is None else ended)


def _wait(asking: Asking, *, at_once: bool) -> str:
    """Wait until the call is decided and explained; the last message of the service that a person was shown.

    A terminal shows what is waited for, and a no before its reason; a script's log stays as it was.
    """
    terminal, call = sys.stderr.isatty(), asking.call
    if terminal and call["status"] == "pending":
        _tell(say("command.waits", short=call["short"], until=call["expires_at"][11:19]))
    call = asking.wait()
    if not call.get("reason_until") or at_once or asking.interrupted:
        return ""
    if terminal:
        _tell(call["message"])
    asking.hear_why()
    return call["message"] if terminal else ""


def _take(asking: Asking, command: list[str]) -> int | None:
    """Run the command, if there is one, or take the call over: the exit status, None if it can't be had any more."""
    if not command:
        return 0 if asking.release() else None
    ended = asking.run(command)
    if ended is None:
        return None
    if not ended.started:
        _tell(_visible(ended.why or ""))
    return ended.status


def _refused(call: Call, said: str) -> int:
    """Say why the call wasn't run for who asked, unless that was said before; the exit status."""
    if call["status"] == "rejected" and call["reason"]:
        typer.echo(_visible(call["reason"]), err=True)
    elif call["message"] != said:
        _tell(call["message"])
    return STATUSES.get(call["status"], RELEASED_ALREADY)


def _visible(text: str) -> str:
    from hitl.text import visible

    return visible(text)


def _tell(text: str) -> None:
    typer.echo(f"sayso: {text}", err=True)


def _keep(outcome: Path | None, value: dict[str, Any]) -> None:
    """Write the outcome file, if one was asked for."""
    if outcome is None:
        return
    try:
        outcome.write_text(jsonlib.dumps(value, ensure_ascii=False, indent=2) + "\n", "utf-8")
    except OSError as error:
        _tell(f"{outcome} can't be written: {error.strerror}")


def _arguments(args: str, command: list[str]) -> dict[str, Any]:
    try:
        given = jsonlib.loads(args)
    except ValueError as error:
        fail(f"--args isn't JSON: {error}", USAGE)
    if not isinstance(given, dict):
        fail("--args must be a JSON object", USAGE)
    if not command:
        return dict(given)
    from sayso_client.scripts import ARGUMENT, digests

    if taken := {"argv", "cwd", ARGUMENT} & set(given):
        fail(f"--args can't hold {', '.join(sorted(taken))} beside a command", USAGE)
    folder = str(Path.cwd())
    scripts = digests(command, folder)
    return {**given, "argv": command, "cwd": folder, **({ARGUMENT: scripts} if scripts else {})}


def _seconds(text: str | None) -> int | None:
    if text is None:
        return None
    number, unit = (text[:-1], text[-1]) if text[-1:] in _UNITS else (text, "s")
    if not number.isdecimal():
        fail(f"--timeout {text} isn't a time; write 90s, 5m, 2h or 1d", USAGE)
    return int(number) * _UNITS[unit]
