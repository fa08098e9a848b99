"""`sayso backup` and `sayso restore`: a copy is whole and verified, and an older one lets nothing run again."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

from hitl.gate import secret_hash
from tests.acceptance.installation import ALONE, OTHER, Installation
from tests.sentences import says

pytestmark = pytest.mark.long

HASH = secret_hash("mine")


@pytest.fixture
def service(install: Callable[..., Installation]) -> Installation:
    """A running service with one pending call."""
    made = install()
    made.start()
    pending(made)
    return made


def pending(service: Installation) -> str:
    """The ref of a new call."""
    ref: str = service.call("ask", tool="deploy", args={"argv": ["true"]})["call"]["ref"]
    return ref


def done(service: Installation, *words: str) -> dict[str, Any]:
    """What a command prints as JSON."""
    ran = service.run(*words, "--json")
    assert 0 == ran.returncode, ran.stderr
    told: dict[str, Any] = json.loads(ran.stdout)
    return told


def test_a_backup_beside_the_running_service_is_whole_and_closed_to_others(service: Installation) -> None:
    """The service goes on."""
    copy = service.root / "copy.db"
    made = done(service, "backup", str(copy))

    assert 1 == made["calls"]
    assert 0o600 == copy.stat().st_mode & 0o777
    assert pending(service)


def test_a_backup_never_replaces_a_file(service: Installation) -> None:
    """Not even one that is no database."""
    copy = service.root / "copy.db"
    copy.write_text("mine")
    ran = service.run("backup", str(copy))

    assert (1, "mine") == (ran.returncode, copy.read_text())


def test_no_backup_goes_where_tools_can_read_it(service: Installation) -> None:
    """It holds unmasked arguments. In a container the working folder is the workspace. A link there doesn't help."""
    (service.root / "elsewhere").symlink_to(service.workspace)
    ran = [service.run("backup", f"{folder}/copy.db") for folder in ("workspace", "elsewhere", "state/../workspace")]
    there = done(service, "backup", str(service.state / "copy.db"))

    assert [2, 2, 2] == [each.returncode for each in ran]
    assert all(str(service.state / "copy.db") in each.stderr for each in ran)
    assert [] == [*service.workspace.glob("copy.db*")]
    assert 1 == there["calls"]


def test_a_database_that_was_changed_is_not_backed_up(service: Installation) -> None:
    """A backup that can't be trusted would be found out when it is needed."""
    service.tamper("UPDATE calls SET args = x'7b7d'")
    ran = service.run("backup", str(service.root / "copy.db"))

    assert 1 == ran.returncode
    assert [] == [*service.root.glob("copy.db*")]


def test_nothing_is_restored_under_a_running_service(service: Installation) -> None:
    """It is told to stop the service first."""
    done(service, "backup", str(service.root / "copy.db"))
    ran = service.run("restore", str(service.root / "copy.db"))

    assert 1 == ran.returncode
    assert [] == [*service.state.glob("sayso.db.2*")]


def test_what_waits_in_a_backup_of_now_goes_on(service: Installation) -> None:
    """Nothing ran since, so the request can still be approved and run, once."""
    done(service, "backup", str(service.root / "copy.db"))
    service.stop()
    told = done(service, "restore", str(service.root / "copy.db"))
    service.start()
    (call,) = service.call("pending")["calls"]
    came = service.call("decide", target=call["ref"], verb="approve")

    assert (False, 1) == (told["behind"], told["open"])
    assert came["decided"]


def run_since_a_backup(service: Installation) -> None:
    """Make a backup with the pending call; then the call is approved and claimed, and the service stops."""
    done(service, "backup", str(service.root / "copy.db"))
    (call,) = service.call("pending")["calls"]
    service.call("decide", target=call["ref"], verb="approve")
    service.call("claim", ref=call["ref"], secret_hash=HASH)
    service.stop()


def test_an_older_backup_lets_nothing_run_again(service: Installation) -> None:
    """The call that ran since is pending in the backup; the next start ends it."""
    run_since_a_backup(service)
    told = done(service, "restore", str(service.root / "copy.db"))
    service.start()

    assert (True, 1) == (told["behind"], told["open"])
    assert [] == service.call("pending")["calls"]
    assert 0 == service.run("audit", "verify").returncode


def states(service: Installation) -> dict[str, bool]:
    """The names of the tokens, and whether each is revoked."""
    found = json.loads(service.run("token", "list", "--json").stdout)
    return {token["name"]: token["revoked_at"] is not None for token in found}


def tokens_of_an_older_backup(service: Installation) -> None:
    """`mine` is one of a person's identities. `ended` and `mine` are revoked after the backup."""
    for name in ("ended", "mine", "other", "going"):
        service.call("make_token", name=name, scope="approver")
    service.call("revoke_token", name="other")
    done(service, "backup", str(service.root / "copy.db"))
    for name in ("ended", "mine"):
        service.call("revoke_token", name=name)
    service.stop()


def test_a_token_that_was_revoked_since_is_revoked_again(install: Callable[..., Installation]) -> None:
    """Each of them has a line in the record, and a person keeps the rights that their revoked token doesn't share."""
    service = install(settings=f'{ALONE}\n[principals]\nada = ["{OTHER}", "token:mine"]\n')
    service.start()
    tokens_of_an_older_backup(service)
    told = done(service, "restore", str(service.root / "copy.db"))
    service.start()
    events = [line.event for line in service.chains()[""]]

    assert (["ended", "mine"], True) == (told["revoked"], told["revocations_known"])
    assert {"ended": True, "mine": True, "other": True, "going": False} == states(service)
    assert 3 == events.count("credential_revoked")
    assert not (service.state / "revoked").exists()
    assert 0 == service.run("audit", "verify").returncode


@pytest.mark.parametrize(
    ("words", "revoked"), [(("--tokens", "end"), ["ended", "going", "mine"]), (("--tokens", "keep"), [])]
)
def test_the_operator_decides_where_nobody_knows_what_was_revoked(
    service: Installation, words: tuple[str, ...], revoked: list[str]
) -> None:
    """Without the old database, the restore changes nothing until the operator says what becomes of the tokens."""
    tokens_of_an_older_backup(service)
    (service.state / "sayso.db").write_bytes(b"no database" * 100)
    refused = service.run("restore", str(service.root / "copy.db"))
    before = (service.state / "sayso.db").read_bytes()
    told = done(service, "restore", str(service.root / "copy.db"), *words)
    service.start()

    assert 1 == refused.returncode
    assert says(refused.stderr, "database.copy.tokens", names="ended, going, mine")
    assert b"no database" * 100 == before
    assert (revoked, False) == (told["revoked"], told["revocations_known"])
    assert revoked == sorted(name for name, ended in states(service).items() if ended and name != "other")
    assert 0 == service.run("audit", "verify").returncode


def test_without_a_mark_nothing_of_a_backup_goes_on(service: Installation) -> None:
    """On another machine nobody can tell what ran since: the pending request, which ran there, doesn't run again."""
    run_since_a_backup(service)
    (service.root / "state.mark").unlink()
    told = done(service, "restore", str(service.root / "copy.db"))
    service.start()

    assert (True, False, 1) == (told["behind"], told["marked"], told["open"])
    assert [] == service.call("pending")["calls"]
    assert 0 == service.run("audit", "verify").returncode


def test_a_restore_that_fails_leaves_no_mark_behind(service: Installation) -> None:
    """The database that was there stays, and its requests go on."""
    done(service, "backup", str(service.root / "copy.db"))
    service.stop()
    (service.root / "state.mark").unlink()
    database, aside = service.state / "sayso.db", service.root / "aside.db"
    database.rename(aside)
    database.mkdir()  # a folder in its place can't be replaced
    ran = service.run("restore", str(service.root / "copy.db"))
    database.rmdir()
    aside.rename(database)
    service.start()

    assert 1 == ran.returncode
    assert "Traceback" not in ran.stderr
    assert 1 == len(service.call("pending")["calls"])


def test_the_database_that_was_there_is_kept_whole(service: Installation) -> None:
    """In one file, with what only its log held."""
    done(service, "backup", str(service.root / "copy.db"))
    later = pending(service)
    service.kill()
    told = done(service, "restore", str(service.root / "copy.db"))
    with sqlite3.connect(told["kept"]) as kept:
        refs = {ref for (ref,) in kept.execute("SELECT ref FROM calls")}

    assert later in refs
    assert 2 == len(refs)
    assert [] == [*service.state.glob("sayso.db-wal")]


@pytest.mark.parametrize("spoilt", [b"", b"no database", b"SQLite format 3\0" + bytes(4096)], ids=len)
def test_what_is_no_backup_is_not_restored(service: Installation, spoilt: bytes) -> None:
    """The database stays as it was."""
    copy = service.root / "copy.db"
    copy.write_bytes(spoilt)
    service.stop()
    before = (service.state / "sayso.db").read_bytes()
    ran = service.run("restore", str(copy))

    assert 1 == ran.returncode
    assert before == (service.state / "sayso.db").read_bytes()


def test_a_damaged_database_can_be_replaced(service: Installation) -> None:
    """That is what backups are for."""
    done(service, "backup", str(service.root / "copy.db"))
    service.kill()
    (service.state / "sayso.db").write_bytes(b"damaged")
    done(service, "restore", str(service.root / "copy.db"))
    service.start()

    assert 1 == len(service.call("pending")["calls"])
