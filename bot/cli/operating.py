"""`reload` and `revoke`: changes that an operator makes while the service runs."""

from __future__ import annotations

import contextlib
import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.auditing import request_in_a_row
from bot.cli.common import AsJson, Config, SocketFile, connect, fail, kept_files, print_json, settings
from hitl.cards.wording import say
from sayso_client.errors import ClientError
from sayso_client.terminal import tell

if TYPE_CHECKING:
    from pathlib import Path

    from bot.settings import Settings

#: The period whose approvals by the person `revoke` lists.
_LOOKS_BACK = timedelta(days=7)


def register(app: typer.Typer) -> None:
    """Add the commands `reload` and `revoke`."""
    app.command()(reload)
    app.command()(revoke)


def reload(config: Config = None, socket: SocketFile = None, json: AsJson = False) -> None:
    """Apply people, routes and the policy of the settings.

    All of it applies, or nothing: if a part can't be used, the error names it and nothing changes. Other settings need
    a restart; the command names those that changed.

    Example: sayso reload
    """
    with connect(config, socket) as client:
        taken = client.call("reload")
    if json:
        print_json(taken)
        return
    typer.echo(say("reload.done", policy=taken["policy"]))
    if taken["restart"]:
        tell(say("reload.restart", names=", ".join(taken["restart"])), "yellow")


def revoke(
    name: Annotated[str, typer.Argument(metavar="PERSON", help="A principal, or one identity such as telegram:42.")],
    config: Config = None,
    socket: SocketFile = None,
    json: AsJson = False,
) -> None:
    """End all rights of a person or token, and list their approvals.

    It applies at once. The list covers the last 7 days.

    They can't ask, see, approve, claim or withdraw any more, even if a list names them. A request that they approved
    doesn't run unless it has begun. The name is kept in a file beside the settings (FILE.revoked). To give the rights
    back, remove its line there and run `sayso reload`.

    Example: sayso revoke ada
    """
    from bot.settings import find_config, revoked_file

    found = settings(config, ruling=True)
    path = find_config(config)
    if path is None:
        fail(say("revoke.no_file"), 2)
    people = found.directory()
    principal = people.principal(name)
    if not people.is_listed(principal) and principal not in people.principals and not people.is_revoked(principal):
        fail(say("revoke.unknown", name=name), 2)
    _keep(revoked_file(path), principal)
    try:
        with connect(config, socket) as client:
            client.call("reload")
        message = say("revoke.done", name=principal)
    except ClientError as error:
        message = say("revoke.later", name=principal, why=error.message)
    approved = list(_approved(found, principal))
    if json:
        print_json({"revoked": principal, "message": message, "approved": approved})
        return
    typer.echo(message)
    typer.echo(say("revoke.approved", count=len(approved), name=principal))
    for each in approved:
        typer.echo(request_in_a_row(each))


def _keep(file: Path, name: str) -> None:
    """Add a name to the file, in one write that reaches the disk; exit 2 if it can't be written."""
    try:
        with contextlib.suppress(FileNotFoundError):
            if name in file.read_text("utf-8").splitlines():
                return
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644), "a", encoding="utf-8") as handle:
            # The service may run as another user, and it refuses to start if it can't read this file.
            os.fchmod(handle.fileno(), 0o644)
            handle.write(f"{name}\n")
            handle.flush()
            os.fsync(handle.fileno())
    except OSError as error:
        fail(say("revoke.not_written", file=file, why=error.strerror), 2)


def _approved(found: Settings, principal: str) -> list[dict[str, Any]]:
    """Return the requests that the person approved in the last days. Return nothing if there is no database yet."""
    from adapters.database.sqlite.history import requests
    from hitl.history import RecordQuery

    if not (found.folder("state") / "sayso.db").exists():
        return []
    database, keys, _ = kept_files(found)
    people = frozenset(found.directory().identities(principal))
    asked = RecordQuery(people=people, since=datetime.now(UTC) - _LOOKS_BACK)
    decided = (each for each in requests(database, keys, asked) if each["decided_by"] in people)
    return [each for each in decided if each["status"] not in {"rejected", "withdrawn", "denied", "expired", "pending"}]
