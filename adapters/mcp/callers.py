"""The caller of the gateway, and the client's claims about itself. The transport proves the caller; nothing proves the
claims.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server.context import ServerRequestContext

#: The agent's name on cards if the client isn't one of `_AGENTS`. An unknown client's own name is never shown.
_AGENT: Final = "mcp"
_AGENTS = {
    "claude-code": "claude-code",
    "claude-ai": "claude-desktop",
    "codex-mcp-client": "codex",
    "cursor-vscode": "cursor",
    "Visual Studio Code": "vscode",
}
#: Fields in which clients send the id of a request's tool use: the fields of Claude Code and Codex, and a field for any
#: client.
_USES = ("claudecode/toolUseId", "callId", "sayso/toolUseId")
_SESSIONS = ("sessionId", "threadId", "sayso/session")
_LONGEST_ID = 200


@dataclass(frozen=True, slots=True)
class Caller:
    """The credential behind a connection. The transport proves it; nothing sent over the connection can change it."""

    #: The requester of the calls.
    principal: str
    #: The conversation that the calls belong to.
    origin: str
    #: The id of a token, but never the token itself. The id distinguishes this credential from others of the same
    #: principal.
    token: str


@dataclass(frozen=True, slots=True)
class Client:
    """A request's claims about the client that sent it. The claims aren't proved, and no decision depends on them."""

    name: str
    session: str
    use: str | None

    @property
    def agent(self) -> str:
        """The agent's name on cards, looked up by the client's own name.

        If the client isn't known, this is a general name.
        """
        return _AGENTS.get(self.name, _AGENT)

    def key(self, caller: Caller) -> str | None:
        """Return the idempotency key of the tool use, or None if the client names no tool use.

        A JSON-RPC id can't be the key, because the ids of each connection begin with the same number.
        """
        if self.use is None:
            return None
        parts = json.dumps([caller.token, self.session, self.use])
        return f"mcp:{hashlib.sha256(parts.encode()).hexdigest()}"


def client_of(context: ServerRequestContext[Any, Any]) -> Client:
    """Return the request's claims about its client."""
    params = context.session.client_params
    meta: Mapping[str, Any] = dict(context.meta or {})
    name = params.client_info.name if params else ""
    return Client(name, "/".join(filter(None, (_id(meta, key) for key in _SESSIONS))), _first(meta, _USES))


def session_of(caller: Caller, client: Client) -> str:
    """Return the session name of a call: the id of the caller's credential, followed by the client's own session id."""
    return f"{caller.token}/{client.session}" if client.session else caller.token


def is_of(session: str, caller: Caller) -> bool:
    """Return whether the call with this session name was asked for with the caller's credential."""
    return session == caller.token or session.startswith(f"{caller.token}/")


def _first(meta: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    return next((found for key in keys if (found := _id(meta, key))), None)


def _id(meta: Mapping[str, Any], key: str) -> str:
    """Return a field of the request's `_meta` as an id, or '' if it is missing, too long or no text."""
    value = meta.get(key)
    return value if isinstance(value, str) and len(value) <= _LONGEST_ID else ""
