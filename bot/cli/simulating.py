"""`simulate`: the chat platforms' servers that we ship, to try everything without an account."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.common import fail

if TYPE_CHECKING:
    from types import ModuleType

#: Where the server stands in an installed wheel, and in a checkout.
_HOMES = ("bot.simulators.telegram.client", "tests.wire.telegram.client")


def register(app: typer.Typer) -> None:
    """Add this group."""
    simulate = typer.Typer(help="Chat platforms on this machine, without an account.", no_args_is_help=True)
    simulate.command("telegram")(telegram)
    simulate.callback()(lambda: None)
    app.add_typer(simulate, name="simulate")


def telegram(
    port: Annotated[int, typer.Option("--port", help="Where the Bot API answers; 0 takes a free port.")] = 8081,
    token: Annotated[str, typer.Option("--token", help="The bot's token; one is made up without it.")] = "",
    people: Annotated[list[str] | None, typer.Option("--person", help="Somebody who is there.")] = None,
    group: Annotated[str, typer.Option("--group", help="A group of all of them and the bot.")] = "Ops",
) -> None:
    """A Telegram of your own: says how to point the bot at it, then lets you act as people.

    Example: sayso simulate telegram --person ada --person ben
    """
    argv = ["--port", str(port), "--group", group, "--people", *(people or ["ada", "ben"])]
    if token:
        argv += ["--token", token]
    _client().main(argv)


def _client() -> ModuleType:
    for home in _HOMES:
        try:
            return importlib.import_module(home)
        except ModuleNotFoundError as error:
            if not home.startswith(str(error.name)):
                fail(f"The simulator needs {error.name}: install sayso[telegram].", 2)
    fail("This installation holds no simulator: use the source, or the wheel.", 2)
