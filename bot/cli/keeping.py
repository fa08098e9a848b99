"""`backup`, `restore` and `keys rotate`: copy the database, put a copy in its place, and add a new key."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.common import AsJson, Config, fail, kept_files, print_json, settings
from bot.wording import say
from hitl.credentials import OldTokens


def register(app: typer.Typer) -> None:
    """Add the commands `backup` and `restore`, and the command group `keys`."""
    app.command()(backup)
    app.command()(restore)
    group = typer.Typer(help="The keys of the integrity checks.", no_args_is_help=True)
    group.command()(rotate)
    app.add_typer(group, name="keys")


def backup(
    file: Annotated[Path, typer.Argument(help="The new file.", readable=False)],
    config: Config = None,
    json: AsJson = False,
) -> None:
    """Copy the database while the service runs.

    The copy shows one moment and belongs to the service's user. This command verifies it as `sayso audit verify` does.
    The copy holds the arguments of requests unmasked, so it can't be in the workspace. It doesn't hold the keys of the
    integrity checks (keys.json in the state folder, or SAYSO_KEYS_FILE). Keep the keys elsewhere, because a person who
    has the keys and the copy can forge an approval.

    Example: sayso backup /var/backups/sayso-monday.db
    """
    from bot.database import back_up
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
    tokens: Annotated[
        OldTokens | None,
        typer.Option(help="What becomes of the tokens in the backup if nobody can tell which were revoked since."),
    ] = None,
    config: Config = None,
    json: AsJson = False,
) -> None:
    """Put a backup in place of the database; stop the service first.

    The old database is kept in the state folder. A request that has ended since the backup may still be pending or
    approved in the backup. The mark is a file that notes how long the record was. If the mark shows that the record has
    grown since the backup, or if there is no mark, the next start ends all requests that haven't ended. Approvals of
    them then don't count.

    Tokens that were revoked since the backup are revoked again. If the old database can't tell which tokens these are,
    the command asks for `--tokens`: `end` revokes all tokens of the backup, and `keep` lets them work.

    Example: sayso restore /var/backups/sayso-monday.db
    """
    from bot.database import restore as put_back

    kept = kept_files(settings(config), there=False)
    done = put_back(file, kept.database.parent, kept.keys, kept.mark, datetime.now(UTC), tokens=tokens)
    if json:
        told = {"lines": done.examined.lines, "calls": done.examined.calls, "open": done.open_calls}
        print_json(
            {
                **told,
                "revoked": sorted(done.revoked),
                "revocations_known": done.revocations_known,
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
    if done.revoked:
        typer.echo(say("backup.revoked", names=", ".join(sorted(done.revoked))))


def rotate(config: Config = None, json: AsJson = False) -> None:
    """Add a new key for the integrity checks.

    After its next start, the service makes each new integrity check with this key.

    The older keys stay in the file, because they verify the existing requests and lines of the record. Run it as the
    service's user. If the setting `keys_file` names the key file, this command doesn't change it: write a new key
    at the top of that file yourself.

    Example: sayso keys rotate
    """
    from adapters.database.folder import KEYS
    from adapters.database.keys import rotate as add_key

    found = settings(config)
    if given := found.given_keys():
        fail(say("rotating.given", path=given), 2)
    path = found.folder("state") / KEYS
    new, *older = add_key(path)
    if json:
        print_json({"file": str(path), "id": new, "older": len(older)})
    else:
        typer.echo(say("rotating.done", path=path, id=new, older=len(older)))
