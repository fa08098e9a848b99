"""Names of people that are known without a platform: login names, names of tokens, and names in the settings."""

from __future__ import annotations

import pwd
import socket
from functools import lru_cache
from typing import TYPE_CHECKING

from hitl.people.names import Names

if TYPE_CHECKING:
    from hitl.people import Directory


def names_of(people: Directory) -> Names:
    """Return the `Names` of an installation: the display names of its people that this machine knows."""
    return Names(people, login=login, host=socket.gethostname())


@lru_cache(maxsize=1024)
def login(user: int) -> str | None:
    """Return the login name for a user id of this machine, or None for an unknown id."""
    try:
        return pwd.getpwuid(user).pw_name
    except (KeyError, OverflowError):
        return None
