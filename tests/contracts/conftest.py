"""Each test of a contract runs once for every implementation."""

from __future__ import annotations

import shutil
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

import pytest

from adapters.database import keys
from adapters.database.folder import StateFolder
from adapters.database.sqlite import survey
from adapters.database.sqlite.store import SqliteStore
from adapters.policies import FolderSource
from hitl.policy.presets import PresetSource, preset
from hitl.testing import MemoryStore, SetClock
from tests.databases import migrated

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from hitl.policy.ports import DocumentSource
    from hitl.ports import Store, Survey

__all__ = ["Surveyed", "clock", "migrated", "store", "surveyed"]


@pytest.fixture
def clock() -> SetClock:
    """A clock that stands at a moment with microseconds."""
    return SetClock(datetime(2026, 11, 27, 12, 0, 0, 123456, tzinfo=UTC))


@asynccontextmanager
async def _sqlite(migrated: Path, state: Path, clock: SetClock) -> AsyncIterator[SqliteStore]:
    folder = StateFolder.open(state)
    keys.load(folder.keys)
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


@dataclass(frozen=True)
class Surveyed:
    """A store, and a function that opens a survey of what it has written."""

    store: Store
    open: Callable[[], AbstractContextManager[Survey]]


@pytest.fixture
async def surveyed(tmp_path: Path, migrated: Path, clock: SetClock) -> AsyncIterator[Surveyed]:
    """An empty store that another process could survey."""
    async with _sqlite(migrated, tmp_path / "state", clock) as opened:
        yield Surveyed(opened, partial(survey.surveyed, opened.database))


@pytest.fixture(params=["folders", "presets"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> DocumentSource:
    """A source that has the policy `strict`, for the tenant `acme` too."""
    if request.param == "presets":
        return PresetSource()
    for folder in (tmp_path / "policies", tmp_path / "policies" / "acme"):
        folder.mkdir(mode=0o700)
        (folder / "strict.yaml").write_text(preset("strict"))
        (folder / "strict.yaml").chmod(0o600)
    return FolderSource([tmp_path / "policies"])
