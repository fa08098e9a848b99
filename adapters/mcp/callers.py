"""Who speaks to the gateway, and what their client says of itself."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server.context import ServerRequestContext

#: What cards call an agent whose client isn't known. Unknown names are the client's own words, and no agent's name.
_AGENT: Final = "mcp"
_AGENTS = {
    "claude-code": "claude-code",
    "claude-ai": "claude-desktop",
    "codex-mcp-client": "codex",
    "cursor-vscode": "cursor",
    "Visual Studio Code": "vscode",
}
#: Where clients put the id of the tool use that a request is for: Claude Code, Codex, and anybody's own.
_USES = ("claudecode/toolUseId", "callId", "sayso/toolUseId")
_SESSIONS = ("sessionId", "threadId", "sayso/session")
_LONGEST_ID = 200


@dataclass(frozen=True, slots=True)
class Caller:
    """The credential behind a connection: proved by the transport, never by what is said over it."""

    #: Who asks for the calls.
    principal: str
    #: The conversation that the calls belong to.
    origin: str
    #: What tells this credential from others of the same principal: a token's id. Never the token.
    token: str


@dataclass(frozen=True, slots=True)
class Client:
    """What a request says of the client that sent it. All of it is the client's word, and decides nothing."""

    name: str
    session: str
    use: str | None

    @property
    def agent(self) -> str:
        """What cards call the agent behind it."""
        return _AGENTS.get(self.name, _AGENT)

    def key(self, caller: Caller) -> str | None:
        """Return the idempotency key of the tool use; None where the client names none.

        A JSON-RPC id is no such key: each connection counts from the same number.
        """
        if self.use is None:
            return None
        parts = json.dumps([caller.token, self.session, self.use])
        return f"mcp:{hashlib.sha256(parts.encode()).hexdigest()}"


def client_of(context: ServerRequestContext[Any, Any]) -> Client:
    """Return what the request says of its client."""
    params = context.session.client_params
    meta: Mapping[str, Any] = dict(context.meta or {})
    name = params.client_info.name if params else ""
    return Client(name, "/".join(filter(None, (_id(meta, key) for key in _SESSIONS))), _first(meta, _USES))


def session_of(caller: Caller, client: Client) -> str:
    """Return the session that a call belongs to: the credential and, behind it, the client's own."""
    return f"{caller.token}/{client.session}" if client.session else caller.token


def is_of(session: str, caller: Caller) -> bool:
    """Whether a call of that session was asked for with the caller's credential."""
    return session == caller.token or session.startswith(f"{caller.token}/")


def _first(meta: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    return next((found for key in keys if (found := _id(meta, key))), None)


def _id(meta: Mapping[str, Any], key: str) -> str:
    """A text of the request's `_meta` as an id; a longer one is no id."""
    value = meta.get(key)
    return value if isinstance(value, str) and len(value) <= _LONGEST_ID else ""
