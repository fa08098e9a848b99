"""The commands of approvers and operators: `pending`, `sessions`, `show`, `approve`, `reject`, `decide`, `withdraw`."""

from __future__ import annotations

import json as jsonlib
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from bot.cli.common import AsJson, Config, SocketFile, Target, about, connect, pending_calls, print_json
from bot.wording import say
from hitl.cards.wording import IN_ENGLISH
from sayso_client.terminal import painted


class Choice(StrEnum):
    """The verdicts that `decide` accepts as its argument."""

    APPROVE = "approve"
    REJECT = "reject"


#: Risk -> the colour in which the terminal prints it. Cards in a terminal use these colours too.
RISK_COLOURS = {"low": "green", "medium": "bright_yellow", "high": "yellow", "critical": "red"}
Reason = Annotated[str | None, typer.Option("--reason", help="Why. It is put on record, and the agent is told.")]
Confirm = Annotated[
    str | None, typer.Option("--confirm", metavar="REF", help="The second yes to a critical request: its ref again.")
]


def register(app: typer.Typer) -> None:
    """Add the commands `pending`, `sessions`, `show`, `approve`, `reject`, `decide` and `withdraw`."""
    for command in (pending, sessions, show, approve, reject, decide, withdraw):
        app.command()(command)


def pending(config: Config = None, socket: SocketFile = None, json: AsJson = False) -> None:
    """List the pending requests.

    Example: sayso pending
    """
    with connect(config, socket, shown=True) as client:
        calls = pending_calls(client, whole=json)
    if json:
        print_json(calls)
        return
    if not calls:
        typer.echo(say("pending.none"))
    for call in calls:
        typer.echo(_listed(call))


def sessions(config: Config = None, socket: SocketFile = None, json: AsJson = False) -> None:
    """List the agents' sessions that have pending requests.

    For each session, it shows the agent, the project, the session's name and the working folder. It also shows the
    number of pending requests, the time of the oldest, and the newest request.

    Example: sayso sessions
    """
    with connect(config, socket, shown=True) as client:
        found = client.call("sessions")["sessions"]
    if json:
        print_json(found)
        return
    typer.echo("\n".join(one["text"] for one in found) or say("sessions.none"))


def show(target: Target, config: Config = None, socket: SocketFile = None, json: AsJson = False) -> None:
    """Show one request in full, and its record.

    Example: sayso show K7Q2MX
    """
    with connect(config, socket, shown=True) as client:
        call = about(client, "show", target)["call"]
    if json:
        print_json(call)
        return
    for flaw in call["flaws"]:
        typer.echo(f"{flaw} {say('show.flawed')}", err=True)
    typer.echo(_line(call, call["outcome"]) + "\n" + call["details"])
    for row in call["record"]:
        typer.echo(f"  {row['at'][:19].replace('T', ' ')} UTC  {row['event']:<12} {row['actor']}{_where(row)}")


def _where(row: dict[str, Any]) -> str:
    """Return the place where a card arrived, as text, for a line of the record about a card.

    If the card didn't arrive, the text has the place and the reason. Return '' for a line about another event.
    """
    from hitl.cards.text import one_line

    if row["event"] not in {"shown", "not_shown"}:
        return ""
    told = jsonlib.loads(row["data"])
    route = one_line(str(told.get("route")), 80)
    if row["event"] == "shown":
        return say("show.shown", route=route)
    return say("show.not_shown", route=route, why=one_line(str(told.get("why")), 200))


def approve(
    target: Target,
    reason: Reason = None,
    confirm: Confirm = None,
    config: Config = None,
    socket: SocketFile = None,
    json: AsJson = False,
) -> None:
    """Approve a request.

    A critical request is approved twice, the second time with --confirm.

    Example: sayso approve K7Q2MX
    """
    _decide(target, Choice.APPROVE, reason, confirm, config, socket, json=json)


def reject(
    target: Target, reason: Reason = None, config: Config = None, socket: SocketFile = None, json: AsJson = False
) -> None:
    """Reject a request.

    Example: sayso reject K7Q2MX --reason "not on a Friday"
    """
    _decide(target, Choice.REJECT, reason, None, config, socket, json=json)


def decide(
    target: Target,
    verdict: Annotated[Choice, typer.Argument(metavar="VERDICT", help="Your answer.")],
    reason: Reason = None,
    confirm: Confirm = None,
    config: Config = None,
    socket: SocketFile = None,
    json: AsJson = False,
) -> None:
    """Approve or reject a request, for scripts.

    It does the same as the commands `approve` and `reject`, with the verdict as an argument.

    Example: sayso decide K7Q2MX reject --reason "too risky"
    """
    _decide(target, verdict, reason, confirm, config, socket, json=json)


def _decide(
    target: str,
    verdict: Choice,
    reason: str | None,
    confirm: str | None,
    config: Path | None,
    socket: Path | None,
    *,
    json: bool,
) -> None:
    """Send the decision and print its outcome. Exit 1 if the request wasn't decided."""
    confirmed = _confirms(confirm, target)
    with connect(config, socket, shown=True) as client:
        came = about(client, "decide", target, verb=verdict.value, reason=reason, confirmed=confirmed)
    print_json(came) if json else typer.echo(came["text"])
    if not came["decided"]:
        raise typer.Exit(1)


def withdraw(target: Target, config: Config = None, socket: SocketFile = None, json: AsJson = False) -> None:
    """Withdraw a pending request.

    Example: sayso withdraw K7Q2MX
    """
    with connect(config, socket, shown=True) as client:
        call = about(client, "withdraw", target)["call"]
    print_json(call) if json else typer.echo(say("pending.withdrawn", short=call["short"]))


def _confirms(confirm: str | None, target: str) -> bool:
    if confirm is None:
        return False
    if confirm.strip().lstrip("#").upper() != target.strip().lstrip("#").upper():
        raise typer.BadParameter(say("cli.confirm"))
    return True


def _left(call: dict[str, Any]) -> str:
    """Return the time that is left for an answer to a request, as text, such as `4:59 left`."""
    from hitl.cards.lines import time_left

    left = datetime.fromisoformat(call["expires_at"]) - datetime.now(UTC)
    return say("pending.left", left=time_left(left, IN_ENGLISH))


def _listed(call: dict[str, Any]) -> str:
    """Return a pending call as text: its headline, arguments, a question's choices, and the requester's note."""
    risk = painted(f"{call['risk']:<8}", RISK_COLOURS[call["risk"]])
    lines = [say("pending.request", short=call["short"], risk=risk, headline=call["headline"], left=_left(call))]
    if call["arguments"]:
        lines.append(say("pending.arguments", arguments=call["arguments"]))
    if call["choices"]:
        lines.append(say("pending.choices", choices=" / ".join(call["choices"])))
    if call["note"]:
        from hitl.cards.text import one_line

        lines.append(say("pending.note", note=one_line(call["note"], 100)))
    return "\n".join(lines)


def _line(call: dict[str, Any], stands: str) -> str:
    from hitl.cards.text import one_line

    return say(
        "pending.line",
        short=call["short"],
        risk=f"{call['risk']:<8}",
        tool=one_line(call["tool"], 60),
        outcome=stands,
        requester=one_line(call["requester_name"], 80),
    )
