"""What one framework has and the others don't: nodes, sub-agents, servers of tools, states that were changed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypedDict

import pytest
from agents import Agent, Runner, RunState, WebSearchTool, handoff
from agents.mcp import MCPServer
from agents.testing import ScriptedModel, assistant_message, function_call
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command
from mcp.types import CallToolResult, TextContent
from mcp.types import Tool as MCPTool

from sayso_client import AsyncSayso, Ran, Sayso, configuration
from sayso_client.langchain import SaysoMiddleware, gated
from sayso_client.openai_agents import SaysoGate
from tests.acceptance.installation import Installation
from tests.acceptance.making import Maker, install, maker
from tests.thirdparty.test_frameworks import PAY, decided, started
from tests.thirdparty.turns import FRAMEWORKS, Made, OpenAI, Scripted, Turn

__all__ = ["install", "maker"]
pytestmark = [pytest.mark.thirdparty, pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module")
def running(maker: Maker) -> Iterator[Installation]:
    """A running service."""
    with maker.batch() as make:
        yield started(make)


@pytest.fixture
def turn(running: Installation, tmp_path: Path) -> Turn:
    """A turn that is to come."""
    return Turn(running.socket, tmp_path)


async def test_a_blocking_langchain_agent_asks_as_well(running: Installation, turn: Turn) -> None:
    """`invoke`, with the client that blocks."""
    script = [AIMessage("", tool_calls=[{"name": "pay", "args": {"amount": 42}, "id": "c1"}]), AIMessage("done")]
    with Sayso(configuration(socket=running.socket)) as sayso:
        agent = create_agent(
            Scripted(messages=iter(script)),
            [StructuredTool.from_function(turn.pay)],
            middleware=[SaysoMiddleware(sayso)],
        )
        work = asyncio.to_thread(agent.invoke, {"messages": [("user", "go")]})
        await asyncio.gather(work, decided(running, (42, "approve", None)))

    assert [("pay", 42)] == turn.ran


class State(TypedDict):
    """What the graph's node leaves."""

    told: list[str]


async def test_a_node_that_is_executed_again_runs_its_work_once(running: Installation, turn: Turn) -> None:
    """The first of two calls of one node ran before the node stopped for the second."""
    with Sayso(configuration(socket=running.socket)) as sayso:

        def node(state: State) -> State:
            del state
            came = [
                gated(sayso, "look", {}, turn.look),
                gated(sayso, "pay", {"amount": 42}, lambda: turn.pay(42)),
                gated(sayso, "pay", {"amount": 42}, lambda: turn.pay(42), name="second"),
            ]
            return {"told": [str(each.value) if isinstance(each, Ran) else f"{each.status}: {each}" for each in came]}

        graph = StateGraph(State)
        graph.add_node("n", node)
        graph.add_edge(START, "n")
        graph.add_edge("n", END)
        compiled = graph.compile(checkpointer=InMemorySaver())
        config: Any = {"configurable": {"thread_id": "t"}}
        given: Any = {"told": []}
        for verb in ("approve", "reject"):
            came = await asyncio.to_thread(compiled.invoke, given, config)
            assert came["__interrupt__"]
            await decided(running, (42, verb, None))
            given = Command(resume="somebody says yes")
        came = await asyncio.to_thread(compiled.invoke, given, config)

    assert [("look", None), ("pay", 42)] == turn.ran
    assert ["succeeded: a room", "succeeded: paid 42 (none)"] == came["told"][:2]
    assert came["told"][2].startswith("rejected")


class Shop(MCPServer):
    """A server of tools, in this process."""

    def __init__(self) -> None:
        super().__init__()
        self.ran: list[Any] = []

    @property
    def name(self) -> str:
        """Its name."""
        return "shop"

    async def connect(self) -> None:
        """There is nothing to connect to."""

    async def cleanup(self) -> None:
        """Nor anything to clean up."""

    async def list_tools(self, *_: Any) -> list[MCPTool]:
        """One tool."""
        return [MCPTool(name="pay", input_schema={"type": "object", "properties": {"amount": {"type": "integer"}}})]

    async def call_tool(self, tool_name: str, arguments: Any, *_: Any) -> CallToolResult:
        """Run it."""
        assert tool_name == "pay"
        self.ran.append(arguments)
        return CallToolResult(content=[TextContent(type="text", text="paid")])

    async def list_prompts(self) -> Any:
        """None."""

    async def get_prompt(self, name: str, arguments: Any = None) -> Any:
        """None."""


@pytest.mark.parametrize(("verb", "ran"), [("approve", [{"amount": 42}]), ("reject", [])])
async def test_tools_of_servers_and_of_agents_that_are_handed_over_to_are_gated(
    running: Installation, verb: str, ran: list[Any]
) -> None:
    """Also where the other agent hands back."""
    shop = Shop()
    pay: list[Any] = [[function_call("pay", '{"amount": 42}', call_id="c2")], [assistant_message("done")]]
    clerk = Agent(name="clerk", model=ScriptedModel(pay), mcp_servers=[shop])
    over: list[Any] = [[function_call("transfer_to_clerk", "{}", call_id="c1")]]
    front = Agent(name="front", model=ScriptedModel(over), handoffs=[clerk])
    clerk.handoffs.append(front)
    async with AsyncSayso(configuration(socket=running.socket)) as sayso:
        work = Runner.run(SaysoGate(sayso).gated(front), "go")
        await asyncio.gather(work, decided(running, (42, verb, None)))

    assert ran == shop.ran


async def test_what_the_gate_cannot_hold_is_refused(running: Installation) -> None:
    """Tools that run elsewhere, agents as tools that aren't gated, and handoffs that can't be looked into."""
    inner = Agent(name="inner")
    async with AsyncSayso(configuration(socket=running.socket)) as sayso:
        gate = SaysoGate(sayso)
        for agent in (
            Agent(name="a", tools=[WebSearchTool()]),
            Agent(name="a", tools=[inner.as_tool("inner", "asks inner")]),
            Agent(name="a", handoffs=[handoff(inner)]),
        ):
            with pytest.raises(TypeError):
                gate.gated(agent)
        SaysoGate(sayso, ungated={"web_search"}).gated(Agent(name="a", tools=[WebSearchTool()]))


async def test_what_is_added_to_an_agent_later_is_gated_too(running: Installation, turn: Turn) -> None:
    """A tool, also one with a name that needs no gate; an agent to hand over to must be gated before."""
    script = [[function_call("pay", '{"amount": 42, "note": "x"}', call_id="c1")], [assistant_message("done")]]
    async with AsyncSayso(configuration(socket=running.socket)) as sayso:
        agent = SaysoGate(sayso, ungated={"pay"}).gated(Agent(name="shop", model=ScriptedModel(script)))
        agent.tools.append(OpenAI.strict(turn.pay))
        await asyncio.gather(Runner.run(agent, "go"), decided(running, (42, "reject", "no")))
        agent.handoffs.append(Agent(name="stranger"))
        with pytest.raises(TypeError):
            await Runner.run(agent, "go")

    assert [] == turn.ran


async def test_a_state_in_which_somebody_approved_a_call_runs_nothing(running: Installation, turn: Turn) -> None:
    """The state lies in a file that others may write: it decides nothing."""
    turn.parks = True
    await FRAMEWORKS["openai-agents"].begin(turn, [PAY])
    async with turn.client() as sayso:
        gate = SaysoGate(sayso, parks=turn.name)
        model = ScriptedModel([[assistant_message("done")]])
        agent = gate.gated(Agent(name="shop", model=model, tools=[OpenAI.strict(turn.pay)]))
        state: Any = await RunState.from_json(agent, json.loads(turn.stored))
        for item in state.get_interruptions():
            state.approve(item)
        work = Runner.run(agent, state)
        await asyncio.gather(work, decided(running, (42, "reject", "no")))

    assert [] == turn.ran


@pytest.mark.parametrize("framework", sorted(FRAMEWORKS))
async def test_a_turn_goes_on_where_the_policy_allowed_all_of_it(turn: Turn, framework: str) -> None:
    """Nobody has to be waited for."""
    turn.parks = True
    await FRAMEWORKS[framework].begin(turn, [Made("look", {})])

    assert (False, [("look", None)]) == (turn.stopped, turn.ran)


async def test_a_step_that_was_cut_off_finds_its_call_again(
    install: Callable[..., Installation], tmp_path: Path
) -> None:
    """The service and the agent died while the step waited; the step is executed again and people see one card."""
    service = started(install)
    turn = Turn(service.socket, tmp_path, patience_s=0)
    tools = [StructuredTool.from_function(turn.pay)]
    script = [AIMessage("", tool_calls=[{"name": "pay", "args": {"amount": 42}, "id": "c1"}]), AIMessage("done")]
    model, saver, config = Scripted(messages=iter(script)), InMemorySaver(), {"configurable": {"thread_id": "t"}}

    class CutOff(SaysoMiddleware):
        """The process ends where it would be told to run the tool."""

        def wrap_tool_call(self, request: Any, handler: Any) -> Any:
            """End once asked."""
            del handler
            return super().wrap_tool_call(request, lambda _: (_ for _ in ()).throw(SystemExit))

    with Sayso(configuration(socket=service.socket)) as sayso:
        first: Any = create_agent(model, tools, middleware=[CutOff(sayso)], checkpointer=saver)
        work = asyncio.to_thread(_ended, first, config)
        await asyncio.gather(work, decided(service, (42, "approve", None)))
        again: Any = create_agent(model, tools, middleware=[SaysoMiddleware(sayso)], checkpointer=saver)
        came = await asyncio.to_thread(again.invoke, None, config)

    assert [] == turn.ran
    assert "done" == came["messages"][-1].content
    with service.database() as database:
        assert (1,) == database.execute("SELECT count(*) FROM calls").fetchone()


def _ended(agent: Any, config: Any) -> None:
    """Run an agent whose process ends within."""
    with pytest.raises(SystemExit):
        agent.invoke({"messages": [("user", "go")]}, config)
