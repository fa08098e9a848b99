"""One MCP server behind the gate. The server starts at its first use, and again after it died.

It stops with the service.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Protocol

import mcp_types as t
from mcp import Client, MCPError
from mcp.shared.subscriptions import PromptsListChanged, ResourcesListChanged, ToolsListChanged
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from adapters.mcp import whole_lines
from adapters.mcp.definitions import Declared, declared
from hitl.backoff import LONGEST_S, Backoff
from hitl.cards.text import one_line
from hitl.cards.wording import say

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mcp.shared.dispatcher import ProgressFnT
    from mcp.shared.subscriptions import ServerEvent
    from pydantic import TypeAdapter

    from adapters.mcp.definitions import Shelf
    from adapters.mcp.targets import Target

_log = logging.getLogger(__name__)

#: A list of the server must arrive within this many seconds. It may have at most this many pages.
_LIST_S, _MOST_PAGES = 30.0, 100
_STOP_S = 8.0
#: A caller waits at most this many seconds for a server that may not be started yet. If the server may be started only
#: later than that, the caller gets an error immediately.
_PATIENT_S = 2.0
_CHANGES: Mapping[type, ServerEvent] = {
    t.ToolListChangedNotification: ToolsListChanged(),
    t.PromptListChangedNotification: PromptsListChanged(),
    t.ResourceListChangedNotification: ResourcesListChanged(),
}


class UpstreamDown(Exception):
    """The server can't be reached: it doesn't start, or it may not be started again yet. Nothing was sent to it."""


class Hearing(Protocol):
    """Receives the messages that a server sends by itself."""

    async def changed(self, server: str, event: ServerEvent) -> None:
        """Handle a change of one of the server's lists."""

    async def logged(self, server: str, line: t.LoggingMessageNotificationParams) -> None:
        """Handle a log line of the server."""


class Upstream:
    """Owns the client of one server, in one task: the library requires that one task enters and leaves its scopes.

    `keep` changes the server's command line, so that all processes of the server end together with the server.
    """

    def __init__(
        self, target: Target, shelf: Shelf, hearing: Hearing, keep: Callable[[Sequence[str]], Sequence[str]]
    ) -> None:
        self.target = target
        self._shelf = shelf
        self._hearing = hearing
        self._keep = keep
        self.tools: Mapping[str, Declared] = declared(target, shelf.read(target.name))
        self._task: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[Client] | None = None
        self._ending = asyncio.Event()
        self._backoff = Backoff()
        self._not_before = 0.0
        self._began = 0.0
        self._why = ""
        self._unstarted = False
        self._current: asyncio.Task[Mapping[str, Declared]] | None = None
        self._next: asyncio.Task[Mapping[str, Declared]] | None = None

    # -- starting and stopping the server -------------------------------------------------------------------

    async def client(self) -> Client:
        """Return the connected client. Start the server if it isn't running.

        If the server may not be started yet, wait up to _PATIENT_S seconds. Raises UpstreamDown if it doesn't start, or
        if the wait would be longer.
        """
        loop = asyncio.get_running_loop()
        if self._task is None or self._task.done():
            pause_s = self._not_before - loop.time()
            if pause_s > _PATIENT_S:
                raise UpstreamDown(self._why)
            self._ready, self._ending = loop.create_future(), asyncio.Event()
            self._task = asyncio.create_task(self._own(self._ready, self._ending, max(pause_s, 0.0)))
        ready = self._ready
        assert ready is not None  # noqa: S101 - `ready` is set whenever the task is set
        return await asyncio.shield(ready)

    async def stop(self) -> None:
        """Stop the server, and all processes that it started."""
        if self._task is None or self._task.done():
            return
        self._ending.set()
        await asyncio.wait({self._task}, timeout=_STOP_S)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def trouble(self) -> str | None:
        """Return why the server didn't start at the last try, or None."""
        return self._why if self._unstarted else None

    async def _own(self, ready: asyncio.Future[Client], ending: asyncio.Event, pause_s: float) -> None:
        try:
            await asyncio.sleep(pause_s)
            self._began = asyncio.get_running_loop().time()
            whole_lines.TOO_LONG.set(partial(self._end, ending))
            with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: ASYNC230, PTH123 - opening a device never blocks
                command = self._keep(self.target.command) if self.target.command else ()
                async with asyncio.timeout(self.target.start_s) as starting, self._client(command, nowhere) as client:
                    starting.reschedule(None)
                    self._unstarted = False
                    ready.set_result(client)
                    _log.info("upstream.started", {"server": self.target.name, "protocol": client.protocol_version})
                    await self._until(ending, client)
        except Exception as error:  # noqa: BLE001 - any failure to start is reported to the callers that wait
            self._failed(ready, error)
        finally:
            if not ready.done():
                ready.set_exception(UpstreamDown(say("mcp.stopped", server=self.target.name)))
                ready.exception()

    def _end(self, ending: asyncio.Event) -> None:
        """End the server, because one of its messages is too long. The results of its calls are then unknown."""
        _log.warning("upstream.too_long", {"server": self.target.name, "most": whole_lines.LONGEST_LINE})
        ending.set()

    def _client(self, command: Sequence[str], errors: Any) -> Client:
        # The library's cache is off, because it could return lists that are older than the server's. With the log level
        # set, a server of the new protocol sends its log lines. There are no callbacks for elicitation, sampling or
        # roots, because the client's user would answer such a question, and not the people who approve.
        return Client(
            self.target.transport(command, errors),
            cache=None,
            log_level="debug",
            client_info=t.Implementation(name="sayso", version=version("sayso")),
            message_handler=self._message,
            logging_callback=lambda line: self._hearing.logged(self.target.name, line),
        )

    async def _until(self, ending: asyncio.Event, client: Client) -> None:
        listening = asyncio.create_task(self._listen(client))
        try:
            await ending.wait()
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)

    def _failed(self, ready: asyncio.Future[Client], error: BaseException) -> None:
        why = one_line(self.target.clean(_why(error)))
        if ready.done():
            _log.warning("upstream.ended", {"server": self.target.name, "why": why})
            return
        self._unstarted = True
        self._postpone(say("mcp.down", server=self.target.name, why=why))
        _log.warning("upstream.not_started", {"server": self.target.name, "why": why})
        ready.set_exception(UpstreamDown(self._why))
        ready.exception()

    def _postpone(self, why: str) -> None:
        """Set the earliest time of the next start. Each time a start fails or the server soon ends, the pause grows."""
        now = asyncio.get_running_loop().time()
        if now - self._began > LONGEST_S:
            self._backoff.reset()
        self._not_before = self._began + self._backoff.next()
        self._why = why

    def _drop(self, client: Client) -> None:
        """Drop the client of a server that has died. The next use starts the server again."""
        ready = self._ready
        if self._task is None or ready is None or not ready.done() or ready.exception() or ready.result() is not client:
            return
        self._ending.set()
        self._task = None
        self._postpone(say("mcp.died_idle", server=self.target.name))
        _log.warning("upstream.died", {"server": self.target.name})

    # -- requests to the server --------------------------------------------------------------------------------

    async def request(
        self,
        request: t.ClientRequest,
        result: type[Any] | TypeAdapter[Any],
        progress: ProgressFnT | None = None,
    ) -> Any:
        """Send one request, and return the answer. Raises UpstreamDown if nothing was sent, and MCPError if the server
        refuses.

        MCPError has the code CONNECTION_CLOSED if the server died meanwhile. In that case nobody knows whether the
        server did the work.
        """
        client = await self.client()
        try:
            # This doesn't use `call_tool`, which would raise after the tool ran if the result doesn't fit the tool's
            # schema.
            return await client.session.send_request(request, result, progress_callback=progress)
        except MCPError as error:
            if error.code == t.CONNECTION_CLOSED:
                self._drop(client)
            raise

    async def fresh(self) -> Mapping[str, Declared]:
        """List the tools now, and start a server that died while idle. Raises UpstreamDown.

        Callers that arrive during a request for the list share the next request. So each caller gets a list that was
        requested after its own arrival.
        """
        if self._next is None:
            self._next = asyncio.create_task(self._list_after(self._current))
            # All callers may have left by the time that the list fails.
            self._next.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(self._next)

    async def _list_after(self, before: asyncio.Task[Any] | None) -> Mapping[str, Declared]:
        if before is not None:
            await asyncio.wait({before})
        self._current, self._next = self._next, None
        return await self._listed()

    async def _listed(self) -> Mapping[str, Declared]:
        tools = declared(self.target, await self.pages("list_tools", "tools"))
        if {name: each.info for name, each in tools.items()} != {name: each.info for name, each in self.tools.items()}:
            self._shelf.write(self.target.name, [each.tool for each in tools.values()])
        self.tools = tools
        return tools

    async def pages(self, method: str, key: str) -> list[Any]:
        """Return the items of one of the server's lists (such as `tools`), or [] if it has no such list.

        Raises UpstreamDown.
        """
        try:
            return await self._pages(await self.client(), method, key)
        except MCPError as error:
            if error.code != t.CONNECTION_CLOSED:
                raise UpstreamDown(self._told(error)) from error
        # The server died while it was idle. The lost request only asked for a list, so it is safe to send the request
        # again.
        try:
            return await self._pages(await self.client(), method, key)
        except MCPError as error:
            raise UpstreamDown(self._told(error)) from error

    async def _pages(self, client: Client, method: str, key: str) -> list[Any]:
        if getattr(client.server_capabilities, "resources" if key == "resource_templates" else key) is None:
            return []
        found: list[Any] = []
        cursor: str | None = None
        try:
            async with asyncio.timeout(_LIST_S):
                for _ in range(_MOST_PAGES):
                    page = await getattr(client, method)(cursor=cursor)
                    found += getattr(page, key)
                    cursor = page.next_cursor
                    if not cursor:
                        break
        except MCPError as error:
            if error.code == t.CONNECTION_CLOSED:
                self._drop(client)
            raise
        except TimeoutError as error:
            raise UpstreamDown(say("mcp.down", server=self.target.name, why=say("mcp.silent"))) from error
        except ValueError as error:
            raise UpstreamDown(say("mcp.down", server=self.target.name, why=say("mcp.unreadable"))) from error
        return found

    def _told(self, error: MCPError) -> str:
        return say("mcp.down", server=self.target.name, why=one_line(self.target.clean(error.message)))

    # -- messages that the server sends without a request ------------------------------------------------------

    async def _listen(self, client: Client) -> None:
        """Subscribe to changes of the server's tools, prompts and resources, if the server has the new protocol.

        A server of the new protocol notifies only subscribers.
        """
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return
        with contextlib.suppress(MCPError, ValueError):
            async with client.listen(
                tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
            ) as events:
                async for event in events:
                    await self._hearing.changed(self.target.name, event)

    async def _message(self, message: object) -> None:
        """Handle a notice that tools, prompts or resources of a server of the old protocol have changed.

        The notices of a server of the new protocol arrive here too, and are ignored, because `_listen` handles them.
        """
        event = _CHANGES.get(type(message))
        ready = self._ready
        connected = ready is not None and ready.done() and not ready.exception()
        if event and connected and ready.result().protocol_version not in MODERN_PROTOCOL_VERSIONS:  # type: ignore[union-attr]
            await self._hearing.changed(self.target.name, event)


def _why(error: BaseException) -> str:
    """Return the reason for a failed start as text, taken out of the library's nested exceptions."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        return say("mcp.silent")
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return getattr(error, "message", "") or str(error) or type(error).__name__
