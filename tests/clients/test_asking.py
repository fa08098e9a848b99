"""Asking over the socket, against a service that answers what the test says."""

from __future__ import annotations

import json
import signal
import socketserver
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import sayso_client
from adapters.http import models
from sayso_client.asking import Asking
from sayso_client.client import Client
from sayso_client.command import Command
from sayso_client.errors import ClientError
from tests.clients.answering import answer_with, problem, read_request, serving
from tests.patience import PATIENCE_S
from tests.sentences import says

CALL = {"ref": "r", "short": "ABC234", "status": "approved", "message": "approved", "reason_until": None}
PENDING = {**CALL, "status": "pending"}
#: An answer that never comes: the connection breaks off.
BREAKS = None
Answer = dict[str, Any] | Callable[[], dict[str, Any]] | None


class Service(socketserver.ThreadingUnixStreamServer):
    """Gives its answers one after another, and keeps the requests."""

    answers: list[Answer]
    requests: list[dict[str, Any]]


class Talk(socketserver.StreamRequestHandler):
    """One connection to the service."""

    server: Service

    def handle(self) -> None:
        """Answer request by request."""
        while (request := read_request(self.rfile)) is not None:
            self.server.requests.append(request)
            answer = self.server.answers.pop(0)
            if answer is BREAKS:
                return
            self.wfile.write(answer_with(*told(answer() if callable(answer) else answer, request["op"])))


def told(answer: dict[str, Any], op: str) -> tuple[int, dict[str, Any]]:
    """Status and document of an answer, of which the service answers most with the call alone."""
    if "code" in answer:
        return 409, answer
    return 200, answer if op == "claim" else answer["call"]


def interrupt(number: int) -> None:
    """Send a signal to the main thread, which is waiting for an answer."""
    main = threading.main_thread().ident
    assert main is not None
    signal.pthread_kill(main, number)


def refused(code: str) -> dict[str, Any]:
    """The answer to a request that the service refuses."""
    return problem(code, "No.")


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A service that listens."""
    server = Service(str(tmp_path / "s"), Talk)
    server.requests = []
    with serving(server):
        yield server


@pytest.fixture
def asking(service: Service, tmp_path: Path) -> Asking:
    """One call for the command `touch ran` in the test's folder."""
    cwd, path = str(tmp_path), Path(str(service.server_address))
    request = {"tool": "deploy", "args": {"argv": ["touch", "ran"], "cwd": cwd}, "cwd": cwd}
    return Asking(lambda: Client(path), request)


def leased(tmp_path: Path, argv: list[str]) -> dict[str, Any]:
    """Return the answer that gives out a lease for this command."""
    return {"call": CALL, "args": {"argv": argv, "cwd": str(tmp_path)}}


def test_an_approved_command_runs_and_its_end_is_reported(service: Service, asking: Asking, tmp_path: Path) -> None:
    """The claim holds the hash of a secret, the report the secret; the service takes each of the requests."""
    finished = {**CALL, "status": "succeeded"}
    service.answers = [{"call": PENDING}, {"call": CALL}, leased(tmp_path, ["touch", "ran"]), {"call": finished}]
    asking.ask()
    asking.wait()
    ended = asking.run(["touch", "ran"])

    assert (0, None) == (ended and ended.status, ended and ended.why)
    assert (tmp_path / "ran").exists()
    assert ["ask", "wait", "claim", "finish"] == [request["op"] for request in service.requests]
    assert [("succeeded", 0)] == [
        (r["body"]["result"], r["body"]["exit_status"]) for r in service.requests if r["op"] == "finish"
    ]
    for request, model in zip(
        service.requests, (models.CallRequest, None, models.ClaimRequest, models.FinishRequest), strict=True
    ):
        if model is not None:
            model.model_validate(request["body"])
    assert finished == asking.call


def test_the_approval_claims_the_call_for_the_command_that_waits(
    service: Service, asking: Asking, tmp_path: Path
) -> None:
    """One request brings the decision and the permission."""
    granted = leased(tmp_path, ["touch", "ran"]) | {"call": {**CALL, "status": "running"}}
    service.answers = [{"call": PENDING}, granted, {"call": {**CALL, "status": "succeeded"}}]
    asking.ask()
    asking.wait(claims=True)

    assert asking.approved
    assert asking.run(["touch", "ran"])
    assert ["ask", "claim", "finish"] == [request["op"] for request in service.requests]
    assert (tmp_path / "ran").exists()


def test_a_service_that_does_not_wait_with_a_claim_is_asked_in_two_requests(
    service: Service, asking: Asking, tmp_path: Path
) -> None:
    """An older service answers the claim at once. The client must not send one claim after the other."""
    service.answers = [
        {"call": PENDING},
        refused("STILL_PENDING"),
        *({"call": PENDING}, {"call": CALL}),
        leased(tmp_path, ["touch", "ran"]),
        {"call": {**CALL, "status": "succeeded"}},
    ]
    asking.ask()
    asking.wait(claims=True)
    asking.run(["touch", "ran"])

    assert ["ask", "claim", "wait", "wait", "claim", "finish"] == [request["op"] for request in service.requests]
    assert (tmp_path / "ran").exists()


def test_a_signal_gives_back_what_the_approval_had_just_claimed(service: Service, asking: Asking) -> None:
    """The command doesn't run, and the record says so at once: not when the lease is over."""

    def interrupted() -> dict[str, Any]:
        interrupt(signal.SIGTERM)
        return refused("STILL_PENDING")

    decided = refused("ALREADY_DECIDED")
    service.answers = [{"call": PENDING}, interrupted, decided, decided, {"call": {**CALL, "status": "failed"}}]
    with asking:
        asking.ask()
        asking.wait(claims=True)
    ops = [(request["op"], request["body"].get("left"), request["body"].get("result")) for request in service.requests]

    assert [("withdraw", None, None), ("withdraw", True, None), ("finish", None, "failed")] == ops[2:]
    assert "withdrawn" == asking.call["status"]


def test_a_command_keeps_its_status_if_the_service_is_gone(
    service: Service,
    asking: Asking,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The command has run, so `ask` exits as the command did, and says that the service doesn't know it."""
    # Otherwise `ask` would try for half a minute to reach the service again. How long it tries isn't the subject here.
    monkeypatch.setattr("sayso_client.repeating.PATIENCE_S", 0)
    service.answers = [{"call": CALL}, leased(tmp_path, ["touch", "ran"]), BREAKS]
    outcome = tmp_path / "outcome.json"

    assert 0 == Command(asking, quiet=True).ask(["touch", "ran"], outcome=str(outcome))
    assert (tmp_path / "ran").exists()
    assert says(capsys.readouterr().err, "command.unreported", short="ABC234", status=0)
    assert 0 == json.loads(outcome.read_text())["exit_status"]


def test_a_command_that_was_not_asked_for_is_never_run(service: Service, asking: Asking, tmp_path: Path) -> None:
    """Whatever listens on the socket can't choose the command; TAMPERED is raised before anything runs."""
    service.answers = [{"call": CALL}, leased(tmp_path, ["touch", "other"])]
    asking.ask()
    with pytest.raises(ClientError) as caught:
        asking.run(["touch", "ran"])

    assert "TAMPERED" == caught.value.code
    assert [] == [path for path in tmp_path.iterdir() if path.name != "s"]


@pytest.mark.parametrize("op", ["release", "run"])
@pytest.mark.parametrize("code", ["ALREADY_DECIDED", "STILL_PENDING", "HITL_001"])
def test_an_approved_call_that_another_took_is_not_run(
    service: Service, asking: Asking, tmp_path: Path, op: str, code: str
) -> None:
    """The call then says how it ended."""
    lapsed = {**CALL, "status": "lapsed"}
    service.answers = [{"call": CALL}, refused(code), {"call": lapsed}]
    asking.ask()

    assert not (asking.run(["touch", "ran"]) if op == "run" else asking.release())
    assert lapsed == asking.call
    assert not (tmp_path / "ran").exists()


def test_a_connection_that_breaks_off_is_made_again_with_the_same_key(service: Service, asking: Asking) -> None:
    """The service may have recorded the call before the connection broke, so the key must name the same one."""
    service.answers = [BREAKS, refused("UNAVAILABLE"), {"call": PENDING}]
    asking.ask()

    keys = {request["key"] for request in service.requests}
    assert (3, 1) == (len(service.requests), len(keys))
    assert keys != {None}


def test_two_askings_have_two_keys(service: Service, asking: Asking) -> None:
    """A key that nobody gave is made for this call alone."""
    other = Asking(lambda: Client(Path(str(service.server_address))), {"tool": "deploy", "args": {}})
    service.answers = [{"call": PENDING}, {"call": PENDING}]
    asking.ask()
    other.ask()

    assert 2 == len({request["key"] for request in service.requests})


def test_a_service_that_is_not_there_is_not_waited_for(tmp_path: Path) -> None:
    """Nothing was recorded yet, so the error comes at once."""
    with pytest.raises(ClientError) as caught:
        Asking(lambda: Client(tmp_path / "none"), {"tool": "deploy", "args": {}}).ask()

    assert "UNAVAILABLE" == caught.value.code


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("answer", [{"call": {**CALL, "status": "withdrawn"}}, refused("ALREADY_DECIDED")])
def test_a_signal_withdraws_a_pending_call(
    service: Service, asking: Asking, number: signal.Signals, answer: dict[str, Any]
) -> None:
    """A yes that came just before counts as withdrawn here, and the service lets the call lapse at once."""

    def interrupted() -> dict[str, Any]:
        interrupt(number)
        return {"call": PENDING}

    service.answers = [{"call": PENDING}, interrupted, answer, {"call": {**CALL, "status": "lapsed"}}]
    before = signal.getsignal(number)
    with asking:
        asking.ask()
        asking.wait()

    assert (True, "withdrawn", "withdraw") == (asking.interrupted, asking.call["status"], service.requests[-1]["op"])
    assert before == signal.getsignal(number)


def test_a_second_signal_at_once_does_not_cut_the_withdrawal(service: Service, asking: Asking) -> None:
    """timeout(1) sends its signal twice. Both are one wish: the call is withdrawn, and nothing is raised."""

    def interrupted() -> dict[str, Any]:
        interrupt(signal.SIGTERM)
        return {"call": PENDING}

    def again() -> dict[str, Any]:
        interrupt(signal.SIGTERM)
        return {"call": {**CALL, "status": "withdrawn"}}

    service.answers = [{"call": PENDING}, interrupted, again]
    with asking:
        asking.ask()
        asking.wait()

    assert "withdrawn" == asking.call["status"]


def test_a_second_signal_later_ends_all(service: Service, asking: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever presses Ctrl-C again after a second doesn't want to wait for the withdrawal."""
    monkeypatch.setattr("sayso_client.asking._SAME_WISH_S", 0.0)
    told = threading.Event()

    def interrupted() -> dict[str, Any]:
        interrupt(signal.SIGINT)
        return {"call": PENDING}

    def again() -> dict[str, Any]:
        interrupt(signal.SIGINT)
        told.wait(PATIENCE_S)
        return {"call": PENDING}

    service.answers = [{"call": PENDING}, interrupted, again]
    with asking:
        asking.ask()
        with pytest.raises(KeyboardInterrupt):
            asking.wait()
    told.set()


@pytest.mark.parametrize("status", ["running", "released", "succeeded"])
def test_the_second_waiter_hears_that_another_one_got_the_approval(
    service: Service, asking: Asking, status: str
) -> None:
    """Two scripts waited with one key: the one that came second isn't told that the approval is theirs."""
    service.answers = [{"call": CALL}, refused("ALREADY_DECIDED"), {"call": {**CALL, "status": status}}]
    asking.ask()

    assert not asking.release()
    assert says(asking.call["message"], "command.taken", short="ABC234")


def test_a_reason_is_waited_for_until_none_can_come(service: Service, asking: Asking) -> None:
    """A service that is gone meanwhile changes nothing about the rejection."""
    asked = {**CALL, "status": "rejected", "reason_until": "2026-11-28T12:00:00Z"}
    service.answers = [{"call": asked}, {"call": asked}, refused("FAILED")]
    asking.ask()

    assert asked == asking.hear_why()
    assert ["explained", "explained"] == [request["until"] for request in service.requests[1:]]


def test_a_signal_between_the_no_and_the_wait_for_its_reason_ends_the_asking(service: Service, asking: Asking) -> None:
    """The person who sent it wants no reason any more."""
    asked = {**CALL, "status": "rejected", "reason_until": "2026-11-28T12:00:00Z"}
    service.answers = [{"call": asked}]
    with asking:
        asking.ask()
        signal.raise_signal(signal.SIGTERM)

        assert asked == asking.hear_why()
    assert ["ask"] == [request["op"] for request in service.requests]


def test_the_client_imports_the_standard_library_alone_and_nothing_slow() -> None:
    """A hook starts for each tool call: no module of the service, no library, and none that takes long to import."""
    folder = Path(str(sayso_client.__file__)).parents[1]
    modules = "sayso_client.asking, sayso_client.client"
    program = f"import sys; sys.path.insert(0, {str(folder)!r}); import {modules}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()} - {"__main__"}

    assert {"sayso_client"} == loaded - set(sys.stdlib_module_names)
    assert set() == loaded & {
        "dataclasses",
        "hashlib",
        "inspect",
        "logging",
        "pathlib",
        "random",
        "subprocess",
        "typing",
    }
