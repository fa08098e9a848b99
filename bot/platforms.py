"""The chat platforms that are set up, and the HTTP shell: started after the service, stopped before it.

What they hear ends before the service does, what they say only after it.

A platform that isn't configured isn't imported, so that its extra need not be installed.
"""

from __future__ import annotations

import importlib
import logging
import shutil
from typing import TYPE_CHECKING

from bot.errors import SettingsError
from hitl.errors import Unavailable

if TYPE_CHECKING:
    import contextlib
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path
    from types import ModuleType

    from starlette.routing import Route

    from adapters.database.store import SqliteStore
    from adapters.slack.chat import SlackChat
    from adapters.telegram.chat import TelegramChat
    from bot.connector import Connector
    from bot.service import Service
    from bot.settings import Settings
    from hitl.ports import Chat
    from hitl.tokens import Keyring

_log = logging.getLogger(__name__)
#: Below, no call with large arguments could be recorded any more.
_LEAST_FREE_BYTES = 1024 * 1024


class Platforms:
    """What `sayso run` has beside the service itself."""

    def __init__(self, settings: Settings, others: Callable[[], Sequence[str]] = tuple) -> None:
        """`others` tells of troubles that are no platform's."""
        self._settings = settings
        self._others = others
        self._chats: dict[str, TelegramChat | SlackChat] = {}
        self._platforms: list[Connector] = []
        self._service: Service | None = None

    async def make(self, store: SqliteStore, keys: Keyring) -> Mapping[str, Chat]:
        """The chats by the first part of their routes. Raises SettingsError."""
        telegram, slack = self._settings.telegram, self._settings.slack
        if telegram is not None:
            self._chats["telegram"] = await _module("telegram").build_chat(telegram, store, keys)
        if slack is not None:
            people = self._settings.directory()
            self._chats["slack"] = _module("slack").build_chat(slack, store, keys, people)
        return self._chats

    def attach(self, service: Service) -> None:
        """Give the platforms the service that they speak for."""
        self._service = service
        telegram, slack = self._settings.telegram, self._settings.slack
        if telegram is not None:
            self._platforms.append(_module("telegram").Telegram(telegram, self._chats["telegram"], service))
        if slack is not None:
            self._platforms.append(_module("slack").Slack(slack, self._chats["slack"], service))

    async def start(self, parts: contextlib.AsyncExitStack) -> None:
        """Connect to what is set up; `parts` ends it again."""
        for platform in self._platforms:
            parts.push_async_callback(platform.stop)
            await platform.start()

    def routes(self) -> list[Route]:
        """Return the webhooks of platforms. Raises SettingsError for a webhook without a secret or a port."""
        if self._settings.http.port is None and self._is_pushed():
            raise SettingsError("A webhook needs a port to listen on: set http.port.")
        if self._settings.http.port is None:
            return []
        from adapters.http.app import body_of

        return [route for platform in self._platforms for route in platform.routes(body_of)]

    async def close(self) -> None:
        """Close the connections, once nothing is to be sent any more."""
        for chat in self._chats.values():
            await chat.close()

    async def troubles(self) -> Sequence[str]:
        """What is in the way of gating a call, for `/readyz` and `doctor`."""
        found = [*self._others(), *_shortage(self._settings.folder("state"))]
        found += [trouble for platform in self._platforms for trouble in platform.troubles()]
        try:
            if self._service is not None:
                found += self._service.troubles()
                await self._service.store.next_due()
        except Unavailable as error:
            found.append(f"store: {error.message}")
        return found

    def _is_pushed(self) -> bool:
        """Whether a platform calls us."""
        telegram, slack = self._settings.telegram, self._settings.slack
        return (telegram is not None and telegram.receive == "webhook") or (
            slack is not None and slack.receive == "http"
        )


def _shortage(state: Path) -> Iterator[str]:
    """What keeps the next call from being recorded: reads alone go on where a disk is full."""
    try:
        free = shutil.disk_usage(state).free
    except OSError as error:
        yield f"store: {state} is out of reach: {error.strerror}"
        return
    if free < _LEAST_FREE_BYTES:
        yield f"store: the disk of {state} is full. Free some space"


def _module(platform: str) -> ModuleType:
    """The module that puts a platform together. Raises SettingsError naming the extra that it needs."""
    try:
        return importlib.import_module(f"bot.{platform}")
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"{platform.title()} is configured, but {error.name} isn't installed: install sayso[{platform}]."
        ) from error
