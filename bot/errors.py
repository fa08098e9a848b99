"""The errors of the process: `SettingsError`, which adapters also raise, and a sentence for an OSError."""

from __future__ import annotations

import os
import pwd

from hitl.cards.wording import say
from hitl.errors import SettingsError

__all__ = ["SettingsError", "explained"]


def explained(error: OSError) -> str:
    """Return a sentence for people about an error of the operating system, with what to do if this user may not."""
    if not isinstance(error, PermissionError):
        return say("command.os", error=error)
    uid = os.geteuid()
    try:
        user = pwd.getpwuid(uid).pw_name
    except KeyError:
        user = f"uid {uid}"
    return say("command.forbidden", what=error.filename or error.strerror, user=user)
