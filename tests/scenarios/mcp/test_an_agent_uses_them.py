"""A model in a chat calls the tools of an MCP server: what the policy asks about waits for a person."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from adapters.agents.model import ModelAgent
from adapters.agents.providers import make_model
from adapters.executors.groups import Groups
from adapters.terminal.chat import TerminalChat
from bot.agent import Listed
from bot.conversation import Router, StoredTurns
from hitl.call import Verb
from hitl.events import Text
from hitl.surfaces import Surface
from simulators.model import Call, ModelServer, Reply
from tests.patience import PATIENCE_S
from tests.scenarios.mcp.behind import ME

if TYPE_CHECKING:
    from tests.scenarios.mcp.behind import Behind, Scripted


async def test_a_model_calls_tools_of_a_server_and_hears_how_each_ended(behind: Behind, files: Scripted) -> None:
    """An allowed one runs at once, an approved one afterwards. The model is offered what the settings list."""
    listed = Listed(Groups({"files": behind.servers}), ["files.remove", "files.stat"])
    calls = (Call("files__stat", {}), Call("files__remove", {"path": "a"}))
    replies = iter([Reply("", calls), Reply("All done.")])
    shown: list[str] = []
    async with ModelServer(lambda _: next(replies)) as server:
        model = make_model("anthropic:simulated", key="k", base_url=server.base_url("anthropic"))
        agent = ModelAgent(model, "", listed.offers)
        turns = StoredTurns(behind.service, agent)
        chat = TerminalChat(shown.append, width=None, colour=False)
        router = Router(behind.service, chat, Surface(name="local", help="chat.help"), turns=turns)
        router.listen("local")
        await router.handle(Text(identity=ME, conversation="local", text="clean up", addressed=True))
        waiting = await behind.asked("remove")
        await behind.answer(Verb.APPROVE, waiting)
        async with asyncio.timeout(PATIENCE_S):
            while not turns.idle:  # noqa: ASYNC110 - idleness is a fact, and nothing tells of it
                await asyncio.sleep(0.01)
        await agent.close()

    assert {"files__remove", "files__stat", "sayso__ask_human"} == set(server.asked[0].tools)
    assert ["succeeded"] * 2 == [json.loads(each)["status"] for each in server.asked[1].fresh.values()]
    assert {"stat {}", 'remove {"path": "a"}'} == set(files.runs)
    assert "All done." in shown[-1]
