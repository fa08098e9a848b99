"""`simulate`: runs the chat platforms, the model and the MCP server that Sayso ships, to try everything without an
account.
"""

from __future__ import annotations

import errno
import importlib
import os
import re
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.common import fail
from bot.wording import say

if TYPE_CHECKING:
    from types import ModuleType

_TOKEN = re.compile(r"[0-9]+:\S+")


def register(app: typer.Typer) -> None:
    """Add the command group `simulate`."""
    simulate = typer.Typer(help="Chat platforms, a model and MCP servers, without an account.", no_args_is_help=True)
    simulate.command("telegram")(telegram)
    simulate.command("slack")(slack)
    simulate.command("mcp")(mcp)
    simulate.command("model")(model)
    simulate.callback()(lambda: None)
    app.add_typer(simulate, name="simulate")


def telegram(
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Where the Bot API answers; 0 takes a free port.")
    ] = 8081,
    token: Annotated[str, typer.Option("--token", help="The bot's token; one is made up without it.")] = "",
    people: Annotated[list[str] | None, typer.Option("--person", metavar="NAME", help="Somebody who is there.")] = None,
    group: Annotated[str, typer.Option("--group", help="A group of all of them and the bot.")] = "Ops",
) -> None:
    """Run a simulated Telegram on this machine.

    It prints the settings that the bot needs. Then you can write messages and press buttons as each of the people.

    Example: sayso simulate telegram --person ada --person ben
    """
    if token and not _TOKEN.fullmatch(token):
        fail(say("simulate.token"), 2)
    argv = ["--port", str(port), f"--group={group}", f"--token={token}"]
    argv += [f"--person={name}" for name in dict.fromkeys(people or ["ada", "ben"])]
    _play("telegram", argv, port)


def slack(
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Where the Web API answers; 0 takes a free port.")
    ] = 8082,
    request_url: Annotated[
        str, typer.Option("--request-url", help="Where the app takes events over HTTP; Socket Mode without it.")
    ] = "",
    people: Annotated[list[str] | None, typer.Option("--person", metavar="NAME", help="Somebody who is there.")] = None,
    channel: Annotated[str, typer.Option("--channel", help="A channel of all of them and the app.")] = "ops",
) -> None:
    """Run a simulated Slack on this machine.

    It prints the settings that the app needs. Then you can write messages and press buttons as each of the people.

    Example: sayso simulate slack --person ada --person ben
    """
    argv = ["--port", str(port), f"--channel={channel}"]
    argv += [f"--person={name}" for name in dict.fromkeys(people or ["ada", "ben"])]
    argv += [f"--request-url={request_url}"] if request_url else []
    _play("slack", argv, port)


def model(
    script: Annotated[str, typer.Argument(help="A JSON file of what the model says; a small one without it.")] = "",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Where the model answers; 0 takes a free port.")
    ] = 8083,
) -> None:
    """Run a simulated model on this machine. It answers as a script says.

    The command prints the settings that the agent needs.

    Example: sayso simulate model script.json
    """
    _play("model", [f"--port={port}", *([script] if script else [])], port)


def mcp(
    folder: Annotated[str, typer.Argument(help="Where its script lies; a folder without one gets two tools.")],
) -> None:
    """Run a simulated MCP server. It answers as a script says.

    It uses standard input and output, and the script is FOLDER/script.json. Name this command in [mcp.servers].

    Example: sayso simulate mcp ~/notes-server
    """
    _client("mcp").main([folder])


def _play(platform: str, argv: list[str], port: int) -> None:
    try:
        _client(platform).main(argv)
    except OSError as error:
        if error.errno not in {errno.EADDRINUSE, errno.EACCES}:
            raise
        fail(say("simulate.port", port=port, why=os.strerror(error.errno)), 1)


def _client(platform: str) -> ModuleType:
    try:
        return importlib.import_module(f"simulators.{platform}.client")
    except ModuleNotFoundError as error:
        fail(say("simulate.extra", module=error.name), 2)
