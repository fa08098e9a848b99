"""Reads a database while the service may run (`hitl.ports.Survey`). Changes nothing.

The service's start doesn't import this module, because importing SQLModel takes longer than the start may take.
"""

from __future__ import annotations

import itertools
import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import StaticPool, case, create_engine, func
from sqlalchemy.exc import DBAPIError
from sqlmodel import Session, col, select

from adapters.database.sqlite import schema
from adapters.database.sqlite.credentials import CREDENTIAL, credential_of
from adapters.database.sqlite.examine import Examination
from adapters.database.sqlite.failures import unavailable
from adapters.database.sqlite.history import History
from adapters.database.tables import DUE, WAITING, AuditRow, CallRow, CredentialRow, InboxRow, OutboxRow
from hitl.call import Event, PostKind
from hitl.proof.chain import data_of
from hitl.times import moment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from hitl.credentials import Credential


class SqliteSurvey(History, Examination):
    """Answers questions about one state of a database. Every method raises Unavailable if the database is damaged."""

    def open_calls(self) -> Mapping[str, int]:
        """Count the calls that haven't ended, by their state."""
        counted = select(CallRow.state, func.count()).where(DUE).group_by(CallRow.state)
        return dict(self.session.exec(counted).all())

    def oldest_pending(self) -> datetime | None:
        """Return the time at which the oldest pending call was made, or None if no call is pending."""
        oldest = select(CallRow.created_at).where(DUE, WAITING).order_by(col(CallRow.created_at)).limit(1)
        at = self.session.exec(oldest).first()
        return None if at is None else moment(at)

    def most_overdue(self) -> datetime | None:
        """Return the earliest `due_at` of all calls, even if that time has passed.

        Return None if no call has a `due_at`.
        """
        at = self.session.exec(select(func.min(CallRow.due_at)).where(DUE)).one()
        return None if at is None else moment(at)

    def unsent(self) -> tuple[int, datetime | None]:
        """Return the number of unsent messages, and the time since which people wait for the oldest message, or None.

        People wait for a new card since the call was made. They wait for any other message since the call was decided
        or has ended. The number includes refreshes of pending calls' cards. The time doesn't, because nobody waits for
        a refresh.
        """
        count = self.session.exec(select(func.count()).select_from(OutboxRow)).one()
        ended = func.coalesce(CallRow.finished_at, CallRow.decided_at)
        since = case((col(OutboxRow.kind) == PostKind.CARD.value, CallRow.created_at), else_=ended)
        at = self.session.exec(select(func.min(since)).select_from(OutboxRow).join(CallRow)).one()
        return count, None if at is None else moment(at)

    def set_aside(self) -> int:
        """Count the events that were set aside because they could not be handled."""
        return self.session.exec(select(func.count()).where(col(InboxRow.aside_at).is_not(None))).one()

    def credentials(self) -> list[Credential]:
        """Return all bearer tokens, including those that don't work any more.

        Tokens that can't be read are left out, and MACs aren't checked.
        """
        found = map(credential_of, self.stored("credentials", CREDENTIAL, ("name",)))
        return [each for each in found if each is not None]

    def tokens(self) -> set[str]:
        """Return the names of all tokens, including revoked tokens."""
        return set(self.session.exec(select(CredentialRow.name)).all())

    def revoked_tokens(self) -> set[str]:
        """Return the names of the tokens that were revoked according to the audit record."""
        event = Event.CREDENTIAL_REVOKED.value
        lines = self.session.exec(select(AuditRow.data).where(AuditRow.ref == "", AuditRow.event == event)).all()
        return {str(data_of(line).get("name")) for line in lines}

    def newest_position(self) -> int:
        """Return the position of the newest line of the audit record, or 0 for an empty record."""
        return self.session.exec(select(func.max(AuditRow.id))).one() or 0

    def latest_lines(self, limit: int) -> Sequence[tuple[datetime, str]]:
        """Return the time and the data (JSON) of the latest lines of the audit record, the latest first.

        Lines without a time are left out.
        """
        found = itertools.islice(self.stored("audit", ("at", "data"), ("id",), newest_first=True), limit)
        return [(moment(at), str(data)) for at, data in found if isinstance(at, int)]

    def latest(self, event: Event, after: int) -> Mapping[str, Any]:
        """Return the data of the latest line about the service itself (with the ref '') that has this event, or {}.

        Only lines after the position `after` of the audit record are searched.
        """
        lines = select(AuditRow.data).where(AuditRow.ref == "", AuditRow.event == event.value, col(AuditRow.id) > after)
        found = self.session.exec(lines.order_by(col(AuditRow.id).desc()).limit(1)).first()
        return data_of(found) if found else {}


@contextmanager
def surveyed(database: Path) -> Iterator[SqliteSurvey]:
    """Yield the survey of a database. Raises Unavailable, also inside the `with` block, if it can't be read."""
    try:
        address = f"{database.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, isolation_level=None)) as connection:
            revision = schema.revision(connection, str(database))
            engine = create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)
            with Session(engine) as session:
                session.connection().exec_driver_sql("BEGIN")
                yield SqliteSurvey(session, revision, str(database))
    except sqlite3.Error as error:
        raise unavailable(error, str(database)) from error
    except DBAPIError as error:
        raise unavailable(cast("sqlite3.Error", error.orig), str(database)) from error
