"""Helpers that several commands use: settings, connection to the service, and output for people and programs."""

from __future__ import annotations

import json
import re
import shutil
import sys
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, NoReturn

import typer

from bot.wording import say
from hitl.times import span
from sayso_client.errors import ClientError
from sayso_client.terminal import painted, tell
from sayso_client.wire import SOCKET_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adapters.database.mark import Mark
    from bot.settings import Settings
    from hitl.platforms import Check
    from hitl.proof.keyring import Keyring
    from sayso_client.client import Client

Config = Annotated[
    Path | None,
    typer.Option(
        "--config", help="The settings file; else SAYSO_CONFIG, or sayso.toml here, in ~/.config/sayso, in /etc/sayso."
    ),
]
SocketFile = Annotated[Path | None, typer.Option("--socket", help="The service's socket; else from the settings.")]


def _refs() -> list[tuple[str, str]]:
    """Return the ref and headline of each pending request, for a shell's completion.

    Return [] if the service can't be reached or refuses.
    """
    try:
        with connect(None, None, shown=True) as client:
            return [(call["short"], call["headline"]) for call in pending_calls(client)]
    except (ClientError, typer.Exit):
        return []


Target = Annotated[
    str,
    typer.Argument(metavar="REF", help="The request's ref, or its six characters.", autocompletion=_refs),
]
Since = Annotated[
    str | None, typer.Option("--since", metavar="TIME", help="From then on: yesterday, 2026-01-31, 90m, 24h, 7d.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
#: Name of a day -> the time between its beginning and the beginning of today.
_DAYS = {"today": timedelta(), "yesterday": timedelta(days=1)}
#: The blanks and the number of a choice at the beginning of a line. The rest of a folded line begins in the column
#: behind them.
_BEFORE = re.compile(r" *(?:\d  )?")
#: On a narrower terminal, lines are folded as on one with this many columns.
_NARROWEST = 20
#: State of a check -> the sign before its line. The state is also the name of the line's colour.
_SIGNS = {"green": "✔", "yellow": "!", "red": "✘"}


def moment(text: str | None, option: str, *, ahead: bool = False) -> datetime | None:
    """Return the time that an option gives; exit 2 if its text isn't a time.

    The text may be an ISO 8601 time (UTC by default), or a span before now (`90m`, `7d`). It may also be `today` or
    `yesterday`, which mean the beginning of the day in UTC. With `ahead`, a span means a time after now, and the names
    of days are errors.
    """
    if text is None:
        return None
    if text in _DAYS and not ahead:
        return datetime.combine(datetime.now(UTC).date() - _DAYS[text], time(), UTC)
    try:
        try:
            at = datetime.fromisoformat(text)
        except ValueError:
            return datetime.now(UTC) + (span(text) if ahead else -span(text))
        return at if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        examples = say("cli.time.ahead") if ahead else say("cli.time.past")
        fail(say("cli.time", option=option, text=repr(text), examples=examples), 2)


def folded(text: str, *, beside: int = 0, hang: int = 0) -> str:
    """Return a text for stdout. On a terminal, long lines are broken between words.

    The rest of a line is indented like its beginning, by at least `hang` columns. Other text on the last line needs
    `beside` columns. In a pipe, the text stays unchanged.
    """
    if not sys.stdout.isatty():
        return text
    width = max(shutil.get_terminal_size().columns - beside, _NARROWEST)
    return "\n".join(_folded_line(line, width, hang) for line in text.split("\n"))


def _folded_line(line: str, width: int, hang: int) -> str:
    from textwrap import fill

    before = _BEFORE.match(line)
    indent = " " * max(before.end() if before else 0, hang)
    # A long path or address stays whole, so that it can be copied.
    return fill(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def print_checks(checks: Iterable[Check]) -> None:
    """Print each check on one line that begins with a sign for its state."""
    for check in checks:
        state = check.state.value
        text = folded(f"  {check.name}: {check.text}")
        typer.echo(f"{painted(_SIGNS[state], state)} {text[2:]}")


def exit_if_red(checks: Iterable[Check]) -> None:
    """Exit with 1 if a check is red."""
    if any(check.state.value == "red" for check in checks):
        raise typer.Exit(1)


def settings(config: Path | None, *, ruling: bool = False) -> Settings:
    """Return the settings, or exit 2 with their errors.

    `ruling` says that the command uses the lists of approvers, so the settings file must not be writable by others.
    After this call, the process also masks secrets that match the patterns in the settings.
    """
    from bot.errors import SettingsError
    from bot.finding import find_config
    from bot.settings import load, refuse_foreign
    from hitl.cards.redaction import mask_also

    path = find_config(config)
    try:
        if ruling:
            refuse_foreign(path)
        found = load(path)
        mask_also(found.masks)
    except (SettingsError, ValueError) as error:
        fail(str(error), 2)
    return found


def connect(config: Path | None, socket_file: Path | None, *, shown: bool = False) -> Client:
    """Return a connection to the service's Unix socket. Raises ClientError.

    `shown` says that the command only prints the answers. The client then doesn't check who owns the socket's folder.
    Exit 2 if nobody answers at the socket that the settings name, and the settings have errors: then these may be why.
    """
    from sayso_client.client import Client

    try:
        return Client(socket_path(config, socket_file), shown=shown)
    except ClientError:
        if _named_socket(socket_file) is None:
            settings(config)
        raise


def socket_path(config: Path | None, socket_file: Path | None) -> Path:
    """Return the path of the service's Unix socket: from the option, or the environment, or the settings.

    Exit 2 if an error in the settings hides the path.
    """
    from bot.finding import runtime_folder

    if named := _named_socket(socket_file):
        return named
    return (runtime_folder(config) or settings(config).folder("runtime")) / SOCKET_NAME


def _named_socket(socket_file: Path | None) -> Path | None:
    """Return the socket that the command line or the environment names, or None."""
    from sayso_client.settings import named_socket

    given = socket_file or named_socket()
    return Path(given) if given else None


class Kept(NamedTuple):
    """The database of the state folder, with the keys and the mark that verify it, for commands that read it directly.

    The mark is a file outside the state folder. It holds the position in the record at which a call was last allowed to
    run.
    """

    database: Path
    keys: Keyring
    mark: Mark


def kept_files(found: Settings, *, there: bool = True) -> Kept:
    """Return the path of the database, the keys of its MACs, and its mark.

    If there is no database, exit 1. With `there=False`, return the path where the database will be.
    """
    from adapters.database.folder import KEYS
    from adapters.database.keys import read
    from adapters.database.mark import Mark
    from bot.compose import mark_beside
    from hitl.proof.keyring import Keyring

    state = found.folder("state")
    if there and not (state / "sayso.db").exists():
        fail(f"{say('cli.no_database', state=state)} {found.whence()}", 1)
    given = found.given_keys()
    keys = Keyring(read(given or state / KEYS, given=given is not None))
    return Kept(state / "sayso.db", keys, Mark(found.mark_file() or mark_beside(state), keys))


def fail(message: str, status: int) -> NoReturn:
    """Write an error message to stderr, and exit with this status."""
    tell(message, "red")
    raise typer.Exit(status)


def pending_calls(client: Client, *, whole: bool = False) -> list[dict[str, Any]]:
    """Return the pending requests, oldest first. Only with `whole`, they have their arguments. Raises ClientError."""
    calls: list[dict[str, Any]] = client.call("pending", view="full" if whole else "brief")["calls"]
    return calls


def about(client: Client, op: str, target: str, **fields: Any) -> dict[str, Any]:
    """Send an operation about one call to the service, and return the answer. Raises ClientError.

    For an unknown ref, the error names a similar ref that is pending.
    """
    from difflib import get_close_matches

    from hitl.errors import CallUnknown

    try:
        return client.call(op, target=target, **fields)
    except ClientError as error:
        if error.code != CallUnknown.code:
            raise
        typed = target.strip().lstrip("#").upper()
        near = get_close_matches(typed, [call["short"] for call in pending_calls(client)], n=1)
        if not near:
            raise
        raise ClientError(error.code, f"{error.message} {say('near.ref', near=near[0])}") from error


def print_json(value: Any) -> None:
    """Print one JSON document to stdout."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None))
