"""One turn of an agent in each framework: a scripted model makes tool calls, the gate stands before the tools.

An agent is made anew for each step of a test, from what the framework stored, as a new process would make it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

from agents import Agent as OpenAIAgent
from agents import FunctionTool, Runner, RunState, function_tool, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai import DeferredToolRequests
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from sayso_client import AsyncSayso, configuration
from sayso_client.langchain import SaysoMiddleware
from sayso_client.openai_agents import SaysoGate as OpenAIGate
from sayso_client.pydantic_ai import SaysoGate as PydanticGate

set_tracing_disabled(True)


@dataclass(frozen=True)
class Made:
    """A tool call that the model makes."""

    tool: str
    args: dict[str, Any]
    id: str = "c1"


@dataclass
class Turn:
    """What is kept between the steps of a turn, and what came of it."""

    socket: Path
    folder: Path
    parks: bool = False
    #: The name of its run.
    name: str = field(default_factory=lambda: uuid4().hex)
    patience_s: float = 60
    #: What ran, with the arguments that it got.
    ran: list[tuple[str, Any]] = field(default_factory=list)
    #: What the model was told of each call.
    told: dict[str, str] = field(default_factory=dict)
    #: Whether the turn stopped for people.
    stopped: bool = False
    stored: Any = None

    def pay(self, amount: int, note: str = "none") -> str:
        """Pay somebody."""
        self.ran.append(("pay", amount))
        return f"paid {amount} ({note})"

    def look(self) -> str:
        """Look around."""
        self.ran.append(("look", None))
        return "a room"

    def client(self) -> AsyncSayso:
        """A client as a new process makes it."""
        return AsyncSayso(configuration(socket=self.socket), patience_s=self.patience_s)


class Framework(Protocol):
    """How a framework runs a turn."""

    async def begin(self, turn: Turn, calls: Sequence[Made]) -> None:
        """Let the model make these calls."""

    async def go_on(self, turn: Turn) -> None:
        """Go on with a turn that stopped, in a new agent."""


class Scripted(GenericFakeChatModel):
    """A scripted model that takes tools."""

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        """Take any tools."""
        del tools
        return self


class LangChain:
    """`create_agent` with a checkpointer in a file."""

    async def begin(self, turn: Turn, calls: Sequence[Made]) -> None:
        """As the protocol says."""
        made = [{"name": call.tool, "args": call.args, "id": call.id} for call in calls]
        await self._invoke(turn, {"messages": [("user", "go")]}, [AIMessage("", tool_calls=made), AIMessage("done")])

    async def go_on(self, turn: Turn) -> None:
        """As the protocol says."""
        await self._invoke(turn, Command(resume="somebody says yes"), [AIMessage("done")])

    async def _invoke(self, turn: Turn, given: Any, script: list[AIMessage]) -> None:
        tools = [StructuredTool.from_function(function) for function in (turn.pay, turn.look)]
        config: Any = {"configurable": {"thread_id": "t"}}
        async with turn.client() as sayso, AsyncSqliteSaver.from_conn_string(str(turn.folder / "lc.db")) as saver:
            gate = SaysoMiddleware(sayso, parks=turn.parks)
            agent = create_agent(Scripted(messages=iter(script)), tools, middleware=[gate], checkpointer=saver)
            if turn.stopped:
                # One answer for each interrupt: they are addressed by their ids.
                state = await agent.aget_state(config)
                given = Command(resume={each.id: "somebody says yes" for each in state.interrupts})
            came = await agent.ainvoke(given, config)
        turn.stopped = bool(came.get("__interrupt__"))
        turn.told = {m.tool_call_id: str(m.content) for m in came["messages"] if isinstance(m, ToolMessage)}


class OpenAI:
    """An agent of the OpenAI Agents SDK whose state is stored as JSON."""

    async def begin(self, turn: Turn, calls: Sequence[Made]) -> None:
        """As the protocol says."""
        made = [function_call(call.tool, json.dumps(call.args), call_id=call.id) for call in calls]
        await self._run(turn, [made, [assistant_message("done")]], "go")

    async def go_on(self, turn: Turn) -> None:
        """As the protocol says."""
        await self._run(turn, [[assistant_message("done")]], None)

    async def _run(self, turn: Turn, script: list[Any], given: Any) -> None:
        tools: list[Any] = [self.strict(turn.pay), self.strict(turn.look)]
        async with turn.client() as sayso:
            gate = OpenAIGate(sayso, parks=turn.name if turn.parks else None)
            agent = gate.gated(OpenAIAgent(name="shop", model=ScriptedModel(script), tools=tools))
            state = await RunState.from_json(agent, json.loads(turn.stored)) if given is None else None
            while True:
                if state is not None and await gate.settle(state):
                    turn.stored, turn.stopped = json.dumps(state.to_json()), True
                    return
                came = await Runner.run(agent, state or given)
                if not came.interruptions:
                    break
                state = came.to_state()
        turn.stopped = False
        outputs = [item.raw_item for item in came.new_items if item.type == "tool_call_output_item"]
        turn.told = {each["call_id"]: str(each["output"]) for each in outputs}

    @staticmethod
    def strict(function: Any) -> FunctionTool:
        """A function as a tool whose errors are raised."""
        return function_tool(function, failure_error_function=None, strict_mode=False)


class Pydantic:
    """An agent of Pydantic AI whose messages are stored as JSON."""

    async def begin(self, turn: Turn, calls: Sequence[Made]) -> None:
        """As the protocol says."""
        made: list[Any] = [ToolCallPart(call.tool, call.args, call.id) for call in calls]
        await self._run(turn, [made, [TextPart("done")]], user_prompt="go")

    async def go_on(self, turn: Turn) -> None:
        """As the protocol says."""
        history, requests = turn.stored
        answers = requests.build_results(approvals={call.tool_call_id: True for call in requests.approvals})
        messages = ModelMessagesTypeAdapter.validate_json(history)
        await self._run(turn, [[TextPart("done")]], message_history=messages, deferred_tool_results=answers)

    async def _run(self, turn: Turn, script: list[Any], **given: Any) -> None:
        parts = iter(script)

        def model(messages: Any, info: AgentInfo) -> ModelResponse:
            del messages, info
            return ModelResponse(parts=next(parts))

        async with turn.client() as sayso:
            gate = PydanticGate(sayso, parks=turn.name if turn.parks else None)
            agent: Any = PydanticAgent(
                FunctionModel(model), capabilities=[gate], output_type=[str, DeferredToolRequests]
            )
            agent.tool_plain(turn.pay)
            agent.tool_plain(turn.look)
            came = await agent.run(**given)
        turn.stopped = isinstance(came.output, DeferredToolRequests)
        turn.stored = came.all_messages_json(), came.output
        answers = [part for message in came.all_messages() for part in message.parts]
        turn.told = {part.tool_call_id: str(part.content) for part in answers if isinstance(part, ToolReturnPart)}


FRAMEWORKS: dict[str, Framework] = {"langchain": LangChain(), "openai-agents": OpenAI(), "pydantic-ai": Pydantic()}
