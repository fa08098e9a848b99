"""A server's life, and its control over HTTP."""

from __future__ import annotations

import abc
from types import TracebackType
from typing import Any, Final, Self

from aiohttp import web

from simulators.common.control import Overseer
from simulators.common.listener import Listener
from simulators.common.lookup import ControlError

MAX_BODY: Final = 64 * 2**20


class Served(abc.ABC):
    """A server that `async with` starts and stops; `_control` listens for its verbs."""

    _control: Listener

    @property
    def control_url(self) -> str:
        """Return what stands before a verb."""
        return f"{self._control.root}/control"

    @abc.abstractmethod
    async def start(self) -> Self:
        """Listen, and deliver."""

    @abc.abstractmethod
    async def stop(self) -> None:
        """End everything."""

    async def __aenter__(self) -> Self:
        """Start."""
        return await self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        await self.stop()


def application() -> web.Application:
    """Return an application that takes large bodies and has no routes yet."""
    return web.Application(client_max_size=MAX_BODY)


def control_application(overseer: Overseer[Any, Any, Any]) -> web.Application:
    """Return what answers `POST /control/<verb>`, in JSON."""

    async def on_control(http: web.Request) -> web.Response:
        arguments = await http.json() if http.can_read_body else {}
        try:
            result = await overseer.obey(http.match_info["verb"], arguments)
        except ControlError as error:
            return web.json_response({"ok": False, "error": str(error)}, status=400)
        return web.json_response({"ok": True, "result": result})

    control = application()
    control.router.add_post("/control/{verb}", on_control)
    return control
