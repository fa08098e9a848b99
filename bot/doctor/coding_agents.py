"""Installs the hooks by which coding agents ask this service about their tool calls, and checks them for `doctor`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bot.wording import say
from sayso_client.hooks.__main__ import HOSTS
from sayso_client.wire import SOCKET_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bot.settings import Settings


#: A hook should wait this many seconds longer than the policy's timeout. If it waits more than `_SPARE_S` seconds
#: longer, a warning is printed.
_SHORTER_S, _SPARE_S = 100, 120


def set_up(settings: Settings, host: str, words: list[str], wait_s: int | None) -> int:
    """Install the hook of a coding agent, which asks on this service's socket. Return the exit status.

    `host` names the coding agent, and `words` are further arguments of the installer. `wait_s` is the time for which
    the coding agent waits for the hook, if `words` name a time, else None. The hook gives up somewhat earlier, so this
    time must be somewhat longer than the policy's timeout. If it is much longer, print a warning on stderr.
    """
    from sayso_client.hooks.installing import main

    people_s = _time_of(settings) if wait_s else None
    if wait_s and people_s and wait_s > people_s + _SPARE_S:
        typer.echo(say("init.wait", wait=wait_s, people=people_s, longer=wait_s - _SHORTER_S), err=True)
    return main(["install", host, "--socket", str(settings.folder("runtime") / SOCKET_NAME), *words])


def _time_of(settings: Settings) -> int | None:
    """Return the policy's timeout in seconds, or None if the policy can't be read."""
    from bot.compose import policy_library
    from bot.errors import SettingsError
    from bot.policies import need_engine

    try:
        need_engine()
        library = policy_library(settings.policy_folders())
        return library.load(library.read(settings.policy_name())).checked.timeout_s
    except SettingsError:
        return None  # `sayso doctor` reports an unreadable policy, so this function doesn't.


def take_out(host: str, words: list[str]) -> int:
    """Remove the hook of a coding agent. Return the exit status."""
    from sayso_client.hooks.installing import main

    return main(["remove", host, *words])


def hooks(agents: Iterable[int]) -> Iterator[tuple[str, str, str]]:
    """Run each hook that this user or the machine has installed once. Find out which users could switch it off.

    `agents` are the user ids of this machine's users who may ask. Yield (name of the coding agent, `green`, `yellow` or
    `red`, sentence) for each finding.
    """
    from sayso_client.errors import ClientError
    from sayso_client.hooks.installing import MARK, checked, lost, module, own_file

    agents = set(agents)
    for host in HOSTS:
        known = module(host)
        managed = Path(known.MANAGED) if known.MANAGED else None
        for file in filter(None, dict.fromkeys((own_file(known), Path.home() / known.FILE, managed))):
            # The hooks in a file of the home folder are for the coding agents of its owner. The owner is the user who
            # runs `doctor`, and may not be in `agents`.
            users = {*agents, *([os.getuid()] if file != managed else [])}
            try:
                if lost(file) or MARK in file.read_text("utf-8", "replace"):
                    yield from ((host, state, text) for state, text in checked(host, file, users))
            except OSError:
                continue  # The file doesn't exist, or it belongs to another user.
            except ClientError as error:
                yield host, "red", error.message
