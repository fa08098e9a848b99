"""Tell Telegram how this bot works: token checked, webhook or polling, commands and descriptions in four languages.

Run it again whenever the configuration changes; what is right already stays. `--remove` takes everything back.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from telegram.error import TelegramError

from adapters.telegram.platform import make_bot
from adapters.telegram.setup import reason, remove, set_up
from bot.errors import SettingsError
from bot.settings import Settings, find_config, load


async def deploy(settings: Settings, *, removing: bool) -> list[str]:
    """Do it; a line for each thing done. Raises SettingsError, TelegramError."""
    section = settings.section("telegram")
    if section is None:
        raise SettingsError("There is no [telegram] in the configuration: see docs/how-to/telegram.md.")
    async with make_bot(section) as bot:
        return await (remove(bot) if removing else set_up(bot, section))


def main() -> int:
    """0 when Telegram is as configured, 1 when it couldn't be made so, 2 when the configuration can't be used."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=Path, help="the configuration file, as for `sayso run`")
    parser.add_argument("--remove", action="store_true", help="take back webhook, commands and descriptions")
    given = parser.parse_args()
    try:
        lines = asyncio.run(deploy(load(find_config(given.config)), removing=given.remove))
    except SettingsError as error:
        sys.stderr.write(f"deploy: {error}\n")
        return 2
    except TelegramError as error:
        sys.stderr.write(f"deploy: {reason(error)}. What was done before stays; run it again.\n")
        return 1
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
