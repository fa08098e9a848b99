"""`sayso inbox` and `sayso history`: what is pending one by one, and what came of it."""

from __future__ import annotations

import json
import os
import pwd
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from bot.cli.main import application
from hitl.cards.wording import say
from sayso_client import Sayso, configuration
from sayso_client.life import Send
from tests.acceptance.installation import ME
from tests.sentences import says

if TYPE_CHECKING:
    from pathlib import Path

    from tests.acceptance.installation import Installation

pytestmark = pytest.mark.forked


def asked(service: Installation, name: str) -> dict[str, Any]:
    """A pending request whose command names this."""
    call: dict[str, Any] = service.call("ask", tool="deploy", args={"argv": ["echo", name]})["call"]
    return call


def test_the_inbox_goes_through_what_is_pending(service: Installation) -> None:
    """Each request is shown with what it would run, and answered by a key; a skipped one stays pending."""
    calls = [asked(service, name) for name in ("one", "two", "three")]
    done = service.run("inbox", given="a\nr\ntoo risky\ns\n")

    assert (0, "") == (done.returncode, done.stderr)
    assert [name for name in ("one", "two", "three") if f"  echo {name}\n" not in done.stdout] == []
    assert ["approved", "rejected", "pending"] == [service.status(call["ref"]) for call in calls]
    assert "too risky" == service.call("show", target=calls[1]["ref"])["call"]["reason"]
    service.call("withdraw", target=calls[2]["ref"])


@pytest.mark.parametrize("line", ["absolutely not", "also no", "yes", "apprve", "ar", "", "aa", "no"])
def test_a_line_that_is_no_key_decides_nothing(service: Installation, line: str) -> None:
    """Only a key or its word decides. The prompt says so, and asks again."""
    call = asked(service, "one")
    done = service.run("inbox", given=f"{line}\nskip\n")

    assert says(done.stdout, "inbox.unknown")
    assert "pending" == service.status(call["ref"])
    service.call("withdraw", target=call["ref"])


@pytest.mark.parametrize(("line", "status"), [("A", "approved"), ("approve", "approved"), ("Reject", "rejected")])
def test_a_key_may_be_written_out(service: Installation, line: str, status: str) -> None:
    """As a word, and in capitals."""
    call = asked(service, "one")
    service.run("inbox", given=f"{line}\n\n")

    assert status == service.status(call["ref"])


def test_no_line_of_an_argument_looks_like_an_argument(service: Installation) -> None:
    """Each line of a block has a bar before it, as in the terminal, and the count of hidden lines has none."""
    memo = "10 EUR to Ada\nto: Ada\n" + "x\n" * 900
    call = service.call("ask", tool="pay", args={"to": "Mallory", "memo": memo})["call"]
    lines = service.run("inbox", given="q\n").stdout.split("\n")
    service.call("withdraw", target=call["ref"])

    assert ["  to: Mallory"] == [line for line in lines if line.startswith("  to:")]
    assert "  │ to: Ada" in lines
    assert 1 == sum(says(line, "card.lines_hidden") for line in lines if not line.startswith(" "))


@pytest.mark.parametrize(
    ("given", "status"), [("a\n2\n", "succeeded"), ("a\nboth\nq\n", "pending"), ("r\n\n", "rejected")]
)
def test_the_inbox_takes_an_answer_to_a_question(service: Installation, given: str, status: str) -> None:
    """An option or its number is an answer, other words leave the question pending, and nobody need answer."""
    options = {"question": "Which stage?", "options": ["staging", "production"]}
    with Sayso(configuration(socket=service.socket)) as sayso:
        call = sayso._send(Send("POST", "/v1/questions", options))  # noqa: SLF001 - asks without waiting
    done = service.run("inbox", given=given)

    assert all(text in done.stdout for text in ("Which stage?", "1: staging", "2: production"))
    assert status == service.status(call["ref"])
    if status == "pending":
        service.call("withdraw", target=call["ref"])


def test_what_is_pending_is_listed_with_the_answers_that_it_takes(service: Installation) -> None:
    """`sayso pending` shows the headline of each request and the options of each question."""
    call = asked(service, "one")
    options = {"question": "Which stage?", "options": ["staging", "production"]}
    with Sayso(configuration(socket=service.socket)) as sayso:
        question = sayso._send(Send("POST", "/v1/questions", options))  # noqa: SLF001 - asks without waiting
    listed = service.run("pending").stdout.splitlines()

    assert [call["short"], question["short"]] == [line.split()[0] for line in listed if not line.startswith(" ")]
    assert say("pending.choices", choices="staging / production") in listed
    for each in (call, question):
        service.call("withdraw", target=each["ref"])


def test_agents_that_wait_are_listed_by_their_sessions(service: Installation) -> None:
    """`sayso sessions` shows agent, project, session, folder and the newest request; nothing waits: it says so."""
    before = service.run("sessions")
    named = {"tool": "deploy", "agent": "claude-code", "session": "s-17", "cwd": "/srv/shop"}
    calls = [service.call("ask", args={"argv": ["echo", name]}, **named)["call"] for name in ("one", "two")]
    shown, data = service.run("sessions"), json.loads(service.run("sessions", "--json").stdout)

    assert (0, f"{say('sessions.none')}\n") == (before.returncode, before.stdout)
    assert all(part in shown.stdout for part in ("claude-code", "shop", "s-17", "/srv/shop", calls[1]["short"]))
    assert [(2, calls[1]["ref"])] == [(one["pending"], one["newest"]) for one in data]


@pytest.mark.parametrize("given", ["q\n", "", "what?\n\nq\n", "d\nq\n"])
def test_no_other_key_decides(service: Installation, given: str) -> None:
    """Quitting, the end of the input, anything else and looking at the details leave a request pending."""
    call = asked(service, "one")
    done = service.run("inbox", given=given)

    assert 0 == done.returncode
    assert "pending" == service.status(call["ref"])
    assert (call["digest"] in done.stdout) == given.startswith("d")
    service.call("withdraw", target=call["ref"])


def test_an_empty_inbox_says_so(service: Installation) -> None:
    """There is nothing to press then."""
    assert f"{say('pending.none')}\n" == service.run("inbox").stdout


def test_history_tells_what_came_of_each_request(service: Installation) -> None:
    """The newest comes first, each in one line; filters take the requests that meet all of them."""
    calls = [asked(service, name) for name in ("one", "two")]
    service.call("decide", target=calls[0]["ref"], verb="reject", reason="too risky")
    service.call("withdraw", target=calls[1]["ref"])
    newest = service.run("history", "--limit", "2").stdout.splitlines()
    rejected = json.loads(service.run("history", "--status", "rejected", "--text", "too risky", "--json").stdout)
    nothing = service.run("history", "--person", "nobody")

    assert [call["short"] for call in reversed(calls)] == [line.split()[3] for line in newest]
    assert calls[0]["ref"] in [each["ref"] for each in rejected]
    assert {"rejected"} == {each["status"] for each in rejected}
    assert "" == nothing.stdout
    assert says(nothing.stderr, "audit.none")
    assert says(nothing.stderr, "setting.read", file=service.config, state=service.state)


def test_history_in_a_folder_without_settings_says_where_it_looked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody takes the empty default folder for the record of a service that has its settings elsewhere."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SAYSO_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)
    told = CliRunner().invoke(application(), ["history"])
    state = tmp_path / ".local" / "state" / "sayso"

    assert 1 == told.exit_code
    assert says(told.output, "cli.no_database", state=state)
    assert says(told.output, "setting.unread", folder=tmp_path, state=state)


def test_every_command_calls_a_person_by_their_name(service: Installation) -> None:
    """The login of the user: in one request, in the history, and in the answer to who comes too late."""
    call = asked(service, "one")
    name = pwd.getpwuid(os.getuid()).pw_name
    shown = service.run("show", call["short"]).stdout.split("\n")[0]
    service.call("decide", target=call["ref"], verb="reject", reason="too risky")
    texts = [
        *(shown, service.run("history", "--limit", "1").stdout.split("\n")[0]),
        service.run("approve", call["short"]).stderr,
    ]

    assert [] == [text for text in texts if name not in text or ME in text]
    assert [name] == service.call("show", target=call["ref"])["call"]["approver_names"]


def test_history_names_a_request_that_was_changed(service: Installation) -> None:
    """What it prints is verified first."""
    call = asked(service, "one")
    service.call("withdraw", target=call["ref"])
    service.tamper("UPDATE calls SET decided_by = 'local:99' WHERE ref = ?", call["ref"])

    assert says(service.run("history", "--limit", "1").stderr, "audit.flawed", shorts=call["short"])
