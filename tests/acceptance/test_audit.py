"""`sayso audit verify`: what was changed, removed, moved or put into the record or beside it is named."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hitl.gate import secret_hash
from tests.acceptance.installation import SAYSO, Installation
from tests.acceptance.making import Maker
from tests.sentences import says

pytestmark = pytest.mark.forked

HASH = secret_hash("mine")
#: What somebody with the database does, and what is then told of it.
CHANGES = {
    "a line's actor": ("UPDATE audit SET actor = 'local:9' WHERE event = 'approved'", {"flaw.line"}),
    "one byte of a line's data": ("UPDATE audit SET data = data || ' ' WHERE event = 'asked'", {"flaw.line"}),
    "a line deleted": ("DELETE FROM audit WHERE event = 'approved'", {"flaw.line", "flaw.gap", "flaw.unrecorded"}),
    "a whole chain deleted": ("DELETE FROM audit WHERE ref != ''", {"flaw.cut", "flaw.unrecorded"}),
    "two lines swapped": (
        "UPDATE audit SET seq = CASE seq WHEN 2 THEN 13 ELSE 12 END WHERE ref != '' AND seq IN (2, 3)",
        {"flaw.line"},
    ),
    "a line put in with a hash of its own": (
        (
            "INSERT INTO audit (ref, seq, at, event, actor, data, prev, hash) SELECT ref, max(seq) + 1, at,"
            " 'rejected', actor, data, hash, 'ab' FROM audit WHERE ref != ''"
        ),
        {"flaw.line", "flaw.plain", "flaw.unrecorded"},
    ),
    "the tail cut": ("DELETE FROM audit WHERE id > 2", {"flaw.cut", "flaw.unrecorded"}),
    "who decided": ("UPDATE calls SET decided_by = 'local:9'", {"flaw.decision", "flaw.votes"}),
    "why it was decided": ("UPDATE calls SET reason = 'fine'", {"flaw.decision"}),
    "what ran": ("UPDATE calls SET args = x'7b7d'", {"flaw.row"}),
    "who claimed it": ("UPDATE calls SET claim_owner = 'local:9'", {"flaw.claim"}),
    "how it ended": ("UPDATE calls SET result = 'failed'", {"flaw.result", "flaw.unrecorded"}),
    "what it put out": ("UPDATE calls SET output = 'other'", {"flaw.result"}),
    "a vote": ("UPDATE votes SET principal = 'local:9'", {"flaw.votes"}),
    "where somebody voted": ("UPDATE votes SET surface = 'telegram'", {"flaw.votes"}),
    "a vote gone": ("DELETE FROM votes", {"flaw.votes"}),
    "a call gone": ("DELETE FROM calls", {"flaw.no_call"}),
    "a time that is none, of a line": ("UPDATE audit SET at = 'soon' WHERE event = 'approved'", {"flaw.line"}),
    "a time that is none, of a vote": ("UPDATE votes SET at = 'soon'", {"flaw.votes"}),
    "a time that is none, of a call": ("UPDATE calls SET deadline = 'soon'", {"flaw.row"}),
    "a row that nobody wrote": ("UPDATE calls SET state = 'nowhere'", {"flaw.row"}),
}


@pytest.fixture(scope="module")
def ran(maker: Maker) -> Iterator[Installation]:
    """A service that was asked for one call, approved it, and heard how it ended; it is stopped."""
    with maker.batch(forked=True) as make:
        made = make()
        made.start()
        _run(made)
        made.stop()
        yield made


def _run(made: Installation) -> None:
    """One call from its question to its end."""
    ref = made.call("ask", tool="deploy", args={"argv": ["true"]})["call"]["ref"]
    made.call("decide", target=ref, verb="approve")
    made.call("claim", ref=ref, secret_hash=HASH)
    made.call("finish", ref=ref, secret="mine", result="succeeded")


def verified(service: Installation) -> tuple[int, dict[str, Any]]:
    """Exit status and report."""
    done = service.run("audit", "verify", "--json")
    report: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, report


def test_what_was_not_touched_is_whole(ran: Installation) -> None:
    """All lines and calls were looked at."""
    status, report = verified(ran)

    assert (0, [], 1, True) == (status, report["flaws"], report["calls"], report["marked"])
    assert report["lines"] >= 4


@pytest.mark.parametrize("name", CHANGES)
def test_what_was_changed_is_named(ran: Installation, name: str) -> None:
    """Each kind by its own sentence; nothing else is said to be wrong."""
    statement, flaws = CHANGES[name]
    before = (ran.state / "sayso.db").read_bytes()
    try:
        with ran.database(write=True) as database:
            database.execute("PRAGMA foreign_keys = OFF")
            changed = database.execute(statement).rowcount
        status, report = verified(ran)
    finally:
        (ran.state / "sayso.db").write_bytes(before)

    assert changed
    assert (1, flaws) == (status, {flaw["what"] for flaw in report["flaws"]})


def test_it_reads_beside_the_running_service(install: Callable[..., Installation]) -> None:
    """And says so in words."""
    service = install()
    service.start()
    service.call("ask", tool="deploy", args={"argv": ["true"]})
    done = service.run("audit", "verify")

    assert 0 == done.returncode
    assert done.stdout.strip()


def test_a_full_disk_is_one_line(ran: Installation) -> None:
    """An export that isn't whole ends with an error, and without a traceback."""
    command = [str(SAYSO), "audit", "export", "--config", str(ran.config)]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, env=ran.surroundings(), check=False
        )

    assert (1, 1) == (done.returncode, len(done.stderr.splitlines()))
    assert says(done.stderr, "command.full")


def test_a_changed_call_is_shown_with_a_warning(install: Callable[..., Installation]) -> None:
    """Before all that it says."""
    service = install()
    service.start()
    ref = service.call("ask", tool="deploy", args={"argv": ["true"]})["call"]["ref"]
    service.tamper("UPDATE calls SET args = x'7b7d' WHERE ref = ?", ref)
    done = service.run("show", ref)

    assert done.stderr.strip()
    assert ["flaw.row"] == [flaw["what"] for flaw in verified(service)[1]["flaws"]]


def test_a_record_whose_key_is_lost_is_told_apart_from_a_changed_one(ran: Installation) -> None:
    """The first flaw names the key that the file doesn't hold, and how many lines that key sealed."""
    kept = ran.state / "keys.json"
    before = kept.read_text()
    (old,) = json.loads(before)["keys"]
    try:
        kept.write_text(json.dumps({"keys": [{**old, "id": "another"}]}))
        status, report = verified(ran)
    finally:
        kept.write_text(before)
    first = report["flaws"][0]

    assert 1 == status
    assert ("flaw.no_key", old["id"], report["lines"]) == (first["what"], first["kid"], first["count"])
    assert "flaw.no_key" not in {flaw["what"] for flaw in report["flaws"][1:]}
