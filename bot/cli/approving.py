"""The approver's and operator's side: `pending`, `show`, `decide`, `withdraw`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any

import typer

from bot.cli.common import AsJson, Config, SocketFile, connect, print_json
from hitl.wording import say


class Verdict(StrEnum):
    """What `decide` takes."""

    APPROVE = "approve"
    REJECT = "reject"


Target = Annotated[str, typer.Argument(metavar="REF", help="The call's ref, or its six characters.")]


def register(app: typer.Typer) -> None:
    """Add these commands."""
    for command in (pending, show, decide, withdraw):
        app.command()(command)


def pending(config: Config = None, socket: SocketFile = None, json: AsJson = False) -> None:
    """What waits for an answer.

    Example: sayso pending
    """
    with connect(config, socket, shown=True) as client:
        calls = client.call("pending")["calls"]
    if json:
        print_json(calls)
    elif not calls:
        typer.echo(say("pending.none"))
    for call in [] if json else calls:
        typer.echo(_line(call, _left(call)) + _noted(call))


def show(target: Target, config: Config = None, socket: SocketFile = None, json: AsJson = False) -> None:
    """One call whole, with its record.

    Example: sayso show K7Q2MX
    """
    with connect(config, socket, shown=True) as client:
        call = client.call("show", target=target)["call"]
    if json:
        print_json(call)
        return
    for flaw in call["flaws"]:
        typer.echo(f"{flaw} {say('show.flawed')}", err=True)
    typer.echo(_line(call, call["outcome"]) + "\n" + call["details"])
    for row in call["record"]:
        typer.echo(f"  {row['at'][:19].replace('T', ' ')} UTC  {row['event']:<12} {row['actor']}")


def decide(
    target: Target,
    verdict: Annotated[Verdict, typer.Argument(metavar="VERDICT", help="Your answer.")],
    reason: Annotated[str | None, typer.Option("--reason", help="Why; kept on record and told to the agent.")] = None,
    confirm: Annotated[
        str | None, typer.Option("--confirm", metavar="REF", help="Second yes to a critical call.")
    ] = None,
    config: Config = None,
    socket: SocketFile = None,
    json: AsJson = False,
) -> None:
    """Answer for a call.

    Example: sayso decide K7Q2MX reject --reason "too risky"
    """
    with connect(config, socket, shown=True) as client:
        came = client.call(
            "decide",
            target=target,
            verb=verdict.value,
            reason=reason,
            confirmed=_confirms(confirm, target),
        )
    print_json(came) if json else typer.echo(came["text"])
    if not came["decided"]:
        raise typer.Exit(1)


def withdraw(target: Target, config: Config = None, socket: SocketFile = None, json: AsJson = False) -> None:
    """Take a waiting call back.

    Example: sayso withdraw K7Q2MX
    """
    with connect(config, socket, shown=True) as client:
        call = client.call("withdraw", target=target)["call"]
    print_json(call) if json else typer.echo(say("pending.withdrawn", short=call["short"]))


def _confirms(confirm: str | None, target: str) -> bool:
    if confirm is None:
        return False
    if confirm.strip().lstrip("#").upper() != target.strip().lstrip("#").upper():
        raise typer.BadParameter("--confirm names another call than the one to decide")
    return True


def _left(call: dict[str, Any]) -> str:
    """How long people have, as `4:59 left`."""
    left = datetime.fromisoformat(call["expires_at"]) - datetime.now(UTC)
    return say(
        "pending.left",
        left=str(timedelta(seconds=max(0, int(left.total_seconds())))).removeprefix("0:").removeprefix("0"),
    )


def _noted(call: dict[str, Any]) -> str:
    """The asker's note, for the end of a line."""
    from hitl.text import one_line

    return f"  {one_line(call['note'], 60)}" if call["note"] else ""


def _line(call: dict[str, Any], stands: str) -> str:
    from hitl.text import one_line

    return say(
        "pending.line",
        short=call["short"],
        risk=f"{call['risk']:<8}",
        tool=one_line(call["tool"], 60),
        outcome=stands,
        requester=call["requester"],
    )
