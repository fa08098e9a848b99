"""Installs the hooks of coding agents whose tool calls go through this service, and checks them for `doctor`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from sayso_client.hooks.__main__ import HOSTS
from sayso_client.wire import SOCKET_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bot.settings import Settings


def set_up(settings: Settings, host: str, words: list[str]) -> int:
    """Install the hook of a coding agent, which asks on this service's socket. Return the exit status."""
    from sayso_client.hooks.installing import main

    return main(["install", host, "--socket", str(settings.folder("runtime") / SOCKET_NAME), *words])


def take_out(host: str, words: list[str]) -> int:
    """Remove the hook of a coding agent. Return the exit status."""
    from sayso_client.hooks.installing import main

    return main(["remove", host, *words])


def hooks(agents: Iterable[int]) -> Iterator[tuple[str, str, str]]:
    """Run each hook once that this user or the machine has installed, and find out who could switch it off.

    `agents` are the ids of this machine's users who may ask. Yield the name of the coding agent, `green`, `yellow` or
    `red`, and a sentence.
    """
    from sayso_client.errors import ClientError
    from sayso_client.hooks.installing import MARK, checked, module

    agents = set(agents)
    for host in HOSTS:
        known = module(host)
        own, managed = Path.home() / known.FILE, Path(known.MANAGED) if known.MANAGED else None
        for file in filter(None, (own, managed)):
            # The settings in a home folder are for the agents of its user, who also runs this.
            users = {*agents, *([os.getuid()] if file == own else [])}
            try:
                if MARK in file.read_text("utf-8", "replace"):
                    yield from ((host, state, text) for state, text in checked(host, file, users))
            except OSError:
                continue  # The file doesn't exist, or it belongs to another user.
            except ClientError as error:
                yield host, "red", error.message
