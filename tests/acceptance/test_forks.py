"""A fork of `sayso` behaves as the command does."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acceptance.installation import Installation, until
from tests.forks import Fork


@pytest.mark.parametrize(("words", "status", "error"), [(["--version"], 0, ""), (["pay"], 2, "No such command 'pay'")])
async def test_a_fork_ends_as_the_command_does(words: list[str], status: int, error: str, tmp_path: Path) -> None:
    """The exit status is the command's, and its errors are in the file."""
    ended = await Fork(words, {"PATH": os.environ["PATH"]}, tmp_path, tmp_path / "errors").ended()

    assert status == ended
    assert error in (tmp_path / "errors").read_text()


def test_a_fork_of_the_service_answers_until_it_is_killed(tmp_path: Path) -> None:
    """It reads the installation's settings, listens on its socket, and ends by SIGKILL."""
    service = Installation(tmp_path)
    fork = Fork(["run", "--config", str(service.config)], service.surroundings(), tmp_path, tmp_path / "log")
    until(service.answers, "the service to answer")
    told = service.call("pending")
    fork.kill()

    assert [] == told["calls"]
    assert -signal.SIGKILL == fork.wait(20)


#: Commands of a person at a running service, in the order in which they are typed.
LINES = ("", "nonsense", "pending", "ask deploy --no-wait", "pending --json", "policy check -")


def told(place: Installation, words: list[str]) -> subprocess.CompletedProcess[str]:
    """How a command ends, and what it says, without what no two runs share."""
    done = place.run(*words, given="no: document")
    for name in ("stdout", "stderr"):
        text = getattr(done, name).replace(str(place.root), "")
        setattr(done, name, re.sub(r"\b[\w-]*\d[\w-]*|\b[A-Z]{12}\b", "-", text))
    return done


def test_an_installation_of_forks_is_like_any_other(install: Callable[..., Installation]) -> None:
    """Its commands have the same exit status and say the same on both streams, and its service stops alike."""
    ends = []
    for place in (install(), install(forked=True)):
        place.start()
        ran = [told(place, line.split()) for line in LINES]
        ends.append(([(done.returncode, done.stdout, done.stderr) for done in ran], place.stop()))

    assert ends[0] == ends[1]
    assert {0, 2, 16} <= {status for status, _, _ in ends[0][0]}
