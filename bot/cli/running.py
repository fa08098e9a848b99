"""`demo`, `run`, `chat`: the processes that people start."""

from __future__ import annotations

import asyncio
import os
import signal
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

    _plan_fault()
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


def _plan_fault() -> None:
    """For crash drills: SAYSO_CRASH_AT=NAME ends the process at that named point, as kill -9 would.

    SAYSO_CRASH_AT=NAME:3 ends it when the point is reached for the third time.
    """
    name, _, times = os.environ.get("SAYSO_CRASH_AT", "").partition(":")
    if not name:
        return
    from hitl.faults import POINTS, plan

    if name not in POINTS or (times and not times.isdecimal()):
        fail(f"SAYSO_CRASH_AT names no point of: {', '.join(POINTS)}.", 2)
    left = iter(range(int(times or 1) - 1))

    def crash() -> None:
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)

    plan(name, crash)
