"""`sayso ask`: a script waits for an approval, and then runs exactly the command that people saw."""

from __future__ import annotations

import contextlib
import json as jsonlib
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.common import INTERRUPTED, AsJson, Config, SocketFile, Target, about, connect, fail, print_json, tell
from hitl.cards.wording import say
from hitl.errors import (
    AlreadyDecided,
    CallDenied,
    CallUnknown,
    InvalidConfirmation,
    KeyConflict,
    NotApprover,
    RejectedRecently,
)
from sayso_client.errors import ClientError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sayso_client.asking import Asking, Call

#: Exit statuses by the end of a call. Any other end means that another process took the call.
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
#: Exit statuses by error code. Any other error means that the service can't be used now.
_FAILURES: Mapping[str, int] = {
    AlreadyDecided.code: RELEASED_ALREADY,
    CallDenied.code: STATUSES["denied"],
    RejectedRecently.code: STATUSES["rejected"],
    NotApprover.code: STATUSES["denied"],
    KeyConflict.code: USAGE,
    CallUnknown.code: USAGE,
    InvalidConfirmation.code: USAGE,
}
#: The statuses of an approved call whose run hasn't ended yet.
_GRANTED = frozenset({"approved", "running"})
#: The largest number of approvers that a line names.
_MOST_NAMED = 4
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors, and why a request wasn't run.")]


def register(app: typer.Typer) -> None:
    """Add the commands `ask` and `wait`."""
    app.command(context_settings={"allow_interspersed_args": True})(ask)
    app.command()(wait)


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
    quiet: Quiet = False,
    outcome: Annotated[Path | None, typer.Option("--outcome", help="Write how it ended to this file, as JSON.")] = None,
    config: Config = None,
    socket: SocketFile = None,
    json: AsJson = False,
) -> None:
    """Ask a person, wait, and run CMD only if the answer is yes.

    Exits with CMD's status; without CMD 0 means approved. 10 rejected (the reason is on stderr), 11 expired, 12 denied
    by the policy, 13 unavailable, undeliverable or tampered, 14 withdrawn, 15 released to another waiter already, 16
    not waited for, 17 lapsed, 2 usage.

    It says on stderr what it waits for, and each change. After a rejection by a button, that person has 60 seconds to
    give a reason. The command ends with 10 when the reason comes, when that time is over, after Ctrl-C, or at once with
    --at-once.

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
            said = _wait(asking, quiet=quiet, at_once=at_once, key="command.withdraws")
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


def wait(
    target: Target, quiet: Quiet = False, config: Config = None, socket: SocketFile = None, json: AsJson = False
) -> None:
    """Wait until a request is decided.

    Exits with 0 if it was approved or allowed, else with the status of `sayso ask`. It takes nothing over and withdraws
    nothing: the requester still runs the request. Ctrl-C ends only the wait, with 130.

    Example: sayso wait K7Q2MX
    """
    from sayso_client.asking import Asking

    asking = Asking(lambda: connect(config, socket), {})
    with connect(config, socket) as client:
        asking.call = about(client, "show", target)["call"]
    said = ""
    with contextlib.suppress(KeyboardInterrupt):
        said = _wait(asking, quiet=quiet, at_once=False, key="command.stays")
    call = asking.call
    if json:
        print_json(call)
    if call["status"] == "pending":
        tell(say("command.left", short=call["short"]))
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(_refused(call, said) if call["status"] in STATUSES else 0)


def _wait(asking: Asking, *, quiet: bool, at_once: bool, key: str) -> str:
    """Wait until the call is decided and, after a rejection, explained. Return the last message that was printed.

    It prints who may approve and until when, then each change. `key` is the sentence about Ctrl-C on a terminal.
    """
    call = asking.call
    if call["status"] != "pending":
        return ""
    if not quiet:
        waits = say("command.waits", short=call["short"], until=_until(call), approvers=_named(call["approvers"]))
        tell(say(key, waits=waits) if sys.stderr.isatty() else waits)
    call = asking.wait()
    if not quiet and call["status"] in _GRANTED:
        tell(say("command.decided", short=call["short"], outcome=_visible(call["outcome"])), "green")
    if not call.get("reason_until") or at_once or asking.interrupted:
        return ""
    if not quiet:
        tell(call["message"])
    asking.hear_why()
    return "" if quiet else str(call["message"])


def _until(call: Call) -> str:
    """Return the time at which the call expires: the time of day, with the date unless it is today."""
    day, _, clock = call["expires_at"][:19].partition("T")
    return clock if day == datetime.now(UTC).date().isoformat() else f"{day} {clock}"


def _named(approvers: list[str]) -> str:
    from hitl.cards.text import one_line

    names = ", ".join(one_line(name, 40) for name in approvers[:_MOST_NAMED]) or say("command.nobody")
    more = len(approvers) - _MOST_NAMED
    return say("command.more", names=names, count=more) if more > 0 else names


def _take(asking: Asking, command: list[str]) -> int | None:
    """Run the command. Without a command, take over the approved call, so that the caller can run it.

    Return the exit status, or None if another process has taken the call.
    """
    if not command:
        return 0 if asking.release() else None
    ended = asking.run(command)
    if ended is None:
        return None
    if not ended.started:
        tell(_visible(ended.why or ""), "red")
    return ended.status


def _refused(call: Call, said: str) -> int:
    """Print why the call wasn't run, unless that was printed already. Return the exit status."""
    if call["status"] == "rejected" and call["reason"]:
        typer.echo(_visible(call["reason"]), err=True)
    elif call["message"] != said:
        tell(call["message"], "red")
    return STATUSES.get(call["status"], RELEASED_ALREADY)


def _visible(text: str) -> str:
    from hitl.cards.text import visible

    return visible(text)


def _keep(outcome: Path | None, value: dict[str, Any]) -> None:
    """Write the outcome file, if the option names one."""
    if outcome is None:
        return
    try:
        outcome.write_text(jsonlib.dumps(value, ensure_ascii=False, indent=2) + "\n", "utf-8")
    except OSError as error:
        tell(f"{outcome} can't be written: {error.strerror}")


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
