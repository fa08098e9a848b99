"""What every chat platform's part of the process does: connect, receive, hand on what was heard, and end."""

from __future__ import annotations

import abc
import asyncio
import logging
from typing import TYPE_CHECKING, Protocol

from bot.errors import SettingsError
from bot.intake import Intake
from hitl.backoff import Backoff
from hitl.errors import Unavailable
from hitl.ports import PlatformError
from hitl.records import replace

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from typing import TypeAlias

    from starlette.requests import Request
    from starlette.routing import Route

    from bot.service import Service
    from hitl.events import Heard
    from hitl.model import Incoming

    #: Reads a body within the HTTP shell's bound; None where it is too long.
    ReadBody: TypeAlias = Callable[[Request], Awaitable[bytes | None]]
    #: Does what an event asks for.
    Hear: TypeAlias = Callable[[Heard], Awaitable[None]]

_log = logging.getLogger(__name__)


class Receiver(Protocol):
    """Fetches events from a platform that doesn't push them."""

    @property
    def trouble(self) -> str | None:
        """What is in the way of events, if anything."""

    async def run(self) -> None:
        """For ever."""


class Connector(abc.ABC):
    """One platform at work. It comes up when the platform does: until then `troubles` says why not.

    `platform` is the source of its events in the inbox, and begins its troubles and log events. A subclass that
    isn't called by the platform sets `_receiver`. `connected` is called before the first event is handled.
    """

    def __init__(
        self, platform: str, service: Service, hear: Hear, connected: Callable[[], None] = lambda: None
    ) -> None:
        self.service = service
        self.intake = Intake(service.store, {platform: self._handle})
        self._platform = platform
        self._hear = hear
        self._on_connected = connected
        self._receiver: Receiver | None = None
        self._trouble: str | None = "not connected yet"
        self._connected = False
        self._work: asyncio.Task[None] | None = None

    @abc.abstractmethod
    async def _connect(self) -> str:
        """Find out who we are there, and return it. Raises PlatformError or Unavailable to be called again."""

    @abc.abstractmethod
    async def _understand(self, event: Incoming) -> Heard | None:
        """What a recorded event says, None for one that nobody here reads."""

    @abc.abstractmethod
    def _route(self, read_body: ReadBody) -> Route:
        """Where the platform pushes its events. Raises ValueError where anybody could."""

    def routes(self, read_body: ReadBody) -> Sequence[Route]:
        """What to mount on the HTTP shell. Raises SettingsError without the secret that proves who calls."""
        if self._receiver:
            return ()
        try:
            return (self._route(read_body),)
        except ValueError as error:
            raise SettingsError(str(error)) from error

    def troubles(self) -> Sequence[str]:
        """What is in the way of answers from the platform."""
        receiving = self._receiver.trouble if self._receiver and self._connected else None
        return [f"{self._platform}: {trouble}" for trouble in (self._trouble, receiving) if trouble]

    async def start(self) -> None:
        """Connect in the background: a platform that is down at start must not keep the service down."""
        self._work = asyncio.create_task(self._run())
        self._work.add_done_callback(self._ended)

    async def stop(self) -> None:
        """Take no more events, and end what is being handled; what was recorded is handled at the next start."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)

    def _ended(self, work: asyncio.Task[None]) -> None:
        """A bug must not look like silence: without this the service would seem well and hear nothing."""
        if not work.cancelled() and (error := work.exception()):
            self._trouble = f"stopped by {type(error).__name__}; restart the service"
            _log.error(f"{self._platform}.stopped", exc_info=error)

    async def _run(self) -> None:
        who = await self._until_connected()
        self._trouble, self._connected = None, True
        _log.info(f"{self._platform}.ready", {"bot": who})
        self._on_connected()
        async with asyncio.TaskGroup() as work:
            work.create_task(self.intake.run())
            if self._receiver:
                work.create_task(self._receiver.run())

    async def _until_connected(self) -> str:
        pauses = Backoff()
        while True:
            try:
                return await self._connect()
            except (PlatformError, Unavailable) as error:
                self._trouble = str(error)
                _log.warning(f"{self._platform}.connecting", {"trouble": self._trouble})
                asked = error.retry_s if isinstance(error, PlatformError) else None
                await asyncio.sleep(max(pauses.next(), asked or 0.0))

    async def _handle(self, event: Incoming) -> None:
        heard = await self._understand(event)
        if heard is not None:
            # Platforms don't say of all that comes when it was made.
            await self._hear(replace(heard, at=heard.at or event.received_at, event=(event.source, event.id)))
