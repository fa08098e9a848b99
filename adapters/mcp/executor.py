"""MCP servers as an executor. Each server is a tool group; the gate decides its calls, and this service runs them."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Protocol

import mcp_types as t
from cachetools import FIFOCache
from mcp import MCPError
from pydantic import TypeAdapter, ValidationError

from adapters.mcp.definitions import GET_PROMPT, READ_RESOURCE, Shelf, operation
from adapters.mcp.results import Answer, bounded, ran
from adapters.mcp.upstream import Upstream, UpstreamDown
from hitl.call import Preparation, Ran, Result
from hitl.cards.redaction import mask
from hitl.cards.text import one_line
from hitl.cards.wording import say
from hitl.errors import InvalidConfirmation, Unavailable
from hitl.ports import Offer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from mcp.shared.subscriptions import ServerEvent

    from adapters.mcp.targets import Target
    from hitl.call import Ask, Call, Lease, ToolInfo

_log = logging.getLogger(__name__)

#: At most this many bytes of complete results are kept for clients that may fetch them. For older results, only the
#: text in the record is left.
_KEPT_BYTES = 64_000_000
#: Seconds that a server has to react to the cancellation of its call.
_CANCEL_S = 2.0
#: The library's error message if the server answered only with an HTTP status. In this case, nobody knows whether the
#: server did the work.
_NO_ANSWER = "Server returned an error response"
_OPERATION_KEYS = {READ_RESOURCE: ("uri",), GET_PROMPT: ("name", "arguments")}
_CALLED: TypeAdapter[t.CallToolResult | t.InputRequiredResult] = TypeAdapter(t.CallToolResult | t.InputRequiredResult)
_READ: TypeAdapter[t.ReadResourceResult | t.InputRequiredResult] = TypeAdapter(
    t.ReadResourceResult | t.InputRequiredResult
)
_GOT: TypeAdapter[t.GetPromptResult | t.InputRequiredResult] = TypeAdapter(t.GetPromptResult | t.InputRequiredResult)


class Watcher(Protocol):
    """A client that waits for a running call: it gets the server's progress reports and log lines."""

    async def progress(self, done: float, total: float | None, message: str | None) -> None:
        """Handle a progress report of the server."""

    async def log(self, line: t.LoggingMessageNotificationParams) -> None:
        """Handle a log line of the server.

        A log line doesn't name its call. So the service passes a line on only if every call that runs on the server has
        a watcher, and all these watchers belong to the same caller.
        """

    @property
    def whose(self) -> str:
        """Return an identifier of the caller whose call is followed."""


class Servers:
    """The configured servers (`hitl.ports.Executor`). `folder` is where their latest declarations are stored.

    `keep` changes a server's command line, so that all processes of the server end together with the server.
    """

    def __init__(
        self,
        targets: Iterable[Target],
        *,
        folder: Path | None = None,
        keep: Callable[[Sequence[str]], Sequence[str]] = list,
    ) -> None:
        shelf = Shelf(folder)
        self.upstreams = {target.name: Upstream(target, shelf, self, keep) for target in targets}
        self._runs: dict[str, asyncio.Task[Ran]] = {}
        self._running: dict[str, set[str]] = defaultdict(set)
        self._watchers: dict[str, list[Watcher]] = defaultdict(list)
        self._answers: FIFOCache[str, Answer] = FIFOCache(_KEPT_BYTES, getsizeof=_size)
        self._changes: list[Callable[[ServerEvent], Any]] = []

    async def stop(self) -> None:
        """Stop all servers."""
        await asyncio.gather(*(upstream.stop() for upstream in self.upstreams.values()))

    def troubles(self) -> Sequence[str]:
        """Return a sentence for each server that didn't start at the last try. The sentence says why."""
        return [f"mcp: {trouble}" for each in self.upstreams.values() if (trouble := each.trouble())]

    # -- the methods of `hitl.ports.Executor` ---------------------------------------------------------------

    def info(self, tools: str, tool: str) -> ToolInfo | None:
        """Return information about a tool, as the server last declared it, or about an operation in OPERATIONS.

        Return None for any other name.
        """
        upstream = self.upstreams.get(tools)
        if upstream is None:
            return None
        found = upstream.tools.get(tool)
        return found.info if found else operation(upstream.target, tool)

    async def offers(self, tools: str) -> Sequence[Offer]:
        """Return the tools that a server lists now, for an agent (`hitl.ports.Offering`).

        Raises Unavailable while the server can't be used.
        """
        try:
            listed = await self.upstreams[tools].fresh()
        except (UpstreamDown, MCPError) as error:
            raise Unavailable(say("mcp.down", server=tools, why=one_line(str(error), 200))) from error
        tells = [each.tool for each in listed.values()]
        return [Offer(tools, tool.name, tool.description or "", tool.input_schema) for tool in tells]

    async def prepare(self, ask: Ask) -> Preparation:
        """Describe the call for its card.

        The description never uses the server's own words about its tools, because these words can't be trusted.

        Raises InvalidConfirmation if the arguments of `resources/read` or `prompts/get` don't fit the protocol.
        """
        _check(ask.tool, ask.args)
        told = {"server": ask.tools, "tool": one_line(ask.tool, 60)}
        if ask.tool == READ_RESOURCE:
            return Preparation(say("mcp.reads", **told))
        return Preparation(say("mcp.gets" if ask.tool == GET_PROMPT else "mcp.does", **told))

    async def still_holds(self, call: Call) -> str | None:
        """Return None: the definition is compared with the server's own list when the call runs.

        An approval must not wait for a server to start.
        """
        del call
        return None

    async def run(self, lease: Lease, *, limit_s: float) -> Ran:
        """Run the stored call within the time limit, and return its result."""
        call = lease.call
        work = asyncio.create_task(self._run(call))
        self._runs[call.ref] = work
        self._running[call.tools].add(call.ref)
        try:
            in_time, _ = await asyncio.wait({work}, timeout=limit_s)
            if not in_time:
                return Ran(Result.TIMED_OUT, error=say("tool.late", limit=f"{limit_s:g}"))
            return Ran(Result.UNKNOWN, error=say("mcp.cancelled")) if work.cancelled() else work.result()
        finally:
            work.cancel()
            await asyncio.wait({work}, timeout=_CANCEL_S)
            self._runs.pop(call.ref, None)
            self._running[call.tools].discard(call.ref)

    async def _run(self, call: Call) -> Ran:
        upstream = self.upstreams.get(call.tools)
        if upstream is None:
            return Ran(Result.REFUSED, error=say("tool.unlisted.run", tool=one_line(call.tool)))
        try:
            # Listing the tools shows whether the server is alive. If the server has died, the listing starts it again.
            # The list also holds the tool's current definition.
            await upstream.fresh()
            info = self.info(call.tools, call.tool)
            if info is None or (info.executor, info.definition) != (call.executor, call.definition):
                return Ran(Result.REFUSED, error=say("tool.changed", tool=one_line(call.tool)))
            return await self._asked(upstream, call)
        except UpstreamDown as down:
            return Ran(Result.REFUSED, error=f"{down} {say('mcp.not_run')}")

    async def _asked(self, upstream: Upstream, call: Call) -> Ran:
        """Send the call to the server once, and return its result. Once the request is sent, the call may have an
        effect.

        Raises UpstreamDown if nothing was sent.
        """

        async def told(progress: float, total: float | None, message: str | None) -> None:
            for watcher in tuple(self._watchers.get(call.ref, ())):
                await watcher.progress(progress, total, message and upstream.target.clean(message))

        request, kind = _request(call)
        try:
            answer: Answer | t.InputRequiredResult = await upstream.request(request, kind, told)
        except MCPError as error:
            return _failed(upstream, error)
        except ValidationError:
            return Ran(Result.FAILED, error=say("mcp.unreadable"))
        except UpstreamDown:
            raise
        except Exception as error:  # noqa: BLE001 - the request was sent, and its effect is unknown
            _log.warning("upstream.lost", {"ref": call.ref, "why": type(error).__name__})
            return Ran(Result.UNKNOWN, error=say("mcp.died"))
        if isinstance(answer, t.InputRequiredResult):
            return Ran(Result.FAILED, error=say("mcp.asks"))
        answer = bounded(answer, upstream.target.clean)
        self._answers[call.ref] = answer
        return ran(answer)

    # -- methods for the gateway, whose clients wait for calls ------------------------------------------------

    def answer(self, ref: str) -> Answer | None:
        """Return the complete answer of the server to a call, or None if it isn't kept any more."""
        return self._answers.get(ref)

    def forget(self, ref: str) -> None:
        """Drop the complete answer to a call."""
        self._answers.pop(ref, None)

    def watch(self, ref: str, watcher: Watcher) -> None:
        """Let a watcher follow a call that runs now or later."""
        self._watchers[ref].append(watcher)

    def unwatch(self, ref: str, watcher: Watcher) -> bool:
        """Remove a watcher. Return whether the call has other watchers."""
        others = [each for each in self._watchers.pop(ref, ()) if each is not watcher]
        if others:
            self._watchers[ref] = others
        return bool(others)

    def cancel(self, ref: str) -> None:
        """Cancel a running call at its server, because no client waits for its result any more."""
        if work := self._runs.get(ref):
            work.cancel()

    def on_change(self, tell: Callable[[ServerEvent], Any]) -> None:
        """Register a function that is awaited whenever a server's tools, prompts or resources change."""
        self._changes.append(tell)

    async def changed(self, server: str, event: ServerEvent) -> None:
        """Notify the registered functions that a server's tools, prompts or resources have changed."""
        _log.info("upstream.changed", {"server": server, "what": type(event).__name__})
        for tell in tuple(self._changes):
            await tell(event)

    async def logged(self, server: str, line: t.LoggingMessageNotificationParams) -> None:
        """Pass a log line to the watchers of the calls that run on this server.

        A log line doesn't name its call. So the line is dropped if a call without a watcher runs there, or if the
        watchers there belong to different callers.
        """
        followed = [self._watchers.get(ref, []) for ref in self._running[server]]
        watchers = [watcher for each in followed for watcher in each]
        if not all(followed) or len({watcher.whose for watcher in watchers}) != 1:
            return
        for watcher in watchers:
            await watcher.log(line)


def _request(call: Call) -> tuple[t.ClientRequest, TypeAdapter[Any]]:
    """Return the request that makes a call at its server, and the type of the server's answer."""
    args = call.arguments
    if call.tool == READ_RESOURCE:
        return t.ReadResourceRequest(params=t.ReadResourceRequestParams(uri=args["uri"])), _READ
    if call.tool == GET_PROMPT:
        prompt = t.GetPromptRequestParams(name=args["name"], arguments=args.get("arguments"))
        return t.GetPromptRequest(params=prompt), _GOT
    return t.CallToolRequest(params=t.CallToolRequestParams(name=call.tool, arguments=args)), _CALLED


def _failed(upstream: Upstream, error: MCPError) -> Ran:
    lost = error.code in {t.CONNECTION_CLOSED, t.REQUEST_TIMEOUT} or error.message == _NO_ANSWER
    if lost:
        return Ran(Result.UNKNOWN, error=say("mcp.died"))
    return Ran(Result.FAILED, error=mask(upstream.target.clean(one_line(error.message, 2000))))


def _size(answer: Answer) -> int:
    return len(answer.model_dump_json())


def _check(tool: str, args: Mapping[str, Any]) -> None:
    keys = _OPERATION_KEYS.get(tool)
    if keys is None:
        return
    named, words = args.get(keys[0]), args.get("arguments") or {}
    fits = isinstance(words, dict) and all(isinstance(word, str) for word in words.values())
    if not isinstance(named, str) or not fits or not args.keys() <= set(keys):
        raise InvalidConfirmation(say("mcp.arguments", tool=tool))
