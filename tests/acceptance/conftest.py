"""Installations for the tests, stopped and removed after them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.acceptance.installation import Installation
from tests.acceptance.making import Maker, install, maker

__all__ = ["install", "maker", "service"]


@pytest.fixture(scope="module")
def service(maker: Maker) -> Iterator[Installation]:
    """A running service that the tests of one file share; one person may do everything there."""
    with maker.batch() as make:
        made = make()
        made.start()
        yield made
