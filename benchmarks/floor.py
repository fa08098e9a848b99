"""The floor: raw sqlite3 writing rows like ours, and nothing else. `python -m benchmarks.floor FOLDER CYCLES [today]`.

It writes what was inserted when a call was parked, changed and inserted with its decision, changed and inserted with
its result: same sizes, same tables and indexes, under other refs, in one transaction for each of the three, in the
write-ahead log with synchronous=FULL. The values are made beforehand; only BEGIN to COMMIT is timed.

The rows are those of the store's first landed version (`rows.json`), so that the floor stays where it is when our rows
get smaller; budgets are held to it. With `today` they are read from one call of the service of today.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
import time
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.desk import Desk
from benchmarks.figures import Spread
from benchmarks.logged import CYCLES, Logged
from benchmarks.telling import tell

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LANDED = Path(__file__).with_name("rows.json")
_WARM_UP = 200
_EVENT = ("telegram", "room", b'{"update_id":1}' * 60, 1, 0)
_INSERT_EVENT = "insert into inbox (source, ordering, body, received_at, failures, id) values (?, ?, ?, ?, ?, ?)"
_EVENT_HANDLED = "update inbox set handled_at = 1 where source = 'telegram' and id = ?"
#: What never changes after a call is stored; all other columns a swap writes.
_FIXED_UNTIL = "row_mac"
_ARGUMENTS = ("salt", "args")


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one real call: at each of its three commits the call, and the lines and votes that came with it."""

    columns: tuple[str, ...]
    calls: tuple[tuple[Any, ...], ...]
    lines: tuple[tuple[tuple[Any, ...], ...], ...]
    vote: tuple[Any, ...]


@dataclass(slots=True)
class Work:
    """Statements with their values, for each of the three transactions of one call."""

    park: list[tuple[str, tuple[Any, ...]]]
    decision: list[tuple[str, tuple[Any, ...]]]
    result: list[tuple[str, tuple[Any, ...]]]


def _landed_rows(database: Path) -> Rows:
    """The rows of the first landed version; its tables are made."""
    told = json.loads(_LANDED.read_text(), object_hook=_bytes_of)
    with sqlite3.connect(database) as connection:
        for statement in told.pop("schema"):
            connection.execute(statement)
    calls, lines = map(tuple, told["calls"]), (tuple(map(tuple, each)) for each in told["lines"])
    return Rows(tuple(told["columns"]), tuple(calls), tuple(lines), tuple(told["vote"]))


def _bytes_of(told: dict[str, Any]) -> Any:
    return bytes.fromhex(told["hex"]) if told.keys() == {"hex"} else told


async def _real_rows(folder: Path) -> Rows:
    """Run one call on the real service, and read it after each commit: while its tool runs, it is decided."""
    seen: list[tuple[Any, ...]] = []
    counts: list[int] = []
    database = folder / "sayso.db"

    def look(ref: str) -> None:
        with sqlite3.connect(database) as connection:
            seen.append(connection.execute("select * from calls where ref = ?", (ref,)).fetchone())
            counts.append(connection.execute("select count(*) from audit where ref = ?", (ref,)).fetchone()[0])

    desk = await Desk.open(folder, tool=look)
    call = await desk.park()
    look(call.ref)
    await desk.to_tool(call.ref)
    look(call.ref)
    await desk.close()
    with sqlite3.connect(database) as connection:
        columns = tuple(row[1] for row in connection.execute("pragma table_info(calls)"))
        lines = connection.execute("select * from audit where ref = ? order by seq", (call.ref,)).fetchall()
        vote = connection.execute("select * from votes where ref = ?", (call.ref,)).fetchone()
        connection.execute("pragma wal_checkpoint(truncate)")
        for table in ("audit", "votes", "calls"):
            connection.execute(f"delete from {table}")  # noqa: S608 - the names stand above
    first, second, _ = counts
    return Rows(columns, tuple(seen), (tuple(lines[:first]), tuple(lines[first:second]), tuple(lines[second:])), vote)


def _work(rows: Rows, number: int) -> Work:
    """The same rows under another ref: in order of time, as ours are, and as long."""
    ref = f"{number:08x}{rows.calls[0][0][8:]}"
    parked, decided, ended = rows.calls
    return Work(
        [_insert("calls", (ref, f"{number:06x}", *parked[2:])), *_lines(rows.lines[0], ref)],
        [
            _update(rows.columns, decided, ref, parked),
            _insert("votes", (ref, *rows.vote[1:])),
            *_lines(rows.lines[1], ref),
        ],
        [_update(rows.columns, ended, ref, decided), *_lines(rows.lines[2], ref)],
    )


def _update(
    columns: Sequence[str], call: Sequence[Any], ref: str, before: Sequence[Any]
) -> tuple[str, tuple[Any, ...]]:
    start = columns.index(_FIXED_UNTIL) + 1
    changing = [place for place in range(start, len(columns)) if columns[place] not in _ARGUMENTS]
    names = ", ".join(f"{columns[place]} = ?" for place in changing)
    version = before[columns.index("version")]
    values = (*(call[place] for place in changing), ref, version)
    return f"update calls set {names} where ref = ? and version = ?", values  # noqa: S608 - names of columns


def _lines(lines: Sequence[tuple[Any, ...]], ref: str) -> Iterable[tuple[str, tuple[Any, ...]]]:
    return [_insert("audit", (None, ref, *line[2:])) for line in lines]


def _insert(table: str, row: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    marks = ", ".join("?" for _ in row)
    return f"insert into {table} values ({marks})", row  # noqa: S608 - names of tables


def _connect(database: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(database, isolation_level=None, cached_statements=256)
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = full")
    return connection


def _timed(connection: sqlite3.Connection, statements: Iterable[tuple[str, tuple[Any, ...]]]) -> float:
    execute = connection.execute
    started = time.perf_counter()
    execute("begin immediate")
    for statement, values in statements:
        execute(statement, values)
    execute("commit")
    return time.perf_counter() - started


def _cycle(connection: sqlite3.Connection, rows: Rows, number: int) -> tuple[float, float, float]:
    work = _work(rows, number)
    return _timed(connection, work.park), _timed(connection, work.decision), _timed(connection, work.result)


def _inbox_decision(connection: sqlite3.Connection, rows: Rows, number: int) -> float:
    work = _work(rows, number)
    _timed(connection, [*work.park, (_INSERT_EVENT, (*_EVENT, str(number)))])
    return _timed(connection, [*work.decision, (_EVENT_HANDLED, (str(number),))])


def measure(folder: Path, cycles: int, *, today: bool = False) -> dict[str, Any]:
    """The three transactions, each and together, and how many cycles of them a second has room for."""
    folder.mkdir(exist_ok=True)
    rows = asyncio.run(_real_rows(folder)) if today else _landed_rows(folder / "sayso.db")
    connection = _connect(folder / "sayso.db")
    for number in range(_WARM_UP):
        _cycle(connection, rows, number)
    numbers = range(_WARM_UP, _WARM_UP + cycles)
    measured = [_cycle(connection, rows, number) for number in numbers]
    from_inbox = [_inbox_decision(connection, rows, number + cycles) for number in numbers]
    logged, numbers_left = Logged(folder / "sayso.db"), count(_WARM_UP + 2 * cycles)
    for _ in logged.windows():
        for number in islice(numbers_left, CYCLES):
            _cycle(connection, rows, number)
    connection.close()
    park, decision, result = zip(*measured, strict=True)
    return {
        "park": Spread.of(park),
        "decision": Spread.of(decision),
        "result": Spread.of(result),
        "inbox_decision": Spread.of(from_inbox),
        "cycle": Spread.of([sum(cycle) for cycle in measured]),
        "cycles_per_s": cycles / sum(map(sum, measured)),
        "log_bytes_per_commit": logged.bytes_per_commit(),
    }


if __name__ == "__main__":
    tell(measure(Path(sys.argv[1]), int(sys.argv[2]), today="today" in sys.argv[3:]))
