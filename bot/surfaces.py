"""The table of chat platforms, and the declarations of all surfaces.

This module imports no platform's library, because declarations are plain records.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from adapters.http.surface import HTTP, SOCKET
from adapters.terminal.surface import SURFACE as TERMINAL

if TYPE_CHECKING:
    from types import ModuleType

    from hitl.surfaces import Surface

#: Platform -> the package that implements it. The platform's name is also the name of its settings section and the
#: beginning of its routes and identities. To add a platform, add it here and as a section in `bot/settings.py`.
PLATFORMS: dict[str, str] = {"telegram": "adapters.telegram", "slack": "adapters.slack"}


def module(platform: str, name: str) -> ModuleType:
    """Return a module of a platform's package. Raises ModuleNotFoundError if its library isn't installed."""
    return importlib.import_module(f"{PLATFORMS[platform]}.{name}")


def surfaces() -> dict[str, Surface]:
    """Return the declarations of all surfaces by their names."""
    chats: list[Surface] = [module(name, "surface").SURFACE for name in PLATFORMS]
    return {surface.name: surface for surface in (TERMINAL, SOCKET, HTTP, *chats)}
