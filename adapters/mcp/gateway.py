"""The gateway: the MCP server that clients see, with the gate before everything that can act.

One `Gateway` serves all connections and transports. A connection identifies its caller. The gate decides who may ask,
who approves, and whether the call runs. A client may disconnect at any time: its call stays, and the client can find
the call again.
"""

from __future__ import annotations

import asyncio
import contextlib
import warnings
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakSet

import mcp_types as t
from mcp import MCPDeprecationWarning, MCPError
from mcp.server import NotificationOptions, Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.subscriptions import PromptsListChanged, ToolsListChanged
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from adapters.mcp.callers import Caller, Client, client_of, is_of, session_of
from adapters.mcp.catalogue import ASK, STATUS, WITHDRAW, Catalogue
from adapters.mcp.definitions import GET_PROMPT, READ_RESOURCE
from adapters.mcp.ladder import LEGS, WaitTimes, returning, state_of
from adapters.mcp.upstream import UpstreamDown
from hitl.call import Ask, Call, Decision, Result, Runs, State
from hitl.cards.card import outcome_for_agent
from hitl.cards.redaction import mask
from hitl.cards.wording import say
from hitl.errors import SaysoError
from hitl.proof.canonical import canonical
from hitl.proof.keyring import as_short
from hitl.question import GROUP, TOOL

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from mcp.server.connection import Connection
    from mcp.server.context import ServerRequestContext
    from mcp.shared.subscriptions import ServerEvent

    from adapters.mcp.executor import Servers
    from adapters.mcp.results import Answer
    from hitl.gate import Gate
    from hitl.gate.response import Submitted

    Context = ServerRequestContext[Any, Any]
    #: Returns the caller of a request, as its transport proved it. Raises SaysoError if the caller's right has ended.
    Who = Callable[[Context], Caller]

#: Each progress report of the gateway raises the progress by this amount. The amount is tiny: the tool's own progress
#: is added, and the sum must grow with each report.
_TICK = 0.001
#: If a call has one of these results, the client gets the server's complete answer.
_RAN = frozenset({Result.SUCCEEDED, Result.FAILED})


class Desk(Protocol):
    """The part of the running service that the gateway uses."""

    gate: Gate

    async def submit(self, ask: Ask) -> Submitted:
        """Record a call, and run it if the policy allows it."""

    async def explained(self, call: Call, limit_s: float | None = None) -> Call:
        """Wait until people have decided. If they were asked for a rejection's reason, wait for it too.

        Return the call.
        """

    async def ended(self, call: Call, limit_s: float | None = None) -> Call:
        """Wait until the call has ended. Return the call."""


class _Watching:
    """A client's request that follows a call. Implements `adapters.mcp.executor.Watcher`."""

    def __init__(self, context: Context, whose: str) -> None:
        self._context = context
        self._ticks = 0
        self._whose = whose

    @property
    def whose(self) -> str:
        """Return the caller's principal and token id."""
        return self._whose

    async def waits(self) -> None:
        """Report that the call is still pending, if the client asked for progress."""
        self._ticks += 1
        await self._context.session.report_progress(self._ticks * _TICK, None, say("mcp.waiting"))

    async def progress(self, done: float, total: float | None, message: str | None) -> None:
        """Pass the server's progress report to the client.

        The protocol requires that the numbers of one request grow, so the gateway's own earlier reports are added.
        """
        base = self._ticks * _TICK
        # A client may have left. An error about that client must not affect other clients.
        with contextlib.suppress(Exception):
            await self._context.session.report_progress(base + done, None if total is None else base + total, message)

    async def log(self, line: t.LoggingMessageNotificationParams) -> None:
        """Pass a log line to the client."""
        with contextlib.suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            await self._context.session.send_log_message(
                line.level, line.data, line.logger, related_request_id=self._context.request_id
            )


class _Server(Server[Any]):
    """The library's server. It announces to every client that its tools, prompts and resources may change."""

    def create_initialization_options(self, notification_options: Any = None, *args: Any, **kwargs: Any) -> Any:
        # Over HTTP the library passes no options. Without our own options, it would announce that lists never change.
        options = notification_options or NotificationOptions(
            prompts_changed=True, resources_changed=True, tools_changed=True
        )
        return super().create_initialization_options(options, *args, **kwargs)


class Gateway:
    """The MCP server that clients connect to. It asks the gate about every request that can act.

    `server` makes the library's server for one connection, or for all connections of one transport.
    """

    def __init__(self, desk: Desk, servers: Servers, waits: WaitTimes | None = None) -> None:
        self._desk = desk
        self._servers = servers
        self._waits = waits or WaitTimes()
        self._catalogue = Catalogue(servers)
        self._bus = InMemorySubscriptionBus()
        self._connections: WeakSet[Connection] = WeakSet()
        servers.on_change(self._changed)

    def server(self, who: Who) -> Server[Any]:
        """Return a server of the MCP library whose requests this gateway answers.

        `who` returns the caller of each request, or raises SaysoError for a caller whose right has ended.
        """
        answering = _Answering(self, who)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            made = _Server(
                "sayso",
                version=version("sayso"),
                instructions=say("mcp.instructions"),
                on_list_tools=answering.list_tools,
                on_call_tool=answering.call_tool,
                on_list_resources=answering.list_resources,
                on_list_resource_templates=answering.list_templates,
                on_list_prompts=answering.list_prompts,
                on_read_resource=answering.read_resource,
                on_get_prompt=answering.get_prompt,
                on_completion=answering.complete,
                on_set_logging_level=answering.set_level,
                on_subscriptions_listen=ListenHandler(self._bus),
            )
        made.middleware += [answering.checked, self._remember]
        return made

    async def _remember(self, ctx: Context, call_next: Any) -> Any:
        """Remember the connection of a client with an old protocol, to notify the client when tools, prompts or
        resources change.

        The library itself can't notify such a client later, because it ends the client's session together with the
        request.
        """
        if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            self._connections.add(ctx.session._connection)  # noqa: SLF001 - the library has no public function for this
        return await call_next(ctx)

    async def _changed(self, event: ServerEvent) -> None:
        await self._bus.publish(event)
        send = {ToolsListChanged: "send_tool_list_changed", PromptsListChanged: "send_prompt_list_changed"}
        for connection in tuple(self._connections):
            try:
                await getattr(connection, send.get(type(event), "send_resource_list_changed"))()
            except Exception:  # noqa: BLE001 - one client may be gone, and the others must still be notified
                self._connections.discard(connection)

    # -- one call of a client -------------------------------------------------------------------------------

    async def called(self, context: Context, caller: Caller, what: _What, state: str | None) -> Call | str:
        """Ask for a call, or find the call that the client came back for. Wait at most as long as `WaitTimes` gives
        this request.

        Returns the call if it has ended. Otherwise returns a request state if the client should ask again, or the
        pending call if the client should ask for its state later. Raises SaysoError, and MCPError for a state that
        isn't this caller's.
        """
        client = client_of(context)
        modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
        call, leg = (
            await self._found(caller, what, state)
            if state
            else (await self._submitted(caller, client, what, client.key(caller)), 0)
        )
        rounds = LEGS - leg if modern else None
        watching = _Watching(context, f"{caller.principal} {caller.token}")
        self._servers.watch(call.ref, watching)
        try:
            call = await self._waited(call, client, watching, rounds)
        except asyncio.CancelledError:
            # Here, a cancelled request, a timed-out request and a lost connection look the same. If a person approved
            # the call, the call runs to its end, and its result can be fetched. If only the policy allowed the call, it
            # is stopped, unless somebody else waits for it.
            if not self._servers.unwatch(call.ref, watching) and call.decision is Decision.ALLOWED:
                self._servers.cancel(call.ref)
            raise
        finally:
            self._servers.unwatch(call.ref, watching)
        again = state_of(call.ref, leg) if modern else None
        return again if again and not _is_over(call) else call

    async def ask(self, caller: Caller, shown: str, args: Mapping[str, Any], key: str | None) -> Call | None:
        """Ask for a call of a tool, and don't wait for it. `key` is the caller's idempotency key.

        Return None if no server offers the tool. Raises the errors of `Gate.submit`.
        """
        found = await self._catalogue.tool(shown)
        client = Client("", "", None)
        return await self._submitted(caller, client, _What(*found, args), key) if found else None

    async def _submitted(self, caller: Caller, client: Client, what: _What, key: str | None) -> Call:
        ask = Ask(
            tools=what.server,
            tool=what.tool,
            args=what.args,
            requester=caller.principal,
            origin=caller.origin,
            runs=Runs.SERVICE,
            agent=client.agent,
            session=session_of(caller, client),
            key=key,
        )
        return (await self._desk.submit(ask)).call

    async def _found(self, caller: Caller, what: _What, state: str) -> tuple[Call, int]:
        """Return the call that a request state names, and the number of earlier requests for the call.

        The call must be this caller's, and the request must name exactly this call again. Raises MCPError otherwise.
        """
        named = returning(state)
        call = await self._own(caller, named[0]) if named else None
        same = call and (call.tools, call.tool, call.args) == (what.server, what.tool, canonical(dict(what.args)))
        if named is None or call is None or not same:
            raise MCPError(t.INVALID_PARAMS, say("mcp.state"))
        return call, named[1]

    async def _own(self, caller: Caller, named: str) -> Call | None:
        """Return the call with this ref, if it was asked for with this caller's credential, else None."""
        call = await self._desk.gate.find(named)
        asked = call is not None and self._desk.gate.access.asked(caller.principal, call)
        return call if call is not None and asked and is_of(call.session, caller) else None

    async def _waited(self, call: Call, client: Client, watching: _Watching, rounds: int | None) -> Call:
        """Return the call when it has ended, or its current state when this request has waited long enough."""
        if call.decision is Decision.ALLOWED:
            return await self._desk.ended(call)
        loop = asyncio.get_running_loop()
        left_s = -self._desk.gate.age(call.deadline)
        until = loop.time() + self._waits.one_request(client.name, left_s, rounds)
        while not _is_over(call) and (rest := until - loop.time()) > 0:
            step = min(rest, self._waits.tick_s)
            if call.state is State.EXECUTING:
                call = await self._desk.ended(call, step)
                continue
            call = await self._desk.explained(call, step)
            if call.state is State.AWAITING:
                await watching.waits()
        return call

    # -- the gateway's own tools ----------------------------------------------------------------------------

    async def status(self, caller: Caller, named: str) -> Call:
        """Return one of the caller's calls. If it hasn't ended, wait for it for a short time. Raises SaysoError."""
        call = await self._known(caller, named)
        call = await self._desk.explained(call, self._waits.shortest_leg_s)
        return await self._desk.ended(call, self._waits.shortest_leg_s) if call.state is State.EXECUTING else call

    async def withdraw(self, caller: Caller, named: str) -> Call:
        """Withdraw one of the caller's pending calls. Raises SaysoError."""
        call = await self._known(caller, named)
        return await self._desk.gate.withdraw(call.ref, caller.principal)

    async def _known(self, caller: Caller, named: str) -> Call:
        call = await self._own(caller, named)
        if call is None:
            raise SaysoError(say("mcp.unknown", named=as_short(named) or "?"))
        return call

    def whole(self, call: Call) -> Answer | None:
        """Return the server's complete answer to a call, or None if it isn't kept any more.

        If the output of the call was erased, the answer in memory is forgotten too.
        """
        if call.erased_at:
            self._servers.forget(call.ref)
        return self._servers.answer(call.ref) if call.result in _RAN else None

    @property
    def catalogue(self) -> Catalogue:
        """The tools, prompts and resources of the servers."""
        return self._catalogue

    async def forward(self, server: str, request: t.ClientRequest, result: Any) -> Any:
        """Send a request to one server without the gate. The caller uses this only for requests that can't act.

        Raises MCPError.
        """
        try:
            return await self._servers.upstreams[server].request(request, result)
        except UpstreamDown as down:
            raise MCPError(t.INTERNAL_ERROR, str(down)) from down


class _What:
    """The operation that a request asks for: the server, one of the server's tools, and the arguments."""

    def __init__(self, server: str, tool: str, args: Mapping[str, Any]) -> None:
        self.server, self.tool, self.args = server, tool, args


class _Answering:
    """Answers the MCP requests of clients, which the library parses and passes to these methods."""

    def __init__(self, gateway: Gateway, who: Who) -> None:
        self._gateway = gateway
        self._who = who
        self._own: Mapping[str, Callable[[Caller, str], Awaitable[Call]]] = {
            STATUS: gateway.status,
            WITHDRAW: gateway.withdraw,
        }

    async def checked(self, ctx: Context, call_next: Any) -> Any:
        """Answer a request.

        Raises MCPError if the caller's right to connect has ended. The right is checked before the work and again after
        it, because a request may wait for people for a long time.
        """
        if ctx.request_id is None:  # a notification gets no answer
            return await call_next(ctx)
        try:
            self._who(ctx)
            answer = await call_next(ctx)
            self._who(ctx)
        except SaysoError as error:
            raise MCPError(t.INVALID_REQUEST, error.message) from error
        return answer

    async def list_tools(self, context: Context, params: Any) -> t.ListToolsResult:
        """Return the tools of all servers, and the gateway's own tools."""
        del context, params
        return t.ListToolsResult(tools=await self._gateway.catalogue.tools())

    async def list_resources(self, context: Context, params: Any) -> t.ListResourcesResult:
        """Return the resources of all servers."""
        del context, params
        return t.ListResourcesResult(resources=await self._gateway.catalogue.resources())

    async def list_templates(self, context: Context, params: Any) -> t.ListResourceTemplatesResult:
        """Return the resource templates of all servers."""
        del context, params
        return t.ListResourceTemplatesResult(resource_templates=await self._gateway.catalogue.templates())

    async def list_prompts(self, context: Context, params: Any) -> t.ListPromptsResult:
        """Return the prompts of all servers."""
        del context, params
        return t.ListPromptsResult(prompts=await self._gateway.catalogue.prompts())

    async def call_tool(
        self, context: Context, params: t.CallToolRequestParams
    ) -> t.CallToolResult | t.InputRequiredResult:
        """Ask for a tool call, and return its result.

        A refusal becomes an error result, because every client shows an error result to its model.
        """
        caller = self._who(context)
        try:
            if own := self._own.get(params.name):
                return self._result(await own(caller, _ref(params)))
            found = (GROUP, TOOL) if params.name == ASK else await self._gateway.catalogue.tool(params.name)
            if found is None:
                raise MCPError(t.INVALID_PARAMS, say("mcp.unlisted"))
            what = _What(*found, params.arguments or {})
            call = await self._gateway.called(context, caller, what, params.request_state)
        except SaysoError as error:
            return _text(error.message, error=True)
        return t.InputRequiredResult(request_state=call) if isinstance(call, str) else self._result(call)

    async def read_resource(
        self, context: Context, params: t.ReadResourceRequestParams
    ) -> t.ReadResourceResult | t.InputRequiredResult:
        """Ask to read a resource, and return its contents.

        The policy and people decide about the reading like about a tool call.
        """
        uri = str(params.uri)
        server = await self._gateway.catalogue.owner(uri)
        what = server and _What(server, READ_RESOURCE, {"uri": uri})
        read: t.ReadResourceResult | t.InputRequiredResult = await self._operation(
            context, what or None, params.request_state, t.ReadResourceResult
        )
        return read

    async def get_prompt(
        self, context: Context, params: t.GetPromptRequestParams
    ) -> t.GetPromptResult | t.InputRequiredResult:
        """Ask for a prompt of a server, and return it.

        The policy and people decide about the request like about a tool call.
        """
        found = await self._gateway.catalogue.prompt(params.name)
        args: dict[str, Any] = {"name": found[1]} if found else {}
        if params.arguments:
            args["arguments"] = dict(params.arguments)
        what = _What(found[0], GET_PROMPT, args) if found else None
        got: t.GetPromptResult | t.InputRequiredResult = await self._operation(
            context, what, params.request_state, t.GetPromptResult
        )
        return got

    async def complete(self, context: Context, params: t.CompleteRequestParams) -> t.CompleteResult:
        """Forward a completion to the one server that offers the prompt or template."""
        del context
        ref: t.PromptReference | t.ResourceTemplateReference = params.ref
        if isinstance(ref, t.PromptReference):
            found = await self._gateway.catalogue.prompt(ref.name)
            server = found and found[0]
            ref = ref.model_copy(update={"name": found[1]}) if found else ref
        else:
            server = await self._gateway.catalogue.template_owner(ref.uri)
        if not server:
            raise MCPError(t.INVALID_PARAMS, say("mcp.unlisted"))
        asked = t.CompleteRequestParams(ref=ref, argument=params.argument, context=params.context)
        done: t.CompleteResult = await self._gateway.forward(server, t.CompleteRequest(params=asked), t.CompleteResult)
        return done

    async def set_level(self, context: Context, params: t.SetLevelRequestParams) -> t.EmptyResult:
        """Accept a log level and ignore it, so that a client gets the log lines of all levels.

        The level isn't passed on: a server would apply it to all clients, because they share one connection to the
        server.
        """
        del context, params
        return t.EmptyResult()

    async def _operation(self, context: Context, what: _What | None, state: str | None, kind: type) -> Any:
        """Ask for an operation that isn't a tool call.

        Such an operation has no error result, so a refusal is raised as MCPError.
        """
        if what is None:
            raise MCPError(t.INVALID_PARAMS, say("mcp.unlisted"))
        try:
            call = await self._gateway.called(context, self._who(context), what, state)
        except SaysoError as error:
            raise MCPError(t.INVALID_REQUEST, error.message) from error
        if isinstance(call, str):
            return t.InputRequiredResult(request_state=call)
        answer = self._gateway.whole(call)
        if isinstance(answer, kind):
            return answer
        raise MCPError(t.INVALID_REQUEST, _told(call))

    def _result(self, call: Call) -> t.CallToolResult:
        """Return the result for the client: the server's answer if the call ran, else a text about the call's state."""
        answer = self._gateway.whole(call)
        if isinstance(answer, t.CallToolResult):
            return answer
        if answer is not None:
            return _text(call.output or "")
        if call.result is Result.SUCCEEDED:
            return _text(mask(call.output or "") or _told(call))
        pending = not _is_over(call) or call.decision is Decision.WITHDRAWN
        return _text(_told(call), error=not pending)


def _is_over(call: Call) -> bool:
    """Return whether the call has ended and people can't give a reason for its rejection any more."""
    return call.ended and not call.awaits_reason


def _told(call: Call) -> str:
    """Return a sentence for a model about the state of the call."""
    if _is_over(call):
        return outcome_for_agent(call)
    if call.state is State.AWAITING:
        return say("mcp.pending", tool=call.tool, short=call.short)
    return f"{outcome_for_agent(call)} {say('mcp.later', short=call.short)}"


def _ref(params: t.CallToolRequestParams) -> str:
    ref = (params.arguments or {}).get("ref")
    return ref if isinstance(ref, str) else ""


def _text(text: str, *, error: bool = False) -> t.CallToolResult:
    return t.CallToolResult(content=[t.TextContent(type="text", text=text)], is_error=error)
