"""The check of `sayso doctor` for the SQLite library of this process."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from adapters.database.sqlite.log import has_reset_fault
from adapters.database.wording import say
from hitl.platforms import Check, Health

if TYPE_CHECKING:
    from pathlib import Path


def library(database: Path) -> Check:
    """Return the check of the library's release. No release is a fault, because one connection alone writes."""
    version = sqlite3.sqlite_version
    if not has_reset_fault(sqlite3.sqlite_version_info):
        return Check("sqlite", Health.GREEN, version)
    return Check("sqlite", Health.GREEN, say("database.sqlite.fault", version=version, path=database))
