"""Scenarios on Slack: over Socket Mode and by signed requests, unless their module names the ways."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.scenarios.slack.surface import staged

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.scenarios.slack.surface import SlackStage


@pytest.fixture(params=["socket", "http"])
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[SlackStage]:
    """The stage, in a thread of a channel on Slack; its record is checked at the end."""
    async with staged(request.param) as stage:
        yield stage
