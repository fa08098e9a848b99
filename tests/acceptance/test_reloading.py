"""`sayso reload` and `sayso revoke`: who may do what changes while the service runs."""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING

import pytest

from bot.revoking import keep_revoked, revoked_names
from hitl.cards.wording import say
from hitl.outcomes import Refusal, Unfit
from sayso_client.errors import ClientError
from tests.acceptance.installation import ALONE, ME, OTHER, OTHER_UID, Installation, until
from tests.sentences import says

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.forked

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


def test_templates_of_cards_are_taken(running: Installation) -> None:
    """New requests get the new words. A card that is open keeps those with which it was asked."""
    before = running.call("ask", tool="pay", args={"amount": 10})["call"]["short"]
    rewritten(running, "[limits]", '[cards.pay]\nheadline = "Transfer {amount}"\n\n[limits]')
    done = running.run("reload")
    after = running.call("ask", tool="pay", args={"amount": 20})["call"]["short"]
    listed = {line.split()[0]: line for line in running.run("pending").stdout.splitlines()}

    assert (0, "") == (done.returncode, done.stderr)
    assert [False, True] == ["transfer 20" in listed[short] for short in (before, after)]


def test_what_needs_a_restart_is_named(running: Installation) -> None:
    """Other settings stay as they are."""
    rewritten(running, "[limits]", "[tools]\nallow = []\n\n[limits]")

    assert says(running.run("reload").stderr, "reload.restart", names="tools")


def test_the_limits_of_tokens_need_no_restart(running: Installation) -> None:
    """A reload applies `http.tokens`, and names only the other settings of that section."""
    rewritten(running, "[limits]", '[http.tokens]\nconsole = "high"\n\n[limits]')
    limits = running.run("reload")
    rewritten(running, "[http.tokens]", "[http]\nport = 1\n\n[http.tokens]")

    assert (0, "") == (limits.returncode, limits.stderr)
    assert says(running.run("reload").stderr, "reload.restart", names="http")


def test_a_request_that_nobody_can_approve_after_a_reload_ends(running: Installation) -> None:
    """The person or program that waits hears it at once, and the record says why."""
    call = running.call("ask", **PENDING)["call"]
    rewritten(running, f'approvers = ["{ME}"]', f'approvers = ["{OTHER}"]')
    running.run("reload")
    until(lambda: "undeliverable" in running.events(call["ref"]), "the end of the request")

    assert says(running.run("show", call["short"]).stdout, Unfit.NOBODY)


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

    assert 0 == done.returncode
    assert says(done.stderr, "revoke.last", lists="operators, approvers", name=ME)
    assert says(done.stdout, "revoke.done", name=ME)
    assert says(done.stdout, "revoke.approved", count=1, name=ME)
    assert approved["short"] in done.stdout
    for words in (["approve", pending["short"]], ["withdraw", pending["short"]], ["show", pending["short"]]):
        assert 1 == running.run(*words).returncode, words
    assert 12 == running.run("ask", "deploy", "--quiet").returncode
    running.stop()
    running.start()
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
    assert not (running.state / "revoked").exists()


def test_a_revocation_is_kept_where_the_service_can_write(running: Installation) -> None:
    """The name goes into the state folder, closed to others; the folder of the settings may be read-only or root's."""
    running.run("revoke", ME)
    kept = running.state / "revoked"

    assert [ME] == kept.read_text().splitlines()
    assert 0o600 == stat.S_IMODE(kept.stat().st_mode)
    assert [] == [path.name for path in running.root.glob("sayso.toml.*")]


def test_a_name_is_added_on_a_line_of_its_own(running: Installation) -> None:
    """Somebody may have edited the file and left its last line without an end. That name stays without rights too."""
    kept = running.state / "revoked"
    kept.write_text("bob")
    done = running.run("revoke", ME)

    assert 0 == done.returncode
    assert ["bob", ME] == kept.read_text().splitlines()


def test_a_name_that_an_earlier_version_revoked_has_no_rights(install: Callable[..., Installation]) -> None:
    """Earlier versions kept the names beside the settings. An upgrade gives nobody rights back."""
    service = install(settings=ALONE.replace(f'requesters = ["{ME}"]', f'requesters = ["{ME}", "{OTHER}"]'))
    service.config.with_name("sayso.toml.revoked").write_text(f"{OTHER}\n")
    service.start()
    rows = {row["name"]: row for row in json.loads(service.run("doctor", "--json").stdout)}

    assert "yellow" == rows["revoked"]["state"]
    assert rows["revoked"]["text"].startswith(f"{OTHER}: listed, but revoked")
    assert str(service.config.with_name("sayso.toml.revoked")) in rows["revoked"]["text"]
    assert OTHER not in rows["requesters"]["text"]


def test_the_services_own_user_revokes_without_being_on_a_list(install: Callable[..., Installation]) -> None:
    """The kernel lets this user signal the service, so the revocation is in force when the command ends."""
    service = install(settings=f'requesters = ["{OTHER}"]\napprovers = ["ada"]\n[principals]\nada = ["telegram:42"]\n')
    service.start()
    done = service.run("revoke", "telegram:42")

    assert 0 == done.returncode
    assert says(done.stderr, "revoke.last", lists="approvers", name="ada")
    assert says(done.stdout, "revoke.done", name="ada")
    (line,) = [json.loads(line.data) for line in service.chains()[""] if line.event == "reloaded"]
    assert ["ada"] == line["revoked"]


def test_a_service_on_another_state_folder_has_not_revoked(running: Installation) -> None:
    """The command says so, instead of saying that the rights have ended."""
    elsewhere = running.root / "elsewhere"
    done = running.run("revoke", ME, SAYSO_STATE=str(elsewhere))

    assert says(done.stdout, "revoke.later", name=ME, why=say("revoke.elsewhere", state=elsewhere))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")
@pytest.mark.parametrize("linked", [False, True])
def test_root_revokes_as_the_owner_of_the_state_folder(install: Callable[..., Installation], *, linked: bool) -> None:
    """The service can change the file afterwards, and a link in its folder leads root to no other file."""
    service = install()
    state, target = service.state, service.root / "target"
    os.chown(state, OTHER_UID, OTHER_UID)
    target.write_text("")
    if linked:
        (state / "revoked").symlink_to(target)
        with pytest.raises(OSError, match="symbolic links"):
            keep_revoked(state, "ada")
    else:
        keep_revoked(state, "ada")
        assert OTHER_UID == (state / "revoked").stat().st_uid
        assert {"ada"} == revoked_names(state, None)

    assert "" == target.read_text()
    assert 0 == os.geteuid()


def test_a_secret_whose_file_changed_is_named(install: Callable[..., Installation]) -> None:
    """A reload doesn't apply it: the service reads secrets at its start."""
    service = install(settings=f'{ALONE}\n[agent]\nkey_file = "key"\n')
    (service.root / "key").write_text("sk-1\n")
    service.start()
    unchanged = service.run("reload")
    (service.root / "key").write_text("sk-2\n")

    assert "" == unchanged.stderr
    assert says(service.run("reload").stderr, "reload.restart", names="agent.key_file")


def test_only_an_operator_reloads(install: Callable[..., Installation]) -> None:
    """The service refuses anybody else, and reads nothing."""
    service = install(settings=f'requesters = ["{ME}"]\napprovers = ["{ME}"]\n')
    service.start()
    with pytest.raises(ClientError) as refused:
        service.call("reload")

    assert "NOT_APPROVER" == refused.value.code
    assert "reloaded" not in service.events("")
    assert json.loads(service.run("pending", "--json").stdout) == []


def test_the_last_operator_gets_their_rights_back(running: Installation) -> None:
    """The service's own user needs no place on a list: the kernel lets this user signal the service."""
    running.run("revoke", ME)
    (running.state / "revoked").write_text("")
    done = running.run("reload")

    assert 0 == done.returncode
    assert says(done.stderr, "reload.signalled")
    until(lambda: running.run("reload").stderr == "", "the rights of the operator")
