"""Scenarios over HTTP: with an agent that polls, and with one that follows the stream of events."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.scenarios.http.surface import WAYS, staged

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.scenarios.http.surface import HttpStage


@pytest.fixture(params=WAYS)
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[HttpStage]:
    """The stage, behind HTTP; its record is checked at the end."""
    async with staged(request.param) as stage:
        yield stage
