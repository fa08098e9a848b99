"""Finds the settings file and the folder of the socket.

Many commands need only these two, and reading all settings takes 0.3 s.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from bot.errors import SettingsError
from bot.toml import read_toml
from bot.wording import say
from sayso_client.settings import user_runtime

CONFIG_NAME = "sayso.toml"
#: The beginning of the name of each environment variable that is a setting.
PREFIX = "SAYSO_"
_RUNTIME = f"{PREFIX}RUNTIME"


def find_config(given: Path | None) -> Path | None:
    """Return the path of the settings file.

    It is `given`, else the file that `SAYSO_CONFIG` names, else the first `sayso.toml` in the current folder,
    `~/.config/sayso` and `/etc/sayso`. Without such a file, return None.
    """
    if given is not None:
        return given
    if named := os.environ.get("SAYSO_CONFIG"):
        return Path(named)
    places = (Path(), Path("~/.config/sayso").expanduser(), Path("/etc/sayso"))
    return next((place / CONFIG_NAME for place in places if (place / CONFIG_NAME).is_file()), None)


def default_runtime() -> Path:
    """Return the default folder of the socket: systemd's folder, else the user's runtime folder, else one in `/tmp`."""
    if given := os.environ.get("RUNTIME_DIRECTORY"):
        return Path(given)
    return user_runtime()


def anchored(value: Any, folder: Path) -> Any:
    """Return the value of a setting. A relative path becomes a path below `folder`, the folder of the settings file.

    An absolute path and a value that isn't a text stay unchanged.
    """
    relative = isinstance(value, str) and value.strip() and not value.startswith(("/", "~"))
    return str(folder / value) if relative else value


def runtime_folder(config: Path | None) -> Path | None:
    """Return the folder of the socket, as `bot.settings` would find it, without checking any other setting.

    Return None if the setting can't be read. Then `bot.settings.load` raises an error that says why.
    """
    given: object = {name.upper(): value for name, value in os.environ.items()}.get(_RUNTIME)
    path = find_config(config)
    if given is None and path is not None:
        try:
            given = read_toml(path).get("runtime")
        except (OSError, SettingsError):
            return None
        given = anchored(given, path.absolute().parent)
    if given is None:
        return absolute(default_runtime())
    return absolute(Path(given)) if isinstance(given, str) and given.strip() else None


def absolute(folder: Path) -> Path:
    """Return a folder of the settings as an absolute path. Raises SettingsError if it begins with `~` and the name of
    nobody.
    """
    try:
        return folder.expanduser().absolute()
    except RuntimeError as error:
        raise SettingsError(say("setting.path.home", path=folder)) from error
