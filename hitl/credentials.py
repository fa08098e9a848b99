"""Bearer tokens: their owners and scopes, and the conversations and routes that a holder may use in a request.

Of each token, only a hash is stored.
"""

from __future__ import annotations

import hashlib
import secrets
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from datetime import datetime

    from hitl.surfaces import Place

#: The beginning of every bearer token, so that people and secret scanners recognise a token of Sayso.
PREFIX = "sayso_"
_BYTES = 32


class Scope(StrEnum):
    """The rights of a token's holder. A token has one scope, so no token serves both an agent and an approver."""

    AGENT = "agent"
    APPROVER = "approver"
    OPERATOR = "operator"


class OldTokens(StrEnum):
    """The operator's choice at a restore, if it isn't known which tokens were revoked after the backup was made.

    `keep` keeps all working tokens of the backup, and `end` revokes all of them.
    """

    KEEP = "keep"
    END = "end"


class Credential(Struct, frozen=True):
    """A stored bearer token. `mac` covers every field except `used_at`."""

    #: The name that the operator gave to the token. No second token ever gets this name.
    name: str
    #: The SHA-256 (hex) of the token. A fast hash is safe, because the token has 256 random bits.
    hash: str
    scope: Scope
    #: For an agent's token, the principal who answers for the agent. None for the other scopes.
    owner: str | None
    #: The conversations that the holder may name as the origin of a call. Their threads are included.
    origins: tuple[str, ...]
    #: The routes that the holder may add to a card.
    routes: tuple[str, ...]
    created_at: datetime
    #: The principal who made the token.
    created_by: str
    #: The time at which the token stops working, or None if it works until it is revoked.
    until: datetime | None
    mac: str = ""
    revoked_at: datetime | None = None
    used_at: datetime | None = None

    @property
    def identity(self) -> str:
        """The identity of the holder, in the form that the operator's lists of people use: `token:NAME`."""
        return f"token:{self.name}"

    def works(self, now: datetime) -> bool:
        """Return whether the token works: it isn't revoked, and its time hasn't ended."""
        return self.revoked_at is None and (self.until is None or now < self.until)

    def may_name(self, origin: Place) -> bool:
        """Return whether the holder may name this conversation as the origin of a call.

        A thread may be named if the token lists the thread or its chat.
        """
        return origin.name in self.origins or origin.chat in self.origins


def new_bearer() -> str:
    """Return a new random bearer token."""
    return PREFIX + secrets.token_urlsafe(_BYTES)


def bearer_hash(token: str) -> str:
    """Return the hash of a token, which is stored in place of the token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
