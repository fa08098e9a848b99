"""The service killed at every named point from a call's submission to its result, and started again."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import adapters
import bot
import hitl
from hitl.errors import AlreadyDecided, Unavailable
from hitl.faults import POINTS
from hitl.gate import secret_hash
from hitl.proof.chain import verify
from sayso_client.errors import ClientError
from tests.acceptance.installation import Installation, until
from tests.answered import answers
from tests.patience import PATIENCE_S
from tests.sentences import says

pytestmark = pytest.mark.forked

#: One line is added by each run of the tool.
RUN = "run echo ran >> out.txt"
SECRET = "the claimant's own"
#: The commits of a life: two of the service's start (its keys, its policy), then the call, its decision, its result.
STARTING, LIVING = range(1, 3), range(3, 6)
#: Points on the way of a call that this service runs.
ON_THE_WAY = ("gate.submitted", "gate.approved", "service.leased", "service.ran", "gate.finished")
#: Points of a commit. At the copy of the log, the tests of the database kill.
COMMITTING = ("writer.before-begin", "writer.before-commit", "writer.after-commit")
#: Points that a service without chat platforms never reaches; the scenarios of the chats kill there.
WITH_CHATS = {
    *("delivery.sent", "intake.handling", "intake.handled"),
    *("events.received", "events.recorded"),
    *("turn.answered", "turn.kept", "turn.ended"),
}


def points() -> set[str]:
    """Every point that the source reaches."""
    packages = [Path(str(package.__file__)).parent for package in (hitl, adapters, bot)]
    sources = [source.read_text() for package in packages for source in package.rglob("*.py")]
    return {name for source in sources for name in re.findall(r"\breach\(\s*\"([^\"]+)\"", source)}


def test_every_point_is_killed_at_or_said_to_be_elsewhere() -> None:
    """A point that is new in the source is named, and has a test here or a reason not to."""
    killed_at = {*COMMITTING, "writer.before-copy", *ON_THE_WAY, "gate.rejected", "gate.claimed"}

    assert set(POINTS) == points()
    assert killed_at | WITH_CHATS == points()


@pytest.mark.parametrize("point", [f"{name}:{n}" for name in COMMITTING for n in STARTING])
def test_a_death_at_the_start_is_followed_by_a_start(install: Callable[..., Installation], point: str) -> None:
    """The very first commits may fail as late as it likes: the next start works."""
    service = install()
    service.launch(dies_at=point)

    assert -9 == service.wait()
    service.start()
    assert ["ran"] == ran_anew(service)


@pytest.mark.parametrize(
    "point",
    [*ON_THE_WAY, *(f"{name}:{n}" for name in COMMITTING for n in LIVING)],
)
def test_a_death_on_the_way_of_a_call_loses_nothing_and_runs_nothing_twice(
    install: Callable[..., Installation], point: str
) -> None:
    """Wherever the process dies: what was acknowledged stands, the tool ran at most once, and the record holds."""
    service = install()
    service.start(dies_at=point)
    acknowledged = live(service)

    assert -9 == service.wait()
    left = stored(service)
    service.start()
    again = stored(service)

    assert [row[:2] for row in left] == [row[:2] for row in again]
    assert len(service.lines()) <= 1
    assert not acknowledged or "approved" == again[0][2]
    for ref, _, decision, result in again:
        after_restart(service, ref, decision, result)
    ran = len(service.lines())
    assert ran <= 1
    assert ["ran"] * (ran + 1) == ran_anew(service)
    assert {None} == {verify(service.keys, chain) for chain in service.chains().values()}


def live(service: Installation) -> bool:
    """Ask, approve, wait for the end, as far as the service lives; whether the approval was acknowledged."""
    acknowledged = False
    with contextlib.suppress(ClientError):
        service.say(RUN)
        ref = service.waiting()[0]["ref"]
        acknowledged = service.call("decide", target=ref, verb="approve")["decided"]
        service.call("wait", ref=ref, until="ended")
        until(lambda: service.process and service.process.poll(), "the end of the service")
    return acknowledged


def stored(service: Installation) -> list[tuple[str, int, str | None, str | None]]:
    """Ref, deadline, decision and result of each call in the database."""
    with service.database() as database:
        return database.execute("SELECT ref, deadline, decision, result FROM calls").fetchall()


def after_restart(service: Installation, ref: str, decision: str | None, result: str | None) -> None:
    """What may be true of a call that a killed process left behind."""
    if decision is None:
        assert [] == service.lines()
        assert service.call("decide", target=ref, verb="approve")["decided"]
        assert "succeeded" == service.call("wait", ref=ref, until="ended")["call"]["status"]
        assert ["ran"] == service.lines()
    elif result == "succeeded":
        assert ["ran"] == service.lines()
    else:
        assert ("approved", "unknown") == (decision, result)
        assert "unknown" == service.status(ref)
        assert "unknown" == service.events(ref)[-1]
        assert says(service.run("show", ref).stdout, "outcome.unknown")
        with answers(AlreadyDecided):
            service.call("decide", target=ref, verb="approve")


def ran_anew(service: Installation) -> list[str]:
    """The lines of the file after another call was asked and approved by its first press."""
    service.say(RUN, "yes")
    return service.lines()


def test_a_death_after_a_no_is_still_a_no(install: Callable[..., Installation]) -> None:
    """A rejection that was durable stands after the restart, and nothing runs."""
    service = install()
    service.start(dies_at="gate.rejected")
    service.say(RUN)
    ref = service.waiting()[0]["ref"]
    with answers(Unavailable):
        service.call("decide", target=ref, verb="reject", reason="not today")

    assert -9 == service.wait()
    service.start()
    assert "rejected" == service.status(ref)
    with answers(AlreadyDecided, match="not today"):
        service.call("decide", target=ref, verb="approve")
    assert [] == service.lines()


@pytest.mark.parametrize("point", ["gate.claimed", "gate.finished"])
def test_a_claimant_goes_on_after_the_death_of_the_service(install: Callable[..., Installation], point: str) -> None:
    """A claim whose answer was lost is given again for the same secret, to nobody else, and can be reported on."""
    service = install()
    service.start(dies_at=point)
    ref = service.call("ask", tool="deploy", args={"argv": ["true"]})["call"]["ref"]
    service.call("decide", target=ref, verb="approve")
    with answers(Unavailable):
        claimed_and_finished(service, ref)

    assert -9 == service.wait()
    service.start()
    if point == "gate.claimed":
        with answers(AlreadyDecided):
            service.call("claim", ref=ref, secret_hash=secret_hash("somebody else's"))
        again = service.call("claim", ref=ref, secret_hash=secret_hash(SECRET))
        assert {"argv": ["true"]} == again["args"]
    finished = service.call("finish", ref=ref, secret=SECRET, result="succeeded", exit_status=0)
    assert "succeeded" == finished["call"]["status"]
    assert ["asked", "approved", "claimed", "succeeded"] == service.events(ref)


def test_a_script_whose_question_was_recorded_but_not_answered_asks_on(install: Callable[..., Installation]) -> None:
    """The connection broke off before the first answer: the same key finds the same call after the restart."""
    service = install()
    service.start(dies_at="gate.submitted")
    asking = service.begin("ask", "deploy", "--", "echo", "ran")
    assert -9 == service.wait()
    service.start()
    ref = service.waiting()[0]["ref"]
    service.call("decide", target=ref, verb="approve")

    printed, _ = asking.communicate(timeout=PATIENCE_S)
    assert ("ran\n", 0) == (printed, asking.returncode)


def claimed_and_finished(service: Installation, ref: str) -> None:
    """Claim a call and report on it."""
    service.call("claim", ref=ref, secret_hash=secret_hash(SECRET))
    service.call("finish", ref=ref, secret=SECRET, result="succeeded", exit_status=0)


def test_the_environment_cannot_end_the_service(install: Callable[..., Installation]) -> None:
    """A variable that names a point is an unknown setting, as any other misspelled one, and nothing starts."""
    refused = install().run("run", SAYSO_CRASH_AT="gate.approved")

    assert 2 == refused.returncode
    assert "SAYSO_CRASH_AT: no such setting" in refused.stderr
    assert 1 == len(refused.stderr.splitlines())
