"""`demo`, `run`, `chat`: the processes that people start."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.common import Config, SocketFile, connect, fail, settings
from hitl.wording import say


def register(app: typer.Typer) -> None:
    """Add these commands."""
    for command in (demo, run, chat):
        app.command()(command)


def demo(
    workspace: Annotated[
        Path | None, typer.Option("--workspace", help="Work on this folder, not a temporary one.")
    ] = None,
    state: Annotated[
        Path | None, typer.Option("--state", help="Keep the record here, not in a temporary folder.")
    ] = None,
) -> None:
    """The whole loop in this terminal: agent, cards, your answers.

    Example: sayso demo
    """
    from bot.demo import Demo

    interactive = sys.stdin.isatty() and sys.stdout.isatty()
    asyncio.run(Demo(workspace=workspace, state=state).run(interactive=interactive))


def run(config: Config = None) -> None:
    """The service, until SIGTERM or Ctrl-C.

    Example: sayso run --config sayso.toml
    """
    import uvloop

    from bot.serve import serve
    from bot.settings import SettingsError, find_config

    try:
        uvloop.run(serve(settings(config, ruling=True), find_config(config)))
    except SettingsError as error:
        fail(str(error), 2)


def chat(config: Config = None, socket: SocketFile = None) -> None:
    """Talk to the running service's agent, one message a line.

    Example: echo "list" | sayso chat
    """
    with connect(config, socket) as client:
        client.call("attach")
        if sys.stdin.isatty():
            typer.echo(say("chat.welcome", help=say("offline.help")), err=True)
        for line in sys.stdin:
            for text in client.say(line):
                typer.echo(text)
