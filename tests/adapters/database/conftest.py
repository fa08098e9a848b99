"""Databases, folders and clocks for the tests of the database."""

from __future__ import annotations

import shutil
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from adapters.database import keys
from adapters.database.folder import StateFolder
from adapters.database.sqlite.store import SqliteStore
from hitl import faults
from hitl.testing import SetClock
from tests.databases import migrated

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

__all__ = ["clock", "migrated", "opened", "state", "store"]


@pytest.fixture
def clock() -> SetClock:
    """A clock that stands."""
    return SetClock(datetime(2026, 11, 27, 12, 0, tzinfo=UTC))


@pytest.fixture
def state(migrated: Path, tmp_path: Path) -> Path:
    """A state folder with keys and an empty, migrated database in it."""
    folder = StateFolder.open(tmp_path / "state")
    keys.load(folder.keys)
    shutil.copy(migrated, folder.database)
    folder.close()
    return folder.path


@pytest.fixture
def opened(state: Path, clock: SetClock) -> Callable[[], AbstractAsyncContextManager[SqliteStore]]:
    """Opens the store of the state folder, as often as a test wants to."""

    @asynccontextmanager
    async def open_store() -> AsyncIterator[SqliteStore]:
        folder = StateFolder.open(state)
        store = await SqliteStore.open(folder, clock)
        yield store
        await store.close()
        folder.close()

    return open_store


@pytest.fixture
async def store(opened: Callable[[], AbstractAsyncContextManager[SqliteStore]]) -> AsyncIterator[SqliteStore]:
    """An open, empty store."""
    async with opened() as store:
        yield store


@pytest.fixture(autouse=True)
def _no_faults() -> Iterator[None]:
    """What one test plans is gone in the next."""
    yield
    faults.clear()
