"""Bearer tokens on SQLite. There are few tokens. The service reads them once at its start, and operators write them."""

from __future__ import annotations

import json
import logging
import sqlite3
from typing import TYPE_CHECKING

import msgspec

from adapters.database import rows
from adapters.database import statements as sql
from adapters.database.sqlite import units
from adapters.database.sqlite.parts import Part, intact
from hitl.call import Entry, Event
from hitl.cards.wording import say
from hitl.credentials import Credential, Scope
from hitl.errors import Unavailable
from hitl.ports import Change, adding
from hitl.proof import seals
from hitl.proof.chain import verify
from hitl.records import replace
from hitl.times import micros, moment

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from typing import Any

    from adapters.database.sqlite.cache import Known
    from hitl.proof.keyring import Keyring

_log = logging.getLogger(__name__)
#: The columns of a token, in the order in which `credential_of_row` reads them.
CREDENTIAL = (
    *("name", "hash", "scope", "owner", "origins", "routes", "created_at", "created_by", "until", "mac"),
    *("revoked_at", "used_at"),
)


class SqliteCredentials(Part):
    """Stores bearer tokens (`hitl.ports.Credentials`)."""

    async def credentials(self) -> Sequence[Credential]:
        """Return all tokens, including revoked tokens.

        A token that is revoked according to the audit record stays revoked, even if somebody restores its older row.
        The service's own chain in the audit record (with the ref '') has the revocations. If somebody changed this
        chain, nobody can tell which tokens are revoked, so no token is returned.
        """
        stored = self._read(sql.CREDENTIALS)
        if stored and (why := self._why_refused()):
            _log.error("store.tokens_refused", {"why": why})
            return ()
        revoked = {json.loads(data)["name"]: moment(at) for at, data in self._read(sql.CREDENTIALS_REVOKED)}
        found = [credential_of(row) for row in stored]
        kept = [each for each in found if each and self._is_intact(each)]
        return [replace(each, revoked_at=each.revoked_at or revoked.get(each.name)) for each in kept]

    def _why_refused(self) -> str | None:
        """Return a sentence that says why no token works, or None if tokens work.

        No token works if somebody changed the service's own chain in the audit record (with the ref ''), which has the
        revocations.
        """
        wrong = verify(self.keys, map(rows.line_of, self._read(sql.LINES, "")))
        return None if wrong is None else say("start.tokens", seq=wrong)

    def _is_intact(self, stored: Credential) -> bool:
        return intact("credential", stored.name, seals.credential_holds(self.keys, stored))

    async def keep_credential(self, credential: Credential) -> bool:
        """Store a new token, and add a line about it to the audit record. Return False if its name was used before.

        Raises Unavailable while no token works (see `_why_refused`).
        """
        if why := self._why_refused():
            raise Unavailable(why)
        sealed = replace(credential, mac=seals.credential(self.keys, credential))
        told = {"name": credential.name, "scope": credential.scope.value, "owner": credential.owner}
        entry = Entry("", Event.CREDENTIAL_MADE, credential.created_by, told)

        def keep(connection: sqlite3.Connection, now: datetime) -> bool:
            if connection.execute(sql.KEEP_CREDENTIAL, _values(sealed)).rowcount == 0:
                return False
            units.write(adding(Change(entries=(entry,))), self.keys, self._memory, connection, now)
            return True

        return await self._writer.submit(keep)

    async def revoke_credential(self, credential: Credential, by: str) -> Credential:
        """Revoke a token and add a line about the revocation to the audit record, in one transaction.

        Return the revoked token.
        """

        def revoke(connection: sqlite3.Connection, now: datetime) -> Credential:
            return revoke_in(connection, self.keys, self._memory, credential, by, now)

        return await self._writer.submit(revoke)

    async def used_credential(self, name: str, at: datetime) -> None:
        """Store the time of a token's latest use."""

        def used(connection: sqlite3.Connection, _now: datetime) -> None:
            connection.execute(sql.CREDENTIAL_USED, (micros(at), name))

        await self._writer.submit(used)


def revoke_in(
    connection: sqlite3.Connection, keys: Keyring, known: Known, credential: Credential, by: str, now: datetime
) -> Credential:
    """Revoke a token within an open transaction, and add a line about it to the audit record.

    Return the revoked token.
    """
    revoked = replace(credential, revoked_at=now)
    revoked = replace(revoked, mac=seals.credential(keys, revoked))
    connection.execute(sql.REVOKE_CREDENTIAL, (micros(now), revoked.mac, credential.name))
    entry = Entry("", Event.CREDENTIAL_REVOKED, by, {"name": credential.name})
    units.write(adding(Change(entries=(entry,))), keys, known, connection, now)
    return revoked


def credential_of(row: Sequence[Any]) -> Credential | None:
    """Return the bearer token in a row. For a row that can't be read, log an error and return None."""
    try:
        return credential_of_row(row)
    except rows.UNREADABLE:
        intact("credential", str(row[0]), holds=False)
        return None


def credential_of_row(row: Sequence[Any]) -> Credential:
    """Return the bearer token in a row with the columns `CREDENTIAL`.

    Raises one of `rows.UNREADABLE` if the row isn't a token.
    """
    name, hashed, scope, owner, origins, routes, created_at, created_by, until, mac, revoked_at, used_at = row
    return Credential(
        name=name,
        hash=hashed,
        scope=Scope(scope),
        owner=owner,
        origins=tuple(json.loads(origins)),
        routes=tuple(json.loads(routes)),
        created_at=moment(created_at),
        created_by=created_by,
        until=_moment(until),
        mac=mac,
        revoked_at=_moment(revoked_at),
        used_at=_moment(used_at),
    )


def _values(made: Credential) -> tuple[object, ...]:
    """Return the values of a new row, in the order of the parameters of `statements.KEEP_CREDENTIAL`."""
    places = (msgspec.json.encode(made.origins).decode(), msgspec.json.encode(made.routes).decode())
    until = None if made.until is None else micros(made.until)
    named = (made.name, made.hash, made.scope.value, made.owner)
    return (*named, *places, micros(made.created_at), made.created_by, until, made.mac)


def _moment(at: int | None) -> datetime | None:
    return None if at is None else moment(at)
