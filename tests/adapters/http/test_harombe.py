"""The paths of the harombe design: its field names, its flow, and that whoever asks can't decide.

The service of these tests has no MCP server behind it. `tests/scenarios/mcp/test_one_path_for_both.py` has one.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from adapters.http.app import api as document_of
from tests.adapters.http.conftest import asked
from tests.adapters.http.test_attacks import HASH, refusal
from tests.adapters.http.test_calls import fits
from tests.hitl.world import BAN, READ, WIPE, WRITE

if TYPE_CHECKING:
    from typing import Any

    from hitl.testing import SetClock
    from tests.adapters.http.conftest import Api

#: The names that clients of the design read.
FIELDS = {"approval_id", "status", "approved_by", "approved_at", "decision", "reason"}


def test_the_documents_hold_the_names_of_the_design() -> None:
    """A client of the design finds every field that it reads."""
    schemas = document_of().openapi()["components"]["schemas"]
    for name in ("HarombeApproval", "HarombeResult"):
        assert set(schemas[name]["properties"]) >= FIELDS


@pytest.mark.parametrize(("said", "status"), [("approved", "approved"), ("denied", "denied"), ("deny", "denied")])
async def test_an_approval_goes_from_pending_to_its_result(api: Api, said: str, status: str) -> None:
    """One client asks and waits, another lists and decides."""
    agent, approver = await api.agent(), await api.approver()
    ref = (await asked(agent))["ref"]
    result = asyncio.create_task(agent.get(f"/hitl/result/{ref}?wait=30"))
    listed = fits(await approver.get("/hitl/pending"), "HarombePending")
    single = fits(await approver.get(f"/hitl/pending/{ref}"), "HarombeApproval")
    decided = fits(
        await approver.post(f"/hitl/decide/{ref}", json={"decision": said, "reason": "so"}), "HarombeApproval"
    )
    told = fits(await result, "HarombeResult")

    assert (1, [single]) == (listed["count"], listed["pending"])
    assert ("pending", None, None) == (single["status"], single["decision"], single["approved_by"])
    assert (ref, status, status) == (decided["approval_id"], decided["status"], decided["decision"])
    assert ("token:ann" if status == "approved" else None) == told["approved_by"]
    assert (told["approved_at"] is not None) == (status == "approved")
    assert 404 == (await approver.get(f"/hitl/pending/{ref}")).status_code


async def test_whoever_asks_does_not_decide(api: Api) -> None:
    """403, and the call stays pending."""
    agent = await api.agent()
    ref = (await asked(agent))["ref"]
    answer = await agent.post(f"/hitl/decide/{ref}", json={"decision": "approved"})

    assert 403 == answer.status_code
    assert "pending" == (await agent.get(f"/hitl/result/{ref}")).json()["status"]


async def test_a_second_decision_and_an_unknown_approval_are_refused(api: Api) -> None:
    """409 says who won, and 404 that there is no such approval; other pending calls stay as they are."""
    agent, approver = await api.agent(), await api.approver()
    ref, other = [(await asked(agent, args={"n": number}))["ref"] for number in range(2)]
    bodies = [{"decision": "denied"}, {"decision": "approved"}]
    statuses = [(await approver.post(f"/hitl/decide/{ref}", json=body)).status_code for body in bodies]
    unknown = await approver.post("/hitl/decide/nope", json=bodies[1])

    assert ([200, 409], 404) == (statuses, unknown.status_code)
    assert "pending" == (await agent.get(f"/hitl/result/{other}")).json()["status"]


@pytest.mark.parametrize("body", [{}, {"decision": "maybe"}, {"decision": "approved", "approved_by": "ann"}])
async def test_a_malformed_decision_decides_nothing(api: Api, body: dict[str, str]) -> None:
    """HITL_001 with 400; the credential says who decides, never the body."""
    approver = await api.approver()
    ref = (await asked(await api.agent()))["ref"]
    answer = await approver.post(f"/hitl/decide/{ref}", json=body)

    assert (400, "HITL_001") == (answer.status_code, answer.json()["code"])
    assert 1 == len(await api.store.pending())


async def test_an_answer_that_decides_nothing_yet_is_202_and_says_what_is_missing(api: Api, clock: SetClock) -> None:
    """A critical call takes two approvals. The answer to the first has the text of `/v1`, so its sender can go on."""
    agent, chief = await api.agent(), await api.approver("chief")
    ref, twin = [(await asked(agent, tool=WIPE, args={"n": number}))["ref"] for number in range(2)]
    usual = (await chief.post(f"/v1/calls/{twin}/decision", json={"decision": "approve"})).json()
    short = (await chief.get(f"/v1/calls/{ref}")).json()["short"]
    first = await chief.post(f"/hitl/decide/{ref}", json={"decision": "approve"})
    clock.advance(2)
    second = await chief.post(f"/hitl/decide/{ref}", json={"decision": "approve", "confirm": ref})

    missing = fits(first, "HarombeApproval")["message"]
    assert (202, "pending", None) == (first.status_code, first.json()["status"], first.json()["decision"])
    assert usual["text"].replace(usual["call"]["short"], short) == missing
    assert (200, "approved") == (second.status_code, second.json()["status"])


# -- POST /mcp ----------------------------------------------------------------------------------------------------


def tool_call(tool: str = WRITE, **arguments: object) -> dict[str, Any]:
    """The body of a tool call, as the design writes it."""
    return {"method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def test_the_document_describes_tool_calls_in_the_names_of_the_design() -> None:
    """`POST /mcp` takes `method` and `params`, and answers 202 and 200 with the fields that clients read."""
    served = document_of().openapi()
    operation = served["paths"]["/mcp"]["post"]
    schemas = served["components"]["schemas"]
    named = [operation["responses"][code]["content"]["application/json"]["schema"]["$ref"] for code in ("202", "200")]

    assert {"method", "params"} == set(schemas["HarombeToolCall"]["required"])
    assert {"name", "arguments"} == set(schemas["HarombeTool"]["properties"])
    assert ["#/components/schemas/HarombeResult"] * 2 == named


@pytest.mark.parametrize(
    "accept", [None, "*/*", "application/json", "application/json, text/*", "text/html, */*;q=0.1"]
)
async def test_a_tool_call_is_parked_without_approval(api: Api, accept: str | None) -> None:
    """202 with an approval_id, unless Accept names an event stream; the call waits for a person."""
    headers = {"Accept": accept} if accept else {}
    answer = await (await api.agent()).post("/mcp", json=tool_call(to="ada"), headers=headers)
    told = fits(answer, "HarombeResult")
    (pending,) = await api.store.pending()

    assert (202, f"/hitl/result/{pending.ref}") == (answer.status_code, answer.headers["location"])
    assert (pending.ref, "pending", WRITE, {"to": "ada"}) == (
        told["approval_id"],
        told["status"],
        told["tool_name"],
        told["params"],
    )


async def test_the_approval_flow_of_the_design(api: Api) -> None:
    """Submit, approve by another client, and read the result; the agent, who runs the tool itself, claims the call."""
    agent, approver = await api.agent(), await api.approver()
    ref = (await agent.post("/mcp", json=tool_call())).json()["approval_id"]
    early = await agent.post(f"/v1/calls/{ref}/claim", json={"secret_hash": HASH})
    own = await agent.post(f"/hitl/decide/{ref}", json={"decision": "approve"})
    decided = (await approver.post(f"/hitl/decide/{ref}", json={"decision": "approve"})).json()
    result = fits(await agent.get(f"/hitl/result/{ref}"), "HarombeResult")
    claimed = await agent.post(f"/v1/calls/{ref}/claim", json={"secret_hash": HASH})

    assert (True, 403, 200) == (early.is_client_error, own.status_code, claimed.status_code)
    assert ("approved", "token:ann") == (decided["status"], decided["approved_by"])
    assert ("approved", decided["approved_at"]) == (result["status"], result["approved_at"])


async def test_a_tool_call_waits_for_its_decision_on_request(api: Api) -> None:
    """`Prefer: wait` brings the decision in the answer: 200, and a denial with its reason."""
    agent, approver = await api.agent(), await api.approver()
    waiting = asyncio.create_task(agent.post("/mcp", json=tool_call(), headers={"Prefer": "wait=30"}))
    while not (pending := (await approver.get("/hitl/pending")).json()["pending"]):  # noqa: ASYNC110 - as an approver would
        await asyncio.sleep(0.01)
    body = {"decision": "deny", "reason": "not today"}
    await approver.post(f"/hitl/decide/{pending[0]['approval_id']}", json=body)
    answer = await waiting

    assert (200, "denied", "not today") == (answer.status_code, answer.json()["status"], answer.json()["reason"])


async def test_what_the_policy_allows_or_denies_is_not_parked(api: Api) -> None:
    """200 `auto_approved` for the first, 403 with the ref of the record for the second."""
    agent = await api.agent()
    allowed, denied = [await agent.post("/mcp", json=tool_call(tool)) for tool in (READ, BAN)]

    assert (200, "auto_approved") == (allowed.status_code, fits(allowed, "HarombeResult")["status"])
    assert (403, "CALL_DENIED") == refusal(denied)
    assert "denied" in await api.events(denied.json()["ref"])
    assert [] == list(await api.store.pending())


async def test_the_same_tool_call_under_a_key_is_one_call(api: Api) -> None:
    """A request that is sent again with its Idempotency-Key makes no second call; another one under the key is 409."""
    agent = await api.agent()
    headers = {"Idempotency-Key": "k"}
    same = [(await agent.post("/mcp", json=tool_call(n=1), headers=headers)).json()["approval_id"] for _ in range(2)]
    other = await agent.post("/mcp", json=tool_call(n=2), headers=headers)

    assert (same[0], (409, "KEY_CONFLICT")) == (same[1], refusal(other))


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"method": "tools/list"},
        {"method": "initialize", "params": {}},
        {"method": "tools/call", "params": {}},
        {"method": "tools/call", "params": {"name": WRITE, "arguments": []}},
        {"method": "tools/call", "params": {"name": WRITE}, "approved_by": "ann"},
        {"method": "tools/call", "params": {"name": WRITE, "runs": "service"}},
        {"method": "tools/call", "params": {"name": WRITE}, "id": True},
        [{"method": "tools/call", "params": {"name": WRITE}}],
    ],
)
async def test_a_malformed_tool_call_asks_for_nothing(api: Api, body: Any) -> None:
    """HITL_001 with 400, and nothing is recorded."""
    answer = await (await api.agent()).post("/mcp", json=body)

    assert (400, "HITL_001") == refusal(answer)
    assert 0 == len(await api.store.page(None, 10, pending=False))


async def test_only_an_agents_token_calls_tools(api: Api) -> None:
    """403 for an approver's token, 401 without one."""
    answers = [await client.post("/mcp", json=tool_call()) for client in (await api.approver(), api.remote())]

    assert [403, 401] == [answer.status_code for answer in answers]


@pytest.mark.parametrize("accept", ["text/event-stream", "application/json, text/event-stream;q=0.5"])
async def test_an_mcp_client_finds_no_gateway(api: Api, accept: str) -> None:
    """404, and no call is asked for in its name."""
    answer = await (await api.agent()).post("/mcp", json=tool_call(), headers={"Accept": accept})

    assert 404 == answer.status_code
    assert 0 == len(await api.store.page(None, 10, pending=False))
