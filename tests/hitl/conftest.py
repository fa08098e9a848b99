"""The world of the gate's tests; its record is checked after every one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.hitl.world import World

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def world() -> AsyncIterator[World]:
    """A gate over the fakes. Whatever a test does, its record must be whole afterwards."""
    world = World()
    yield world
    await world.check_record()
