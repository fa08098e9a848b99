"""Whose requests are carried out: what each listed user may read, list, claim and release over the socket."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.socket.operations import LOCAL, Operations
from adapters.socket.protocol import REQUEST
from bot.surfaces import surfaces
from hitl.answers import Answer, Submitted
from hitl.errors import CallUnknown, NotApprover
from hitl.gate import Gate, secret_hash
from hitl.model import Ask, Call, Reply, Runs, ToolInfo
from hitl.people import Directory
from hitl.testing import MemoryStore, ScriptedExecutor, SetClock
from hitl.tokens import Keyring
from tests.hitl.world import Rules

#: Uma and Ugo ask, Ann approves.
UMA, UGO, ANN = "local:1", "local:2", "local:3"
CLAIM = secret_hash("a claimant's secret")


class Service:
    """A gate over memory, which waits for nothing."""

    def __init__(self) -> None:
        clock = SetClock(datetime(2026, 11, 27, 12, 0, tzinfo=UTC))
        self.gate = Gate(
            store=MemoryStore(clock),
            policies=Rules(),
            people=Directory(approvers=(ANN,), requesters=(UMA, UGO), surfaces=surfaces()),
            executor=ScriptedExecutor({("files", "write"): ToolInfo("local", "d" * 64)}),
            keys=Keyring([("one", b"k" * 32)]),
            owner="service:test",
        )

    async def submit(self, ask: Ask) -> Submitted:
        """Record a call."""
        return await self.gate.submit(ask)

    async def decide(self, reply: Reply) -> tuple[Answer, ...]:
        """Decide one."""
        return await self.gate.decide(reply)

    async def decided(self, call: Call, limit_s: float | None = None) -> Call:
        """The call as it is."""
        del limit_s
        return call

    explained = decided
    ended = decided


@pytest.fixture
def service() -> Service:
    """A service of its own for each test."""
    return Service()


async def do(service: Service, who: str, op: str, **fields: Any) -> dict[str, Any]:
    """What comes of a user's request."""
    return await Operations(service, who).do(REQUEST.validate_python({"op": op, **fields}))


async def asked(service: Service, who: str = UMA) -> str:
    """The ref of a call that a user's script asks for."""
    return str((await do(service, who, "ask", tool="write", args={"argv": ["true"]}))["call"]["ref"])


@pytest.mark.parametrize("who", [ANN, UGO])
async def test_an_approved_call_is_claimed_and_released_by_its_requester_alone(service: Service, who: str) -> None:
    """Nobody else gets an approved call: neither who approved it, nor another requester."""
    ref = await asked(service)
    await do(service, ANN, "decide", target=ref, verb="approve")
    for fields in ({"op": "claim", "ref": ref, "secret_hash": CLAIM}, {"op": "release", "ref": ref}):
        with pytest.raises((NotApprover, CallUnknown)):
            await do(service, who, **fields)

    assert {"argv": ["true"]} == (await do(service, UMA, "claim", ref=ref, secret_hash=CLAIM))["args"]


async def test_a_call_that_the_service_runs_is_nobodys_to_claim(service: Service) -> None:
    """A requester can't claim or release a call that the service is to run, whatever its state."""
    submitted = await service.submit(Ask("files", "write", {}, UMA, LOCAL, Runs.SERVICE))
    ref = submitted.call.ref
    for fields in ({"op": "claim", "ref": ref, "secret_hash": CLAIM}, {"op": "release", "ref": ref}):
        with pytest.raises(NotApprover):
            await do(service, UMA, **fields)


async def test_a_call_is_shown_to_its_requester_and_its_approvers(service: Service) -> None:
    """Another requester neither lists a pending call nor reads it by its ref."""
    ref = await asked(service)
    listed = {who: len((await do(service, who, "pending"))["calls"]) for who in (UMA, ANN, UGO)}

    assert {UMA: 1, ANN: 1, UGO: 0} == listed
    assert ref == (await do(service, ANN, "show", target=ref))["call"]["ref"]
    for fields in ({"op": "show", "target": ref}, {"op": "wait", "ref": ref}):
        with pytest.raises(CallUnknown):
            await do(service, UGO, **fields)
