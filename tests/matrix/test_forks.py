"""A fork of `sayso` behaves as the command does."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.acceptance.installation import Installation, until
from tests.matrix.forks import Fork


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
