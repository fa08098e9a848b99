"""Runs one chat platform: connects it, receives its events, has the inbox handle them, and stops."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from bot.conversation import Router
from bot.workers.inbox import Intake
from hitl.backoff import Backoff
from hitl.call import Post, PostKind
from hitl.errors import Unavailable
from hitl.ports import Change, PlatformError, adding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.conversation import StoredTurns
    from bot.service import Service
    from hitl.platforms import Endpoint, Hear, Platform

_log = logging.getLogger(__name__)


class Connector:
    """Runs one platform. It connects as soon as the platform can be reached. Until then `troubles` says why it isn't
    connected.

    The name of the platform's surface is the source of its events in the inbox. Troubles and log events begin with this
    name. Raises SettingsError if the platform can't receive with its settings.
    """

    def __init__(
        self, platform: Platform, service: Service, hear: Hear | None = None, turns: StoredTurns | None = None
    ) -> None:
        self.platform = platform
        self._name = platform.surface.name
        self._service = service
        platform.chat.names = service.gate.names
        self._router: Router | None = None
        if hear is None:
            self._router = Router(service, platform.chat, platform.surface, turns=turns)
            hear = self._router.handle
        self.intake = Intake(service.store, self._name, platform.dispatch, hear)
        self._receiver = platform.receiver(self.intake.wake)
        self._trouble: str | None = "not connected yet"
        self._connected = False
        self._work: asyncio.Task[None] | None = None

    @property
    def is_pushed(self) -> bool:
        """Return whether the platform sends its events to an HTTP endpoint of the service."""
        return self._receiver is None

    def endpoints(self) -> Sequence[Endpoint]:
        """Return the endpoints for the HTTP server.

        Raises SettingsError without the secret that authenticates the platform.
        """
        return () if self._receiver else (self.platform.endpoint(self.intake.wake),)

    def troubles(self) -> Sequence[str]:
        """Return sentences about the faults that keep people's answers on the platform from arriving."""
        receiving = self._receiver.trouble if self._receiver and self._connected else None
        return [f"{self._name}: {trouble}" for trouble in (self._trouble, receiving) if trouble]

    async def start(self) -> None:
        """Connect in the background: a platform that is down must not keep the service from starting."""
        self._work = asyncio.create_task(self._run())
        self._work.add_done_callback(self._ended)

    async def stop(self) -> None:
        """Stop receiving and handling events. Recorded events that are still open are handled at the next start."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)

    def _ended(self, work: asyncio.Task[None]) -> None:
        """Log that the background work ended because of a bug.

        Otherwise the service would look healthy but receive nothing.
        """
        if not work.cancelled() and (error := work.exception()):
            self._trouble = f"stopped by {type(error).__name__}; restart the service"
            _log.error(f"{self._name}.stopped", exc_info=error)

    async def _run(self) -> None:
        who = await self._until_connected()
        self._trouble, self._connected = None, True
        _log.info(f"{self._name}.ready", {"bot": who})
        if self._router is not None:
            self._router.listen(self._name)
        async with asyncio.TaskGroup() as work:
            work.create_task(self.intake.run())
            if self._receiver:
                work.create_task(self._receiver.run())

    async def _until_connected(self) -> str:
        pauses = Backoff()
        while True:
            try:
                who = await self.platform.connect()
                await self._refresh_open_cards()
            except (PlatformError, Unavailable) as error:
                self._trouble = str(error)
                _log.warning(f"{self._name}.connecting", {"trouble": self._trouble})
                asked = error.retry_s if isinstance(error, PlatformError) else None
                await asyncio.sleep(max(pauses.next(), asked or 0.0))
            else:
                return who

    async def _refresh_open_cards(self) -> None:
        """Queue an edit of each open card, if the platform may have lost presses while this process was down.

        The edited card asks people to press again.
        """
        for call in await self._service.store.pending() if self.platform.surface.loses_presses else ():
            here = [route for route in call.routes if route.startswith(f"{self._name}:")]
            if here:
                posts = tuple(Post(call.ref, route, PostKind.EDIT) for route in here)
                await self._service.store.commit(adding(Change(posts=posts)))
                self._service.changed(call)
