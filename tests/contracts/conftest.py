"""Each test of a contract runs once for every implementation."""

from __future__ import annotations

import shutil
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from adapters.database.folder import StateFolder
from adapters.database.store import SqliteStore
from hitl.testing import MemoryStore, SetClock
from tests.databases import migrated

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from hitl.ports import Store

__all__ = ["clock", "migrated", "store"]


@pytest.fixture
def clock() -> SetClock:
    """A clock that stands at a moment with microseconds."""
    return SetClock(datetime(2026, 11, 27, 12, 0, 0, 123456, tzinfo=UTC))


@asynccontextmanager
async def _sqlite(migrated: Path, state: Path, clock: SetClock) -> AsyncIterator[SqliteStore]:
    folder = StateFolder.open(state)
    shutil.copy(migrated, folder.database)
    store = await SqliteStore.open(folder, clock)
    yield store
    await store.close()
    folder.close()


@pytest.fixture(params=["memory", "sqlite"])
async def store(
    request: pytest.FixtureRequest, migrated: Path, tmp_path: Path, clock: SetClock
) -> AsyncIterator[Store]:
    """An empty store."""
    if request.param == "memory":
        yield MemoryStore(clock)
        return
    async with _sqlite(migrated, tmp_path / "state", clock) as opened:
        yield opened
