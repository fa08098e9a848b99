"""Chooses the database of an installation. No other file of `bot` names a database.

The modules of the database are imported when they are needed, because most commands need few of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from datetime import datetime, timedelta
    from pathlib import Path

    from adapters.database.folder import StateFolder
    from adapters.database.mark import Mark
    from adapters.database.sqlite.backup import Restored
    from adapters.database.sqlite.store import SqliteStore
    from hitl.credentials import OldTokens
    from hitl.platforms import Check
    from hitl.ports import Clock, Survey
    from hitl.proof.integrity import Examined
    from hitl.proof.keyring import Keyring


async def open_store(folder: StateFolder, clock: Clock, keep_events: timedelta) -> SqliteStore:
    """Open the store of a locked state folder.

    Handled events of chats are deleted after `keep_events`. Raises Unavailable if the store can't be used.
    """
    from adapters.database.sqlite.store import SqliteStore

    return await SqliteStore.open(folder, clock, keep_events=keep_events)


def surveyed(database: Path) -> AbstractContextManager[Survey]:
    """Open a survey of a database. Raises Unavailable, also inside the `with` block, if it can't be read."""
    from adapters.database.sqlite import survey

    return survey.surveyed(database)


def back_up(database: Path, copy: Path, keys: Keyring, mark: Mark) -> Examined:
    """Copy one state of the database into a new file, and examine the copy. Raises Unavailable."""
    from adapters.database.sqlite import backup

    return backup.back_up(database, copy, keys, mark)


def restore(copy: Path, state: Path, keys: Keyring, mark: Mark, now: datetime, *, tokens: OldTokens | None) -> Restored:
    """Replace the database of a state folder with a copy that `back_up` made. Raises Unavailable."""
    from adapters.database.sqlite import backup

    return backup.restore(copy, state, keys, mark, now, tokens=tokens)


def library(database: Path) -> Check:
    """Return the check of the library that reads and writes the database."""
    from adapters.database.sqlite import checks

    return checks.library(database)
