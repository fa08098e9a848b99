"""A database to copy, for tests that each want an empty one."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.database.sqlite.schema import ensure
from adapters.database.sqlite.writer import connect
from hitl.proof.keyring import Keyring


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database as the migrations leave it, made once; nobody writes to it."""
    database = tmp_path_factory.mktemp("migrated") / "sayso.db"
    connection = connect(database)
    ensure(connection, str(database), Keyring([("k1", b"1" * 32)]))
    connection.close()
    return database
