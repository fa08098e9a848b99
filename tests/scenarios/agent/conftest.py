"""Each scenario runs on a terminal, on Telegram and on Slack."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.scenarios.agent.stages import PLACES, planned

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.scenarios.agent.stages import Planned


@pytest.fixture(params=PLACES)
async def plan(request: pytest.FixtureRequest) -> AsyncIterator[Planned]:
    """A stage with a model; its record is checked at the end."""
    async with planned(request.param) as made:
        yield made
