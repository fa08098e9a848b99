"""Notices to agents that paused: to the operator's address alone, signed, without the outcome, and tried again."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from adapters.http.notices import Notices, Receiver, key_of
from bot.api import serve_api
from bot.errors import SettingsError
from bot.settings import HttpSettings
from tests.adapters.http.test_aap import BODY, act, create, decide
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from tests.adapters.http.conftest import Api

SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()


@dataclass
class Heard:
    """What a receiver got: each request's first line, headers and body. It answers with the statuses in turn."""

    statuses: list[str]
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    url: str = ""
    notices: Notices = field(init=False)

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read one request, and answer it."""
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        body = await reader.readexactly(int(headers["content-length"]))
        self.requests.append((first, headers, body))
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        writer.write(f"{status}\r\n\r\n".encode())
        writer.close()


@asynccontextmanager
async def receiving(api: Api, *statuses: str) -> AsyncIterator[Heard]:
    """A receiver of the agent `ci`, which answers with these status lines."""
    heard = Heard([*(statuses or ("HTTP/1.1 204 No Content",))])
    server = await asyncio.start_server(heard.take, "127.0.0.1", 0)
    heard.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/aap/events?x=1"
    notices = Notices({"token:ci": Receiver("ci", heard.url, key_of(SECRET))}, api.gate.clock, (0, 0.01, 0.01))
    heard.notices = notices
    api.gate.follow(notices.changed)
    try:
        yield heard
    finally:
        await notices.stop()
        server.close()


async def until(true: Callable[[], bool]) -> None:
    """Wait until something is true."""
    async with asyncio.timeout(PATIENCE_S):
        while not true():  # noqa: ASYNC110 - the receiver tells nobody
            await asyncio.sleep(0.005)


@pytest.mark.parametrize("decision", ["approve", "reject"])
async def test_a_notice_names_the_request_and_not_its_outcome(api: Api, decision: str) -> None:
    """It is signed over its id, its time and its body. Claiming and reporting send nothing more."""
    agent = await api.agent()
    async with receiving(api) as heard:
        ref = (await create(agent))["id"]
        assert [] == heard.requests
        await decide(api, ref, decision, reason="not on a Friday")
        await act(agent, ref, "consume", key="c1")
        await act(agent, ref, "outcome", {"status": "succeeded"})
        await until(lambda: bool(heard.requests))
    ((first, headers, body),) = heard.requests
    told = json.loads(body)
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    digest = hmac.new(bytes(range(32)), signed, hashlib.sha256).digest()

    assert "POST /aap/events?x=1 HTTP/1.1" == first
    assert {"id", "type", "instance_id", "request_id", "created_at"} == told.keys()
    assert ("request.resolved", "ci", ref) == (told["type"], told["instance_id"], told["request_id"])
    assert headers["webhook-id"] == told["id"]
    assert f"v1,{base64.b64encode(digest).decode()}" == headers["webhook-signature"]
    assert f"{int(api.gate.clock.now().timestamp())}" == headers["webhook-timestamp"]


async def test_a_rejection_that_still_waits_for_its_reason_sends_nothing(api: Api) -> None:
    """The agent that is woken can read the reason. The change that brings it, or ends the wait, sends the notice."""
    agent = await api.agent()
    ref = (await create(agent))["id"]
    await decide(api, ref, "reject", reason="not on a Friday")
    call = await api.gate.find(ref)
    assert call is not None
    async with receiving(api) as heard:
        heard.notices.changed(call.evolve(reason=None, due_at=call.deadline))
        await asyncio.sleep(0.05)
        early = len(heard.requests)
        heard.notices.changed(call)
        await until(lambda: bool(heard.requests))

    assert (0, 1) == (early, len(heard.requests))


@pytest.mark.parametrize(
    ("statuses", "tries"),
    [
        (["HTTP/1.1 500 No", "HTTP/1.1 204 Yes"], 2),
        (["HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/"], 3),
        (["garbage"], 3),
        (["HTTP/1.1"], 3),
    ],
    ids=["fails once", "redirect", "garbage", "no status"],
)
async def test_a_notice_that_is_not_taken_is_tried_again_a_few_times(api: Api, statuses: list[str], tries: int) -> None:
    """With the same id. A redirect is no acceptance, and isn't followed. The decision counts in any case."""
    agent = await api.agent()
    async with receiving(api, *statuses) as heard:
        ref = (await create(agent))["id"]
        await decide(api, ref)
        await until(lambda: len(heard.requests) == tries)
        await asyncio.sleep(0.05)

    assert tries == len(heard.requests)
    assert 1 == len({headers["webhook-id"] for _, headers, _ in heard.requests})
    assert 200 == (await act(agent, ref, "consume", key="c1"))[0]


async def test_nobody_else_is_told(api: Api) -> None:
    """Neither of another agent's request, nor of one that was asked in another form, nor of one decided at once."""
    agent, other, ann = await api.agent(), await api.agent("other"), await api.approver()

    async def approve(ref: str) -> None:
        answer = await ann.post(f"/v1/calls/{ref}/decision", json={"decision": "approve"})
        assert 200 == answer.status_code, answer.text

    async with receiving(api) as heard:
        await approve((await create(other))["id"])
        plain = {"tools": BODY["server"], "tool": BODY["tool"], "args": {}}
        asked = await agent.post("/v1/calls", json=plain, headers={"Idempotency-Key": "p"})
        await approve(asked.json()["ref"])
        await create(agent, "k3", tool="read")
        last = (await create(agent, "k4", arguments={"path": "b.txt"}))["id"]
        await approve(last)
        await until(lambda: bool(heard.requests))

    assert [last] == [json.loads(body)["request_id"] for _, _, body in heard.requests]


@pytest.mark.parametrize("secret", ["", "secret", "whsec_", "whsec_####", "whsec_YWJj"])
async def test_a_useless_signing_secret_is_refused_at_the_start(api: Api, tmp_path: Path, secret: str) -> None:
    """Nothing is served then."""
    file = tmp_path / "secret"
    file.write_text(secret)
    http = HttpSettings.model_validate({"notify": {"ci": {"url": "https://a.example/x", "secret_file": file}}})
    with pytest.raises(SettingsError):
        await serve_api(api.service, tmp_path, AsyncExitStack(), http=http)


@pytest.mark.parametrize(
    ("url", "taken"),
    [
        ("https://agent.example/aap/events", True),
        ("http://127.0.0.1:8000/aap/events", True),
        ("http://localhost/aap", True),
        ("http://agent.example/aap/events", False),
        ("http://localhost.example/aap", False),
        ("https://user@agent.example/aap", False),
        ("https://agent.example/a b", False),
        ("file:///etc/passwd", False),
        ("", False),
    ],
)
def test_a_notice_goes_over_tls_or_stays_on_this_machine(url: str, *, taken: bool) -> None:
    """Any other address is an error of the settings."""
    settings = {"notify": {"ci": {"url": url, "secret_file": "/x"}}}
    if taken:
        assert url == HttpSettings.model_validate(settings).notify["ci"].url
    else:
        with pytest.raises(ValueError, match="url"):
            HttpSettings.model_validate(settings)
