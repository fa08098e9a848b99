"""The Agent Approval Protocol's published client, unchanged, before a running service, and AgentAck on its record."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import aclosing, closing
from pathlib import Path
from typing import Any

import pytest
from agentack import Action, Recorder
from agentapprovalprotocol import Allow, AsyncClient, AsyncGate, Call, Client, Deny, Gate, Pending, Receiver
from agentapprovalprotocol.receiver import new_secret

from tests.acceptance.installation import ME, Installation, until
from tests.acceptance.making import Maker, install, maker
from tests.acceptance.test_http_page import free_port
from tests.patience import PATIENCE_S

__all__ = ["install", "maker"]
pytestmark = pytest.mark.thirdparty

#: The receiver that the settings name: its signing secret and its port.
SECRET, RECEIVING = new_secret(), free_port()
SETTINGS = f"""
policy = "shop"
policies = ["policies"]
requesters = ["{ME}"]
approvers = ["token:ann", "{ME}"]
operators = ["{ME}"]
self_approval_socket = "high"
limits = {{again_s = 0}}

[http]
port = 0

[http.notify.ci]
url = "http://127.0.0.1:{RECEIVING}/aap/events"
secret_file = "ci-secret"
"""
POLICY = """
version: 1
forbid:
  - {id: never, tool: pay, when: [{key: amount, op: gt, value: 1000}], message: Too much.}
rules:
  - {id: look, tool: look, action: allow}
"""
HARD = {"amount": 42, "rate": 1.5, "deep": {"a": [1, True, None, "x", 0.1]}}


@pytest.fixture(scope="module")
def service(maker: Maker) -> Iterator[Installation]:
    """A service with a port and the policy above."""
    with maker.batch() as make:
        made = make(settings=SETTINGS)
        (made.root / "ci-secret").write_text(SECRET)
        (made.root / "policies").mkdir()
        (made.root / "policies" / "shop.yaml").write_text(POLICY)
        made.start()
        yield made


@pytest.fixture(scope="module")
def address(service: Installation) -> tuple[str, str]:
    """The base URL and the token that an operator gives to a client."""
    port = until(lambda: re.search(r"http\.ready.* port=(\d+)", service.log), "a port")[1]
    made = service.run("token", "create", "ci", "--scope", "agent", "--owner", ME)
    return f"http://127.0.0.1:{port}/aap", made.stdout.strip()


@pytest.fixture
def gate(address: tuple[str, str]) -> Iterator[Gate]:
    """The published gate."""
    with closing(Client(*address, retry_budget=2)) as client:
        yield Gate(client, wait_limit=60)


def pay(**more: Any) -> Call:
    """A call that people are asked about."""
    return Call(
        key=str(uuid.uuid4()), tool="pay", arguments=HARD, server="shop", reasoning="rent", context={"n": 1.5}, **more
    )


@contextlib.contextmanager
def answered(service: Installation, verb: str, reason: str | None = None) -> Iterator[list[dict[str, Any]]]:
    """Somebody answers the next call. The list gets what they saw."""
    seen: list[dict[str, Any]] = []

    def answer() -> None:
        seen.extend(until(lambda: service.call("pending")["calls"], "a call"))
        service.call("decide", target=seen[0]["ref"], verb=verb, reason=reason)

    thread = threading.Thread(target=answer)
    thread.start()
    yield seen
    thread.join()


def test_an_approved_call_runs_and_its_outcome_is_on_record(service: Installation, gate: Gate) -> None:
    """People saw tool, arguments and the agent's words; the same call seen again isn't run again."""
    call = pay()
    with answered(service, "approve") as seen, gate.guard(call) as verdict:
        assert isinstance(verdict, Allow)
    with gate.guard(call) as again:
        assert (Deny, "consumed") == (type(again), again.status)

    shown = service.call("show", target=seen[0]["ref"])["call"]
    assert ("pay", "shop", HARD, "rent") == (shown["tool"], shown["tools"], shown["args"], shown["note"])
    assert "succeeded" == shown["status"]


@pytest.mark.parametrize(("verb", "told"), [("approve", "released 1.4.2\n"), ("reject", "not on a Friday")])
def test_the_program_of_the_page_runs_as_it_stands(
    service: Installation, address: tuple[str, str], tmp_path: Path, verb: str, told: str
) -> None:
    """With the address and the token of the page's service: it prints what the tool said, or the person's words."""
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "aap.md").read_text()
    program, _receiver = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    file = tmp_path / "release.py"
    file.write_text(program.replace("http://127.0.0.1:8080/aap", address[0]).replace("call-1", f"call-{verb}"))
    with answered(service, verb, "not on a Friday" if verb == "reject" else None):
        ran = subprocess.run(
            [sys.executable, file], env={**os.environ, "TOKEN": address[1]}, capture_output=True, text=True, check=True
        )

    assert told in ran.stdout


def test_a_run_that_raises_has_failed(service: Installation, gate: Gate) -> None:
    """The client reports it."""
    with answered(service, "approve") as seen, contextlib.suppress(ZeroDivisionError), gate.guard(pay()):
        1 / 0  # noqa: B018 - the tool's own error

    assert "failed" == service.status(seen[0]["ref"])


def test_a_rejected_call_does_not_run_and_the_model_hears_why(service: Installation, gate: Gate) -> None:
    """In the person's words."""
    with answered(service, "reject", "not on a Friday"), gate.guard(pay()) as verdict:
        assert (Deny, "denied") == (type(verdict), verdict.status)
        assert "not on a Friday" in verdict.reason


def test_the_policy_decides_alone_where_it_can(gate: Gate) -> None:
    """An allowed call runs at once, a denied one says why."""
    with gate.guard(Call(key="l", tool="look", arguments={})) as allowed:
        assert isinstance(allowed, Allow)
    with gate.guard(Call(key="n", tool="pay", arguments={"amount": 5000})) as denied:
        assert isinstance(denied, Deny)
        assert "Too much" in denied.reason


def test_a_call_that_nobody_answers_does_not_run(service: Installation, address: tuple[str, str]) -> None:
    """Its time runs out, or the client stops to wait and cancels it."""
    for terms, ended in (({"timeout": "5s"}, "expired"), ({"wait_limit": 1}, "withdrawn")):
        with closing(Client(*address, retry_budget=2)) as client, Gate(client, **terms).guard(pay()) as verdict:
            assert (Deny, "expired") == (type(verdict), verdict.status)
        assert ended == until(lambda ref=verdict.request_id: service.status(ref), "a status")


async def test_a_run_that_pauses_finds_its_answer(service: Installation, address: tuple[str, str]) -> None:
    """Asked in one run, approved, and checked again in the next, by three at once: one of them may run it."""
    call = pay(resume={"thread": "t1"})
    async with aclosing(AsyncClient(*address, retry_budget=2)) as client:
        gate = AsyncGate(client, mode="async")
        assert isinstance(await gate.check(call), Pending)
        (asked,) = service.call("pending")["calls"]
        service.call("decide", target=asked["ref"], verb="approve")
        verdicts = await asyncio.gather(*(gate.check(call) for _ in range(3)))

    assert [1, 2] == [[type(verdict) for verdict in verdicts].count(kind) for kind in (Allow, Deny)]


async def test_a_run_that_paused_is_woken_by_the_published_receiver(
    service: Installation, address: tuple[str, str]
) -> None:
    """It verifies the notice, reads the request with the agent's token, and resumes the run, which finds its answer."""
    woken: asyncio.Queue[tuple[Any, str]] = asyncio.Queue()
    call = pay(resume={"framework": "ours", "thread": "t7"})
    async with aclosing(AsyncClient(*address, retry_budget=2)) as client:
        gate = AsyncGate(client, mode="async")
        receiver = Receiver(
            resumers={"ours": lambda handle, request: woken.put((handle["thread"], request.status))},
            secret=SECRET,
            client=client,
            instance_id="ci",
        )

        async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            _, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
            headers = dict(line.split(": ", 1) for line in lines)
            status, _ = await receiver.handle(headers, await reader.readexactly(int(headers["Content-Length"])))
            writer.write(f"HTTP/1.1 {status} x\r\n\r\n".encode())
            writer.close()

        async with await asyncio.start_server(take, "127.0.0.1", int(RECEIVING)):
            assert isinstance(await gate.check(call), Pending)
            (asked,) = service.call("pending")["calls"]
            service.call("decide", target=asked["ref"], verb="approve")
            async with asyncio.timeout(PATIENCE_S):
                assert ("t7", "approved") == await woken.get()
            assert isinstance(await gate.check(call), Allow)


def test_a_wrong_token_and_a_service_that_is_away_deny(address: tuple[str, str]) -> None:
    """The client lets nothing run on its own."""
    for base, token in ((address[0], "wrong"), ("http://127.0.0.1:9/aap", address[1])):
        with closing(Client(base, token, retry_budget=1)) as client, Gate(client).guard(pay()) as verdict:
            assert (Deny, "error") == (type(verdict), verdict.status)


def test_the_record_is_a_trace_that_agentack_passes(service: Installation, gate: Gate, tmp_path: Path) -> None:
    """Each proposal ends, each approval is used once and in time, and what was shown is what ran."""
    told: list[dict[str, Any]] = []
    for verb in ("approve", "reject"):
        with answered(service, verb) as seen, gate.guard(pay()):
            pass
        told.append(service.call("show", target=seen[0]["ref"])["call"])

    assert 0 == traced(told, tmp_path / "trace.jsonl").returncode
    told[1]["record"].append({"event": "claimed"})
    forged = traced(told, tmp_path / "forged.jsonl")
    assert (1, True) == (forged.returncode, "ACK" in forged.stdout)


def traced(calls: list[dict[str, Any]], file: Path) -> subprocess.CompletedProcess[str]:
    """What AgentAck says of calls, line by line of their records."""
    with Recorder(file, "session-1") as recorder:
        for call in calls:
            ref, action = call["ref"], Action(call["tool"], "call", call["tools"], call["args"])
            steps: dict[str, Callable[[], None]] = {
                "asked": lambda ref=ref, action=action: (
                    recorder.propose(ref, action),
                    recorder.request_approval(f"a-{ref}", ref, action),
                ),
                "approved": lambda ref=ref: recorder.decide(f"a-{ref}", ref, "allow"),
                "claimed": lambda ref=ref, action=action: recorder.execute(ref, action, approval_id=f"a-{ref}"),
                "rejected": lambda ref=ref: recorder.decide(f"a-{ref}", ref, "deny"),
            }
            for line in call["record"]:
                steps.get(line["event"], lambda: None)()
            if call["status"] == "rejected":
                recorder.block(ref, approval_id=f"a-{ref}", reason="rejected")
    words = [sys.executable, "-m", "agentack", "check", str(file)]
    return subprocess.run(words, capture_output=True, text=True, check=False)
