"""`sayso`: the commands, and the messages about their failures."""

from __future__ import annotations

import errno
import gc
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

# Typer contains its own copy of click. It exports no public names for the errors that `main` catches.
from typer._click.exceptions import ClickException, NoArgsIsHelpError, UsageError

from bot.cli.light import LightCommand, LightGroup
from hitl.errors import SaysoError, SettingsError
from sayso_client.errors import ClientError
from sayso_client.terminal import carry_any_text, interrupted, tell

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Module of this package -> the commands, and groups of commands, that it adds.
_COMMANDS: Mapping[str, tuple[str, ...]] = {
    "running": ("demo", "run", "chat"),
    "relaying": ("mcp",),
    "asking": ("ask", "wait"),
    "approving": ("pending", "sessions", "show", "approve", "reject", "decide", "withdraw"),
    "inbox": ("inbox",),
    "auditing": ("audit", "history", "stats"),
    "keeping": ("backup", "restore", "keys"),
    "operating": ("reload", "revoke"),
    "reading": ("graph", "replies"),
    "policies": ("policy",),
    "setting_up": ("init", "doctor"),
    "deploying": ("deploy",),
    "simulating": ("simulate",),
    "testing": ("test",),
    "tokens": ("token",),
}
_VERSION = "--version"


def application(first: str = "") -> typer.Typer:
    """Return the command line. `first` is its first word, or '' if nobody knows that.

    If `first` is a command or `--version`, only the modules that this needs are imported.
    """
    app = typer.Typer(
        cls=LightGroup,
        help="An agent does nothing that can't be undone without a person's say-so.",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        suggest_commands=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    needed = [module for module, names in _COMMANDS.items() if first in names]
    for module in needed or (() if first == _VERSION else _COMMANDS):
        import_module(f"bot.cli.{module}").register(app)
    _lighten(app)
    return app


def _lighten(app: typer.Typer) -> None:
    for command in app.registered_commands:
        command.cls = LightCommand
    for group in app.registered_groups:
        if group.typer_instance:
            _lighten(group.typer_instance)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"sayso {version('sayso')}")
        raise typer.Exit


def _options(
    version: Annotated[bool, typer.Option(_VERSION, callback=_version, is_eager=True, help="Say which.")] = False,
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
        status = application(*sys.argv[1:2])(standalone_mode=False)
        sys.stdout.flush()
        sys.exit(status)
    except (ClientError, SaysoError) as error:
        tell(error.message, "red")
        sys.exit(1)
    except SettingsError as error:
        tell(str(error), "red")
        sys.exit(2)
    except NoArgsIsHelpError as error:
        error.show()
        sys.exit(error.exit_code)
    except ClickException as error:
        tell(_explained(error), "red")
        sys.exit(error.exit_code)
    except typer.Abort as error:
        # The cursor is behind the prompt and "^C". Typer itself ends this line only after the end of the input.
        if not isinstance(error.__cause__, EOFError):
            sys.stderr.write("\n")
        sys.exit(interrupted())
    except BrokenPipeError:
        sys.exit(1)
    except OSError as error:
        _end(error)


def _end(error: OSError) -> NoReturn:
    """Explain an error of the operating system, and exit with 1."""
    from bot.errors import explained
    from bot.wording import say

    if error.errno not in _FULL:
        tell(explained(error), "red")
        sys.exit(1)
    tell(say("command.full", error=error.strerror), "red")
    # The rest of the output can't be written either. A normal end of Python would try again and print an error about
    # it, so this ends the process at once.
    os._exit(1)


def _explained(error: ClickException) -> str:
    """Return one line about a user's mistake in a command. It says how to get the command's help."""
    from bot.wording import say

    command = error.ctx.command_path if isinstance(error, UsageError) and error.ctx else "sayso"
    return say("command.usage", what=" ".join(error.format_message().split()), command=command)
