"""One state of a database, as the file has it. All questions of a survey read through this class (`survey.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import type_coerce
from sqlalchemy.types import NullType
from sqlmodel import Session, SQLModel, select

from adapters.database.sqlite.schema import REVISIONS
from adapters.database.wording import say
from hitl.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Snapshot:
    """A session on one state of a database. `path` is the path of the database, for messages."""

    #: The revisions of the schema that this version of Sayso knows, the newest last.
    schemas: Sequence[str] = REVISIONS

    def __init__(self, session: Session, schema: str | None, path: str) -> None:
        self.session = session
        #: The revision of the schema, or None if Sayso didn't make the tables.
        self.schema = schema
        self._path = path

    def must_be_current(self) -> None:
        """Raise Unavailable if the database doesn't have the newest schema.

        The error's message names the next step.
        """
        if self.schema == self.schemas[-1]:
            return
        if self.schema is None or self.schema in self.schemas:
            raise Unavailable(say("database.older", path=self._path))
        raise Unavailable(say("database.newer", path=self._path, schema=self.schema, newest=self.schemas[-1]))

    def stored(
        self, table: str, names: tuple[str, ...], order: tuple[str, ...], *where: Any, newest_first: bool = False
    ) -> Iterator[Sequence[Any]]:
        """Yield the rows of a table that meet all conditions in `where`, with the values exactly as SQLite stores them.

        SQLAlchemy's column types would convert the values, and would fail if somebody wrote a wrong value by hand.
        """
        columns = SQLModel.metadata.tables[table].c
        asked: Any = select(*(type_coerce(columns[name], NullType()) for name in names)).where(*where)
        places = [columns[name].desc() if newest_first else columns[name] for name in order]
        yield from self.session.exec(asked.order_by(*places))
