"""SQLite's log-reset fault can't occur: the connection that writes is the only one that copies the log."""

from __future__ import annotations

import asyncio
import os
import random
import re
import resource
import shutil
import sqlite3
import struct
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from adapters.database.sqlite.log import COPY_UNITS, LONG_BYTES, has_reset_fault
from adapters.database.sqlite.writer import Writer, connect
from hitl import faults

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from datetime import datetime
    from pathlib import Path

    from hitl.testing import SetClock

ROWS = 300


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database with a table of rows to change."""
    path = tmp_path / "rows.db"
    connection = connect(path)
    connection.execute("create table t (id integer primary key, v integer, padding blob)")
    connection.execute("create index t_v on t (v)")
    connection.execute("begin")
    connection.executemany("insert into t values (?, 0, zeroblob(1500))", ((number,) for number in range(ROWS)))
    connection.execute("commit")
    connection.close()
    return path


@pytest.fixture
async def writer(database: Path, clock: SetClock) -> AsyncIterator[Writer]:
    """A writer of it."""
    writer = Writer(connect(database), clock, database=str(database))
    yield writer
    await writer.close()


def change(row: int, value: int) -> Callable[[sqlite3.Connection, datetime], None]:
    """A unit that changes a row and its page."""

    def work(connection: sqlite3.Connection, _now: datetime) -> None:
        connection.execute("update t set v = ?, padding = randomblob(1500) where id = ?", (value, row))

    return work


async def burst(writer: Writer, units: int, value: int = 1) -> None:
    """Change rows, all units queued at once."""
    await asyncio.gather(*(writer.submit(change(number % ROWS, value)) for number in range(units)))


class Header:
    """SQLite's own account of the log, in the file of its shared memory (https://sqlite.org/walformat.html).

    The file stays open, because closing it would release the locks that this process's SQLite holds on it.
    """

    def __init__(self, database: Path) -> None:
        self._file = os.open(f"{database}-shm", os.O_RDONLY)

    def claims_too_much(self) -> bool:
        """Whether more of the log is marked as copied than the log holds: what a poisoned reset leaves behind."""
        return poisoned(os.pread(self._file, 136, 0))

    def close(self) -> None:
        """Close the file, after every connection of this process."""
        os.close(self._file)


def poisoned(header: bytes) -> bool:
    """Whether the header marks more frames as copied (u32 at 96) than the log holds (u32 at 16).

    Two copies of the header's first 48 bytes differ while SQLite writes them; it tells nothing then.
    """
    if len(header) < 100 or header[:48] != header[48:96]:
        return False
    frames, copied = struct.unpack_from("I", header, 16)[0], struct.unpack_from("I", header, 96)[0]
    return bool(copied > frames)


@pytest.mark.parametrize(
    ("frames", "copied", "expected"), [(2, 1342, True), (1342, 1342, False), (1342, 2, False), (0, 0, False)]
)
def test_a_log_can_not_be_copied_further_than_it_reaches(frames: int, copied: int, *, expected: bool) -> None:
    """The oracle of the stress test finds a header that claims to."""
    half = bytes(16) + struct.pack("I", frames) + bytes(28)

    assert expected is poisoned(half + half + struct.pack("I", copied) + bytes(36))


async def test_nothing_is_committed_while_the_log_is_copied(writer: Writer) -> None:
    """A unit that comes meanwhile waits for the end of the copy, and is kept then."""
    copying, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        copying.set()
        go_on.wait(5)

    faults.plan("writer.before-copy", hold)
    commits: list[str] = []
    await burst(writer, COPY_UNITS)
    faults.plan("writer.before-commit", lambda: commits.append("committed"))
    queued = writer.submit(change(1, 2))
    await asyncio.to_thread(copying.wait, 5)
    await asyncio.sleep(0.02)
    before = list(commits)
    go_on.set()
    await queued

    assert ([], ["committed"]) == (before, commits)


async def test_the_log_is_copied_after_so_many_units_though_writing_never_rests(writer: Writer, database: Path) -> None:
    """Its file stays short, and is written again from its start after each copy."""
    copies: list[int] = []
    faults.plan("writer.before-copy", lambda: copies.append(1))
    await burst(writer, 2 * COPY_UNITS)
    log = database.with_name(database.name + "-wal")
    size = log.stat().st_size
    for _ in range(4):
        await burst(writer, COPY_UNITS)
    await writer.drain()

    assert 6 == len(copies)
    assert log.stat().st_size <= size + (1 << 20)


async def test_a_copy_that_fails_is_logged_once_and_writing_goes_on(
    writer: Writer, caplog: pytest.LogCaptureFixture
) -> None:
    """The same trouble is one line in the log, however often it comes."""

    def fail() -> None:
        raise sqlite3.OperationalError("disk I/O error")

    faults.plan("writer.before-copy", fail)
    for _ in range(2):
        await burst(writer, COPY_UNITS)
    await writer.submit(change(1, 7))

    assert 1 == sum("can't be copied: disk I/O error" in line.getMessage() for line in caplog.records)


async def stress(writer: Writer, database: Path, seconds: float, seed: int) -> int:
    """Write in bursts beside a program that reads, looking at the header all the time; the number of copies."""
    rng, copies, written = random.Random(seed), [0], dict.fromkeys(range(ROWS), 0)  # noqa: S311 - not secret

    def count() -> None:
        copies[0] += 1

    faults.plan("writer.before-copy", count)
    reader = sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True, isolation_level=None)
    header = Header(database)
    value, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        value += 1
        await burst(writer, units := rng.choice((1, 1, 2, 40, 600, 1100)), value)
        written.update((number % ROWS, value) for number in range(units))
        assert not header.claims_too_much(), f"seed {seed}"
        if rng.random() < 0.3:  # an old state that is kept open holds up a copy half way
            reader.execute("rollback" if reader.in_transaction else "begin")
            reader.execute("select count(*) from t").fetchone()
        await asyncio.sleep(rng.choice((0, 0, 0.002, 0.02)))
    reader.close()
    await writer.close()
    header.close()
    found = sqlite3.connect(database)
    rows, check = dict(found.execute("select id, v from t not indexed")), found.execute("pragma integrity_check")
    assert (written, [("ok",)]) == (rows, check.fetchall()), f"seed {seed}"
    found.close()
    return copies[0]


async def test_no_acknowledged_commit_is_lost_under_stress(writer: Writer, database: Path) -> None:
    """Bursts, pauses and a reading program beside: the header never claims too much, and each row is as told."""
    assert 0 < await stress(writer, database, 1.0, random.randrange(1 << 32))  # noqa: S311 - not secret


@pytest.mark.fuzz
async def test_no_acknowledged_commit_is_lost_under_long_stress(writer: Writer, database: Path) -> None:
    """The same for a minute."""
    assert 100 < await stress(writer, database, 60.0, random.randrange(1 << 32))  # noqa: S311 - not secret


def test_one_process_loads_one_sqlite_library() -> None:
    """Two libraries in one process release each other's locks on the same file."""
    code = "import bot.serve, alembic, sqlmodel, sqlite3; print(open('/proc/self/maps').read())"
    maps = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert len(set(re.findall(r"/\S*(?:libsqlite|pysqlite|apsw)\S*", maps))) <= 1


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ((3, 40, 1), True),
        ((3, 44, 5), True),
        ((3, 44, 6), False),
        ((3, 45, 0), True),
        ((3, 50, 6), True),
        ((3, 50, 7), False),
        ((3, 51, 2), True),
        ((3, 51, 3), False),
        ((3, 53, 4), False),
    ],
    ids=str,
)
def test_releases_with_the_log_reset_fault_are_known(version: tuple[int, int, int], *, expected: bool) -> None:
    """SQLite mended it in 3.51.3, 3.50.7 and 3.44.6."""
    assert expected is has_reset_fault(version)


async def test_the_log_is_made_long_when_it_is_first_copied(writer: Writer, database: Path) -> None:
    """Later commits overwrite the file, which a disk syncs in half the time; what they write is there."""
    await burst(writer, COPY_UNITS)
    await writer.submit(change(1, 7))
    size = database.with_name(database.name + "-wal").stat().st_size
    await burst(writer, 100, 8)

    assert LONG_BYTES <= size <= LONG_BYTES + (1 << 20)
    other = sqlite3.connect(database)
    assert (100,) == other.execute("select count(*) from t where v = 8").fetchone()
    assert ("ok",) == other.execute("pragma integrity_check").fetchone()
    other.close()


async def test_a_long_log_is_read_after_a_crash(writer: Writer, database: Path, tmp_path: Path) -> None:
    """The zeros behind what was committed are the end of the log."""
    await burst(writer, COPY_UNITS)
    await writer.submit(change(1, 7))
    for suffix in ("", "-wal"):
        shutil.copy(f"{database}{suffix}", tmp_path / f"copy.db{suffix}")
    crashed = sqlite3.connect(tmp_path / "copy.db")

    assert (7,) == crashed.execute("select v from t where id = 1").fetchone()
    crashed.close()


async def test_a_log_that_can_not_be_made_long_stays_short(writer: Writer, database: Path) -> None:
    """The kernel refuses a longer file; nothing that is committed needs it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LONG_BYTES - 1, hard))
    try:
        await burst(writer, COPY_UNITS)
        await writer.submit(change(1, 7))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    await writer.close()

    found = sqlite3.connect(database)
    assert (7,) == found.execute("select v from t where id = 1").fetchone()
    found.close()
