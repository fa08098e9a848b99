"""`demo`, `run`, `chat`: start a demonstration, start the service, and talk to its agent."""

from __future__ import annotations

import asyncio
import os
import queue
import sys
import threading
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.common import Config, SocketFile, connect, fail, settings
from hitl.cards.wording import IN_ENGLISH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hitl.cards.wording import Wording
    from sayso_client.client import Client


#: Seconds. If another service still uses the state folder, a start waits this long for that service to stop. A service
#: stops within 40 seconds, because it gives running tools 35 seconds to end.
WAIT_S = 60.0


def register(app: typer.Typer) -> None:
    """Add the commands `demo`, `run` and `chat`."""
    for command in (demo, run, chat):
        app.command()(command)


class Language(StrEnum):
    """The languages in which Sayso can show cards and messages."""

    EN = "en"
    DE = "de"


def demo(
    workspace: Annotated[
        Path | None, typer.Option("--workspace", help="Work on this folder, not a temporary one.")
    ] = None,
    state: Annotated[
        Path | None, typer.Option("--state", help="Keep the record here, not in a temporary folder.")
    ] = None,
    timeout: Annotated[
        int | None, typer.Option("--timeout", min=5, max=7 * 24 * 3600, help="Seconds that a request stays pending.")
    ] = None,
    language: Annotated[Language, typer.Option("--language", help="What you read.")] = Language.EN,
) -> None:
    """Try the whole loop in this terminal: agent, cards, your answers.

    Example: sayso demo
    """
    from bot.demo import Demo

    interactive = sys.stdin.isatty() and sys.stdout.isatty()
    running = Demo(workspace=workspace, state=state, timeout_s=timeout, language=language.value)
    asyncio.run(running.run(interactive=interactive))


def run(
    config: Config = None,
    wait: Annotated[
        float,
        typer.Option(
            "--wait", metavar="SECONDS", min=0, help="Wait so long for another service on this state folder to stop."
        ),
    ] = WAIT_S,
) -> None:
    """Run the service until SIGTERM or Ctrl-C.

    Example: sayso run --config sayso.toml
    """
    import uvloop

    from bot.errors import SettingsError
    from bot.finding import find_config
    from bot.serve import serve

    try:
        uvloop.run(serve(settings(config, ruling=True), find_config(config), wait))
    except SettingsError as error:
        fail(str(error), 2)


def chat(config: Config = None, socket: SocketFile = None) -> None:
    """Talk to the running service's agent, one message a line.

    Example: echo "list" | sayso chat
    """
    with connect(config, socket) as client:
        client.attach()
        if sys.stdin.isatty():
            say = _own_wording(config).say
            typer.echo(say("chat.welcome", help=say("offline.help")), err=True)
        Listening(client, typer.echo).talk(sys.stdin)


def _own_wording(config: Path | None) -> Wording:
    """Return the wording in the language that the settings name for the user of this process.

    Return English if this user can't read the settings.
    """
    from bot.errors import SettingsError
    from bot.finding import find_config
    from bot.settings import load

    try:
        return load(find_config(config)).directory().wording("local", f"local:{os.getuid()}")
    except SettingsError:
        return IN_ENGLISH


class Listening:
    """A conversation with the service's agent. It shows each text as it arrives, even while nobody types."""

    def __init__(self, client: Client, show: Callable[[str], None]) -> None:
        self._client = client
        self._show = show
        self._answers: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()

    def talk(self, lines: Iterable[str]) -> None:
        """Send the lines one by one. Before each further line, wait for the answer to the line before.

        Raises the service's error, the error of a broken connection, or an error of the function that shows the texts.
        """
        listener = threading.Thread(target=self._listen, daemon=True)
        listener.start()
        try:
            for line in lines:
                self._client.tell(line)
                if error := self._answers.get():
                    raise error
        finally:
            self._client.leave()
            listener.join()

    def _listen(self) -> None:
        try:
            while True:
                if (text := self._client.shown()) is None:
                    self._answers.put(None)
                else:
                    self._show(text)
        except BaseException as error:  # noqa: BLE001 - any error must reach the thread that waits
            self._answers.put(error)
