"""Bearer tokens: their owners and scopes, and the conversations and routes that a holder may use in a request.

Only hashes are stored.
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

#: The beginning of every bearer token, by which people and secret scanners recognise our tokens.
PREFIX = "sayso_"
_BYTES = 32


class Scope(StrEnum):
    """The scope of a credential. A credential has one scope, so no credential serves both an agent and an approver."""

    AGENT = "agent"
    APPROVER = "approver"
    OPERATOR = "operator"


class OldTokens(StrEnum):
    """The choices for the tokens of a backup if nobody can tell which tokens were revoked since."""

    KEEP = "keep"
    END = "end"


class Credential(Struct, frozen=True):
    """A stored bearer token. `mac` covers every field except `used_at`."""

    #: The name that the operator gave. It is never used for a second token.
    name: str
    #: The SHA-256 (hex) of the token, which has 256 random bits and therefore needs no slow hash.
    hash: str
    scope: Scope
    #: The principal who answers for an agent's token, or None for another scope.
    owner: str | None
    #: The conversations that the holder may name as origin, with all their threads.
    origins: tuple[str, ...]
    #: The places that the holder may name as further routes of a card.
    routes: tuple[str, ...]
    created_at: datetime
    #: The principal who made the token.
    created_by: str
    #: The time at which the token stops working, or None for a token without an end.
    until: datetime | None
    mac: str = ""
    revoked_at: datetime | None = None
    used_at: datetime | None = None

    @property
    def identity(self) -> str:
        """The identity of the holder, in the form that lists of people use."""
        return f"token:{self.name}"

    def works(self, now: datetime) -> bool:
        """Return whether the token is neither revoked nor past its end."""
        return self.revoked_at is None and (self.until is None or now < self.until)

    def may_name(self, origin: Place) -> bool:
        """Return whether the holder may name this conversation, or the chat of this thread, as the origin of a call."""
        return origin.name in self.origins or origin.chat in self.origins


def new_bearer() -> str:
    """Return a new random bearer token."""
    return PREFIX + secrets.token_urlsafe(_BYTES)


def bearer_hash(token: str) -> str:
    """Return the hash of a token, which is stored in place of the token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
