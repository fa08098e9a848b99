"""Installations for the tests, stopped and removed after them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.acceptance.installation import Installation
from tests.acceptance.making import Maker, install, is_forked, maker

__all__ = ["install", "maker", "running", "service"]


@pytest.fixture(scope="module")
def running(maker: Maker, request: pytest.FixtureRequest) -> Iterator[Installation]:
    """A running service that the tests of one file share; one person may do everything there."""
    with maker.batch(forked=is_forked(request)) as make:
        made = make()
        made.start()
        yield made


@pytest.fixture
def service(running: Installation) -> Iterator[Installation]:
    """The shared service; what a test leaves waiting there is withdrawn, so that it can't fail the next one."""
    yield running
    for call in running.call("pending")["calls"]:
        running.call("withdraw", target=call["ref"])
