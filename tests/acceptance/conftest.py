"""Installations for the tests, stopped and removed after them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.acceptance.installation import Installation
from tests.acceptance.making import Maker, making


@pytest.fixture(scope="session")
def maker() -> Iterator[Maker]:
    """Makes installations; a first one pays for the migration of all."""
    with making() as maker:
        yield maker


@pytest.fixture
def install(maker: Maker) -> Iterator[Callable[..., Installation]]:
    """Makes installations, stopped when the test is over."""
    with maker.batch() as make:
        yield make


@pytest.fixture(scope="module")
def service(maker: Maker) -> Iterator[Installation]:
    """A running service that the tests of one file share; one person may do everything there."""
    with maker.batch() as make:
        made = make()
        made.start()
        yield made
