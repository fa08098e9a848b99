"""`init` and `doctor`: a first configuration, and every check that a call depends on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.common import AsJson, Config, fail, print_json, settings

if TYPE_CHECKING:
    from bot.checks import Check

_TEMPLATE = """\
# Sayso. Every setting: docs/reference/configuration.md. Unknown keys are errors.
state = "{state}"
workspace = "{workspace}"

# Who may start calls, who may approve them, who runs the service. Empty lists mean nobody.
requesters = [{requesters}]
approvers = [{approvers}]
operators = [{operators}]

# A requester's own yes never counts over the socket unless this names a risk (off, low, medium, high).
self_approval_socket = "{self_approval}"
"""


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command()(init)
    app.command()(doctor)


def init(
    file: Annotated[Path, typer.Option("--file", help="Where to write it.")] = Path("sayso.toml"),
    requester: Annotated[list[str] | None, typer.Option("--requester", help="Who may ask; default: you.")] = None,
    approver: Annotated[list[str] | None, typer.Option("--approver", help="Who may approve; default: you.")] = None,
    state: Annotated[str, typer.Option("--state", help="The state folder.")] = "~/.local/state/sayso",
    workspace: Annotated[str, typer.Option("--workspace", help="The folder that tools work in.")] = "~/sayso-workspace",
    self_approval: Annotated[
        str, typer.Option("--self-approval", help="Up to which risk your own yes counts.")
    ] = "off",
) -> None:
    """Write a first configuration.

    Example: sayso init --approver local:1001
    """
    me = f"local:{os.getuid()}"
    text = _TEMPLATE.format(
        state=state,
        workspace=workspace,
        requesters=_quoted(requester or [me]),
        approvers=_quoted(approver or [me]),
        operators=_quoted([me]),
        self_approval=self_approval,
    )
    try:
        with file.open("x") as handle:
            handle.write(text)
    except FileExistsError:
        fail(f"{file} is there already; it was left as it is. Name another with --file.", 2)
    file.chmod(0o600)
    typer.echo(f"Wrote {file}. Next: sayso doctor --config {file}, then sayso run --config {file}.")


def doctor(config: Config = None, json: AsJson = False) -> None:
    """Check everything that a call depends on, one line each; non-zero until a call can be gated end to end.

    Example: sayso doctor
    """
    from bot.checks import run_checks

    checks = run_checks(settings(config))
    if json:
        print_json([{"name": c.name, "state": c.state.value, "text": c.text} for c in checks])
    else:
        for check in checks:
            typer.echo(f"{_sign(check)} {check.name}: {check.text}")
    if any(check.state.value == "red" for check in checks):
        raise typer.Exit(1)


def _sign(check: Check) -> str:
    return {"green": "✔", "yellow": "!", "red": "✘"}[check.state.value]


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
