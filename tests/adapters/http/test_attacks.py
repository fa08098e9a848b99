"""Nobody gets around the API: no agent decides, reads another's calls or names another's places."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from adapters.http.app import api as document_of
from bot.api import serve_api
from bot.settings import HttpSettings
from hitl.testing import SetClock
from sayso_client.wire import SOCKET_NAME
from tests import api_clients
from tests.adapters.http.conftest import CALL, ME, OTHER, asked
from tests.hitl.world import NOON, READ
from tests.sentences import says

if TYPE_CHECKING:
    from tests.adapters.http.conftest import Api

HASH = hashlib.sha256(b"mine").hexdigest()
DECISIONS = ("/v1/calls/{ref}/decision", "/v1/calls/{ref}/details", "/hitl/decide/{ref}")


def refusal(answer: httpx.Response) -> tuple[int, str]:
    """Status and code of an answer that refuses."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    return answer.status_code, str(answer.json()["code"])


# -- who may what -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", DECISIONS)
async def test_an_agents_token_decides_nothing(api: Api, path: str) -> None:
    """403 on every decision route, for its own call and for any other; the attempt on its own call is on record."""
    agent, other = await api.agent(), await api.agent("other")
    ref = (await asked(agent))["ref"]
    for client, target in ((agent, ref), (other, ref), (agent, "nope")):
        answer = await client.post(path.format(ref=target), json={"decision": "approve"})
        assert (403, "NOT_APPROVER") == refusal(answer)

    assert "pending" == (await agent.get(f"/v1/calls/{ref}")).json()["status"]
    assert ["asked", "refused"] == await api.events(ref)


async def test_an_agents_token_decides_nothing_even_if_it_is_listed_as_an_approver(api: Api) -> None:
    """The scope of a credential wins over the lists of people."""
    token = await api.token("ci")
    api.gate.people = type(api.gate.people)(
        approvers=("token:ci", "token:ann"), requesters=(ME, OTHER), operators=(ME,), owners=api.gate.people.owners
    )
    ref = (await asked(await api.agent("second")))["ref"]
    answer = await api.remote(token).post(f"/v1/calls/{ref}/decision", json={"decision": "approve"})

    assert (403, "NOT_APPROVER") == refusal(answer)


async def test_the_owner_of_an_agent_does_not_approve_its_calls(api: Api) -> None:
    """The person on whose behalf an agent asks counts as the requester: their yes is their own."""
    api.gate.people = type(api.gate.people)(approvers=(ME, "token:ann"), requesters=(ME,), operators=(ME,))
    agent = await api.agent()
    ref = (await asked(agent))["ref"]
    answer = await api.local().post(f"/v1/calls/{ref}/decision", json={"decision": "approve"})

    assert (403, "NOT_APPROVER") == refusal(answer)


@pytest.mark.parametrize("scope", ["approver", "operator"])
async def test_only_agents_ask_claim_and_finish(api: Api, scope: str) -> None:
    """A token is an agent's or an approver's, never both."""
    client = api.remote(await api.token("ann", scope))
    ref = (await asked(await api.agent()))["ref"]
    asking = await client.post("/v1/calls", json=CALL)
    claiming = await client.post(f"/v1/calls/{ref}/claim", json={"secret_hash": HASH})

    assert [(403, "NOT_APPROVER")] * 2 == [refusal(asking), refusal(claiming)]


@pytest.mark.parametrize(
    ("verb", "path", "body"),
    [
        ("GET", "/v1/calls/{ref}", None),
        ("GET", "/v1/calls/{ref}/card", None),
        ("GET", "/v1/calls/{ref}/record", None),
        ("POST", "/v1/calls/{ref}/claim", {"secret_hash": HASH}),
        ("POST", "/v1/calls/{ref}/finish", {"secret": "x", "result": "succeeded"}),
        ("POST", "/v1/calls/{ref}/release", None),
        ("POST", "/v1/calls/{ref}/withdraw", None),
        ("GET", "/hitl/pending/{ref}", None),
        ("GET", "/hitl/result/{ref}", None),
    ],
)
async def test_another_agents_call_looks_as_if_it_were_not_there(
    api: Api, verb: str, path: str, body: dict[str, Any] | None
) -> None:
    """404, and word for word what an unknown ref gets."""
    other = await api.agent("other")
    ref = (await asked(await api.agent()))["ref"]
    found, unknown = [
        await other.request(verb, path.format(ref=target), json=body)
        for target in (ref, "01a21ce0-6e00-7f87-bf11-c05569e0edd1")
    ]

    assert (404, "CALL_UNKNOWN") == refusal(found)
    assert (found.content, found.status_code) == (unknown.content, unknown.status_code)


async def test_two_agents_of_one_owner_do_not_run_each_others_calls(api: Api) -> None:
    """An owner answers for both agents; a call is still its requester's alone."""
    approver, other = await api.approver(), await api.agent("other")
    ref = (await asked(await api.agent()))["ref"]
    await approver.post(f"/v1/calls/{ref}/decision", json={"decision": "approve"})

    assert 404 == (await other.post(f"/v1/calls/{ref}/claim", json={"secret_hash": HASH})).status_code
    # The owner sees the call of their agent, and still can't take its run.
    assert 403 == (await api.local().post(f"/v1/calls/{ref}/claim", json={"secret_hash": HASH})).status_code


@pytest.mark.parametrize(
    "named",
    [
        {"origin": "slack:T1/C2"},
        {"origin": "slack:T1/C1x"},
        {"origin": "slack:T1"},
        {"origin": "local"},
        {"origin": "telegram:-100"},
        {"routes": ["telegram:-100"]},
        {"routes": ["slack:T1/C9", "slack:T1/C8"]},
        {"on_behalf_of": OTHER},
        {"on_behalf_of": "token:ann"},
    ],
)
async def test_an_agent_names_only_what_its_token_is_bound_to(api: Api, named: dict[str, Any]) -> None:
    """Origins, routes and owners that aren't bound are 403, and nothing is recorded."""
    agent = await api.agent(origins=["slack:T1/C1"], routes=["slack:T1/C9"])
    answer = await agent.post("/v1/calls", json=CALL | named)

    assert (403, "NOT_APPROVER") == refusal(answer)
    assert [] == list(await api.store.pending())


@pytest.mark.parametrize(
    ("bound", "origin"), [("slack:T1/C1", "slack:T1/C1/1731.5"), ("telegram:-100", "telegram:-100/7")]
)
async def test_a_token_bound_to_a_channel_names_any_of_its_threads(api: Api, bound: str, origin: str) -> None:
    """An outside agent asks in the thread or topic where somebody addressed it; the card goes there."""
    agent = await api.agent(origins=[bound], routes=["slack:T1/C9"])
    call = await asked(agent, origin=origin, routes=["slack:T1/C9"], on_behalf_of=ME)
    stored = await api.store.get(call["ref"])

    assert origin == call["origin"]
    assert stored is not None
    assert (origin, "slack:T1/C9") == stored.routes


@pytest.mark.parametrize("field", ["approved", "decision", "approvers", "runs", "requester", "policy", "_approved_by"])
async def test_no_field_of_the_body_approves(api: Api, field: str) -> None:
    """Unknown fields are 400; among the arguments they are data that the card shows."""
    agent = await api.agent()
    answer = await agent.post("/v1/calls", json={**CALL, field: True}, headers={"X-Approved": "1"})
    parked = await asked(agent, args={field: True})

    assert (400, "HITL_001") == refusal(answer)
    assert "pending" == parked["status"]
    assert [field] == [part["name"].strip("“”") for part in parked["card"]["parts"]]


# -- once ---------------------------------------------------------------------------------------------------------


async def approved(api: Api, agent: httpx.AsyncClient, approver: httpx.AsyncClient | None = None) -> dict[str, Any]:
    """A call that was approved."""
    call = await asked(agent)
    approver = approver or await api.approver()
    await approver.post(f"/v1/calls/{call['ref']}/decision", json={"decision": "approve"})
    return call


async def test_a_claim_is_given_once(api: Api) -> None:
    """The same secret gets the same claim again; another secret, and a claim after the report, are 409."""
    agent = await api.agent()
    path = f"/v1/calls/{(await approved(api, agent))['ref']}"
    first, same = [await agent.post(f"{path}/claim", json={"secret_hash": HASH}) for _ in range(2)]
    other = await agent.post(f"{path}/claim", json={"secret_hash": "0" * 64})
    foreign = await agent.post(f"{path}/finish", json={"secret": "guessed", "result": "succeeded"})
    reports = [await agent.post(f"{path}/finish", json={"secret": "mine", "result": "succeeded"}) for _ in range(2)]
    contrary = await agent.post(f"{path}/finish", json={"secret": "mine", "result": "failed"})
    replayed = await agent.post(f"{path}/claim", json={"secret_hash": HASH})

    assert (200, first.json()) == (same.status_code, same.json())
    assert [(409, "ALREADY_DECIDED")] * 3 == [refusal(answer) for answer in (other, contrary, replayed)]
    assert (403, "NOT_APPROVER") == refusal(foreign)
    assert [200, 200] == [answer.status_code for answer in reports]


@pytest.mark.parametrize("route", ["claim", "decision"])
async def test_a_changed_digest_is_refused(api: Api, route: str) -> None:
    """Who names the digest that they saw, or will run, is refused if the call has another one."""
    agent, approver = await api.agent(), await api.approver()
    call = await asked(agent)
    path = f"/v1/calls/{call['ref']}"
    if route == "decision":
        bodies = [{"decision": "approve", "digest": digest} for digest in ("0" * 64, call["digest"])]
        wrong, right = [await approver.post(f"{path}/decision", json=body) for body in bodies]
    else:
        await approver.post(f"{path}/decision", json={"decision": "approve"})
        claims = [{"secret_hash": HASH, "digest": digest} for digest in ("0" * 64, call["digest"])]
        wrong, right = [await agent.post(f"{path}/claim", json=body) for body in claims]

    assert (409, "CALL_CHANGED") == refusal(wrong)
    assert 200 == right.status_code


async def test_of_many_decisions_at_once_one_wins(api: Api) -> None:
    """Twenty requests at the same moment: one decides, nineteen hear that it is decided."""
    approver, chief = await api.approver(), await api.approver("chief")
    ref = (await asked(await api.agent()))["ref"]
    bodies = [{"decision": verb} for verb in ("approve", "reject")] * 5
    answers = await asyncio.gather(
        *(client.post(f"/v1/calls/{ref}/decision", json=body) for client in (approver, chief) for body in bodies)
    )

    assert [200] + [409] * 19 == sorted(answer.status_code for answer in answers)
    assert 1 == sum(event in {"approved", "rejected"} for event in await api.events(ref))


# -- tokens -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "Bearer nope", "Basic c2F5c28=", "bearer sayso_" + "x" * 43, "Bearer a, Bearer b"],
)
async def test_without_a_working_token_nothing_is_answered(api: Api, authorization: str | None) -> None:
    """401 with the scheme that is wanted, before a byte of the body is read."""
    headers = {} if authorization is None else {"Authorization": authorization}
    answer = await api.remote().post("/v1/calls", content=b"{", headers=headers)

    assert (401, "UNAUTHENTICATED") == refusal(answer)
    assert "Bearer" == answer.headers["www-authenticate"]


async def test_an_unknown_and_a_revoked_token_get_the_same_answer(api: Api) -> None:
    """The answer says that the token isn't valid, and doesn't reveal which tokens there were."""
    token = await api.token("ci")
    await api.local().delete("/v1/tokens/ci")
    revoked, unknown, none = [
        (await api.remote().get("/v1/calls", headers=headers)).json()["detail"]
        for headers in ({"Authorization": f"Bearer {token}"}, {"Authorization": "Bearer sayso_x"}, {})
    ]

    assert revoked == unknown
    assert says(revoked, "api.http.token.invalid")
    assert none != unknown


async def test_a_token_works_until_its_end_or_its_revocation(api: Api, clock: SetClock) -> None:
    """Both end it at once, and its name is never used again."""
    ending = await api.agent("ending", until=(NOON + timedelta(hours=1)).isoformat())
    revoked = await api.agent("revoked")
    before = [(await client.get("/v1/me")).status_code for client in (ending, revoked)]
    await api.local().delete("/v1/tokens/revoked")
    clock.advance(3600)
    after = [(await client.get("/v1/me")).status_code for client in (ending, revoked)]
    again = await api.local().post("/v1/tokens", json={"name": "revoked", "scope": "agent", "owner": ME})

    assert ([200, 200], [401, 401]) == (before, after)
    assert (409, "KEY_CONFLICT") == refusal(again)


async def test_making_a_token_reads_no_other_token(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading them checks the whole record of the service, which storing the new token did just before."""
    first = await api.agent("first")

    async def unread() -> None:
        pytest.fail("the tokens were read again")

    monkeypatch.setattr(api.store, "credentials", unread)
    second = await api.agent("second")

    assert [200, 200] == [(await client.get("/v1/me")).status_code for client in (first, second)]


async def test_a_token_is_shown_once_and_stored_hashed(api: Api) -> None:
    """Lists show names, bounds and the last use; neither they nor the store hold the token or anything like it."""
    token = await api.token("ci", origins=["slack:T1/C1"])
    await api.remote(token).get("/v1/me")
    listed = await api.local().get("/v1/tokens")
    (stored,) = await api.store.credentials()

    (one,) = listed.json()["tokens"]
    assert ("ci", ["slack:T1/C1"], True) == (one["name"], one["origins"], one["used_at"] is not None)
    assert token not in listed.text + repr(stored)
    assert stored.hash not in listed.text


@pytest.mark.parametrize("scope", ["agent", "approver", "operator"])
async def test_no_token_makes_lists_or_revokes_tokens(api: Api, scope: str) -> None:
    """Only an operator on the Unix socket does; a stolen token can't make another."""
    client = api.remote(await api.token("thief", scope))
    answers = [
        await client.post("/v1/tokens", json={"name": "more", "scope": "approver"}),
        await client.get("/v1/tokens"),
        await client.delete("/v1/tokens/thief"),
    ]

    assert [(403, "NOT_APPROVER")] * 3 == [refusal(answer) for answer in answers]


@pytest.mark.parametrize(
    "asked_for",
    [
        {"scope": "agent"},
        {"scope": "agent", "owner": "nobody"},
        {"scope": "approver", "owner": ME},
        {"scope": "approver", "origins": ["slack:T1/C1"]},
        {"scope": "agent approver", "owner": ME},
        {"scope": "agent", "owner": ME, "until": "2020-01-01T00:00:00Z"},
        {"scope": "agent", "owner": ME, "until": "2126-01-01T00:00:00"},
        {"scope": "agent", "owner": ME, "name": "../x"},
    ],
)
async def test_a_token_that_makes_no_sense_is_refused(api: Api, asked_for: dict[str, Any]) -> None:
    """An agent needs a listed owner, other scopes have none, and an end lies ahead in a named time zone."""
    answer = await api.local().post("/v1/tokens", json={"name": "new"} | asked_for)

    assert (400, "HITL_001") == refusal(answer)


async def test_a_token_has_no_meaning_on_the_socket(api: Api) -> None:
    """The kernel says who calls there; a token beside it is refused, so that nobody mixes the two."""
    answer = await api.local().get("/v1/me", headers={"Authorization": f"Bearer {await api.token('ci')}"})

    assert (400, "HITL_001") == refusal(answer)


# -- pages of other sites, and headers ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.test"},
        {"Host": "evil.test:80"},
        {"Host": "127.0.0.1.evil.test"},
        {"Host": "localhost@evil.test"},
        {"Host": ""},
        {"Origin": "https://evil.test"},
        {"Origin": "null"},
        {"Origin": "http://["},
        {"Origin": "http://[::1"},
        {"Origin": "http://localhost.evil.test"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
async def test_a_page_of_another_site_gets_nothing(api: Api, headers: dict[str, str]) -> None:
    """Another host name (DNS rebinding), another origin, or a cross-site fetch is refused, token or not."""
    answer = await (await api.agent()).post("/v1/calls", json=CALL, headers=headers)

    assert answer.status_code in {400, 403}
    assert [] == list(await api.store.pending())


@pytest.mark.parametrize(
    "name",
    [
        "X-Forwarded-For",
        "X-Forwarded-User",
        "X-Forwarded-Host",
        "Forwarded",
        "X-Real-IP",
        "X-Remote-User",
        "Remote-User",
        "X-Forwarded-Proto",
        "CF-Connecting-IP",
        "True-Client-IP",
        "X-Original-URL",
    ],
)
async def test_no_forwarding_header_is_believed(api: Api, name: str) -> None:
    """Whatever a header says of the caller, the token or the kernel says who it is."""
    headers = {name: "for=local:4321;user=local:4321, 127.0.0.1"}
    remote = (await (await api.agent()).get("/v1/me", headers=headers)).json()
    local = (await api.local().get("/v1/me", headers=headers)).json()
    nobody = await api.remote().get("/v1/me", headers=headers)

    assert ("token:ci", ME, 401) == (remote["identity"], local["identity"], nobody.status_code)


@pytest.mark.parametrize("name", ["X-Original-URL", "X-Rewrite-URL", "X-Forwarded-Prefix"])
async def test_no_header_names_another_path(api: Api, name: str) -> None:
    """A path that needs a credential isn't read as one that needs none."""
    assert 401 == (await api.remote().get("/v1/me", headers={name: "/healthz"})).status_code


async def test_a_foreign_host_name_learns_no_troubles(api: Api) -> None:
    """A probe by any name gets the status of `/readyz`; what is in the way is for names of this machine."""

    async def full() -> list[str]:
        return ["store: the disk is full"]

    async with contextlib.AsyncExitStack() as parts:
        folder = Path(parts.enter_context(tempfile.TemporaryDirectory(prefix="ready-"))) / "run"
        server = await serve_api(api.service, folder, parts, http=HttpSettings(port=0), troubles=full)
        client = await parts.enter_async_context(api_clients.remote(f"http://127.0.0.1:{server.port}"))
        local = await parts.enter_async_context(api_clients.local(folder / SOCKET_NAME))
        here, there = await client.get("/readyz"), await client.get("/readyz", headers={"Host": "evil.test"})
        by_socket = await local.get("/readyz")
        page = await client.get("/readyz", headers={"Sec-Fetch-Site": "cross-site"})

    told = {"ready": False, "troubles": ["store: the disk is full"]}
    assert [(503, told)] * 2 == [(answer.status_code, answer.json()) for answer in (here, by_socket)]
    assert [(503, {"ready": False})] * 2 == [(answer.status_code, answer.json()) for answer in (there, page)]


async def test_no_get_changes_anything(api: Api) -> None:
    """GET and HEAD on every path, with a pending and an approved call, leave the record and the tokens as they are.

    The paths are those of the document and those beside it; what would decide is sent in the query.
    """
    agent, approver = await api.agent(), await api.approver()
    call, running = await asked(agent, args={"n": 1}), await approved(api, agent, approver)
    documented = document_of().openapi()["paths"]
    paths = [*documented, "/docs", "/openapi.json", "/healthz", "/readyz"]
    query = {"decision": "approve", "confirm": call["ref"], "secret_hash": HASH, "result": "succeeded"}
    before = await api.store.last_line(), [token.revoked_at for token in await api.store.credentials()]
    for client in (agent, approver, api.local()):
        for path in paths:
            if path == "/v1/events":
                continue
            for ref in (call["ref"], running["ref"]):
                for verb in ("GET", "HEAD"):
                    answer = await client.request(verb, path.format(ref=ref, name="ci", chat="x"), params=query)
                    assert answer.status_code < 500, (verb, path)
                    if verb == "GET" and "get" not in documented.get(path, {"get"}):
                        assert answer.status_code in {403, 404, 405}, path

    assert before == (await api.store.last_line(), [token.revoked_at for token in await api.store.credentials()])
    assert ["pending", "approved"] == [(await api.store.get(c["ref"])).status for c in (call, running)]  # type: ignore[union-attr]


async def test_the_same_requests_in_another_order_by_another_token_do_nothing_twice(api: Api) -> None:
    """Every request of a run, sent again in reverse and by another agent, changes no call and makes none."""
    sent: list[tuple[str, str, bytes, dict[str, str]]] = []
    agent, approver, thief = await api.agent(), await api.approver(), await api.agent("thief")

    async def do(client: httpx.AsyncClient, path: str, body: dict[str, Any], **headers: str) -> dict[str, Any]:
        answer = await client.post(path, json=body, headers=headers)
        sent.append(("POST", path, answer.request.content, headers))
        found: dict[str, Any] = answer.json()
        return found

    ref = (await do(agent, "/v1/calls", CALL, **{"Idempotency-Key": "k"}))["ref"]
    await do(agent, "/v1/calls", {**CALL, "tool": READ}, **{"Idempotency-Key": "k2"})
    await do(approver, f"/v1/calls/{ref}/decision", {"decision": "approve"})
    await do(agent, f"/v1/calls/{ref}/claim", {"secret_hash": HASH})
    await do(agent, f"/v1/calls/{ref}/finish", {"secret": "mine", "result": "succeeded"})
    events, known = await api.events(ref), {call.ref for call in await api.store.page(None, 100, pending=False)}
    for client in (agent, approver):
        for verb, path, content, headers in reversed(sent):
            await client.request(verb, path, content=content, headers={"Content-Type": "application/json", **headers})
    stolen = [
        await thief.request(verb, path, content=content, headers={"Content-Type": "application/json", **headers})
        for verb, path, content, headers in sent[2:]
    ]

    done = [event for event in await api.events(ref) if event not in {"refused", "late"}]
    assert events == done
    assert known == {call.ref for call in await api.store.page(None, 100, pending=False)}
    assert {403, 404} == {answer.status_code for answer in stolen}
