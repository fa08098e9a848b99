"""The caller of a request: a user of this machine, whom the kernel names, or the holder of a bearer token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from fastapi import Depends
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection

from adapters.http.wording import say
from hitl.connections import Party
from hitl.credentials import Scope
from hitl.errors import InvalidConfirmation, NotApprover, Unauthenticated
from hitl.outcomes import Refusal, fact

if TYPE_CHECKING:
    from starlette.types import Scope as Scopes

    from hitl.credentials import Credential
    from hitl.gate import Gate
    from hitl.people import Directory

#: The origin (the conversation that a call comes from) of calls over the Unix socket, and of calls by a token that
#: isn't bound to a conversation.
LOCAL, REMOTE = "local", "http"
#: The key of `scope["state"]` under which a listener puts the `Peer`. No header can set it.
PEER = "sayso.peer"
#: The key of `scope["state"]` under which the guard puts the `Caller`.
CALLER = "sayso.caller"
#: The key of `scope["state"]` under which a listener puts a future that resolves when the peer hangs up.
GONE = "sayso.gone"


@dataclass(frozen=True, slots=True)
class Peer:
    """The peer of a connection, as the kernel describes it when the connection is made.

    The connections of all peers with the same `key` are counted together. `uid` is the peer's user id on the Unix
    socket, and None on TCP. `party` says what kind of user it is, such as LISTED for a user in the lists of people.
    """

    key: str
    uid: int | None = None
    party: Party = Party.REMOTE


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated caller, and the origins, routes and person (`on_behalf_of`) that its requests may name."""

    identity: str
    principal: str
    #: The person for whom the caller asks: the owner of the caller's token, or the caller itself without a token.
    owner: str
    scopes: frozenset[Scope]
    #: The API surface of the request: `socket` for the Unix socket, `http` for TCP.
    surface: str
    credential: Credential | None = None

    @property
    def name(self) -> str:
        """Return the agent's name for calls that name no agent: the name of the token, or ''."""
        return self.credential.name if self.credential else ""

    @property
    def conversation(self) -> str:
        """Return the origin for calls that name no origin, such as `local` on the Unix socket."""
        if self.credential is None:
            return LOCAL
        return self.credential.origins[0] if self.credential.origins else REMOTE

    def claimant(self, attempt: str = "") -> str:
        """Return the name under which this caller claims calls. `attempt` names one attempt to run a call, or is ''."""
        return f"caller:{self.principal}" + (f" {attempt}" if attempt else "")

    def origin(self, named: str | None, people: Directory) -> str:
        """Return the origin of a call. `named` is the origin that the request names, or None.

        Raises NotApprover if the caller isn't bound to that origin.
        """
        if named is None or named == self.conversation:
            return self.conversation
        if self.credential is None or not self.credential.may_name(people.place(named)):
            raise NotApprover(fact(Refusal.ORIGIN, who=self.identity, place=named))
        return named

    def routes(self, named: list[str]) -> tuple[str, ...]:
        """Return the further routes that a call names for its card.

        Raises NotApprover if the caller isn't bound to one of them.
        """
        bound = self.credential.routes if self.credential else ()
        for place in named:
            if place not in bound:
                raise NotApprover(fact(Refusal.ROUTE, who=self.identity, place=place))
        return tuple(named)

    def check_behalf(self, named: str | None) -> None:
        """Raise NotApprover if `named` is a person for whom the caller may not ask."""
        if named is not None and named != self.owner:
            raise NotApprover(fact(Refusal.BEHALF, who=self.identity, person=named))


class Bearers(Protocol):
    """Looks up the bearer tokens that are valid now."""

    def find(self, token: str) -> Credential | None:
        """Return the credential of a valid token, or None."""

    def works(self, credential: Credential) -> bool:
        """Return whether a token that was found before is still valid."""


class Authenticator:
    """Finds out who sends a request: by the user id that the kernel reports, or by a bearer token."""

    def __init__(self, gate: Gate, bearers: Bearers) -> None:
        self._gate = gate
        self._bearers = bearers

    async def caller(self, scope: Scopes) -> Caller:
        """Return the caller of a request.

        Raises Unauthenticated for a TCP request without a valid token, and InvalidConfirmation for a token on the Unix
        socket. On the Unix socket, raises NotApprover for a user who is on no list of people, and for a command or MCP
        server that this service runs. `Gate.refuse_peer` records each NotApprover.
        """
        peer: Peer = scope["state"][PEER]
        authorization = Headers(scope=scope).get("authorization")
        if peer.uid is None:
            return self._holder(authorization)
        if authorization is not None:
            raise InvalidConfirmation(say("api.http.socket.token"))
        return await self._user(peer)

    def check(self, caller: Caller) -> None:
        """Raise Unauthenticated if the caller's token is no longer valid, or if no list names the caller any more.

        Waiting requests and streams call this before they send anything, because much time may have passed since the
        caller was authenticated.
        """
        if caller.credential is None:
            valid = self._gate.people.is_listed(caller.principal)
        else:
            valid = self._bearers.works(caller.credential) and not self._gate.people.is_revoked(caller.identity)
        if not valid:
            raise _unauthenticated(token=caller.credential is not None)

    def _holder(self, authorization: str | None) -> Caller:
        kind, _, token = (authorization or "").partition(" ")
        sent = kind.lower() == "bearer" and bool(token.strip())
        credential = self._bearers.find(token.strip()) if sent else None
        if credential is None:
            raise _unauthenticated(token=sent)
        people, identity = self._gate.people, credential.identity
        return Caller(
            identity=identity,
            principal=people.principal(identity),
            owner=people.on_behalf_of(identity),
            scopes=frozenset({credential.scope}),
            surface="http",
            credential=credential,
        )

    async def _user(self, peer: Peer) -> Caller:
        identity = f"local:{peer.uid}"
        if peer.party is Party.COMMAND:
            raise await self._gate.refuse_peer(identity, command=True)
        principal = self._gate.people.principal(identity)
        if not self._gate.people.is_listed(principal):
            raise await self._gate.refuse_peer(identity)
        # A user of this machine has all scopes, because the gate looks up the user's rights in the lists of people.
        return Caller(identity, principal, principal, frozenset(Scope), "socket")


def _unauthenticated(*, token: bool) -> Unauthenticated:
    """Return the error for a caller without a valid token. `token` says whether the request came with one.

    One sentence serves for unknown, revoked and ended tokens, so that it doesn't reveal which tokens there were.
    """
    return Unauthenticated(say("api.http.token.invalid") if token else None)


async def _authenticated(request: HTTPConnection) -> Caller:
    caller: Caller = getattr(request.state, CALLER)
    return caller


def _scoped(*scopes: Scope) -> Any:
    async def allowed(caller: Annotated[Caller, Depends(_authenticated)]) -> Caller:
        if caller.scopes.isdisjoint(scopes):
            raise NotApprover(fact(Refusal.SCOPE, who=caller.identity))
        return caller

    return Depends(allowed)


#: The types of a route's parameter for its caller: any authenticated caller, or only a caller with one of these scopes.
Anyone = Annotated[Caller, Depends(_authenticated)]
Asker = Annotated[Caller, _scoped(Scope.AGENT)]
Withdrawer = Annotated[Caller, _scoped(Scope.AGENT, Scope.OPERATOR)]
Operator = Annotated[Caller, _scoped(Scope.OPERATOR)]
