"""Pydantic AI: a capability that puts every tool call of an agent through the gate.

    agent = Agent(model, tools=[...], capabilities=[SaysoGate(sayso)])

It covers all toolsets of the agent, including those of MCP servers, and comes directly before each tool: people see the
arguments as they are after validation. It doesn't cover tools that the model's provider runs itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Unpack

from sayso_client.calls import AsyncSayso
from sayso_client.life import Request
from sayso_client.outcomes import Ran
from sayso_client.turns import Terms, apending, arun_gated, key_of, missing
from sayso_client.wording import say

try:
    from pydantic_ai import ApprovalRequired, RunContext
    from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
    from pydantic_ai.toolsets import AbstractToolset, ToolsetTool, WrapperToolset
    from pydantic_core import PydanticSerializationError, to_jsonable_python
except ImportError as error:
    raise missing("pydantic-ai", error) from error


class SaysoGate(AbstractCapability[Any]):
    """Asks before each tool call.

    By default the run waits for people. With `parks`, a name for this conversation, the run ends with the framework's
    `DeferredToolRequests` while people decide (the agent's output type must allow that). Continue with the messages and
    `requests.build_results(approve_all=True)`. This result decides nothing: each time, the service is asked for the
    call's state.
    """

    def __init__(self, sayso: AsyncSayso, *, parks: str | None = None, **terms: Unpack[Terms]) -> None:
        super().__init__()
        self.sayso = sayso
        self.parks = parks
        self.terms: dict[str, Any] = {"tools": "pydantic-ai", "session": parks, **terms}

    def get_ordering(self) -> CapabilityOrdering:
        """Return the gate's position: inside (closer to the tool than) every capability that could change a call."""
        return CapabilityOrdering(position="innermost")

    def get_wrapper_toolset(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
        """Return the agent's tools behind the gate."""
        return _Gated(toolset, gate=self)


@dataclass
class _Gated(WrapperToolset[Any]):
    gate: SaysoGate = field(kw_only=True)

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        """Run a tool if it may run. Raises the tool's errors, and ApprovalRequired while people decide."""
        try:
            shown = _shown(tool_args)
        except PydanticSerializationError as error:
            return say("framework.arguments", tool=name, error=error)
        request = self._request(name, shown, ctx)
        if self.gate.parks and (call := await apending(self.gate.sayso, request)):
            raise ApprovalRequired(metadata=call)

        async def work() -> Any:
            if _shown(tool_args) != shown:
                raise RuntimeError(say("framework.changed", tool=name))
            return await self.wrapped.call_tool(name, tool_args, ctx, tool)

        came = await arun_gated(self.gate.sayso, request, work)
        return came.value if isinstance(came, Ran) else str(came)

    def _request(self, name: str, shown: dict[str, Any], ctx: RunContext[Any]) -> Request:
        gate = self.gate
        key = key_of("pydantic-ai", gate.parks, ctx.tool_call_id or "", name) if gate.parks else None
        return Request(name, shown, key=key, **gate.terms)


def _shown(args: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments as JSON. Raises PydanticSerializationError if JSON can't represent them."""
    shown: dict[str, Any] = to_jsonable_python(args)
    return shown
