"""`sayso`: the commands, and the messages about their failures."""

from __future__ import annotations

import errno
import gc
import os
import sys
from typing import Annotated

import typer

# Typer contains its own copy of click. It exports no public names for the errors that `main` catches.
from typer._click.exceptions import ClickException, NoArgsIsHelpError, UsageError

from bot.cli import (
    approving,
    asking,
    auditing,
    deploying,
    inbox,
    keeping,
    operating,
    policies,
    reading,
    relaying,
    running,
    setting_up,
    simulating,
    testing,
    tokens,
)
from bot.errors import explained
from bot.wording import say
from hitl.errors import SaysoError
from sayso_client.errors import ClientError
from sayso_client.terminal import carry_any_text, interrupted, tell

app = typer.Typer(
    help="An agent does nothing that can't be undone without a person's say-so.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    suggest_commands=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for group in (
    *(running, relaying, asking, approving, inbox, auditing, keeping, operating, reading),
    *(policies, setting_up, deploying, simulating, testing, tokens),
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


#: Error numbers that the system gives if a disk is full or fails.
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO})


def main() -> None:
    """Run the command line and exit. A mistake of the user, or a file that can't be read, gives one line on stderr."""
    # A call makes about 2,000 objects that are freed when it ends. With Python's default threshold of 700 objects, the
    # garbage collector scans the calls in flight several times for each call. It also scans the imported modules a
    # hundred times while a command starts.
    gc.set_threshold(10_000, 10, 10)
    carry_any_text()
    try:
        status = app(standalone_mode=False)
        sys.stdout.flush()
        sys.exit(status)
    except (ClientError, SaysoError) as error:
        tell(error.message, "red")
        sys.exit(1)
    except NoArgsIsHelpError as error:
        error.show()
        sys.exit(error.exit_code)
    except ClickException as error:
        tell(_explained(error), "red")
        sys.exit(error.exit_code)
    except typer.Abort:
        sys.exit(interrupted())
    except BrokenPipeError:
        sys.exit(1)
    except OSError as error:
        if error.errno not in _FULL:
            tell(explained(error), "red")
            sys.exit(1)
        tell(say("command.full", error=error.strerror), "red")
        # The rest of the output can't be written either. A normal end of Python would try again and print an error
        # about it, so this ends the process at once.
        os._exit(1)


def _explained(error: ClickException) -> str:
    """Return one line about a user's mistake in a command. It says how to get the command's help."""
    command = error.ctx.command_path if isinstance(error, UsageError) and error.ctx else "sayso"
    return say("command.usage", what=" ".join(error.format_message().split()), command=command)
