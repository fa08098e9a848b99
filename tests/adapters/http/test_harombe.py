"""The paths of the harombe design: its field names, its flow, and that whoever asks can't decide."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from adapters.http.app import api as document_of
from tests.adapters.http.conftest import asked
from tests.adapters.http.test_calls import fits

if TYPE_CHECKING:
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
