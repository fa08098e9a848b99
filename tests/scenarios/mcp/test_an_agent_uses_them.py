"""A model in a chat calls the tools of an MCP server: what the policy asks about waits for a person."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from adapters.executors.confinement import kept_program
from adapters.executors.groups import Groups
from adapters.mcp.executor import Servers
from bot.agent import Listed
from hitl.call import Action, Risk, Verb
from simulators.model import Call, Reply
from tests.hitl.world import verdict
from tests.scenarios.agent.stages import FINE, PLACES, planned

if TYPE_CHECKING:
    from pathlib import Path

    from tests.scenarios.mcp.behind import Scripted


@pytest.mark.parametrize("place", PLACES)
async def test_a_model_calls_tools_of_a_server_and_hears_how_each_ended(
    files: Scripted, tmp_path: Path, place: str
) -> None:
    """An allowed one runs at once, an approved one afterwards, and a rejected one never.

    The model is offered what the settings list.
    """
    servers = Servers(
        [files.target("files")], folder=tmp_path / "kept", keep=lambda command: kept_program(command, 1.0)
    )
    groups = Groups({"files": servers})
    removing = (Call("files__remove", {"path": path}) for path in ("a", "b"))
    async with planned(place, Listed(groups, ["files.remove", "files.stat"]).offers) as plan:
        plan.stage.service.gate.executor = groups
        plan.stage.rules.verdicts |= {
            "stat": verdict(Action.ALLOW, Risk.LOW),
            "remove": verdict(Action.APPROVE, Risk.MEDIUM),
        }
        plan.says(Reply("", (Call("files__stat", {}), *removing)), FINE)
        await plan.say("uma", "clean up")
        first, second = await plan.cards(2)
        assert "remove" in plan.stage.surface.card(first)
        await plan.decide("ann", first, Verb.APPROVE)
        await plan.stage.surface.say("bob", f"no {second.short} because Ben still needs it")
        heard = await plan.heard(2)
        await plan.idle()
        await servers.stop()

        assert {"files__remove", "files__stat", "sayso__ask_human"} == set(plan.server.asked[0].tools)
        assert ["succeeded", "succeeded", "rejected"] == [json.loads(each)["status"] for each in heard.fresh.values()]
        assert ["stat {}", 'remove {"path": "a"}'] == files.runs
        assert FINE.text in plan.screen("uma")
