"""The bearer tokens of an installation.

Operators make, list and revoke them; the guard looks up the token of each request.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from typing import TYPE_CHECKING

from adapters.http.wording import say
from hitl.credentials import Credential, Scope, bearer_hash, new_bearer
from hitl.errors import CallUnknown, InvalidConfirmation, KeyConflict, NotApprover
from hitl.outcomes import Refusal, fact
from hitl.records import replace

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from adapters.http.callers import Caller
    from adapters.http.models import TokenRequest
    from hitl.gate import Gate
    from hitl.ports import Credentials

_log = logging.getLogger(__name__)
#: The shortest time between two updates of a token's stored time of last use.
_USED_EVERY = timedelta(minutes=1)


class Tokens:
    """All tokens, in memory. The copy in memory matches the store, because no other process writes to the database."""

    def __init__(self, gate: Gate, store: Credentials) -> None:
        self._gate = gate
        self._store = store
        self._by_hash: dict[str, Credential] = {}
        self._using: set[asyncio.Task[None]] = set()

    async def load(self) -> None:
        """Read the tokens from the store. Give the directory of people each token's owner, and the time at which it
        ends.
        """
        self._keep(*await self._store.credentials())

    def find(self, token: str) -> Credential | None:
        """Return the credential of a valid token, or None.

        The token is looked up by its hash, so the time of the look-up reveals nothing about stored tokens.
        """
        found = self._by_hash.get(bearer_hash(token))
        now = self._gate.clock.now()
        if found is None or not found.works(now):
            return None
        self._use(found, now)
        return found

    def works(self, credential: Credential) -> bool:
        """Return whether a token that was found before is still valid."""
        found = self._by_hash.get(credential.hash)
        return found is not None and found.works(self._gate.clock.now())

    def all(self) -> list[Credential]:
        """Return all tokens, sorted by name."""
        return sorted(self._by_hash.values(), key=lambda found: found.name)

    def check_operator(self, caller: Caller) -> None:
        """Raise NotApprover if the caller isn't an operator of this installation."""
        if not self._gate.access.operates(caller.principal):
            raise NotApprover(fact(Refusal.SCOPE, who=caller.identity))

    async def make(self, caller: Caller, asked: TokenRequest) -> tuple[str, Credential]:
        """Make a token. Return the token itself and its stored credential.

        Raises InvalidConfirmation for a token that could do nothing, and KeyConflict for a name that was used before.
        """
        self._check(asked)
        token, now = new_bearer(), self._gate.clock.now()
        credential = Credential(
            name=asked.name,
            hash=bearer_hash(token),
            scope=Scope(asked.scope),
            owner=self._gate.people.principal(asked.owner) if asked.owner else None,
            origins=tuple(asked.origins),
            routes=tuple(asked.routes),
            created_at=now,
            created_by=caller.principal,
            until=asked.until,
        )
        if not await self._store.keep_credential(credential):
            raise KeyConflict(say("api.http.token.taken", name=asked.name))
        self._keep(credential)
        return token, credential

    def _keep(self, *found: Credential) -> None:
        self._by_hash |= {each.hash: each for each in found}
        self._gate.people = replace(self._gate.people, owners=self._owners(), token_ends=self._ends())

    def _check(self, asked: TokenRequest) -> None:
        if asked.until is not None and (asked.until.tzinfo is None or asked.until <= self._gate.clock.now()):
            raise InvalidConfirmation(say("api.http.token.until"))
        if Scope(asked.scope) is Scope.AGENT and asked.owner is None:
            raise InvalidConfirmation(say("api.http.token.owner"))
        if Scope(asked.scope) is not Scope.AGENT and (asked.owner or asked.origins or asked.routes):
            raise InvalidConfirmation(say("api.http.token.bounds"))
        if asked.owner is not None and not self._gate.people.is_listed(self._gate.people.principal(asked.owner)):
            raise InvalidConfirmation(say("api.http.token.unlisted", owner=asked.owner))

    async def revoke(self, caller: Caller, name: str) -> Credential:
        """Revoke a token, and return it. The calls that are pending for the token are withdrawn.

        Raises CallUnknown if no token has that name.
        """
        found = next((found for found in self._by_hash.values() if found.name == name), None)
        if found is None:
            raise CallUnknown(say("api.http.token.unknown", name=name))
        if found.revoked_at is None:
            found = await self._store.revoke_credential(found, caller.principal)
            self._keep(found)
        return found

    def _owners(self) -> Mapping[str, str]:
        """Return token identity -> owner for all agents' tokens.

        Revoked tokens are included, because calls made with a revoked token still belong to its owner.
        """
        return {found.identity: found.owner for found in self._by_hash.values() if found.owner}

    def _ends(self) -> Mapping[str, datetime]:
        """Return token identity -> the time at which the token was revoked or ends. Tokens without such a time are left
        out.
        """
        ends = {
            found.identity: [end for end in (found.revoked_at, found.until) if end] for found in self._by_hash.values()
        }
        return {identity: min(times) for identity, times in ends.items() if times}

    def _use(self, credential: Credential, now: datetime) -> None:
        if credential.used_at is not None and now - credential.used_at < _USED_EVERY:
            return
        self._by_hash[credential.hash] = replace(credential, used_at=now)
        self._keep_use(credential.name, now)

    def _keep_use(self, name: str, now: datetime) -> None:
        async def keep() -> None:
            try:
                await self._store.used_credential(name, now)
            except Exception:  # noqa: BLE001 - the time of the last use is no reason to refuse a request
                _log.exception("http.token_use_not_kept", {"name": name})

        task = asyncio.get_running_loop().create_task(keep())
        self._using.add(task)
        task.add_done_callback(self._using.discard)
