"""Who is who: the operator's lists of people and places, made into questions with one answer.

An identity is what a platform proves (`telegram:42`, `slack:T1/U2`, `local:1000`). A principal is the person or
service behind one or more of them; an identity that the operator didn't map is its own principal. Display names
are never looked at.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hitl.model import Risk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from hitl.model import Call, Verdict

#: Telegram's stand-ins for people who can't be told apart: the anonymous group admin, the account of channel
#: posts forwarded into groups, and the fake sender of channel messages (Bot API, `Message.from`).
SHARED_IDENTITIES = frozenset({"telegram:1087968824", "telegram:777000", "telegram:136817688"})
#: Chat platforms: cards reach them through the outbox. Any other place is local and sees calls at commit.
CHAT_PLATFORMS = frozenset({"telegram", "slack"})
#: The conversation of this machine: what is asked, and said, over the Unix socket and in its terminals.
LOCAL = "local"
#: Words in a list of routes: where the call was asked, and each of its approvers in private.
ORIGIN, APPROVERS = "origin", "approvers"


@dataclass(frozen=True, slots=True)
class Conversation:
    """What the operator set for one conversation; None means the installation's setting.

    `self_approval` is the highest risk that a requester may approve alone, None for never; critical is never.
    `routes` are the places that its cards go to; `origin` and `approvers` stand for places that a call tells.
    """

    id: str
    approvers: tuple[str, ...] | None = None
    requesters: tuple[str, ...] | None = None
    self_approval: Risk | None = None
    routes: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Directory:
    """The lists of the installation. Raises ValueError when built from lists that can't be trusted."""

    approvers: tuple[str, ...] = ()
    requesters: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()
    principals: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    conversations: Mapping[str, Conversation] = field(default_factory=dict)
    routes: tuple[str, ...] = ()
    self_approval_socket: Risk | None = None
    #: The identity of each agent's bearer token -> the principal who answers for it. It changes as tokens are made.
    owners: Mapping[str, str] = field(default_factory=dict)
    #: The identity of a bearer token -> the highest risk that it may approve.
    token_limits: Mapping[str, Risk] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse shared identities, identities with two owners, and self-approval of critical calls."""
        self._refuse_shared(self._owners())
        if Risk.CRITICAL in {
            self.self_approval_socket,
            *(c.self_approval for c in self.conversations.values()),
        }:
            msg = "self_approval can't be critical: a critical call needs a second person"
            raise ValueError(msg)

    def _owners(self) -> dict[str, str]:
        """Whose each identity is; the name of a principal is nobody else's."""
        owners = {principal: principal for principal in self.principals}
        for principal, identities in self.principals.items():
            for identity in identities:
                if owners.setdefault(identity, principal) != principal:
                    msg = f"{identity} is listed for both {owners[identity]} and {principal}; it must be one person"
                    raise ValueError(msg)
        return owners

    def _refuse_shared(self, owners: Mapping[str, str]) -> None:
        listed = {*owners, *(name for names in self._lists() for name in names or ())}
        if shared := sorted(SHARED_IDENTITIES & listed):
            msg = (
                f"{shared[0]} stands for many people at once on Telegram and can't be listed; list each person's own id"
            )
            raise ValueError(msg)

    def principal(self, identity: str) -> str:
        """The one principal behind an identity."""
        return next((name for name, owned in self.principals.items() if identity in owned), identity)

    def whose(self, identity: str) -> frozenset[str]:
        """The principal behind an identity and, for an agent's token, the person who answers for it."""
        own = {self.principal(identity)}
        return frozenset(own | {self.principal(self.owners[name]) for name in (identity, *own) if name in self.owners})

    def on_behalf_of(self, identity: str) -> str:
        """The person for whom the holder of an identity asks: the owner of an agent's token, or the holder."""
        return self.principal(self.owners.get(identity, identity))

    def token_limit(self, identity: str) -> Risk:
        """The highest risk that this identity may approve: medium for a bearer token that the operator didn't name."""
        if not identity.startswith("token:"):
            return Risk.CRITICAL
        return self.token_limits.get(identity, Risk.MEDIUM)

    def approvers_for(self, origin: str, verdict: Verdict) -> tuple[str, ...]:
        """Who may approve: the rule's list, else the conversation's, else the installation's. Empty means nobody."""
        if verdict.approvers is not None:
            return verdict.approvers
        listed = self._conversation(origin).approvers
        return self.approvers if listed is None else listed

    def requesters_for(self, origin: str) -> tuple[str, ...]:
        """Who may start calls in that conversation: its own list, else the installation's."""
        listed = self._conversation(origin).requesters
        return self.requesters if listed is None else listed

    def self_approval(self, origin: str, surface: str) -> Risk | None:
        """The highest risk that a requester may approve alone there, by that surface; None for never."""
        return self.self_approval_socket if surface == "socket" else self._conversation(origin).self_approval

    def routes_for(self, origin: str, approvers: tuple[str, ...] = ()) -> tuple[str, ...]:
        """The chat places that get the card of a call from that conversation, each once."""
        listed = self._conversation(origin).routes
        if listed is None:
            listed = (ORIGIN,) if is_chat(origin) else self.routes
        found = (place for route in listed for place in self._places(route, origin, approvers))
        return tuple(dict.fromkeys(found))

    def named_routes(self) -> frozenset[str]:
        """The places that any list of routes names."""
        listed = (self.routes, *(conversation.routes or () for conversation in self.conversations.values()))
        return frozenset(itertools.chain.from_iterable(listed))

    def identities(self, principal: str) -> tuple[str, ...]:
        """By what platforms may know a principal."""
        return (principal, *self.principals.get(principal, ()))

    def _places(self, route: str, origin: str, approvers: tuple[str, ...]) -> tuple[str, ...]:
        """A person's private conversation has the person's name, on every chat platform."""
        if route == ORIGIN:
            return (origin,) if is_chat(origin) else ()
        if route == APPROVERS:
            return tuple(i for principal in approvers for i in self.identities(principal) if is_chat(i))
        return (route,)

    def is_local(self, principal: str) -> bool:
        """Whether the principal reads the pending list, which shows every call: a local user, or who has a token."""
        return any(i.startswith(("local:", "token:")) for i in (principal, *self.principals.get(principal, ())))

    def is_listed(self, principal: str) -> bool:
        """Whether the principal stands on any list at all, also by one of their identities."""
        return any(principal in map(self.principal, listed or ()) for listed in self._lists())

    def places_on(self, platform: str) -> list[str]:
        """The places there that get cards or have lists of their own, in the order of their names."""
        routes = (route for conversation in self.conversations.values() for route in conversation.routes or ())
        return _on(platform, (*self.conversations, *self.routes, *routes))

    def approvers_on(self, platform: str) -> list[str]:
        """The identities there of everybody who may approve somewhere, in the order of their names."""
        own = (name for conversation in self.conversations.values() for name in conversation.approvers or ())
        return _on(platform, (i for name in (*self.approvers, *own) for i in self.identities(name)))

    def _lists(self) -> Iterator[tuple[str, ...] | None]:
        yield from (self.approvers, self.requesters, self.operators)
        for conversation in self.conversations.values():
            yield from (conversation.approvers, conversation.requesters)

    def _conversation(self, origin: str) -> Conversation:
        """A thread is as its channel, unless it is listed itself."""
        found = self.conversations.get(origin) or self.conversations.get(channel_of(origin))
        return found or Conversation(origin)


def _on(platform: str, names: Iterable[str]) -> list[str]:
    return sorted({name for name in names if name.startswith(f"{platform}:")})


def channel_of(place: str) -> str:
    """The channel of a Slack thread; any other place is itself."""
    return place.rpartition("/")[0] if place.startswith("slack:") and place.count("/") > 1 else place


def chat_of(place: str) -> str:
    """The chat that a place is, or is a topic or thread of."""
    return channel_of(place) if place.startswith("slack:") else place.partition("/")[0]


def is_chat(place: str) -> bool:
    """Whether a place lies on a chat platform."""
    return place.partition(":")[0] in CHAT_PLATFORMS


def belongs(call: Call, conversation: str) -> bool:
    """Whether the call's card stands in that conversation; all threads of a channel are one place."""
    return channel_of(conversation) in map(channel_of, (call.origin, *call.routes))
