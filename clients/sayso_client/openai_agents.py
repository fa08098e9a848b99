"""OpenAI Agents SDK: an agent whose every tool call goes through the gate.

    agent = SaysoGate(sayso).gated(Agent(name="shop", tools=[...], mcp_servers=[...]))

The gate gets calls of function tools, of tools of MCP servers, and of the tools of agents that this agent may hand over
to. Tools that run at the model's provider, or that the SDK runs in other ways, can't be gated. `gated` refuses an agent
that has such tools, unless they are named in `ungated`.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import fields, replace
from typing import Any, Unpack

from sayso_client.calls import AsyncSayso
from sayso_client.life import Request
from sayso_client.outcomes import Ran
from sayso_client.turns import Terms, apending, arun_gated, key_of, missing
from sayso_client.wording import say

try:
    from agents import Agent, FunctionTool, RunContextWrapper, RunState, Tool
    from agents.tool_context import ToolContext
    from jsonschema import ValidationError, validate
except ImportError as error:
    raise missing("openai-agents", error) from error


class SaysoGate:
    """Asks before each tool call of the agents that it gates.

    By default the run waits for people. With `parks`, the run ends with the SDK's interruptions while people decide.
    `parks` is a name for this run, and no other run may use it. After the interruptions, pass the run's state to
    `settle`, and run it again when nothing is pending.
    """

    def __init__(
        self,
        sayso: AsyncSayso,
        *,
        parks: str | None = None,
        ungated: Collection[str] = (),
        **terms: Unpack[Terms],
    ) -> None:
        self._sayso = sayso
        self._terms: dict[str, Any] = {"tools": "openai-agents", "session": parks, **terms}
        self._parks = parks
        self._ungated = frozenset(ungated)
        self._agents: dict[int, _Gated] = {}

    def gated(self, agent: Agent[Any]) -> Agent[Any]:
        """Return the agent behind the gate, with the agents that it may hand over to.

        Raises TypeError for a tool or a handoff that can't be gated.
        """
        if isinstance(agent, _Gated):
            return agent
        if id(agent) in self._agents:
            return self._agents[id(agent)]
        if type(agent) is not Agent:
            raise TypeError(say("framework.ungated", name=agent.name))
        kept = {field.name: getattr(agent, field.name) for field in fields(agent)}
        made = self._agents[id(agent)] = _Gated(**{**kept, "handoffs": []})
        made.gate = self
        made.original = agent  # The reference keeps the original agent alive, so that no other object can get its id.
        for tool in agent.tools:
            self.tool(tool)
        for other in agent.handoffs:
            if not isinstance(other, Agent):
                raise TypeError(say("framework.handoff", name=other.tool_name))
            made.handoffs.append(self.gated(other))
        return made

    def tool(self, tool: Tool) -> Tool:
        """Return the tool behind the gate. Raises TypeError if this kind of tool can't be gated."""
        if isinstance(tool, FunctionTool) and getattr(tool.on_invoke_tool, "gate", None) is self:
            return tool
        if not isinstance(tool, FunctionTool) or not self._holds(getattr(tool, "_agent_instance", None)):
            if tool.name in self._ungated:
                return tool
            raise TypeError(say("framework.ungated", name=tool.name))

        async def invoked(context: ToolContext[Any], arguments: str) -> Any:
            try:
                request = self._request(tool.name, arguments, context.tool_call_id, tool.params_json_schema)
            except ValueError as error:
                return say("framework.arguments", tool=tool.name, error=error)

            async def work() -> Any:
                return await tool.on_invoke_tool(context, arguments)

            came = await arun_gated(self._sayso, request, work)
            return came.value if isinstance(came, Ran) else str(came)

        invoked.gate = self  # type: ignore[attr-defined]
        return replace(tool, on_invoke_tool=invoked, needs_approval=bool(self._parks) or tool.needs_approval)

    async def settle(self, state: RunState[Any, Any]) -> list[dict[str, Any]]:
        """Ask for the calls at which a run stopped, and return the calls that people haven't decided yet.

        The state records the decisions on the other calls: running it again runs the approved calls, and tells the
        model why the other calls didn't run. The state decides nothing: a changed state can't run a call that nobody
        approved.
        """
        waiting = []
        for item in state.get_interruptions():
            name, arguments, call = item.tool_name or "", item.arguments or "{}", item.call_id or ""
            try:
                found = await apending(self._sayso, self._request(name, arguments, call, {}))
            except ValueError:
                found = None  # The tool itself refuses the call, and gives the model the reason.
            if found:
                waiting.append(found)
            else:
                state.approve(item)
        return waiting

    def _holds(self, inner: Agent[Any] | None) -> bool:
        """Return whether a tool can be gated. `inner` is the agent that the tool runs, or None.

        An agent used as a tool can't stop in the middle of its run. So it must be gated itself, and neither its gate
        nor this gate may use `parks`.
        """
        return inner is None or (isinstance(inner, _Gated) and not self._parks and not inner.gate._parks)  # noqa: SLF001

    def _request(self, tool: str, arguments: str, call: str, schema: dict[str, Any]) -> Request:
        """Return the request for a call.

        Raises ValueError for arguments that the SDK would change before the tool gets them.
        """
        args = json.loads(arguments or "{}", object_pairs_hook=_once)
        if not isinstance(args, dict):
            raise ValueError("JSON")  # noqa: TRY004 - the model gets the text of this error
        try:
            # The SDK converts only values that the schema refuses. Such values are refused here, so nothing is
            # converted.
            validate(args, schema)
        except ValidationError as error:
            raise ValueError(error.message) from error
        key = key_of("openai-agents", self._parks, call) if self._parks else None
        return Request(tool, args, key=key, **self._terms)


class _Gated(Agent[Any]):
    """An agent behind the gate. Its tools are gated whenever they are listed, including those added later."""

    gate: SaysoGate
    original: Agent[Any]

    async def get_all_tools(self, run_context: RunContextWrapper[Any]) -> list[Tool]:
        """Return the tools behind the gate, including the tools of MCP servers.

        Raises TypeError if one of the tools can't be gated.
        """
        for other in self.handoffs:
            if not isinstance(other, _Gated):
                raise TypeError(say("framework.handoff", name=getattr(other, "tool_name", None) or other.name))
        return [self.gate.tool(tool) for tool in await super().get_all_tools(run_context)]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Raise an error for an object that has a name twice, because readers differ in which value they take."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name twice")
    return found
