"""`sayso test` against a socket that answers as a service does, and in some requests goes wrong."""

from __future__ import annotations

import json
import socketserver
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from bot.cli.main import application
from sayso_client.errors import ClientError
from sayso_client.terminal import clock_of
from tests.clients.answering import answer_with, problem, read_request, serving
from tests.sentences import says

#: Answers to an operation on a request, by its ref. A request without an answer here is pending.
Answers = dict[tuple[str, str], tuple[int, dict[str, Any]]]
NOW = datetime.now(UTC).isoformat()


def call(ref: str, status: str, by: str = "") -> dict[str, Any]:
    """A request, as the service shows it."""
    line = {"event": status, "at": NOW, "data": json.dumps({"surface": "telegram"})}
    record = [line] if by else []
    return {"ref": ref, "short": ref, "status": status, "decided_by": by, "created_at": NOW, "expires_at": NOW} | {
        "outcome": status,
        "message": status,
        "record": record,
    }


class Answering(socketserver.ThreadingUnixStreamServer):
    """Begins a test for each of two approvers, and answers what is planned."""

    answers: Answers
    heard: list[tuple[str, str]]


class _Talk(socketserver.StreamRequestHandler):
    server: Answering

    def handle(self) -> None:
        """Answer each request."""
        while request := read_request(self.rfile):
            op, ref = str(request["op"]), str(request.get("ref", ""))
            self.server.heard.append((op, ref))
            status, answer = self.server.answers.get((op, ref), (200, call(ref, "pending")))
            if op == "/v1/tests":
                made = [(name, call(name, "pending")) for name in ("ada", "ben")]
                answer = {"tests": [_made(*one) for one in made]}
            self.wfile.write(answer_with(status, answer))


def _made(approver: str, asked: dict[str, Any]) -> dict[str, Any]:
    about = {"place": "local", "approver": approver, "surface": None}
    return about | {"call": asked, "routes": [], "error": None}


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Answering]:
    """The socket."""
    server = Answering(str(tmp_path / "s"), _Talk)
    server.answers, server.heard = {}, []
    with serving(server):
        yield server


@pytest.fixture
def try_out(service: Answering) -> Callable[[], Result]:
    """Runs the command there."""
    return lambda: CliRunner().invoke(application(), ["test", "--socket", str(service.server_address)])


def test_a_request_that_cant_be_released_ends_no_other_test(service: Answering, try_out: Callable[[], Result]) -> None:
    """The approver has answered, so the test has passed; the error is told, and the other approver is awaited."""
    for name in ("ada", "ben"):
        service.answers["record", name] = (200, call(name, "approved", name))
    service.answers["release", "ada"] = (409, problem("LAPSED", "Nobody took it in time"))
    done = try_out()

    assert 0 == done.exit_code
    assert "Nobody took it in time" in done.stderr
    assert all(says(done.stdout, "test.pressed", name=name) for name in ("ada", "ben"))


def test_an_error_withdraws_what_was_asked(service: Answering, try_out: Callable[[], Result]) -> None:
    """If the command can't go on, nobody watches the requests any more, so none stays on the approvers' phones."""
    service.answers["record", "ben"] = (503, problem("UNAVAILABLE", "The store can't be read"))
    done = try_out()

    assert isinstance(done.exception, ClientError)
    assert {("withdraw", "ada"), ("withdraw", "ben")} <= set(service.heard)


def test_a_time_on_another_day_has_its_date() -> None:
    """A test may end after midnight."""
    today, tomorrow = datetime.now(UTC).replace(microsecond=0), datetime.now(UTC) + timedelta(days=1)

    assert clock_of(today.isoformat()) in {f"{today:%H:%M:%S}", f"{today:%Y-%m-%d %H:%M:%S}"}
    assert f"{tomorrow:%Y-%m-%d %H:%M:%S}" == clock_of(tomorrow.isoformat())
