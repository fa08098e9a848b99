"""`sayso reload` and `sayso revoke`: who may do what changes while the service runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from hitl.outcomes import Refusal
from tests.acceptance.installation import ALONE, ME, OTHER, Installation, until
from tests.sentences import says

if TYPE_CHECKING:
    from collections.abc import Callable

PENDING = {"tool": "deploy", "args": {"argv": ["true"]}}


@pytest.fixture
def running(install: Callable[..., Installation]) -> Installation:
    """A service of one person who may do everything."""
    service = install(settings=ALONE)
    service.start()
    return service


def rewritten(service: Installation, old: str, new: str) -> None:
    """Change the settings file, as an editor does."""
    text = service.config.read_text()
    assert old in text
    service.config.write_text(text.replace(old, new))


def test_new_lists_are_in_force_after_a_reload(running: Installation) -> None:
    """Who was taken off the approvers can't approve any more, also what was pending before; it is on record."""
    call = running.call("ask", **PENDING)["call"]
    rewritten(running, f'approvers = ["{ME}"]', f'approvers = ["{OTHER}"]')
    done = running.run("reload")
    refused = running.run("approve", call["short"])

    assert (0, "") == (done.returncode, done.stderr)
    assert says(done.stdout, "reload.done", policy="default")
    assert 1 == refused.returncode
    assert says(refused.stderr, Refusal.STRANGER, short=call["short"])
    assert "reloaded" in running.events("")


@pytest.mark.parametrize("broken", ["approvers = [1]", "approver = []", 'approvers = ["a"'])
def test_a_reload_takes_all_or_nothing(running: Installation, broken: str) -> None:
    """With one fault in the file nothing of it is taken, the error names the fault, and the refusal is on record."""
    rewritten(running, f'approvers = ["{ME}"]', f"{broken}\nroutes = []")
    done = running.run("reload", "--socket", str(running.socket))
    call = running.call("ask", **PENDING)["call"]
    approved = running.run("approve", call["short"], "--socket", str(running.socket))

    assert 1 == done.returncode
    assert str(running.config) in done.stderr
    assert 0 == approved.returncode
    assert "reload_refused" in running.events("")


def test_what_needs_a_restart_is_named(running: Installation) -> None:
    """Other settings stay as they are."""
    rewritten(running, "[limits]", "[tools]\nallow = []\n\n[limits]")

    assert says(running.run("reload").stderr, "reload.restart", names="tools")


def test_a_reload_takes_another_policy_and_keeps_the_stage(install: Callable[..., Installation]) -> None:
    """The policy of the stage that the service started with applies, whatever stage the settings name now."""
    stages = '[stages.dev]\npolicy = "headless"\n[stages.live]\npolicy = "strict"\n'
    service = install(settings=f'policy = "default"\nstage = "dev"\n{ALONE}{stages}')
    service.start()
    rewritten(service, 'stage = "dev"', 'stage = "live"')
    restarted = service.run("reload")
    rewritten(service, 'policy = "headless"', 'policy = "dev"')

    assert says(restarted.stdout, "reload.done", policy="headless")
    assert says(restarted.stderr, "reload.restart", names="stage")
    assert says(service.run("reload").stdout, "reload.done", policy="dev")


def test_who_is_revoked_has_no_rights_from_then_on(running: Installation) -> None:
    """They can't ask, approve, withdraw or see; what they approved in 7 days is listed, and a restart keeps it so."""
    approved = running.call("ask", **PENDING)["call"]
    pending = running.call("ask", tool="deploy", args={"argv": ["false"]})["call"]
    assert 0 == running.run("approve", approved["short"]).returncode
    done = running.run("revoke", ME)

    assert (0, "") == (done.returncode, done.stderr)
    assert says(done.stdout, "revoke.done", name=ME)
    assert says(done.stdout, "revoke.approved", count=1, name=ME)
    assert approved["short"] in done.stdout
    for words in (["approve", pending["short"]], ["withdraw", pending["short"]], ["show", pending["short"]]):
        assert 1 == running.run(*words).returncode, words
    assert 12 == running.run("ask", "deploy", "--quiet").returncode
    running.stop()
    running.launch()
    until(running.socket.exists, "the service to be there again")
    assert 1 == running.run("approve", pending["short"]).returncode


def test_an_approval_of_who_is_revoked_before_the_run_counts_no_more(running: Installation) -> None:
    """The claim fails, and nothing runs."""
    asked = ["ask", "deploy", "--key", "k", "--quiet"]
    running.run(*asked, "--no-wait", "--", "touch", "must-not-be")
    (call,) = running.waiting()
    running.run("approve", call["short"])
    running.run("revoke", ME)

    assert 0 != running.run(*asked, "--", "touch", "must-not-be").returncode
    assert not (running.root / "must-not-be").exists()


def test_a_name_on_no_list_is_not_revoked(running: Installation) -> None:
    """A slip would leave the person their rights, so it is an error."""
    refused = running.run("revoke", "nobody")

    assert 2 == refused.returncode
    assert says(refused.stderr, "revoke.unknown", name="nobody")
    assert not running.config.with_name("sayso.toml.revoked").exists()


def test_only_an_operator_reloads(install: Callable[..., Installation]) -> None:
    """Anybody else is refused, and nothing is read."""
    service = install(settings=f'requesters = ["{ME}"]\napprovers = ["{ME}"]\n')
    service.start()
    done = service.run("reload", "--json")

    assert 1 == done.returncode
    assert "reloaded" not in service.events("")
    assert "" == done.stdout
    assert json.loads(service.run("pending", "--json").stdout) == []
