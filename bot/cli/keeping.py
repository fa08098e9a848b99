"""`backup` and `restore`: copy the database to another file, and back."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.common import AsJson, Config, fail, kept_files, print_json, settings
from bot.wording import say
from sayso_client.terminal import tell

if TYPE_CHECKING:
    from collections.abc import Collection

    from bot.settings import Settings


def register(app: typer.Typer) -> None:
    """Add the commands `backup` and `restore`."""
    app.command()(backup)
    app.command()(restore)


def backup(
    file: Annotated[Path, typer.Argument(help="The new file.", readable=False)],
    config: Config = None,
    json: AsJson = False,
) -> None:
    """Copy the database while the service runs.

    The copy shows one moment, belongs to the service's user, and is verified in the same way as by `sayso audit
    verify`. It holds the arguments of requests unmasked, so it can't lie in the workspace. It doesn't hold the keys of
    the integrity checks (keys.json in the state folder, or SAYSO_KEYS_FILE): keep those elsewhere, because a person who
    has both can forge an approval.

    Example: sayso backup /var/backups/sayso-monday.db
    """
    from adapters.database.sqlite.backup import back_up
    from bot.paths import is_within

    found = settings(config)
    if is_within(file, found.folder("workspace")):
        inside = found.folder("state") / file.name
        fail(say("backup.exposed", file=file, workspace=found.folder("workspace"), inside=inside), 2)
    kept = kept_files(found)
    made = back_up(kept.database, file, kept.keys, kept.mark)
    if json:
        print_json({"file": str(file), "lines": made.lines, "calls": made.calls})
    else:
        typer.echo(say("backup.made", file=file, lines=made.lines, calls=made.calls))


def restore(
    file: Annotated[Path, typer.Argument(help="A file that `sayso backup` made.", readable=False)],
    config: Config = None,
    json: AsJson = False,
) -> None:
    """Put a backup in place of the database; stop the service first.

    The old database is kept beside it. Requests that have run since the backup may be open in the backup. If the mark
    shows that the record has gone on since, or if there is no mark, the next start ends all open requests, and
    approvals of them don't count.

    A token that was revoked since the backup stays without rights, if the old database can be read: its name goes into
    the file `revoked` of the state folder.

    Example: sayso restore /var/backups/sayso-monday.db
    """
    from adapters.database.sqlite.backup import restore as put_back

    found = settings(config)
    kept = kept_files(found, there=False)
    done = put_back(file, kept.database.parent, kept.keys, kept.mark, datetime.now(UTC))
    ended, working = _revoked_again(found, done.revived or frozenset())
    if json:
        told = {"lines": done.examined.lines, "calls": done.examined.calls, "open": done.open_calls}
        tokens = {"revoked": ended, "revived": working, "revocations_known": done.revived is not None}
        print_json(
            {
                **told,
                **tokens,
                "behind": done.behind,
                "marked": done.marked,
                "kept": str(done.kept) if done.kept else None,
            }
        )
        return
    typer.echo(say("backup.restored", file=file, lines=done.examined.lines, calls=done.examined.calls))
    if done.kept:
        typer.echo(say("backup.kept", kept=done.kept))
    if done.behind and not done.marked:
        typer.echo(say("backup.unmarked", mark=kept.mark.path, open=done.open_calls))
    else:
        typer.echo(say("backup.behind" if done.behind else "backup.level", open=done.open_calls))
    if ended:
        typer.echo(say("backup.revoked", names=", ".join(ended)))
    if working:
        tell(say("backup.revived", names=", ".join(working)), "yellow")
    if done.revived is None:
        tell(say("backup.revocations"), "yellow")


def _revoked_again(found: Settings, names: Collection[str]) -> tuple[list[str], list[str]]:
    """Take the rights of these tokens away again. Return the names of the tokens without rights, and of the tokens that
    still work.

    A token that is one of a person's identities still works, because ending its rights would end the person's rights.
    """
    from bot.revoking import keep_revoked

    people, ended, working = found.directory(), list[str](), list[str]()
    for name in sorted(names):
        identity = f"token:{name}"
        with contextlib.suppress(OSError):
            if people.principal(identity) == identity:
                keep_revoked(found.folder("state"), identity)
                ended.append(name)
                continue
        working.append(name)
    return ended, working
