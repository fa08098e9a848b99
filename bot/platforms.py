"""The configured chat platforms and their webhooks. They start after the service.

Before the service stops, the platforms stop receiving. Their connections close after the service, because the service
still sends messages while it stops.

A platform that isn't configured isn't imported, so that its extra need not be installed.
"""

from __future__ import annotations

import logging
import shutil
from functools import partial
from typing import TYPE_CHECKING

from bot.errors import SettingsError
from bot.operators import register_of
from bot.surfaces import module
from bot.wording import say
from hitl.errors import Unavailable
from hitl.platforms import Core

if TYPE_CHECKING:
    import contextlib
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    from bot.conversation import StoredTurns
    from bot.platform_runner import Connector
    from bot.service import Service
    from bot.settings import Settings
    from hitl.platforms import Endpoint, Platform, PlatformChat
    from hitl.ports import Store
    from hitl.proof.keyring import Keyring

_log = logging.getLogger(__name__)
#: Bytes. With less free space, a call with large arguments couldn't be recorded.
_LEAST_FREE_BYTES = 1024 * 1024


class Platforms:
    """The chat platforms that are configured for `sayso run`."""

    def __init__(self, settings: Settings, others: Callable[[], Sequence[str]] = tuple) -> None:
        """`others` returns sentences about the faults of other parts of the service."""
        self._settings = settings
        self._others = others
        self._platforms: list[Platform] = []
        self._connectors: list[Connector] = []
        self._service: Service | None = None

    async def make(self, store: Store, keys: Keyring) -> Mapping[str, PlatformChat]:
        """Build the configured platforms. Return platform name -> the platform's chat. Raises SettingsError."""
        core = Core(store, keys, self._settings.directory())
        for name in self._settings.set_up():
            self._platforms.append(await build(self._settings, name, core))
        return {platform.surface.name: platform.chat for platform in self._platforms}

    def attach(self, service: Service, turns: StoredTurns | None = None) -> None:
        """Connect the platforms with the service, and with the stored turns of its agent if it has any.

        Raises SettingsError.
        """
        from bot.platform_runner import Connector

        self._service = service
        self._connectors = [Connector(platform, service, turns=turns) for platform in self._platforms]

    async def start(self, parts: contextlib.AsyncExitStack) -> None:
        """Connect to the configured platforms. Closing `parts` disconnects them."""
        for connector in self._connectors:
            parts.push_async_callback(connector.stop)
            await connector.start()

    def routes(self) -> list[Route]:
        """Return the webhooks of platforms. Raises SettingsError for a webhook without a secret or a port."""
        if self._settings.http.port is None and any(one.is_pushed for one in self._connectors):
            raise SettingsError(say("setting.webhook.port"))
        if self._settings.http.port is None:
            return []
        return [mounted(endpoint) for connector in self._connectors for endpoint in connector.endpoints()]

    async def close(self) -> None:
        """Close the platforms' connections. Call this when nothing more is to be sent."""
        for platform in self._platforms:
            await platform.close()

    async def troubles(self) -> Sequence[str]:
        """Return sentences about all faults that keep the service from gating calls, for `/readyz` and `doctor`."""
        found = [*self._others(), *_shortage(self._settings.folder("state"))]
        found += [trouble for connector in self._connectors for trouble in connector.troubles()]
        try:
            if self._service is not None:
                found += self._service.troubles()
                if why := self._service.gate.exposed():
                    found.append(f"state: {why}")
                await self._service.store.next_due()
        except Unavailable as error:
            found.append(f"store: {error.message}")
        return found


async def build(settings: Settings, name: str, core: Core) -> Platform:
    """Return one platform, not yet connected.

    Raises SettingsError, also if the extra that the platform needs isn't installed.
    """
    section = settings.section(name)
    try:
        make = module(name, "platform").build
    except ModuleNotFoundError as error:
        raise SettingsError(say("setting.extra", what=name.title(), module=error.name, extra=name)) from error
    platform: Platform = await make(section, core, register_of(name, section.handlers))
    return platform


def mounted(endpoint: Endpoint) -> Route:
    """Return the HTTP route of an endpoint."""
    from starlette.responses import Response
    from starlette.routing import Route

    from adapters.http.app import body_of

    async def receive(request: Request) -> Response:
        status, body = await endpoint.answer(request.headers, partial(body_of, request))
        return Response(body, status_code=status)

    return Route(endpoint.path, receive, methods=["POST"])


def _shortage(state: Path) -> Iterator[str]:
    """Yield a sentence if there is too little disk space to record the next call.

    Without this check, `/readyz` would say that the service is ready, because reading the store still works on a full
    disk.
    """
    try:
        free = shutil.disk_usage(state).free
    except OSError as error:
        yield say("start.disk.away", state=state, why=error.strerror)
        return
    if free < _LEAST_FREE_BYTES:
        yield say("start.disk.full", state=state)
