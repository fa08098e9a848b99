"""What the look for canaries sees: each place where a secret could get out of a scenario."""

from __future__ import annotations

import logging
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests import canaries
from tests.canaries import ENVIRONMENT, KEY, PASSWORD, Canaries

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Canaries]:
    """Canaries of a scenario that hasn't ended."""
    made = Canaries()
    with made.planted(monkeypatch):
        yield made


def test_a_scenario_without_a_leak_has_none(planted: Canaries) -> None:
    """A masked password in the log is none."""
    logging.getLogger("bot").debug("password=%s", PASSWORD)

    assert set() == planted.found()


@pytest.mark.parametrize("name", ["bot.service", "some.library"])
def test_a_secret_in_the_log_is_found(planted: Canaries, name: str) -> None:
    """At debug level, whoever logs it."""
    logging.getLogger(name).debug("the key is %s", KEY.hex())

    assert {"key 7468 in the log"} == planted.found()


def test_a_secret_in_a_text_is_found(planted: Canaries) -> None:
    """In any text that people or programs got."""
    planted.plant("a token", "canary-of-a-token")
    planted.look("a card", lambda: ["fine", {"args": "canary-of-a-token"}])

    assert {"a token in a card"} == planted.found()


def test_a_child_that_inherits_everything_is_found(planted: Canaries, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only code of the product is looked at: here this file passes for it."""
    command = [sys.executable, "-c", ""]
    subprocess.run(command, check=True)
    assert set() == planted.found()

    monkeypatch.setattr(canaries, "_PRODUCT", (__file__,))
    subprocess.run(command, check=True, env={"PATH": ""})
    assert set() == planted.found()

    subprocess.run(command, check=True)
    assert {f"{name} in a child's environment" for name in ENVIRONMENT} == planted.found()
