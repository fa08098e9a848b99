"""A service with a policy of its own: refused if it is bad, reloaded when it changes, kept when the change is bad."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from hitl.cards.wording import say
from tests.acceptance.installation import ALONE, Installation, until
from tests.sentences import says

pytestmark = pytest.mark.forked

DENIES = (
    "version: 1\nrules:\n  - {id: nothing-new, tool: write_file, action: deny, message: Nothing is written here.}\n"
)
ASKS = "version: 1\nrules:\n  - {id: ask, tool: write_file, action: approve, risk: low}\n"
BROKEN = "version: 1\nrules:\n  - {tol: write_file, action: allow}\n"


@pytest.fixture
def make(install: Callable[..., Installation], tmp_path: Path) -> Callable[..., Installation]:
    """Makes an installation with a document in force."""
    folder = tmp_path / "policies"
    folder.mkdir(mode=0o755)

    def make(text: str, more: str = "") -> Installation:
        put(folder, text)
        return install(settings=f'policy = "team"\npolicies = ["{folder}"]\n{more}{ALONE}')

    return make


def put(folder: Path, text: str) -> None:
    """Replace the document."""
    new = folder / "new~"
    new.write_text(text)
    new.chmod(0o644)
    new.rename(folder / "team.yaml")


def reds(service: Installation) -> dict[str, str]:
    """What the doctor says under each name that is red."""
    checks = json.loads(service.run("doctor", "--json").stdout)
    return {check["name"]: check["text"] for check in checks if check["state"] == "red"}


def test_a_bad_document_keeps_the_service_from_starting(make: Callable[..., Installation]) -> None:
    """Exit status 2, with file, line, and what was probably meant."""
    service = make(BROKEN)
    service.launch()

    assert 2 == service.wait()
    assert "team.yaml: line 3: /rules/0/tol" in service.log
    assert "Traceback" not in service.log


def test_the_documents_verdicts_are_the_services(make: Callable[..., Installation]) -> None:
    """With the rule's message for the agent, and the command on its card."""
    service = make(DENIES + "  - {id: shell, tool: bash, action: approve, risk: high}\n")
    service.start()
    (denied,) = service.say("write a.txt hi")
    shown = "\n".join(service.say("run ls | xargs rm", "no"))

    assert says(denied, "agent.denied", why="Nothing is written here")
    assert "ls | xargs rm" in shown


def test_the_documents_words_are_on_the_cards(make: Callable[..., Installation]) -> None:
    """Unless the settings have words for the same tool: they win."""
    words = 'cards:\n  pay: {headline: "Pay {amount} to {to}"}\n  deploy: {headline: "Deploy {what}"}\n'
    service = make("version: 1\n" + words, 'cards = {deploy = {headline = "Put {what} live"}}\n')
    service.start()
    service.run("ask", "pay", "--no-wait", "--args", '{"amount": 5, "to": "Ada"}')
    service.run("ask", "deploy", "--no-wait", "--args", '{"what": "site"}')
    headlines = [call["headline"] for call in json.loads(service.run("pending", "--json").stdout)]

    assert ["pay 5 to Ada", "put site live"] == sorted(each.partition("wants to ")[2] for each in headlines)


@pytest.mark.parametrize("hang_up", [True, False])
def test_a_change_is_in_force_without_a_restart(
    make: Callable[..., Installation], tmp_path: Path, *, hang_up: bool
) -> None:
    """At once by SIGHUP, a moment later by itself."""
    service = make(DENIES)
    service.start()
    put(tmp_path / "policies", ASKS)
    if hang_up:
        assert service.process is not None
        service.process.send_signal(signal.SIGHUP)
    until(lambda: service.log.count("policy.loaded") > 1, "the new document to be loaded")

    assert says(service.say("write a.txt hi", "no")[0], "terminal.title", risk=say("terminal.risk.low"))


def test_a_bad_change_keeps_the_old_document(make: Callable[..., Installation], tmp_path: Path) -> None:
    """The doctor is red until it is mended; calls are judged as before."""
    service = make(DENIES)
    service.start()
    put(tmp_path / "policies", BROKEN)
    until(lambda: "policy.refused" in service.log, "the bad document to be seen")
    told = reds(service)
    assert [True] * 2 == ["/rules/0/tol" in told[name] and "\n" not in told[name] for name in ("service", "policy")]
    assert "Nothing is written here." in service.say("write a.txt hi")[0]
    put(tmp_path / "policies", DENIES)
    until(lambda: not service.call("ping")["troubles"], "the service to be content")

    assert {"service", "policy"}.isdisjoint(reds(service))


def test_monitor_runs_and_tells(make: Callable[..., Installation]) -> None:
    """What would have been asked about runs; the log says the mode at the start, and the doctor is red."""
    service = make(ASKS, 'mode = "monitor"\nstage = "dev"\nstages = { dev = { policy = "team" } }\n')
    service.start()
    said = service.say("write a.txt hi")

    assert "hi" == (service.workspace / "a.txt").read_text().strip(), said
    assert "stage dev, mode monitor" in reds(service)["mode"]
    assert "mode='monitor'" in service.log
