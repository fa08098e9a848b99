"""Installs the hooks of coding agents whose tool calls go through this service, and checks them for `doctor`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sayso_client.hooks.__main__ import HOSTS
from sayso_client.wire import SOCKET_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.settings import Settings


def set_up(settings: Settings, host: str, words: list[str], *, remove: bool) -> int:
    """Install or remove the hook of a coding agent, which asks on this service's socket. Return the exit status."""
    from sayso_client.hooks.installing import main

    if remove:
        return main(["remove", host, *words])
    return main(["install", host, "--socket", str(settings.folder("runtime") / SOCKET_NAME), *words])


def hooks() -> Iterator[tuple[str, str, str]]:
    """Run each hook once that this user or the machine has installed.

    Yield the name of the coding agent, `green`, `yellow` or `red`, and a sentence.
    """
    from sayso_client.errors import ClientError
    from sayso_client.hooks.installing import MARK, checked, module

    for host in HOSTS:
        known = module(host)
        for file in [Path.home() / known.FILE, *([Path(known.MANAGED)] if known.MANAGED else [])]:
            try:
                if MARK in file.read_text("utf-8", "replace"):
                    yield from ((host, state, text) for state, text in checked(host, file))
            except OSError:
                continue  # The file doesn't exist, or it belongs to another user.
            except ClientError as error:
                yield host, "red", error.message
