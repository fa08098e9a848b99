"""`deploy telegram` sets up the bot in Telegram. `deploy slack` checks the app's settings in Slack, or prints its
manifest.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.common import Config, exit_if_red, fail, print_checks, settings
from bot.wording import say

if TYPE_CHECKING:
    from adapters.slack.settings import SlackSettings
    from bot.settings import Settings
    from hitl.platforms import Check


def register(app: typer.Typer) -> None:
    """Add the command group `deploy`."""
    deploy = typer.Typer(help="Tell a chat platform about this bot.", no_args_is_help=True)
    deploy.command("telegram")(telegram)
    deploy.command("slack")(slack)
    app.add_typer(deploy, name="deploy")


def telegram(
    config: Config = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take back webhook, commands and descriptions.")] = False,
) -> None:
    """Set up this bot at Telegram.

    It checks the token, and sets the webhook or polling. It also sets the commands and descriptions in four languages.
    Run it again after each change of these settings. It changes only what differs from the settings.

    Example: sayso deploy telegram
    """
    from bot.errors import SettingsError

    found = settings(config)
    try:
        lines = asyncio.run(_told(found, removing=remove))
    except SettingsError as error:
        fail(str(error), 2)
    except ModuleNotFoundError as error:
        fail(say("deploy.extra", module=error.name, extra="telegram"), 2)
    typer.echo("\n".join(lines))


async def _told(found: Settings, *, removing: bool) -> list[str]:
    """Set up the bot, or undo the set-up. Return one line of text for each step.

    Raises SettingsError without Telegram's settings. Exits 1 if Telegram refuses or can't be reached.
    """
    from telegram.error import TelegramError

    from adapters.telegram.platform import make_bot
    from adapters.telegram.refusals import reason
    from adapters.telegram.setup import remove, set_up
    from bot.errors import SettingsError

    section = found.section("telegram")
    if section is None:
        raise SettingsError(say("deploy.none", platform="telegram"))
    try:
        async with make_bot(section) as bot:
            return await (remove(bot) if removing else set_up(bot, section))
    except TelegramError as error:
        fail(say("deploy.refused", why=reason(error)), 1)


def slack(
    config: Config = None,
    manifest: Annotated[
        bool, typer.Option("--manifest", help="Print the manifest of the app for these settings.")
    ] = False,
    url: Annotated[str, typer.Option("--url", help="This service's https address, for requests by HTTP.")] = "",
) -> None:
    """Check this app's settings at Slack, or print its manifest.

    It checks tokens, scopes, channels and approvers. A bot can't change its app's settings: make the app from the
    manifest, and run this after each change.

    Example: sayso deploy slack --manifest
    """
    from bot.errors import SettingsError

    found = settings(config)
    try:
        if manifest:
            typer.echo(slack_manifest(found.slack, url), nl=False)
            return
        checks = _checked(found)
    except SettingsError as error:
        fail(str(error), 2)
    except ModuleNotFoundError as error:
        fail(say("deploy.extra", module=error.name, extra="slack"), 2)
    print_checks(checks)
    exit_if_red(checks)


def slack_manifest(section: SlackSettings | None, url: str = "") -> str:
    """Return the manifest of the Slack app for these settings, as YAML.

    Raises SettingsError if events arrive by HTTP and `url` isn't the https address of the service.
    """
    from importlib import resources

    import yaml

    from adapters.slack import setup
    from adapters.slack.settings import SlackSettings

    text = resources.files("adapters.slack").joinpath("manifest.yaml").read_text("utf-8")
    wanted = setup.manifest(yaml.safe_load(text), section or SlackSettings(), url)
    return yaml.safe_dump(wanted, sort_keys=False, allow_unicode=True)


def _checked(found: Settings) -> list[Check]:
    """Ask Slack about this app, and return the results as checks. Raises SettingsError without Slack's settings."""
    from bot.doctor.checks import platform_checks
    from bot.errors import SettingsError

    if found.slack is None:
        raise SettingsError(say("deploy.none", platform="slack"))
    return platform_checks(found, "slack")
