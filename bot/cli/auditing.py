"""`audit verify`: whether the record, and what it tells of, is what was written."""

from __future__ import annotations

import typer

from bot.cli.common import AsJson, Config, fail, print_json, settings
from hitl.wording import say, sentence


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(help="The record of all that was asked, decided and run.", no_args_is_help=True)
    group.command("verify")(verify)
    group.callback()(lambda: None)
    app.add_typer(group, name="audit")


def verify(config: Config = None, json: AsJson = False) -> None:
    """Whether all on record is what was written.

    Each request, vote and line that was changed, removed or put in is named, and the exit status is 1. It reads the
    database beside the running service, as its user, and changes nothing.

    Example: sayso audit verify
    """
    from adapters.database.examine import examine
    from adapters.database.keys import read
    from adapters.database.mark import Mark
    from bot.compose import mark_beside
    from hitl.tokens import Keyring

    found = settings(config)
    state = found.folder("state")
    if not (state / "sayso.db").exists():
        fail(f"there is no database in {state}: the service makes it at its first start", 1)
    keys = Keyring(read(state / "keys.json"))
    examined = examine(state / "sayso.db", keys, Mark(found.mark_file() or mark_beside(state), keys))
    if json:
        flaws = [{"what": flaw.what, **flaw.particulars, "text": sentence(flaw)} for flaw in examined.flaws]
        print_json({"lines": examined.lines, "calls": examined.calls, "marked": examined.marked, "flaws": flaws})
    else:
        whole = say("audit.whole", lines=examined.lines, calls=examined.calls)
        typer.echo("\n".join(map(sentence, examined.flaws)) or whole)
        typer.echo(say("audit.blind" if examined.marked else "audit.unmarked"), err=True)
    if examined.flaws:
        raise typer.Exit(1)
