"""`sayso test`: who answered a harmless request, where and when, with exit statuses for scripts."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.acceptance.installation import ALONE, ME, OTHER, SAYSO, Installation, until
from tests.sentences import says

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.long


@pytest.fixture
def running(install: Callable[..., Installation]) -> Installation:
    """A service of one person who may do everything."""
    service = install(settings=ALONE)
    service.start()
    return service


def started(service: Installation, *words: str) -> subprocess.Popen[str]:
    """The command, at work."""
    command = [str(SAYSO), "test", *words]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=service.surroundings()
    )


def pending(service: Installation) -> list[str]:
    """The short refs of what is pending."""
    return [call["short"] for call in service.call("pending")["calls"]]


@pytest.mark.parametrize(("verb", "status"), [("approve", "approved"), ("reject", "rejected")])
def test_it_says_who_answered_and_ends_with_0(running: Installation, verb: str, status: str) -> None:
    """A yes and a no prove the way equally well, and nothing is left to be run."""
    with started(running) as testing:
        (short,) = until(lambda: pending(running), "the request")
        running.run(verb, short)
        said, _ = testing.communicate()

    assert 0 == testing.returncode
    assert says(said, "test.begun", short=short, name=ME)
    assert says(said, "test.pressed", short=short, name=ME, status=status, surface="socket")
    assert [] == pending(running)


def test_a_platform_that_no_card_reaches_is_a_failure(running: Installation) -> None:
    """Everybody answered, but a platform that is set up was never tried: one line says which, and the status is 1."""
    running.config.write_text(f'{running.config.read_text()}\n[telegram]\napi = "http://127.0.0.1:9"\n')
    for words in ((), ("--json",)):
        with started(running, "--config", str(running.config), *words) as testing:
            (short,) = until(lambda: pending(running), "the request")
            running.run("approve", short)
            said, _ = testing.communicate()

        assert 1 == testing.returncode
        assert ["telegram"] == json.loads(said)["untried"] if words else says(said, "test.untried", platform="telegram")


def test_silence_is_a_failure(running: Installation) -> None:
    """With status 1, and a line for programs that says whom nobody heard of."""
    done = running.run("test", "--wait", "5", "--json")
    (told,) = json.loads(done.stdout)["tests"]

    assert 1 == done.returncode
    assert {"approver": ME, "passed": False, "status": "expired", "by": None} == {
        name: told[name] for name in ("approver", "passed", "status", "by")
    }


def test_who_may_not_ask_hears_why(install: Callable[..., Installation]) -> None:
    """An operator who is no requester gets the reason, and status 1."""
    service = install(settings=ALONE.replace(f'requesters = ["{ME}"]', f'requesters = ["{OTHER}"]'))
    service.start()
    done = service.run("test")

    assert 1 == done.returncode
    assert says(done.stdout, "refused.requester", who=ME)


def test_only_an_operator_may_test(install: Callable[..., Installation]) -> None:
    """Anybody else could send cards to everybody."""
    service = install(settings=ALONE.replace(f'operators = ["{ME}"]', f'operators = ["{OTHER}"]'))
    service.start()

    assert 0 != service.run("test").returncode
    assert [] == pending(service)


def test_nobody_to_test_is_said(install: Callable[..., Installation]) -> None:
    """With a status of its own."""
    service = install(settings=ALONE.replace(f'approvers = ["{ME}"]', "approvers = []"))
    service.start()
    done = service.run("test")

    assert 2 == done.returncode
    assert says(done.stderr, "test.nobody")
