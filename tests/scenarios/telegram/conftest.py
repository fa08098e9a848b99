"""Scenarios on Telegram: by polling, or as their module says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.scenarios.telegram.surface import staged

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.scenarios.telegram.surface import TelegramStage


@pytest.fixture
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[TelegramStage]:
    """The stage, in a group on Telegram; its record is checked at the end."""
    async with staged(getattr(request.module, "RECEIVE", "polling")) as stage:
        yield stage
