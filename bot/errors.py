"""The errors of the process: `SettingsError`, which adapters also raise, and a function that explains an OSError to
people.
"""

from __future__ import annotations

import os

from bot.wording import say
from hitl.errors import SettingsError

__all__ = ["NoSecretError", "SettingsError", "explained", "without_number"]


class NoSecretError(SettingsError):
    """The file of a secret isn't there. The sentence says to write the file, so no other remedy is needed."""


def explained(error: OSError) -> str:
    """Return a sentence for people about an error of the operating system.

    If this user lacks the permission, the sentence names the next step.
    """
    from bot.names import login

    if not isinstance(error, PermissionError) or error.filename is None:
        return say("command.os", error=without_number(error))
    uid = os.geteuid()
    return say("command.forbidden", what=error.filename, user=login(uid) or f"uid {uid}")


def without_number(error: OSError) -> str:
    """Return the words of an error of the operating system, with its file and without its number."""
    words = error.strerror or str(error)
    return words if error.filename is None else f"{error.filename}: {words}"
