"""The Agent Approval Protocol: what its clients demand of a provider, and that whoever asks can't decide."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

import pytest

from tests.adapters.http.test_calls import fits
from tests.hitl.world import BAN, GROUP, READ, WRITE

if TYPE_CHECKING:
    from typing import Any

    import httpx

    from hitl.testing import SetClock
    from tests.adapters.http.conftest import Api

REQUESTS = "/aap/v1/requests"
BODY: dict[str, Any] = {
    "tool": WRITE,
    "server": GROUP,
    "arguments": {"path": "a.txt", "deep": {"n": [1, 2.5, None, True, "x"]}},
    "timeout": "5m",
    "agent_reasoning": "the build needs it",
    "context": {"framework": "x", "call_id": "c1", "resume": {"thread": 7, "none": None}},
}


async def create(client: httpx.AsyncClient, key: str = "k1", **more: Any) -> dict[str, Any]:
    """A request, whose answer has the form that the document promises."""
    answer = await client.post(REQUESTS, json=BODY | more, headers={"Idempotency-Key": key})
    assert 201 == answer.status_code, answer.text
    return fits(answer, "AapRequest")


async def act(client: httpx.AsyncClient, ref: str, verb: str, body: Any = None, key: str = "") -> tuple[int, Any]:
    """The status and document of `consume` or `outcome`."""
    answer = await client.post(f"{REQUESTS}/{ref}/{verb}", json=body, headers={"Idempotency-Key": key} if key else {})
    return answer.status_code, answer.json()


async def decide(api: Api, ref: str, decision: str = "approve", **more: str) -> None:
    """Ann's decision, on the way that people have."""
    answer = await (await api.approver()).post(f"/v1/calls/{ref}/decision", json={"decision": decision, **more})
    assert 200 == answer.status_code, answer.text


def code(answer: httpx.Response) -> tuple[int, str]:
    """The status and the protocol's code of a refusal."""
    error = fits(answer, "AapError")["error"]
    assert error["request_id"] == answer.headers["x-request-id"]
    return answer.status_code, error["code"]


async def test_a_request_goes_from_asking_to_its_outcome(api: Api) -> None:
    """The submitted fields come back unchanged each time, and the record has each step once."""
    agent = await api.agent()
    pending = await create(agent)
    ref = pending["id"]
    waiting = asyncio.create_task(agent.get(f"{REQUESTS}/{ref}?wait=25s"))
    await decide(api, ref)
    approved = fits(await waiting, "AapRequest")
    _, consumed = await act(agent, ref, "consume", key="c1")
    _, ended = await act(agent, ref, "outcome", {"status": "succeeded", "note": "done"})

    assert all(BODY.items() <= seen.items() for seen in (pending, approved, consumed, ended))
    assert {*BODY, "id", "status", "created_at", "deadline_at"} == pending.keys()
    assert ["pending", "approved", "approved"] == [seen["status"] for seen in (pending, approved, ended)]
    assert approved["decision"]["decided_at"] < approved["decision"]["expires_at"]
    assert {"consumed_at"} == consumed["consumption"].keys()
    assert ("succeeded", "done") == (
        ended["consumption"]["outcome"]["status"],
        ended["consumption"]["outcome"]["note"],
    )
    times = re.findall(r'"[a-z]+_at": "([^"]+)"', str(ended).replace("'", '"'))
    assert 6 == len(times)
    assert all(time.endswith("Z") for time in times)
    assert ["asked", "approved", "claimed", "succeeded"] == await api.events(ref)


async def test_absent_fields_stay_absent(api: Api) -> None:
    """A client refuses a field that it didn't send. A call without a server has a tool group of its own."""
    agent = await api.agent()
    body = {"tool": WRITE, "arguments": {}, "timeout": "5m"}
    made = (await agent.post(REQUESTS, json=body, headers={"Idempotency-Key": "k"})).json()

    assert {*body, "id", "status", "created_at", "deadline_at"} == made.keys()
    assert "aap" == (await agent.get(f"/v1/calls/{made['id']}")).json()["tools"]


async def test_the_policy_decides_at_once_where_it_can(api: Api) -> None:
    """An allowed request can be consumed, a denied one says why."""
    agent = await api.agent()
    allowed, denied = await create(agent, tool=READ), await create(agent, "k2", tool=BAN)
    consumed = await act(agent, allowed["id"], "consume", key="c")
    refused = await act(agent, denied["id"], "consume", key="c")

    assert ("approved", "denied") == (allowed["status"], denied["status"])
    assert denied["decision"]["note"]
    assert (200, 409, "not_approved") == (consumed[0], refused[0], refused[1]["error"]["code"])


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({}, 200),
        ({"timeout": "6m"}, 409),
        ({"context": {}}, 409),
        ({"agent_reasoning": "else"}, 409),
        ({"tool": READ}, 409),
    ],
)
async def test_a_key_returns_its_request(api: Api, change: dict[str, Any], status: int) -> None:
    """With the same fields, also after the decision. With other fields it is a conflict."""
    agent = await api.agent()
    made = await create(agent)
    await decide(api, made["id"], "reject", reason="not now")
    again = await agent.post(REQUESTS, json=BODY | change, headers={"Idempotency-Key": "k1"})

    assert status == again.status_code
    if status == 200:
        assert (made["id"], "denied", "not now") == (
            again.json()["id"],
            again.json()["status"],
            again.json()["decision"]["note"],
        )
    else:
        assert (409, "idempotency_conflict") == code(again)


@pytest.mark.parametrize("status", ["succeeded", "failed"])
async def test_an_approval_is_consumed_once(api: Api, status: str) -> None:
    """The same key gets the same answer again, also after the outcome. Another key gets nothing."""
    agent = await api.agent()
    ref = (await create(agent))["id"]
    early = await act(agent, ref, "consume", key="a")
    await decide(api, ref)
    both = await asyncio.gather(*(act(agent, ref, "consume", key=key) for key in "ab"))
    won = "ab"[[each for each, _ in both].index(200)]
    await act(agent, ref, "outcome", {"status": status})
    again, other = await act(agent, ref, "consume", key=won), await act(agent, ref, "consume", key="z")

    assert (409, "not_approved") == (early[0], early[1]["error"]["code"])
    assert [200, 409] == sorted(each for each, _ in both)
    assert (200, status) == (again[0], again[1]["consumption"]["outcome"]["status"])
    assert "note" not in again[1]["consumption"]["outcome"]
    assert (409, "already_consumed") == (other[0], other[1]["error"]["code"])
    assert 1 == (await api.events(ref)).count("claimed")


async def test_a_consumption_whose_time_is_over_is_not_given_again(api: Api, clock: SetClock) -> None:
    """Nobody knows whether the tool ran: the key that consumed the approval gets it no more. A late report is taken."""
    agent = await api.agent()
    ref = (await create(agent))["id"]
    await decide(api, ref)
    first = await act(agent, ref, "consume", key="a")
    clock.advance(3_600 + 60)
    await api.service.expiry.sweep()
    again = await act(agent, ref, "consume", key="a")
    reported = await act(agent, ref, "outcome", {"status": "succeeded"})
    after = await act(agent, ref, "consume", key="a")

    assert (200, 409, "already_consumed") == (first[0], again[0], again[1]["error"]["code"])
    assert [(200, "succeeded")] * 2 == [
        (status, told["consumption"]["outcome"]["status"]) for status, told in (reported, after)
    ]


async def test_an_approval_that_is_not_consumed_in_time_is_over(api: Api, clock: SetClock) -> None:
    """Nothing runs on it any more."""
    agent = await api.agent()
    ref = (await create(agent))["id"]
    await decide(api, ref)
    clock.advance(301)
    await api.service.expiry.sweep()
    status, late = await act(agent, ref, "consume", key="a")

    assert (409, "approval_expired") == (status, late["error"]["code"])
    assert "consumption" not in (await agent.get(f"{REQUESTS}/{ref}")).json()


async def test_an_outcome_is_reported_once(api: Api) -> None:
    """Before the consumption there is none; the same report again is fine, another one is a conflict."""
    agent = await api.agent()
    ref = (await create(agent))["id"]
    await decide(api, ref)
    early = await act(agent, ref, "outcome", {"status": "succeeded"})
    await act(agent, ref, "consume", key="c")
    reports = [{"status": "failed", "note": "no disk"}] * 2 + [{"status": "failed"}, {"status": "succeeded"}]
    came = [await act(agent, ref, "outcome", report) for report in reports]

    assert (409, "not_consumed") == (early[0], early[1]["error"]["code"])
    assert [200, 200, 409, 409] == [status for status, _ in came]
    assert came[0] == came[1]
    assert {"outcome_conflict"} == {document["error"]["code"] for _, document in came[2:]}


async def test_a_pending_request_is_cancelled_and_a_decided_one_is_not(api: Api) -> None:
    """Cancelling twice is as once."""
    agent = await api.agent()
    one, other = (await create(agent))["id"], (await create(agent, "k2", arguments={}))["id"]
    await decide(api, other)
    first, second = [(await agent.delete(f"{REQUESTS}/{one}")).json() for _ in range(2)]

    assert first == second
    assert ("cancelled", "cancelled") == (first["status"], first["decision"]["status"])
    assert (409, "already_terminal") == code(await agent.delete(f"{REQUESTS}/{other}"))


async def test_time_runs_out(api: Api, clock: SetClock) -> None:
    """A request that nobody answers is expired; the time is never longer than what was asked for."""
    agent = await api.agent()
    made = await create(agent, timeout="10s")
    clock.advance(11)
    await api.service.expiry.sweep()
    ended = (await agent.get(f"{REQUESTS}/{made['id']}")).json()

    assert ("expired", made["deadline_at"]) == (ended["status"], ended["deadline_at"])
    assert "note" not in ended["decision"]


async def test_whoever_asks_does_not_decide_and_sees_only_their_own(api: Api) -> None:
    """Another agent and an approver find nothing under the id, and no path of the protocol decides."""
    agent, other, approver = await api.agent(), await api.agent("other"), await api.approver()
    ref = (await create(agent))["id"]
    foreign = (await agent.post("/v1/calls", json={"tools": GROUP, "tool": WRITE})).json()["ref"]
    self_made = await agent.post(f"/v1/calls/{ref}/decision", json={"decision": "approve"})

    assert 403 == self_made.status_code
    assert (404, "not_found") == code(await other.get(f"{REQUESTS}/{ref}"))
    assert (403, "not_approver") == code(await approver.get(f"{REQUESTS}/{ref}"))
    assert (404, "not_found") == code(await agent.get(f"{REQUESTS}/{foreign}"))
    assert (404, "not_found") == code(await agent.get(f"{REQUESTS}/x"))
    assert 401 == (await api.remote().get(f"{REQUESTS}/{ref}")).status_code


@pytest.mark.parametrize(
    "change",
    [
        {"more": 1},
        {"server": None},
        {"context": None},
        {"arguments": []},
        {"arguments": {"n": 2**60 + 1}},
        {"timeout": "1d"},
        {"timeout": "1s"},
        {"timeout": 600},
        {"tool": ""},
        {"context": {"x": "x" * 20_000}},
    ],
    ids=str,
)
async def test_a_request_that_could_not_come_back_unchanged_is_refused(api: Api, change: dict[str, Any]) -> None:
    """Nothing is asked."""
    answer = await (await api.agent()).post(REQUESTS, json=BODY | change, headers={"Idempotency-Key": "k"})

    assert (400, "invalid_field") == code(answer)
    assert [] == list(await api.store.pending())


async def test_a_key_is_needed(api: Api) -> None:
    """For asking and for consuming, because a repeated message must not do a second thing."""
    agent = await api.agent()
    ref = (await create(agent))["id"]

    assert (400, "invalid_field") == code(await agent.post(REQUESTS, json=BODY))
    assert (400, "invalid_field") == code(await agent.post(f"{REQUESTS}/{ref}/consume"))
