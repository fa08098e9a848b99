"""The mark: a database that is older than what was last let run is told from one that isn't."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from adapters.database.mark import Mark
from hitl.call import Entry, Event
from hitl.ports import Change, adding
from hitl.proof.keyring import Keyring
from tests.acceptance.installation import until

if TYPE_CHECKING:
    from adapters.database.sqlite.store import SqliteStore

Opened = Callable[[], AbstractAsyncContextManager["SqliteStore"]]
KEYS = Keyring([("k1", b"1" * 32)])


def line(event: Event) -> Change:
    """A line of the record, of the service itself."""
    return Change(entries=(Entry("", event, "service", {}),))


def test_a_mark_is_what_was_written(tmp_path: Path) -> None:
    """For its owner alone; where there is none, nothing was ever let run."""
    mark = Mark(tmp_path / "mark", KEYS)
    before = mark.read()
    mark.write(7, "a")
    mark.write(9, "b")

    assert ((0, ""), (9, "b")) == (before, mark.read())
    assert ["mark"] == [file.name for file in tmp_path.iterdir()]
    assert 0o600 == mark.path.stat().st_mode & 0o777


@pytest.mark.parametrize(
    "told", ["", "{}", '{"position": 7, "line": "a"}', '{"position": 7, "line": "a", "seal": "k1:2:00"}', "[7]", "\xff"]
)
def test_a_mark_that_is_none_of_ours_is_told_from_none(tmp_path: Path, told: str) -> None:
    """Nobody may set it back by writing another one."""
    mark = Mark(tmp_path / "mark", KEYS)
    mark.path.write_text(told)

    assert None is mark.read()


def test_a_mark_of_other_keys_is_none_of_ours(tmp_path: Path) -> None:
    """So is the mark of a folder whose keys were made anew."""
    Mark(tmp_path / "mark", Keyring([("k1", b"2" * 32)])).write(7, "a")

    assert None is Mark(tmp_path / "mark", KEYS).read()


async def written(store: SqliteStore, path: Path, wanted: tuple[int, str]) -> None:
    """Wait until the mark that a start writes is on the disk."""
    mark = Mark(path, store.keys)
    await asyncio.to_thread(until, lambda: path.exists() and mark.read() == wanted, "the mark of this start")


async def test_it_names_the_last_line_after_each_start_and_each_stop(opened: Opened, tmp_path: Path) -> None:
    """Each start writes it, also before any run. A clean stop writes it, also if the last line lets nothing run.

    So nobody can cut a rejection off the record while the service is stopped.
    """
    path = tmp_path / "mark"
    async with opened() as store:
        assert await store.keep_mark(path)
        await written(store, path, (0, ""))
        await store.commit(adding(line(Event.REJECTED)))
    async with opened() as store:
        assert (1, (await store.history(""))[-1].hash) == Mark(path, store.keys).read()
        assert await store.keep_mark(path)
        await store.commit(adding(line(Event.APPROVED)))
    async with opened() as store:
        assert (2, (await store.history(""))[-1].hash) == Mark(path, store.keys).read()
        assert await store.keep_mark(path)


async def test_a_copy_from_before_is_older_than_its_mark(opened: Opened, state: Path, tmp_path: Path) -> None:
    """Everything in it is sealed, keys and all."""
    async with opened() as store:
        await store.commit(adding(line(Event.ASKED)))
    shutil.copytree(state, tmp_path / "copy")
    async with opened() as store:
        await store.keep_mark(tmp_path / "mark")
        await store.commit(adding(line(Event.APPROVED)))
    shutil.rmtree(state)
    shutil.copytree(tmp_path / "copy", state)

    async with opened() as store:
        assert not await store.keep_mark(tmp_path / "mark")
