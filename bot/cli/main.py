"""`sayso`: the commands, and how their failures are told."""

from __future__ import annotations

import gc
import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from bot.cli import (
    approving,
    asking,
    auditing,
    keeping,
    policies,
    reading,
    relaying,
    running,
    setting_up,
    simulating,
    tokens,
)
from hitl.errors import SaysoError
from sayso_client.errors import ClientError

app = typer.Typer(
    help="An agent does nothing that can't be undone without a person's say-so.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for group in (
    *(running, relaying, asking, approving, auditing, keeping, reading),
    *(policies, setting_up, simulating, tokens),
):
    group.register(app)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"sayso {version('sayso')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which.")] = False,
) -> None:
    del version


def main() -> None:
    """Run the command line; a user's mistake is one line on stderr, never a traceback."""
    # A call makes some 2,000 objects that its end frees again. At 700 objects, Python's default, the collector walks
    # what is in flight several times a call, and a hundred times while a command is imported.
    gc.set_threshold(10_000, 10, 10)
    _carry_any_text()
    try:
        app()
    except (ClientError, SaysoError) as error:
        typer.echo(f"sayso: {error.message}", err=True)
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(1)


def _carry_any_text() -> None:
    """What the encoding of a stream can't carry is replaced on its way in and written out on its way out."""
    for stream, errors in ((sys.stdin, "replace"), (sys.stdout, "backslashreplace"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=errors)
