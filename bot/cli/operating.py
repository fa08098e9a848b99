"""`reload` and `revoke`: changes that an operator makes while the service runs."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.auditing import request_in_a_row
from bot.cli.common import AsJson, Config, SocketFile, connect, fail, kept_files, print_json, settings
from bot.wording import say
from hitl.call import Event
from hitl.errors import NotApprover, Unavailable
from hitl.records import replace
from sayso_client.errors import ClientError
from sayso_client.terminal import tell

if TYPE_CHECKING:
    from pathlib import Path

    from bot.settings import Settings

#: `revoke` lists the person's approvals of this period.
_LOOKS_BACK = timedelta(days=7)
#: Seconds. The first number is how long `revoke` waits for the service to apply a revocation. The second is the time
#: between two reads of the service's record.
_APPLIES_WITHIN_S, _LOOK_S = 10.0, 0.05


def register(app: typer.Typer) -> None:
    """Add the commands `reload` and `revoke`."""
    app.command()(reload)
    app.command()(revoke)


def reload(config: Config = None, socket: SocketFile = None, json: AsJson = False) -> None:
    """Apply people, routes and policy of the settings.

    It changes the running service. If a part of the settings can't be used, the error names the part and nothing
    changes. Other settings need a restart; the command names the changed ones.

    Example: sayso reload
    """
    try:
        with connect(config, socket) as client:
            taken = client.call("reload")
    except ClientError as error:
        # The service refuses a user who is not an operator. But the service's own user must always be able to reload.
        # That user may send the service a signal, so this sends the signal for reloading.
        if error.code != NotApprover.code or socket is not None or not _signalled(settings(config).folder("state")):
            raise
        tell(say("reload.signalled"), "yellow")
        if json:
            print_json({"signalled": True})
        return
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
    doesn't run any more; a run that has begun goes on. Their pending requests and those of their agents are withdrawn.
    The name is kept in the file `revoked` of the state folder. To give the rights back, remove its line there and run
    `sayso reload`.

    Run it as the service's own user or as root.

    Example: sayso revoke ada
    """
    from bot.revoking import keep_revoked, revoked_file

    found = settings(config, ruling=True)
    people, state = found.directory(), found.folder("state")
    principal = people.principal(name)
    if not people.is_listed(principal) and principal not in people.principals and not people.is_revoked(principal):
        fail(say("revoke.unknown", name=name), 2)
    try:
        keep_revoked(state, principal)
    except OSError as error:
        fail(say("revoke.not_written", file=revoked_file(state), why=error.strerror), 2)
    try:
        _apply(config, socket, state, principal)
        message = say("revoke.done", name=principal)
    except ClientError as error:
        message = say("revoke.later", name=principal, why=error.message)
    approved = list(_approved(found, principal))
    if json:
        print_json({"revoked": principal, "message": message, "approved": approved})
        return
    typer.echo(message)
    left = replace(people, revoked=people.revoked | {principal}).in_force(datetime.now(UTC))
    if lists := [each for each in ("operators", "approvers") if getattr(people, each) and not getattr(left, each)]:
        tell(say("revoke.last", lists=", ".join(lists), name=principal, file=revoked_file(state)), "yellow")
    typer.echo(say("revoke.approved", count=len(approved), name=principal))
    for each in approved:
        typer.echo(request_in_a_row(each))


def _apply(config: Path | None, socket: Path | None, state: Path, principal: str) -> None:
    """Make the running service apply the revocation, and check in its record that it was applied.

    The service's own user may revoke even if no list names that user, because a signal from that user also makes the
    service reload. Raises ClientError if the service can't be reached or doesn't apply the revocation.
    """
    from adapters.database.folder import service_pid

    running, since = service_pid(state) is not None, _newest(state)
    try:
        with connect(config, socket) as client:
            client.call("reload")
    except ClientError as error:
        if error.code != NotApprover.code or not _signalled(state):
            raise
    elsewhere = ClientError(Unavailable.code, say("revoke.elsewhere", state=state))
    if not running:
        raise elsewhere
    give_up = time.monotonic() + _APPLIES_WITHIN_S
    while not _in_force(state, since, principal):
        if time.monotonic() > give_up:
            raise elsewhere
        time.sleep(_LOOK_S)


def _signalled(state: Path) -> bool:
    """Send the reload signal to the service that runs on a state folder. Return whether there is such a service.

    Return False if no service runs there, or if the service belongs to another user. Call this only after the service
    has answered once: during its start, the signal would end the service.
    """
    from adapters.database.folder import service_pid

    pid = service_pid(state)
    if pid is None:
        return False
    try:
        os.kill(pid, signal.SIGHUP)
    except PermissionError:
        return False
    except ProcessLookupError:
        pass  # the service has ended, and the next start reads the settings anyway
    return True


def _newest(state: Path) -> int:
    """Return the position of the newest line of the record, or 0 if there is no record."""
    from bot.database import surveyed

    with contextlib.suppress(Unavailable), surveyed(state / "sayso.db") as survey:
        return survey.newest_position()
    return 0


def _in_force(state: Path, since: int, principal: str) -> bool:
    """Return whether the record shows a reload, later than the position `since`, that ended the principal's rights.

    Raises ClientError with the recorded reason if that reload was refused.
    """
    from bot.database import surveyed

    with contextlib.suppress(Unavailable), surveyed(state / "sayso.db") as survey:
        if principal in survey.latest(Event.RELOADED, since).get("revoked", ()):
            return True
        if refused := survey.latest(Event.RELOAD_REFUSED, since):
            raise ClientError(Unavailable.code, refused["why"])
    return False


def _approved(found: Settings, principal: str) -> list[dict[str, Any]]:
    """Return the person's approved requests of the last days (`_LOOKS_BACK`).

    Return [] if there is no database yet.
    """
    from bot.database import surveyed
    from bot.names import names_of
    from hitl.history import RecordQuery

    if not (found.folder("state") / "sayso.db").exists():
        return []
    database, keys, _ = kept_files(found)
    directory = found.directory()
    people = frozenset(directory.identities(principal))
    asked = RecordQuery(people=people, since=datetime.now(UTC) - _LOOKS_BACK)
    with surveyed(database) as survey:
        listed = survey.requests(keys, asked, names=names_of(directory))
        decided = [each for each in listed if each.get("decided_by") in people]
    return [each for each in decided if each["status"] not in {"rejected", "withdrawn", "denied", "expired", "pending"}]
