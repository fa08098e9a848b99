"""Rows, votes and decisions changed in the database file behind the service's back: nothing of it runs."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import pytest

from hitl.errors import Tampered
from hitl.gate import secret_hash
from hitl.proof.chain import verify
from sayso_client.errors import ClientError
from tests.acceptance.installation import Installation
from tests.sentences import says

pytestmark = pytest.mark.forked

RUN = "run echo ran >> out.txt"
CLAIM = secret_hash("mine")
#: What of a waiting call somebody might like to be otherwise.
ROWS = [
    ("args", b'{"command":"echo other >> out.txt"}'),
    ("approvers", '["local:99"]'),
    ("risk", "low"),
    ("tool", "list_files"),
    ("digest", "0" * 64),
    ("origin", "elsewhere"),
    ("runs", "caller"),
    ("sentence", "Does nothing."),
    ("preconditions", "[]"),
    ("requester", "local:99"),
    ("deadline", 1 << 52),
    ("row_mac", "x:" + "0" * 64),
]


@pytest.fixture
def service(install: Callable[..., Installation]) -> Installation:
    """A running service of one person."""
    made = install()
    made.start()
    return made


@pytest.fixture(params=["while it runs", "between runs"])
def tamper(request: pytest.FixtureRequest, service: Installation) -> Callable[..., None]:
    """Changes the database, while the service runs or between two runs of it."""

    def change(statement: str, *values: object) -> None:
        if request.param == "between runs":
            service.stop()
        service.tamper(statement, *values)
        if request.param == "between runs":
            service.start()

    return change


def refused(service: Installation, op: str, **fields: Any) -> ClientError:
    """The error that a request ends in."""
    with pytest.raises(ClientError) as caught:
        service.call(op, **fields)
    return caught.value


def test_a_waiting_row_that_was_changed_can_not_be_approved(service: Installation) -> None:
    """Whatever was changed: TAMPERED to the one who says yes, on record, and nothing runs."""
    codes = {}
    for column, value in ROWS:
        service.say(RUN)
        ref = service.waiting()[0]["ref"]
        (original,) = kept(service, column, ref)
        service.tamper(f"UPDATE calls SET {column} = ? WHERE ref = ?", value, ref)  # noqa: S608 - ours
        codes[column] = refused(service, "decide", target=ref, verb="approve").code, service.events(ref)[-1]
        service.tamper(f"UPDATE calls SET {column} = ? WHERE ref = ?", original, ref)  # noqa: S608 - ours
        service.call("withdraw", target=ref)

    # Who is on no stored list, or asks for nothing of this service, is turned away before the seal is looked at.
    assert ("NOT_APPROVER", "refused") == codes.pop("approvers")
    assert {("TAMPERED", "tampered")} == set(codes.values())
    assert [] == service.lines()


def kept(service: Installation, column: str, ref: str) -> tuple[Any]:
    """What a column holds."""
    with service.database() as database:
        row: tuple[Any] = database.execute(f"SELECT {column} FROM calls WHERE ref = ?", (ref,)).fetchone()  # noqa: S608
    return row


def test_an_untouched_call_beside_it_runs(service: Installation, tamper: Callable[..., None]) -> None:
    """Tampering with one call stops that one; the next is decided and runs."""
    service.say(RUN)
    ref = service.waiting()[0]["ref"]
    tamper("UPDATE calls SET args = ? WHERE ref = ?", ROWS[0][1], ref)

    assert Tampered.code == refused(service, "decide", target=ref, verb="approve").code
    service.say("write beside.txt hello")
    beside = next(call["ref"] for call in service.waiting(2) if call["ref"] != ref)
    assert service.call("decide", target=beside, verb="approve")["decided"]
    assert "succeeded" == service.call("wait", ref=beside, until="ended")["call"]["status"]
    assert [] == service.lines()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE calls SET decided_by = 'local:99' WHERE ref = ?",
        "UPDATE calls SET decided_at = decided_at - 1 WHERE ref = ?",
        "UPDATE calls SET decision_mac = row_mac WHERE ref = ?",
        "UPDATE calls SET args = x'7b7d' WHERE ref = ?",
        "UPDATE votes SET principal = 'local:99' WHERE ref = ?",
        "UPDATE votes SET at = at - 1 WHERE ref = ?",
        "DELETE FROM votes WHERE ref = ?",
    ],
)
def test_an_approved_call_that_was_changed_can_not_be_claimed(service: Installation, statement: str) -> None:
    """Row, decision and votes are looked at before anything runs; the refusal is final and on record."""
    ref = service.call("ask", tool="deploy", args={"argv": ["true"]})["call"]["ref"]
    service.call("decide", target=ref, verb="approve")
    service.tamper(statement, ref)

    assert Tampered.code == refused(service, "claim", ref=ref, secret_hash=CLAIM).code
    assert "refused" == service.status(ref)
    assert "refused" == service.events(ref)[-1]
    assert "ALREADY_DECIDED" == refused(service, "release", ref=ref).code


def test_a_forged_approval_runs_nothing(service: Installation, tamper: Callable[..., None]) -> None:
    """A waiting call that was set to approved by hand has no seal of that, and no vote."""
    ref = service.call("ask", tool="deploy", args={"argv": ["true"]})["call"]["ref"]
    forged = "UPDATE calls SET state = 'executing', decision = 'approved', decided_by = approvers WHERE ref = ?"
    tamper(forged, ref)

    assert Tampered.code == refused(service, "claim", ref=ref, secret_hash=CLAIM).code
    assert "refused" == service.status(ref)


@pytest.mark.parametrize("op", ["decide", "withdraw"], ids=["rejected", "withdrawn"])
def test_a_call_that_nobody_approved_is_not_run_by_its_state(
    service: Installation, tamper: Callable[..., None], op: str
) -> None:
    """Its decision is sealed and whole. It is a no, so it lets nothing run, whatever state the row was put into."""
    ref = service.call("ask", tool="deploy", args={"argv": ["true"]})["call"]["ref"]
    service.call(op, **({"target": ref, "verb": "reject"} if op == "decide" else {"target": ref}))
    tamper("UPDATE calls SET state = 'executing', due_at = deadline WHERE ref = ?", ref)

    assert Tampered.code == refused(service, "claim", ref=ref, secret_hash=CLAIM).code


def test_a_chain_that_was_cut_does_not_make_a_running_service_forget(service: Installation) -> None:
    """Row and chain were set back together; the process that decided knows better."""
    ref = service.call("ask", tool="deploy", args={"argv": ["true"]})["call"]["ref"]
    service.call("decide", target=ref, verb="reject")
    service.tamper("DELETE FROM audit WHERE ref = ? AND event = 'rejected'", ref)
    service.tamper("DELETE FROM votes WHERE ref = ?", ref)
    service.tamper(WAITING, ref)

    assert "TAMPERED" == refused(service, "decide", target=ref, verb="approve").code


def test_a_changed_line_of_the_record_shows(service: Installation) -> None:
    """The chain of the call breaks at that line; the chains of the others hold."""
    refs = [service.call("ask", tool="deploy", args={"n": n})["call"]["ref"] for n in range(2)]
    service.tamper("UPDATE audit SET actor = 'local:99' WHERE ref = ? AND seq = 1", refs[0])

    assert [1, None] == [verify(service.keys, service.chains()[ref]) for ref in refs]


def test_a_deadline_that_was_put_off_beside_the_seal_is_seen(service: Installation) -> None:
    """Only `due_at`, which isn't sealed, was moved: a yes approves nothing, now or after the deadline."""
    ref = service.call("ask", tool="deploy", args={"argv": ["true"]})["call"]["ref"]
    service.tamper("UPDATE calls SET due_at = due_at + 3600000000 WHERE ref = ?", ref)

    assert Tampered.code == refused(service, "decide", target=ref, verb="approve").code
    assert "pending" == service.status(ref)


#: A row as it was before anybody decided, or claimed.
WAITING = (
    "UPDATE calls SET state = 'awaiting_confirmation', version = 1, decision = NULL, decided_at = NULL,"
    " decided_by = NULL, decision_mac = NULL, claim_owner = NULL, claim_hash = NULL, claim_until = NULL,"
    " claim_mac = NULL, result = NULL, finished_at = NULL, result_mac = NULL, due_at = deadline WHERE ref = ?"
)
UNCLAIMED = (
    "UPDATE calls SET state = 'executing', claim_owner = NULL, claim_hash = NULL, claim_until = NULL, claim_mac = NULL,"
    " result = NULL, finished_at = NULL, result_mac = NULL, due_at = deadline WHERE ref = ?"
)


@pytest.mark.parametrize("verb", ["approve", "reject"])
def test_a_call_that_was_set_back_is_not_decided_again(
    service: Installation, tamper: Callable[..., None], verb: str
) -> None:
    """Its row is whole, but the record says that it was decided; who tries hears so, and that is on record too."""
    ref = service.call("ask", tool="deploy", args={"argv": ["true"]})["call"]["ref"]
    service.call("decide", target=ref, verb=verb)
    tamper(WAITING, ref)

    assert "TAMPERED" == refused(service, "decide", target=ref, verb="approve").code
    assert "tampered" == service.events(ref)[-1]
    assert "pending" == service.status(ref)


def test_a_call_that_was_set_back_to_unclaimed_is_not_run_again(
    service: Installation, tamper: Callable[..., None]
) -> None:
    """The record says that it was claimed, and how it ended."""
    ref = service.call("ask", tool="deploy", args={"argv": ["true"]})["call"]["ref"]
    service.call("decide", target=ref, verb="approve")
    service.call("claim", ref=ref, secret_hash=CLAIM)
    service.call("finish", ref=ref, secret="mine", result="succeeded")
    tamper(UNCLAIMED, ref)

    assert "TAMPERED" == refused(service, "claim", ref=ref, secret_hash=secret_hash("other")).code
    assert "tampered" == service.events(ref)[-1]


def test_nobody_reports_a_run_by_a_secret_written_into_the_claim(service: Installation) -> None:
    """The claim is sealed with the hash of the secret that took it."""
    ref = service.call("ask", tool="deploy", args={"argv": ["true"]})["call"]["ref"]
    service.call("decide", target=ref, verb="approve")
    service.call("claim", ref=ref, secret_hash=CLAIM)
    service.tamper("UPDATE calls SET claim_hash = ? WHERE ref = ?", secret_hash("other"), ref)

    assert "TAMPERED" == refused(service, "finish", ref=ref, secret="other", result="succeeded").code
    assert "running" == service.status(ref)


@pytest.mark.parametrize("approved", [False, True], ids=["waiting", "approved and unclaimed"])
def test_a_state_folder_restored_from_before_a_run_lets_nothing_of_it_run_again(
    service: Installation, *, approved: bool
) -> None:
    """The folder is copied whole, keys and all, the call runs, and the copy is put back: what was open in it ends."""
    ref = service.call("ask", tool="deploy", args={"argv": ["true"]})["call"]["ref"]
    if approved:
        service.call("decide", target=ref, verb="approve")
    service.stop()
    copy = service.state.with_name("copy")
    shutil.copytree(service.state, copy)
    service.start()
    if not approved:
        service.call("decide", target=ref, verb="approve")
    service.call("claim", ref=ref, secret_hash=CLAIM)
    service.call("finish", ref=ref, secret="mine", result="succeeded")
    service.stop()
    shutil.rmtree(service.state)
    copy.rename(service.state)
    service.start()

    assert "ALREADY_DECIDED" == refused(service, "claim", ref=ref, secret_hash=secret_hash("other")).code
    assert ("lapsed" if approved else "withdrawn") == service.status(ref)
    assert "rolled_back" in service.events("")
    after = service.call("ask", tool="deploy", args={"argv": ["true"], "n": 2})["call"]["ref"]
    assert service.call("decide", target=after, verb="approve")["decided"]


def test_a_trigger_in_the_database_is_named_by_the_doctor_and_keeps_the_service_from_starting(
    service: Installation,
) -> None:
    """While the service runs, the trigger makes an approval fail. The commands that read the record name it."""
    ref = service.call("ask", tool="deploy", args={"argv": ["true"]})["call"]["ref"]
    with service.database(write=True) as database:
        database.execute("CREATE TRIGGER undone AFTER UPDATE ON calls BEGIN SELECT 1; END")

    assert "UNAVAILABLE" == refused(service, "decide", target=ref, verb="approve").code
    assert "pending" == service.status(ref)
    service.stop()
    for command in (("doctor",), ("audit", "verify"), ("history",), ("run",)):
        done = service.run(*command)
        assert done.returncode
        assert says(done.stdout + done.stderr, "database.foreign", names="undone")
