"""Requests that wait, streams of events, and what becomes of them when the service stops or the caller leaves."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import websockets
from websockets.asyncio.client import unix_connect

from adapters.http.queues import MOST, Queues
from adapters.http.waits import Waits
from bot.api import serve_api
from bot.settings import HttpSettings
from hitl.call import Entry, Event
from hitl.errors import TooManyPending
from hitl.limits import CEILING, Limits
from hitl.ports import Change, adding
from hitl.records import replace
from hitl.testing import SetClock
from tests import api_clients
from tests.adapters.http.conftest import CALL, ME, OTHER, asked
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from starlette.types import Receive, Scope, Send

    from tests.adapters.http.conftest import Api

    Claiming = asyncio.Task[httpx.Response]

AGENTS = 1_000


async def raw(api: Api, path: str) -> bytes:
    """The answer to a GET by this user on a connection of its own."""
    reader, writer = await asyncio.open_unix_connection(api.socket)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    try:
        return await reader.read()
    finally:
        writer.close()


async def waiting(api: Api, count: int) -> None:
    """Wait until so many requests wait."""
    waits = api.service.waiting
    async with asyncio.timeout(PATIENCE_S):
        while sum(map(len, waits._waiters.values())) < count:  # noqa: ASYNC110, SLF001 - nobody else counts them
            await asyncio.sleep(0.01)


async def test_a_thousand_agents_wait_and_each_is_answered(api: Api) -> None:
    """One decision answers them all, without an error."""
    call, approver = await asked(api.local()), await api.approver()
    polls = [asyncio.create_task(raw(api, f"/v1/calls/{call['ref']}?wait=60")) for _ in range(AGENTS)]
    await waiting(api, AGENTS)
    await approver.post(f"/v1/calls/{call['ref']}/decision", json={"decision": "approve"})
    answers = await asyncio.gather(*polls)

    assert {b"200"} == {answer.split(b" ", 2)[1] for answer in answers}
    assert all(b'"status":"approved"' in answer for answer in answers)


async def test_at_a_stop_those_who_wait_hear_that_the_call_is_pending(api: Api) -> None:
    """Long-polls are answered with 200 before connections close, and streams say that the service stops."""
    call = await asked(api.local())
    polls = [asyncio.create_task(raw(api, f"/v1/calls/{call['ref']}?wait=60")) for _ in range(50)]
    streams = [asyncio.create_task(raw(api, "/v1/events")) for _ in range(5)]
    await waiting(api, 50)
    await asyncio.sleep(0.2)
    assert api.server is not None
    await api.server.stop()

    assert all(b" 200 " in poll and b'"status":"pending"' in poll for poll in await asyncio.gather(*polls))
    assert all(b"event: stopping" in stream for stream in await asyncio.gather(*streams))


async def test_who_hangs_up_waits_no_longer(api: Api) -> None:
    """The service forgets a request whose caller is gone."""
    call = await asked(api.local())
    poll = asyncio.create_task(raw(api, f"/v1/calls/{call['ref']}?wait=60"))
    await waiting(api, 1)
    poll.cancel()

    async with asyncio.timeout(PATIENCE_S):
        while api.service.waiting._waiters:  # noqa: ASYNC110, SLF001 - as above
            await asyncio.sleep(0.01)


# -- waiting for the claim ----------------------------------------------------------------------------------------

HASHES = [hashlib.sha256(secret.encode()).hexdigest() for secret in ("mine", "other")]


def claiming(client: httpx.AsyncClient, ref: str, secret_hash: str = HASHES[0], wait_s: int = 60) -> Claiming:
    """A claim that waits for the decision."""
    headers, body = {"Prefer": f"wait={wait_s}"}, {"secret_hash": secret_hash}
    return asyncio.create_task(client.post(f"/v1/calls/{ref}/claim", json=body, headers=headers))


async def decided(api: Api, ref: str, verb: str = "approve") -> None:
    """Decide a call."""
    approver = await api.approver()
    assert 200 == (await approver.post(f"/v1/calls/{ref}/decision", json={"decision": verb})).status_code


def told(answer: httpx.Response) -> tuple[int, str]:
    """The status and the code of an answer that refuses."""
    return answer.status_code, answer.json()["code"]


async def test_a_claim_that_waits_gets_the_arguments_with_the_decision(api: Api) -> None:
    """One request brings both, one commit made both, and the same secret gets the same again."""
    agent = await api.agent()
    call = await asked(agent)
    claim = claiming(agent, call["ref"])
    await waiting(api, 1)
    await decided(api, call["ref"])
    answer, again = await claim, await claiming(agent, call["ref"])
    done = await agent.post(f"/v1/calls/{call['ref']}/finish", json={"secret": "mine", "result": "succeeded"})

    assert (200, CALL["args"]) == (answer.status_code, answer.json()["args"])
    assert answer.json() == again.json()
    assert ["approved", "claimed", "succeeded"] == (await api.events(call["ref"]))[-3:]
    assert (200, "succeeded") == (done.status_code, done.json()["status"])


async def test_of_two_claims_that_wait_one_gets_the_call(api: Api) -> None:
    """Another secret is another claimant."""
    agent = await api.agent()
    call = await asked(agent)
    claims = [claiming(agent, call["ref"], secret_hash) for secret_hash in HASHES]
    await waiting(api, 2)
    await decided(api, call["ref"])
    answers = await asyncio.gather(*claims)

    assert [200, 409] == sorted(answer.status_code for answer in answers)
    assert 1 == (await api.events(call["ref"])).count("claimed")


async def test_a_claim_whose_caller_hung_up_takes_nothing(api: Api) -> None:
    """Nobody would hear the answer. The call stays to be claimed, with another secret too, until it lapses."""
    agent = await api.agent()
    call = await asked(agent)
    claim = claiming(api.remote(agent.headers["authorization"].removeprefix("Bearer ")), call["ref"])
    await waiting(api, 1)
    claim.cancel()
    async with asyncio.timeout(PATIENCE_S):
        while api.service.waiting._waiters:  # noqa: ASYNC110, SLF001 - as above
            await asyncio.sleep(0.01)
    await decided(api, call["ref"])

    assert "claimed" not in await api.events(call["ref"])
    assert 200 == (await claiming(agent, call["ref"], HASHES[1])).status_code


async def test_a_request_that_asks_and_waits_gets_the_claim_with_the_decision(api: Api) -> None:
    """One request asks, waits and claims, if it has a secret's hash: the commit that approves also claims."""
    agent = await api.agent()
    asking = agent.post("/v1/calls", json=CALL | {"secret_hash": HASHES[0]}, headers={"Prefer": "wait=60"})
    task = asyncio.create_task(asking)
    await waiting(api, 1)
    (call,) = await api.store.pending()
    await decided(api, call.ref)
    answer = await task

    assert (200, "running", CALL["args"]) == (
        answer.status_code,
        answer.json()["status"],
        answer.json()["claim"]["args"],
    )
    assert ["asked", "approved", "claimed"] == await api.events(call.ref)


@pytest.mark.parametrize("verb", ["reject", None])
async def test_a_request_that_asks_and_waits_in_vain_gets_no_claim(api: Api, verb: str | None) -> None:
    """It is told how the call stands, as without a secret."""
    agent, wait_s = await api.agent(), 60 if verb else 1
    asking = agent.post("/v1/calls", json=CALL | {"secret_hash": HASHES[0]}, headers={"Prefer": f"wait={wait_s}"})
    task = asyncio.create_task(asking)
    await waiting(api, 1)
    if verb:
        (call,) = await api.store.pending()
        await decided(api, call.ref, verb)
    answer = (await task).json()

    assert ("rejected" if verb else "pending", None) == (answer["status"], answer["claim"])


# -- callers that leave -------------------------------------------------------------------------------------------


async def attended(api: Api, ref: str) -> asyncio.StreamWriter:
    """A wait of this user that says that nobody else takes the answer."""
    _, writer = await asyncio.open_unix_connection(api.socket)
    writer.write(f"GET /v1/calls/{ref}?wait=60 HTTP/1.1\r\nHost: x\r\nPrefer: attended\r\n\r\n".encode())
    await waiting(api, 1)
    return writer


async def ended(api: Api, ref: str, within_s: float = 1.0) -> list[str]:
    """The record of a call once it isn't open any more, or after the time in which it would have ended."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            while (await api.events(ref))[-1] in {"asked", "approved"}:  # noqa: ASYNC110 - as a reader would
                await asyncio.sleep(0.01)
    return await api.events(ref)


@pytest.fixture
def no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Callers get a tenth of a second to come back.

    The time is the event loop's, which waits for real connections here, so no clock can be set. `GRACE_S` isn't tested.
    """
    monkeypatch.setattr("adapters.http.attendance.GRACE_S", 0.1)


@pytest.mark.usefixtures("no_grace")
class TestTheCallerLeaves:
    """A caller said `attended`, and its connection ends."""

    async def test_its_call_is_withdrawn(self, api: Api) -> None:
        """Nobody else would take the answer."""
        call = await asked(api.local())
        (await attended(api, call["ref"])).close()

        assert ["asked", "withdrawn"] == await ended(api, call["ref"], PATIENCE_S)

    async def test_what_was_approved_meanwhile_lapses(self, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
        """The approver reads that nothing ran."""
        monkeypatch.setattr("adapters.http.attendance.GRACE_S", 3.0)  # The approval must come within this time.
        call = await asked(api.local())
        (await attended(api, call["ref"])).close()
        await decided(api, call["ref"])

        assert ["asked", "approved", "lapsed"] == await ended(api, call["ref"], PATIENCE_S)

    async def test_who_comes_back_in_time_keeps_the_call(self, api: Api) -> None:
        """A proxy or the network may have ended the first connection."""
        call = await asked(api.local())
        first = await attended(api, call["ref"])
        second = await attended(api, call["ref"])
        first.close()

        assert ["asked"] == await ended(api, call["ref"])
        second.close()
        assert ["asked", "withdrawn"] == await ended(api, call["ref"], PATIENCE_S)

    async def test_who_only_looks_takes_nothing_along(self, api: Api) -> None:
        """A wait without the word, and the word of somebody who didn't ask, mean nothing."""
        call = await asked(await api.agent())
        (await attended(api, call["ref"])).close()
        with contextlib.suppress(httpx.ReadTimeout):
            await api.local().get(f"/v1/calls/{call['ref']}", params={"wait": 60}, timeout=0.2)

        assert ["asked"] == await ended(api, call["ref"])

    async def test_a_stop_of_the_service_withdraws_nothing(self, api: Api) -> None:
        """It ends every connection itself, and the callers come back to the next process."""
        call = await asked(api.local())
        writer = await attended(api, call["ref"])
        assert api.server is not None
        await api.server.stop()
        writer.close()

        assert ["asked"] == await ended(api, call["ref"])

    async def test_a_call_that_was_claimed_is_the_callers(self, api: Api) -> None:
        """It may run for longer than the connection that claimed it."""
        call, agent = await asked(api.local()), api.local()
        writer = await attended(api, call["ref"])
        await decided(api, call["ref"])
        await claiming(agent, call["ref"])
        writer.close()

        assert ["asked", "approved", "claimed"] == await ended(api, call["ref"])


async def test_another_agents_claim_does_not_wait(api: Api) -> None:
    """The call looks as if it were not there, and the approval claims it for nobody."""
    agent, other = await api.agent(), await api.agent("other")
    call = await asked(agent)
    refused = await claiming(other, call["ref"])
    await decided(api, call["ref"])

    assert (404, "CALL_UNKNOWN") == told(refused)
    assert "claimed" not in await api.events(call["ref"])


async def test_a_claim_that_waits_ends_with_its_token(api: Api) -> None:
    """After a revocation the call is withdrawn, so that no approval claims it."""
    agent = await api.agent()
    call = await asked(agent)
    claim = claiming(agent, call["ref"])
    await waiting(api, 1)
    await api.local().delete("/v1/tokens/ci")
    answer = await claim
    approver = await api.approver()
    late = await approver.post(f"/v1/calls/{call['ref']}/decision", json={"decision": "approve"})

    assert (401, "UNAUTHENTICATED") == told(answer)
    assert (409, "ALREADY_DECIDED") == told(late)
    assert "claimed" not in await api.events(call["ref"])


@pytest.mark.parametrize("verb", ["reject", None])
async def test_a_claim_that_waits_is_refused_without_an_approval(api: Api, verb: str | None) -> None:
    """A rejected call is over. At the end of the wait, a pending call is still pending."""
    agent = await api.agent()
    call = await asked(agent)
    claim = claiming(agent, call["ref"], wait_s=60 if verb else 1)
    await waiting(api, 1)
    if verb:
        await decided(api, call["ref"], verb)

    assert (409, "ALREADY_DECIDED" if verb else "STILL_PENDING") == told(await claim)
    assert "claimed" not in await api.events(call["ref"])


async def test_a_claim_that_waits_for_another_digest_is_refused_at_once(api: Api) -> None:
    """Nobody waits for a call that isn't the one that they will run."""
    agent = await api.agent()
    call = await asked(agent)
    body = {"secret_hash": HASHES[0], "digest": "0" * 64}
    answer = await agent.post(f"/v1/calls/{call['ref']}/claim", json=body, headers={"Prefer": "wait=60"})

    assert (409, "CALL_CHANGED") == told(answer)


# -- events -------------------------------------------------------------------------------------------------------


async def events(answer: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    """The events of a stream."""
    async for line in answer.aiter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


@contextlib.asynccontextmanager
async def stream(client: httpx.AsyncClient, cursor: str | None = None) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
    """A stream from behind a cursor, or from now on."""
    headers = {"Last-Event-ID": cursor} if cursor else {}
    async with client.stream("GET", "/v1/events", headers=headers) as answer:
        assert (200, "text/event-stream") == (answer.status_code, answer.headers["content-type"].split(";")[0])
        yield events(answer)


async def test_a_stream_tells_what_happens_to_the_callers_calls(api: Api) -> None:
    """Each event has its cursor; calls of other agents aren't told."""
    agent, other, approver = await api.agent(), await api.agent("other"), await api.approver()
    async with asyncio.timeout(PATIENCE_S), stream(agent) as told:
        await asked(other)
        call = await asked(agent)
        await approver.post(f"/v1/calls/{call['ref']}/decision", json={"decision": "reject"})
        first, second = await anext(told), await anext(told)

    assert [(call["ref"], "asked"), (call["ref"], "rejected")] == [
        (one["ref"], one["event"]) for one in (first, second)
    ]
    assert int(first["id"]) < int(second["id"])


async def test_streams_of_different_callers_share_a_reading_and_no_event(api: Api) -> None:
    """All streams read the record after the same position, and one of them ends while the others go on."""
    first, second = await api.agent(), await api.agent("other")
    async with asyncio.timeout(PATIENCE_S), stream(first) as mine, stream(second) as theirs:
        async with stream(first):
            pass
        calls = [await asked(first), await asked(second), await asked(first, args={"n": 2})]
        told = [await anext(mine), await anext(mine)], [await anext(theirs)]

    assert [calls[0]["ref"], calls[2]["ref"]] == [one["ref"] for one in told[0]]
    assert [calls[1]["ref"]] == [one["ref"] for one in told[1]]


async def test_a_cursor_goes_on_where_it_was_over_both_transports_and_after_a_restart(api: Api) -> None:
    """Whoever comes back with the last cursor gets every later event once, also from a new process."""
    agent = await api.agent()
    token = agent.headers["authorization"]
    async with asyncio.timeout(PATIENCE_S):
        async with stream(agent) as told:
            first = await asked(agent, args={"n": 1})
            seen = await anext(told)
        missed = [await asked(agent, args={"n": number}) for number in (2, 3)]
        async with contextlib.AsyncExitStack() as parts:
            folder = Path(parts.enter_context(tempfile.TemporaryDirectory(prefix="again-"))) / "run"
            await serve_api(api.service, folder, parts)
            local = await parts.enter_async_context(api_clients.local(folder / "sayso.sock"))
            later = await parts.enter_async_context(stream(local, seen["id"]))
            by_stream = [await anext(later) for _ in missed]
        uri = f"{api.url.replace('http', 'ws')}/v1/events?cursor={seen['id']}"
        async with websockets.connect(uri, additional_headers={"Authorization": token}, proxy=None) as socket:
            by_socket = [json.loads(await socket.recv()) for _ in missed]

    assert first["ref"] == seen["ref"]
    assert [call["ref"] for call in missed] == [one["ref"] for one in by_stream]
    assert by_stream == by_socket


class Endless:
    """A gateway whose stream never ends, or whose answer never begins."""

    def __init__(self, *, begins: bool) -> None:
        self._begins = begins
        self.entered, self.left = asyncio.Event(), asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Say that the stream is there, and wait."""
        del scope, receive
        try:
            if self._begins:
                await send({"type": "http.response.start", "status": 200, "headers": []})
                await send({"type": "http.response.body", "body": b": here\n\n", "more_body": True})
            self.entered.set()
            await asyncio.Event().wait()
        finally:
            self.left.set()

    async def ask(self, scope: Scope, tool: str, args: Mapping[str, Any], key: str | None) -> None:
        """Offer no tool."""


@pytest.mark.parametrize("begins", [True, False])
@pytest.mark.parametrize("end", ["revoked", "over", "stopped"])
async def test_a_stream_of_mcp_ends_with_its_token(api: Api, *, begins: bool, end: str) -> None:
    """Whatever the gateway is doing for it: at the revocation of the token, at its end, and at a stop."""
    gateway = Endless(begins=begins)
    async with contextlib.AsyncExitStack() as parts:
        folder = Path(parts.enter_context(tempfile.TemporaryDirectory(prefix="again-"))) / "run"
        server = await serve_api(api.service, folder, parts, http=HttpSettings(port=0), gateway=gateway)
        local = await parts.enter_async_context(api_clients.local(folder / "sayso.sock"))
        until = {"until": (api.service.gate.clock.now() + timedelta(seconds=1)).isoformat()} if end == "over" else {}
        made = await local.post("/v1/tokens", json={"name": "ci", "scope": "agent", "owner": ME, **until})
        agent = await parts.enter_async_context(
            api_clients.remote(f"http://127.0.0.1:{server.port}", made.json()["token"])
        )
        async with asyncio.timeout(PATIENCE_S):
            stream = asyncio.create_task(agent.get("/mcp", headers={"Accept": "text/event-stream"}))
            await gateway.entered.wait()
            if end == "revoked":
                await local.delete("/v1/tokens/ci")
            elif end == "stopped":
                await server.stop()
            answer = await stream
            await gateway.left.wait()

    assert answer.status_code == (200 if begins else 401 if end == "revoked" else 503)


async def test_a_websocket_is_authenticated_by_a_ticket_once(api: Api) -> None:
    """A client that can't send headers makes a ticket first; the same ticket opens no second WebSocket."""
    agent = await api.agent()
    ticket = (await agent.post("/v1/events/tickets")).json()["ticket"]
    uri = f"{api.url.replace('http', 'ws')}/v1/events?ticket={ticket}"
    async with websockets.connect(uri, proxy=None) as socket:
        call = await asked(agent)
        told = json.loads(await asyncio.wait_for(socket.recv(), PATIENCE_S))
    with pytest.raises(websockets.InvalidStatus) as refused:
        await websockets.connect(uri, proxy=None)

    assert call["ref"] == told["ref"]
    assert 403 == refused.value.response.status_code


@pytest.mark.parametrize("query", ["?xticket=1", "?a=ticket=1", "?ticket=", "?ticket=unknown", "?x=&ticket"])
async def test_a_query_that_names_no_ticket_opens_no_websocket(api: Api, query: str) -> None:
    """Only the parameter `ticket` stands for a credential, and only one that was made; everything else is refused."""
    with pytest.raises(websockets.InvalidStatus) as refused:
        await websockets.connect(f"{api.url.replace('http', 'ws')}/v1/events{query}", proxy=None)

    assert 403 == refused.value.response.status_code


async def revoked(api: Api) -> None:
    """Revoke the agent's token."""
    assert 200 == (await api.local().delete("/v1/tokens/ci")).status_code


ENDS = pytest.mark.parametrize("end", ["revoked", "over"])


async def test_a_stream_tells_at_once_of_a_line_that_changes_no_call(api: Api) -> None:
    """A failed integrity check adds a line about a call and doesn't change the call. Open streams don't wait for it."""
    client = api.local()
    call = await asked(client)
    async with client.stream("GET", "/v1/events") as answer:
        lines = answer.aiter_lines()
        assert ": here" == await anext(lines)
        await api.store.commit(adding(Change(entries=(Entry(call["ref"], Event.TAMPERED, "service", {}),))))
        told = [line for line in [await anext(lines) for _ in range(3)] if line]

    assert "event: tampered" in told


@ENDS
async def test_an_open_stream_ends_with_its_token(api: Api, clock: SetClock, end: str) -> None:
    """A revoked token's streams end at once; those of a token that is over end with the next event, untold."""
    token = await api.token("ci", until=(clock.now() + timedelta(seconds=60)).isoformat())
    agent, approver = api.remote(token), await api.approver()
    call, uri = await asked(agent), f"{api.url.replace('http', 'ws')}/v1/events"
    async with (
        asyncio.timeout(PATIENCE_S),
        agent.stream("GET", "/v1/events") as answer,
        websockets.connect(uri, additional_headers={"Authorization": f"Bearer {token}"}, proxy=None) as socket,
    ):
        lines = answer.aiter_lines()
        assert ": here" == await anext(lines)
        if end == "revoked":
            await revoked(api)
        else:
            clock.advance(61)
            await approver.post(f"/v1/calls/{call['ref']}/decision", json={"decision": "approve"})
        left = [line async for line in lines if line]
        with pytest.raises(websockets.ConnectionClosedError) as closed:
            await socket.recv()

    assert ["event: error", 'data: {"code": "UNAUTHENTICATED"}'] == left
    assert (1008, "UNAUTHENTICATED") == (closed.value.rcvd.code, closed.value.rcvd.reason)  # type: ignore[union-attr]


async def test_an_open_chat_ends_with_its_users_right(api: Api) -> None:
    """A user who is taken off all lists learns nothing more there, not even how their own call ended."""
    user, approver = api.local(), await api.approver()
    async with asyncio.timeout(PATIENCE_S), user.stream("POST", "/v1/chat") as chat:
        lines = chat.aiter_lines()
        await anext(lines)
        call = await asked(user)
        card = await anext(lines)
        api.gate.people = replace(api.gate.people, requesters=(OTHER,), operators=())
        await approver.post(f"/v1/calls/{call['ref']}/decision", json={"decision": "reject", "reason": "no"})
        left = [line async for line in lines]

    assert call["short"] in card
    assert [] == left


@ENDS
async def test_a_ticket_is_worth_no_more_than_its_token(api: Api, clock: SetClock, end: str) -> None:
    """A ticket that was made before the token ended opens nothing."""
    agent = await api.agent(until=(clock.now() + timedelta(seconds=60)).isoformat())
    ticket = (await agent.post("/v1/events/tickets")).json()["ticket"]
    if end == "revoked":
        await revoked(api)
    else:
        clock.advance(61)
    with pytest.raises(websockets.InvalidStatus) as refused:
        await websockets.connect(f"{api.url.replace('http', 'ws')}/v1/events?ticket={ticket}", proxy=None)

    assert 403 == refused.value.response.status_code


@ENDS
async def test_a_request_that_waits_ends_with_its_token(api: Api, clock: SetClock, end: str) -> None:
    """A revoked token's long-poll is answered at once, one that is over with the decision, and neither hears it."""
    agent = await api.agent(until=(clock.now() + timedelta(seconds=60)).isoformat())
    call, approver = await asked(agent), await api.approver()
    poll = asyncio.create_task(agent.get(f"/v1/calls/{call['ref']}?wait=60"))
    await waiting(api, 1)
    if end == "revoked":
        await revoked(api)
    else:
        clock.advance(61)
        await approver.post(f"/v1/calls/{call['ref']}/decision", json={"decision": "approve"})
    answer = await asyncio.wait_for(poll, PATIENCE_S)

    assert (401, "UNAUTHENTICATED") == (answer.status_code, answer.json()["code"])


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer nope"}, {"Origin": "https://evil.test"}])
async def test_a_websocket_without_a_credential_is_refused(api: Api, headers: dict[str, str]) -> None:
    """As any other request."""
    with pytest.raises(websockets.InvalidStatus) as refused:
        await websockets.connect(f"{api.url.replace('http', 'ws')}/v1/events", additional_headers=headers, proxy=None)

    assert 403 == refused.value.response.status_code


async def test_a_websocket_over_the_socket_is_the_user(api: Api) -> None:
    """The kernel says who it is, and its end gives the connection's place back."""
    async with unix_connect(str(api.socket), "ws://sayso/v1/events") as socket:
        call = await asked(api.local())
        told = json.loads(await asyncio.wait_for(socket.recv(), PATIENCE_S))

    assert call["ref"] == told["ref"]


@pytest.mark.parametrize("cursor", ["x", "-1", "1.5", "9" * 19, "٣"])
async def test_what_is_no_cursor_is_refused(api: Api, cursor: str) -> None:
    """400, and no stream."""
    answer = await api.local().get("/v1/events", params={"cursor": cursor})

    assert (400, "HITL_001") == (answer.status_code, answer.json()["code"])


# -- too much -----------------------------------------------------------------------------------------------------


async def test_the_same_call_is_not_asked_again_right_after_a_rejection(api: Api, clock: SetClock) -> None:
    """For a minute, the gate refuses what the same agent was just refused; other arguments and agents are asked."""
    agent, approver = await api.agent(), await api.approver()
    call = await asked(agent)
    await approver.post(f"/v1/calls/{call['ref']}/decision", json={"decision": "reject"})
    clock.advance(59)
    again = await agent.post("/v1/calls", json=CALL)
    others = [await agent.post("/v1/calls", json=CALL | more) for more in ({"args": {"x": 1}}, {"agent": "second"})]
    clock.advance(1)
    later = await agent.post("/v1/calls", json=CALL)

    assert (409, "REJECTED_RECENTLY") == (again.status_code, again.json()["code"])
    assert call["short"] in again.json()["detail"]
    assert [202, 202, 202] == [answer.status_code for answer in (*others, later)]


@pytest.mark.parametrize("later", [False, True])
async def test_a_refusal_of_the_same_call_repeats_who_rejected_it_and_why(api: Api, later: bool) -> None:  # noqa: FBT001
    """A new session asks, and it hasn't heard the first answer. The reason may have come after the rejection."""
    agent, approver = await api.agent(), await api.approver()
    call = await asked(agent)
    decision = {"decision": "reject"} | ({} if later else {"reason": "the queue isn't empty"})
    decided = await approver.post(f"/v1/calls/{call['ref']}/decision", json=decision)
    if later:
        await api.gate.add_reason(call["ref"], decided.json()["call"]["decided_by"], "the queue isn't empty")
    again = await agent.post("/v1/calls", json=CALL)

    assert (409, "REJECTED_RECENTLY") == (again.status_code, again.json()["code"])
    assert "the queue isn't empty" in again.json()["detail"]
    assert decided.json()["call"]["decided_by_name"] in again.json()["detail"]


class TestWithRoomForOne:
    """One call of a requester may be pending."""

    @pytest.fixture
    def limits(self) -> Limits:
        """Room for one."""
        return Limits(open_per_requester=1)

    async def test_one_too_many_is_told_when_to_come_back(self, api: Api) -> None:
        """429 with Retry-After; nothing is recorded, and another agent has room of its own."""
        agent, other = await api.agent(), await api.agent("other")
        await asked(agent)
        answer = await agent.post("/v1/calls", json=CALL | {"args": {"n": 2}})

        assert (429, "TOO_MANY_PENDING") == (answer.status_code, answer.json()["code"])
        assert int(answer.headers["retry-after"]) > 0
        await asked(other)

    async def test_a_queue_gives_room_in_order(self, api: Api) -> None:
        """`Prefer: queue` waits for room: first come, first served."""
        agent, approver = await api.agent(), await api.approver()
        ref = (await asked(agent))["ref"]
        queued = []
        for number in range(3):
            body = CALL | {"args": {"n": number}}
            queued.append(asyncio.create_task(agent.post("/v1/calls", json=body, headers={"Prefer": "queue, wait=60"})))
            await asyncio.sleep(0.1)
        places = []
        for _ in queued:
            await approver.post(f"/v1/calls/{ref}/decision", json={"decision": "reject"})
            async with asyncio.timeout(PATIENCE_S):
                while not (pending := list(await api.store.pending())):  # noqa: ASYNC110 - as an approver would
                    await asyncio.sleep(0.01)
            ref = pending[0].ref
            places.append(pending[0].arguments["n"])
        await approver.post(f"/v1/calls/{ref}/decision", json={"decision": "reject"})
        answers = await asyncio.gather(*queued)

        assert [0, 1, 2] == places
        assert ["rejected"] * 3 == [answer.json()["status"] for answer in answers]

    async def test_a_queue_ends_with_the_wait(self, api: Api) -> None:
        """Who got no room in time hears 429, and nothing was recorded."""
        agent = await api.agent()
        await asked(agent)
        answer = await agent.post("/v1/calls", json=CALL | {"args": {"n": 2}}, headers={"Prefer": "queue; wait=1"})

        assert 429 == answer.status_code
        assert 1 == len(await api.store.pending())

    async def test_the_time_in_line_is_a_part_of_the_wait(self, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
        """After two seconds in line, `queue, wait=3` waits one more second for people."""
        limits: list[float] = []
        until = Waits.until

        # The real method runs. How long a request would wait can't be seen from outside before that time is over.
        async def noted(waits: Waits, event: Any, otherwise: Any, limit_s: float, *more: Any) -> Any:
            limits.append(limit_s)
            return await until(waits, event, otherwise, limit_s, *more)

        agent = await api.agent()
        monkeypatch.setattr(Waits, "until", noted)
        async with asyncio.timeout(PATIENCE_S):
            ref = (await asked(agent))["ref"]
            queued = asyncio.create_task(queue(agent, 1, 3))
            await asyncio.sleep(2.1)
            await agent.post(f"/v1/calls/{ref}/withdraw")
            answer = await queued

        assert answer.status_code in {202, 429}  # a slow machine may take longer than the wait
        assert limits[0] > 2.9
        assert limits[-1] <= 1

    async def test_agents_of_one_token_wait_in_lines_of_their_own(self, api: Api) -> None:
        """One agent's full line doesn't stop another agent that has room."""
        agent = await api.agent()
        await asked(agent, agent="one")
        queued = asyncio.create_task(queue(agent, 1, 60, agent="one"))
        await asyncio.sleep(0.2)
        async with asyncio.timeout(PATIENCE_S):
            await asked(agent, agent="two")
        queued.cancel()

    async def test_a_submission_that_has_begun_is_never_made_twice(self, api: Api, monkeypatch: Any) -> None:
        """The end of the time in line cancels no commit, so a slow disk makes no second call."""
        commit = api.store.commit

        async def slow(unit: Any) -> Any:
            done = await asyncio.shield(asyncio.ensure_future(commit(unit)))
            await asyncio.sleep(1.3)
            return done

        agent = await api.agent()
        monkeypatch.setattr(api.store, "commit", slow)
        answer = await queue(agent, 1, 1)

        assert 202 == answer.status_code
        assert 1 == len(await api.store.pending())

    async def test_a_revoked_token_in_line_asks_nothing(self, api: Api) -> None:
        """Its request ends with the token, also if there is room by then."""
        agent = await api.agent()
        await asked(agent)
        queued = asyncio.create_task(queue(agent, 1, 60))
        await asyncio.sleep(0.2)
        await api.local().delete("/v1/tokens/ci")
        answer = await asyncio.wait_for(queued, PATIENCE_S)

        assert 401 == answer.status_code
        assert 1 == len(await api.store.page(None, 10, pending=False))


async def queue(client: httpx.AsyncClient, number: int, wait_s: int, **more: str) -> httpx.Response:
    """The answer to a call that may wait in line."""
    headers = {"Prefer": f"queue, wait={wait_s}"}
    return await client.post("/v1/calls", json=CALL | more | {"args": {"n": number}}, headers=headers)


def test_all_lines_of_one_requester_together_are_limited() -> None:
    """Agents name themselves, so a line for each name would be no limit. Another requester has room."""
    queues = Queues()
    with contextlib.ExitStack() as waiting:
        for number in range(CEILING * MOST):
            waiting.enter_context(queues.place("token:ci", f"agent {number}"))
        with pytest.raises(TooManyPending), queues.place("token:ci", "one more"):
            pytest.fail("it has a place")
        with queues.place("token:other", "one more"):
            pass

    with queues.place("token:ci", "one more"):
        pass


class TestWithRareAsks:
    """An agent may ask twice within five minutes."""

    @pytest.fixture
    def limits(self) -> Limits:
        """Two asks."""
        return Limits(asks=2)

    async def test_a_flood_is_told_when_it_is_over(self, api: Api, clock: SetClock) -> None:
        """429 with the seconds until the oldest ask no longer counts; it then has room again."""
        agent = await api.agent()
        for number in range(2):
            await asked(agent, args={"n": number})
        flood = await agent.post("/v1/calls", json=CALL)
        clock.advance(float(flood.headers["retry-after"]))

        assert 429 == flood.status_code
        await asked(agent)

    async def test_each_call_of_a_batch_without_room_says_when_to_come_back(self, api: Api) -> None:
        """The batch is answered with 200; each call for which there is no room has the seconds of its Retry-After."""
        agent = await api.agent()
        calls = [CALL | {"id": str(number), "args": {"n": number}} for number in range(4)]
        found = (await agent.post("/v1/batches", json={"calls": calls})).json()["calls"]
        alone = await agent.post("/v1/calls", json=CALL)

        assert [True, True, False, False] == [each["problem"] is None for each in found]
        assert {int(alone.headers["retry-after"])} == {each["problem"]["retry_after"] for each in found[2:]}
        assert alone.json()["retry_after"] > 200

    async def test_a_queue_moves_when_the_flood_is_over(self, api: Api, clock: SetClock) -> None:
        """In order, as many as there is room for; those behind hear the gate's own refusal at the end of their time."""
        agent = await api.agent()
        for number in range(2):
            await asked(agent, args={"n": number})
        queued = []
        for number, wait_s in ((2, 60), (3, 60), (4, 4)):
            queued.append(asyncio.create_task(queue(agent, number, wait_s)))
            await asyncio.sleep(0.1)
        clock.advance(301)
        async with asyncio.timeout(PATIENCE_S):
            last = await queued[2]
            while len(pending := await api.store.pending()) < 4:  # noqa: ASYNC110 - as an approver would
                await asyncio.sleep(0.01)
        for task in queued[:2]:
            task.cancel()

        assert [0, 1, 2, 3] == [call.arguments["n"] for call in pending]
        assert (429, "TOO_MANY_PENDING") == (last.status_code, last.json()["code"])
        assert int(last.headers["retry-after"]) > 200
