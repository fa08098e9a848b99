"""`token create`, `token list`, `token revoke`: manage the bearer tokens of agents and approvers on other machines."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.common import AsJson, Config, SocketFile, connect, moment, print_json
from bot.wording import say

if TYPE_CHECKING:
    from collections.abc import Iterable


class Scope(StrEnum):
    """The rights of a token's holder: to ask for calls, to decide them, or to operate the installation."""

    AGENT = "agent"
    APPROVER = "approver"
    OPERATOR = "operator"


Name = Annotated[
    str, typer.Argument(metavar="NAME", help="What the token is called: lists of people name it token:NAME.")
]


def register(app: typer.Typer) -> None:
    """Add the command group `token`."""
    tokens = typer.Typer(help="Bearer tokens for the HTTP API.", no_args_is_help=True)
    tokens.command()(create)
    tokens.command("list")(list_tokens)
    tokens.command()(revoke)
    app.add_typer(tokens, name="token")


def create(
    name: Name,
    scope: Annotated[Scope, typer.Option("--scope", help="An agent asks and runs; an approver decides.")],
    owner: Annotated[
        str | None, typer.Option("--owner", help="Who answers for an agent: their own yes to its calls doesn't count.")
    ] = None,
    origin: Annotated[
        list[str] | None,
        typer.Option("--origin", help="A conversation that the agent may ask from, with its threads. Repeatable."),
    ] = None,
    route: Annotated[
        list[str] | None, typer.Option("--route", help="A further place for its cards. Repeatable.")
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", help="When it stops working: 12h, 30d, 8w, or 2027-01-31T00:00:00Z.")
    ] = None,
    config: Config = None,
    socket: SocketFile = None,
    json: AsJson = False,
) -> None:
    """Make a token, and print it once. It can't be printed again, because only its hash is stored.

    Example: sayso token create ci --scope agent --owner ada --origin slack:T1/C2 --until 90d
    """
    end = moment(until, "--until", ahead=True)
    request = {
        "name": name,
        "scope": scope.value,
        "owner": owner,
        "origins": origin or [],
        "routes": route or [],
        "until": end.isoformat() if end else None,
    }
    with connect(config, socket) as client:
        made = client.call("make_token", **{key: value for key, value in request.items() if value})
    if json:
        print_json(made)
        return
    typer.echo(made["token"])
    typer.echo(say("token.made", name=name), err=True)


def list_tokens(config: Config = None, socket: SocketFile = None, json: AsJson = False) -> None:
    """List the tokens, with their limits and their last use.

    Example: sayso token list
    """
    with connect(config, socket, shown=True) as client:
        tokens = client.call("tokens")["tokens"]
    if json:
        print_json(tokens)
    elif not tokens:
        typer.echo(say("token.none"))
    for token in [] if json else tokens:
        typer.echo(_line(token))


def revoke(name: Name, config: Config = None, socket: SocketFile = None, json: AsJson = False) -> None:
    """Revoke a token at once. No later token can have its name.

    Example: sayso token revoke ci
    """
    with connect(config, socket, shown=True) as client:
        revoked = client.call("revoke_token", name=name)
    print_json(revoked) if json else typer.echo(say("token.revoked", name=name))


def _line(token: dict[str, Any]) -> str:
    stands = _stands(token)
    bounds = ", ".join(_bounds(token))
    return say("token.line", name=token["name"], scope=token["scope"], bounds=bounds, stands=stands).rstrip()


def _bounds(token: dict[str, Any]) -> Iterable[str]:
    if token["owner"]:
        yield say("token.owner", owner=token["owner"])
    if token["origins"]:
        yield say("token.origins", places=" ".join(token["origins"]))
    if token["routes"]:
        yield say("token.routes", places=" ".join(token["routes"]))


def _stands(token: dict[str, Any]) -> str:
    """Return the state of a token as text: whether it is revoked or has expired, or when it was last used."""
    if token["revoked_at"]:
        return say("token.stands.revoked", at=token["revoked_at"][:10])
    if token["until"] and datetime.fromisoformat(token["until"]) <= datetime.now(UTC):
        return say("token.stands.over", at=token["until"][:10])
    if token["used_at"]:
        return say("token.stands.used", at=token["used_at"][:16].replace("T", " "))
    return say("token.stands.unused")
