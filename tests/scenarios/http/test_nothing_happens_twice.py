"""Every request of a run, sent again: in another order, with every token, and after a restart."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from adapters.agents.offline import TOOLS
from hitl.call import Status, Verb

if TYPE_CHECKING:
    import httpx

    from hitl.call import Call
    from tests.scenarios.http.surface import HttpStage

pytestmark = pytest.mark.long

#: What the record gets for a request that does nothing: the attempt itself.
ATTEMPTS = {"refused", "late", "held", "viewed"}


@dataclass(frozen=True)
class Sent:
    """A request as it went over the wire, without its credential."""

    verb: str
    path: str
    body: bytes
    headers: tuple[tuple[str, str], ...]


def recorded(stage: HttpStage) -> list[Sent]:
    """All requests that anybody sends from now on."""
    sent: list[Sent] = []

    async def keep(request: httpx.Request) -> None:
        kept = ("idempotency-key", "content-type", "accept")
        headers = tuple((name, request.headers[name]) for name in kept if name in request.headers)
        if request.url.path != "/v1/events":
            sent.append(Sent(request.method, request.url.raw_path.decode(), request.content, headers))

    for client in stage.surface.clients.values():
        client.event_hooks = {"request": [keep]}
    return sent


async def a_whole_run(stage: HttpStage) -> list[Call]:
    """Calls that end in every way in which requests can end them; each is asked for under a key."""
    surface = stage.surface
    calls = [await stage.ask(args={"path": f"{number}.txt"}, key=f"key {number}") for number in range(5)]
    await surface.press("ann", calls[0], Verb.DETAILS)
    await surface.press("ann", calls[0], Verb.APPROVE)
    await surface.answer("bob", calls[1], "no, it is the only copy")
    await surface.command("bob", f"approve {calls[2].short}")
    await surface.clients["uma"].post(f"/v1/calls/{calls[3].ref}/withdraw")
    critical = await stage.ask("delete_files", {"pattern": "*"}, key="all")
    await surface.press("ann", critical, Verb.APPROVE)
    await stage.wait(3)
    await surface.press("ann", critical, Verb.APPROVE)
    released = await a_batch(stage)
    return [*calls, critical, released, await stage.ask("read_file", key="read")]


async def a_batch(stage: HttpStage) -> Call:
    """A call of a batch that is approved, and released to a program that doesn't report."""
    item = {"id": "one", "tools": TOOLS, "tool": "write_file", "args": {"path": "x", "text": "y"}}
    uma = stage.surface.clients["uma"]
    answer = await uma.post("/v1/batches", json={"calls": [item]}, headers={"Idempotency-Key": "batch"})
    ref = answer.json()["calls"][0]["call"]["ref"]
    await stage.surface.clients["ann"].post(f"/v1/calls/{ref}/decision", json={"decision": "approve"})
    await uma.post(f"/v1/calls/{ref}/release")
    return await stored(stage, ref)


async def stored(stage: HttpStage, ref: str) -> Call:
    """The call as it is now."""
    call = await stage.store.get(ref)
    assert call is not None
    return call


async def replay(stage: HttpStage, sent: list[Sent]) -> list[int]:
    """Send every request again with every token, in an order of its own. Returns the statuses of the answers."""
    again = [(who, one) for one in sent for who in stage.surface.clients]
    random.Random(1).shuffle(again)  # noqa: S311 - an order, no secret
    statuses = []
    for who, one in again:
        client = stage.surface.clients[who]
        answer = await client.request(one.verb, one.path, content=one.body, headers=dict(one.headers))
        statuses.append(answer.status_code)
    return statuses


async def done(stage: HttpStage, calls: list[Call]) -> Any:
    """What happened to the calls, and what ran, without attempts that did nothing."""
    history = {
        call.ref: [line.event for line in await stage.store.history(call.ref) if line.event not in ATTEMPTS]
        for call in calls
    }
    votes = [await stage.store.votes(call.ref) for call in calls]
    return [await stored(stage, call.ref) for call in calls], votes, history, list(stage.ran())


@pytest.mark.parametrize("down", [False, True])
async def test_replayed_requests_do_nothing_twice(stage: HttpStage, *, down: bool) -> None:
    """No call is decided, claimed, run or reported again, and no call of the agent is asked for again.

    A request under a key is the same call for its requester. The same request with another agent's token would be that
    agent's own; the tokens of people ask for nothing.
    """
    sent = recorded(stage)
    calls = await a_whole_run(stage)
    open_one = calls[4]
    before = await done(stage, calls)
    requests = [one for one in dict.fromkeys(sent) if open_one.ref not in one.path]
    if down:
        await stage.halt()
        await stage.start()
    statuses = await replay(stage, requests)

    assert before == await done(stage, calls)
    assert {call.ref for call in calls} == {call.ref for call in await stage.store.page(None, 100, pending=False)}
    assert Status.PENDING == (await stored(stage, open_one.ref)).status
    assert not [status for status in statuses if status >= 500]


async def test_another_agent_gets_nothing_from_replayed_requests(stage: HttpStage) -> None:
    """Its replays of decisions, claims and reports are refused, and its replayed asks are pending calls of its own."""
    sent = recorded(stage)
    calls = await a_whole_run(stage)
    before = await done(stage, calls)
    requests = [one for one in dict.fromkeys(sent) if calls[4].ref not in one.path]
    await stage.agent_named("thief")
    for one in random.Random(3).sample(requests, len(requests)):  # noqa: S311 - an order, no secret
        await stage.surface.clients["thief"].request(one.verb, one.path, content=one.body, headers=dict(one.headers))
    new = {call.ref: call for call in await stage.store.page(None, 100, pending=False)}
    own = [call for ref, call in new.items() if ref not in {one.ref for one in calls}]

    assert before == await done(stage, calls)
    assert {"token:thief"} == {call.requester for call in own}
    assert {Status.PENDING, Status.RUNNING} == {call.status for call in own}
    assert ["read_file"] == [call.tool for call in own if call.status is Status.RUNNING]
