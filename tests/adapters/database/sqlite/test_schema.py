"""The tables, the migrations and the statements speak of the same schema."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import StaticPool, create_engine
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import UnsupportedCompilationError
from sqlmodel import SQLModel

from adapters.database import definitions, rows, statements, tables
from adapters.database.migrations import upgrade
from adapters.database.sqlite.schema import NEW_SCHEMA, REVISIONS, ensure, revision
from adapters.database.sqlite.writer import connect
from hitl.errors import Unavailable
from hitl.proof.keyring import Keyring
from tests.sentences import raises

if TYPE_CHECKING:
    from collections.abc import Iterator

KEYS = Keyring([("k1", b"1" * 32)])
ROOT = Path(__file__).parents[4]


@pytest.fixture
def connection(state: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a migrated database that may be changed."""
    connection = sqlite3.connect(state / "sayso.db", isolation_level=None)
    yield connection
    connection.close()


#: Statements that read a whole table, which never holds more than a few rows.
SMALL = {
    "KEY_IDS": ["SCAN keys"],
    "CREDENTIALS": ["SCAN credentials"],
    "MOVES": ["SCAN moves"],
    "TALKS": ["SCAN talks"],
}


def schema_of(connection: sqlite3.Connection) -> dict[str, str]:
    """How each of our tables and indexes was created, without the spacing."""
    rows = connection.execute("select name, sql from sqlite_master where sql is not null").fetchall()
    return {name: " ".join(sql.split()) for name, sql in rows if not name.startswith(("alembic", "sqlite"))}


def every_statement() -> list[tuple[str, str]]:
    """All statements of the module, by name."""
    found: list[tuple[str, str]] = []
    for name, value in vars(statements).items():
        if name.isupper():
            found += [(name, sql) for sql in (value.values() if isinstance(value, dict) else [value])]
    return found


def plan_of(connection: sqlite3.Connection, sql: str) -> list[str]:
    """How SQLite would run a statement."""
    numbered = {int(number) for number in re.findall(r"\?(\d+)", sql)}
    values = [None] * (max(numbered) if numbered else sql.count("?"))
    return [row[3] for row in connection.execute(f"explain query plan {sql}", values)]


def test_a_migrated_database_is_what_the_tables_say(connection: sqlite3.Connection) -> None:
    """To the letter: columns, types, keys, indexes and their conditions."""
    engine = create_engine("sqlite://")
    SQLModel.metadata.create_all(engine)
    raw: Any = engine.raw_connection().driver_connection
    expected = schema_of(raw)
    engine.dispose()

    assert expected == schema_of(connection)


def test_alembic_finds_nothing_to_migrate(state: Path) -> None:
    """What `alembic check` would say."""
    engine = create_engine(f"sqlite:///{state / 'sayso.db'}")
    with engine.connect() as connection:
        found = compare_metadata(MigrationContext.configure(connection), SQLModel.metadata)
    engine.dispose()

    assert [] == found


def test_the_code_knows_every_migration() -> None:
    """In their order; the last is the head."""
    scripts = ScriptDirectory.from_config(upgrade.config())

    assert list(REVISIONS) == [each.revision for each in reversed(list(scripts.walk_revisions()))]


def test_a_migration_can_be_undone(connection: sqlite3.Connection) -> None:
    """Down to no tables, and up again to the same."""
    before = schema_of(connection)
    engine = create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)
    with engine.connect() as wrapped:
        command.downgrade(upgrade.config(wrapped), "base")
    nothing = schema_of(connection)
    ensure(connection, "sayso.db", KEYS)

    assert {} == nothing
    assert before == schema_of(connection)


def test_a_call_is_all_columns_of_its_table() -> None:
    """What the statements read and write is the table; the salt is never read."""
    columns = {column.name for column in SQLModel.metadata.tables["calls"].columns}

    assert columns == {*rows.CALL, "salt"}
    assert columns == {*rows.CALL, "salt"}


def test_the_statements_are_those_that_the_tables_compile_to() -> None:
    """A changed table or definition, or another release of SQLAlchemy, is followed by generating the file again."""
    assert definitions.generated() == Path(statements.__file__).read_text()


def test_a_new_database_is_as_the_migrations_would_make_it() -> None:
    """A new migration is followed by generating the file again (`python -m adapters.database.definitions`)."""
    assert upgrade.new_schema() == NEW_SCHEMA.read_text()


def test_a_new_database_has_the_schema_of_a_migrated_one(tmp_path: Path) -> None:
    """Tables, indexes and revision are the same."""
    made, migrated = connect(tmp_path / "made.db"), connect(tmp_path / "migrated.db")
    ensure(made, "made.db", KEYS)
    upgrade.to_head(migrated, "migrated.db", KEYS)
    revisions, schemas = zip(*((revision(each, ""), schema_of(each)) for each in (made, migrated)), strict=True)

    assert (REVISIONS[-1],) * 2 == revisions
    assert schemas[1] == schemas[0]


def test_a_new_database_needs_no_library_for_migrations(tmp_path: Path) -> None:
    """Importing it takes longer than all the rest of a start."""
    program = (
        "import sys;"
        "from adapters.database.sqlite.schema import ensure; from adapters.database.sqlite.writer import connect;"
        f"ensure(connect({str(tmp_path / 'new.db')!r}), 'new.db', None);"
        "print({'alembic', 'sqlalchemy', 'sqlmodel'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)

    assert "set()" == done.stdout.strip()


def test_few_statements_are_for_sqlite_alone() -> None:
    """The others compile for PostgreSQL too. These use SQLite's row ids, its choice of an index, or its functions."""
    alone: set[str] = set()
    for name, definition in definitions.definitions(postgresql).items():
        for core in definition.core.values() if isinstance(definition.core, dict) else [definition.core]:
            try:
                core.compile(dialect=postgresql.dialect())  # type: ignore[no-untyped-call]
            except UnsupportedCompilationError:
                alone.add(name)

    assert {
        *("CALLS_WAITING", "ASKED", "CALLS_LEASED", "CALLS_OPEN"),
        *("TO_SEND", "OPEN_KEY_IDS"),
    } == alone


@pytest.mark.parametrize(("name", "sql"), every_statement())
def test_a_statement_fits_the_schema(connection: sqlite3.Connection, name: str, sql: str) -> None:
    """SQLite can prepare it, and finds what it asks for without walking through a table."""
    walked = [step for step in plan_of(connection, sql) if re.fullmatch(r"SCAN \w+", step)]

    assert SMALL.get(name, []) == walked


def test_every_table_has_statements() -> None:
    """A table that nobody asks would be dead."""
    words = set(re.findall(r"\w+", " ".join(sql for _, sql in every_statement())))

    assert set() == set(SQLModel.metadata.tables) - words


def test_every_table_says_what_it_is_for() -> None:
    """In its docstring."""
    rows = [value for name, value in vars(tables).items() if name.endswith("Row")]

    assert len(SQLModel.metadata.tables) == len(rows)
    assert all(row.__doc__ for row in rows)


def test_a_newer_database_is_refused(connection: sqlite3.Connection) -> None:
    """Both revisions are said, and what to do; nothing is changed."""
    connection.execute("update alembic_version set version_num = '9999'")
    before = schema_of(connection)

    with pytest.raises(Unavailable, match=f"has schema 9999.*up to {REVISIONS[-1]}.*a newer one"):
        ensure(connection, "sayso.db", KEYS)

    assert before == schema_of(connection)
    assert [("9999",)] == connection.execute("select version_num from alembic_version").fetchall()


def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    """A table of its own is in the way of ours; the migration leaves nothing behind."""
    connection = sqlite3.connect(tmp_path / "theirs.db", isolation_level=None)
    connection.execute("create table votes (theirs text)")

    with raises(Unavailable, "database.migration", path="theirs.db"):
        ensure(connection, "theirs.db", KEYS)

    assert ["votes"] == list(schema_of(connection))
    connection.close()


def test_an_up_to_date_store_opens_without_the_heavy_imports(state: Path) -> None:
    """Neither alembic, SQLAlchemy, SQLModel nor pydantic: they alone would take longer than a cold start may."""
    code = f"""
import asyncio, sys
from datetime import datetime, UTC
from pathlib import Path
from adapters.database.folder import StateFolder
from adapters.database.sqlite.store import SqliteStore
from hitl.testing import SetClock, a_call
from hitl.ports import Change, Unit

async def main():
    store = await SqliteStore.open(StateFolder.open(Path({str(state)!r})), SetClock(datetime.now(UTC)))
    await store.commit(Unit(None, lambda now: Change(call=a_call(now))))
    print(len(await store.pending()), *sorted(
        {{"alembic", "sqlalchemy", "sqlmodel", "pydantic", "mako"}} & {{name.partition(".")[0] for name in sys.modules}}
    ))
    await store.close()

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "1\n" == done.stdout
