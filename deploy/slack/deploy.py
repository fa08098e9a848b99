"""Check that Slack is as this service needs it: tokens, scopes, channels, approvers. Or print the app's manifest.

A bot can't change its app's settings: make the app from the manifest, and run this after every change.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from adapters.slack import setup
from adapters.slack.checks import report
from adapters.slack.settings import SlackSettings
from bot.errors import SettingsError
from bot.settings import Settings, find_config, load

if TYPE_CHECKING:
    from hitl.platforms import Check

MANIFEST = Path(__file__).parents[1] / "slack-manifest.yaml"
_SIGNS = {"green": "✔", "yellow": "!", "red": "✘"}


def manifest(settings: SlackSettings, url: str = "") -> str:
    """The manifest for an app with these settings, as YAML. Raises SettingsError where it needs an address."""
    wanted = setup.manifest(yaml.safe_load(MANIFEST.read_text("utf-8")), settings, url)
    return yaml.safe_dump(wanted, sort_keys=False, allow_unicode=True)


def check(settings: Settings) -> list[Check]:
    """Everything that can be asked. Raises SettingsError."""
    section = settings.section("slack")
    if section is None:
        raise SettingsError("There is no [slack] in the configuration: see docs/how-to/slack.md.")
    return asyncio.run(report(section, settings.directory(), settings.http.port))


def main(argv: list[str] | None = None) -> int:
    """0 when all is well, 1 when something is in the way, 2 when the configuration can't be used."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=Path, help="the configuration file, as for `sayso run`")
    parser.add_argument("--manifest", action="store_true", help="print the manifest for this configuration")
    parser.add_argument("--url", default="", help="this service's https address, for requests by HTTP")
    given = parser.parse_args(argv)
    try:
        settings = load(find_config(given.config))
        if given.manifest:
            sys.stdout.write(manifest(settings.slack or SlackSettings(), given.url))
            return 0
        found = check(settings)
    except SettingsError as error:
        sys.stderr.write(f"deploy: {error}\n")
        return 2
    sys.stdout.writelines(f"{_SIGNS[one.state.value]} {one.name}: {one.text}\n" for one in found)
    return 1 if any(one.state.value == "red" for one in found) else 0


if __name__ == "__main__":
    sys.exit(main())
