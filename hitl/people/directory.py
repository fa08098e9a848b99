"""The operator's lists of people and conversations, and the methods that search them.

An identity is the name of an account that a surface proves (`local:1000`, `PLATFORM:USER`). A principal is the person
or service behind one or more identities. An identity that the operator didn't map is its own principal. Display names
never count.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from hitl.call import Risk
from hitl.cards.languages import wording_of
from hitl.errors import MisfitError
from hitl.outcomes import Misfit
from hitl.records import replace
from hitl.surfaces import Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from hitl.call import Call, Verdict
    from hitl.cards.wording import Wording
    from hitl.surfaces import Surface

#: Two special entries in a list of routes: the conversation of the request, and a private chat with each approver.
ORIGIN, APPROVERS = "origin", "approvers"


class Conversation(Struct, frozen=True):
    """The operator's settings for one conversation.

    - `routes` are the places to which the conversation's cards go. The entries `origin` and `approvers` mean places
      that depend on the call.
    - `language` is the language of the texts for everybody in the conversation.
    - `self_approval` is the highest risk that a requester may approve alone. It can't be critical. None means that a
      requester may never approve alone.

    If any other field is None, the installation's setting applies.
    """

    id: str
    approvers: tuple[str, ...] | None = None
    requesters: tuple[str, ...] | None = None
    self_approval: Risk | None = None
    routes: tuple[str, ...] | None = None
    language: str | None = None


class Tried(NamedTuple):
    """One task of `sayso test`: ask this approver of this conversation, on this surface."""

    place: str
    approver: str
    #: The surface on which the approver is asked, because the approver has an account on it. If the approver has no
    #: account on any surface of the conversation, it is '', and the card goes to all of these surfaces.
    surface: str


@dataclass(frozen=True, slots=True)
class Directory:
    """All lists of people and conversations. Raises ValueError for lists that are contradictory or unsafe."""

    approvers: tuple[str, ...] = ()
    requesters: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()
    principals: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    conversations: Mapping[str, Conversation] = field(default_factory=dict)
    routes: tuple[str, ...] = ()
    self_approval_socket: Risk | None = None
    #: The principals and identities without rights, even if a list names them.
    revoked: frozenset[str] = frozenset()
    #: Identity of an agent's bearer token -> the principal who answers for it. The table is replaced when tokens are
    #: made.
    owners: Mapping[str, str] = field(default_factory=dict)
    #: Identity of a bearer token -> the time since which it has no rights, because it was revoked or its time has
    #: ended. A token without an end isn't in this table.
    token_ends: Mapping[str, datetime] = field(default_factory=dict)
    #: Identity of a bearer token -> the highest risk that it may approve.
    token_limits: Mapping[str, Risk] = field(default_factory=dict)
    #: The installation's language.
    language: str = "en"
    #: Principal -> the language that is set for this person.
    languages: Mapping[str, str] = field(default_factory=dict)
    #: Name of a surface -> the record of its abilities.
    surfaces: Mapping[str, Surface] = field(default_factory=dict)
    _owner: Mapping[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the lists.

        Raises ValueError for shared identities, identities with two owners, and self-approval of critical calls.
        """
        object.__setattr__(self, "_owner", self._owners())
        self._refuse_shared(self._owner)
        if Risk.CRITICAL in {
            self.self_approval_socket,
            *(c.self_approval for c in self.conversations.values()),
        }:
            raise MisfitError(Misfit.SELF_APPROVAL)

    def _owners(self) -> dict[str, str]:
        """Return identity -> principal.

        Raises ValueError if an identity has two principals, or is another principal's name.
        """
        owners = {principal: principal for principal in self.principals}
        for principal, identities in self.principals.items():
            for identity in identities:
                if owners.setdefault(identity, principal) != principal:
                    raise MisfitError(Misfit.TWO_OWNERS, identity=identity, first=owners[identity], second=principal)
        return owners

    def _refuse_shared(self, owners: Mapping[str, str]) -> None:
        listed = {*owners, *(name for names in self._lists() for name in names or ())}
        for surface in self.surfaces.values():
            if shared := sorted(surface.shared & listed):
                raise MisfitError(Misfit.SHARED, identity=shared[0], platform=surface.title)

    def place(self, name: str) -> Place:
        """Return the place with this name. The surface in the name decides how it is parsed."""
        surface = self.surfaces.get(name.partition(":")[0])
        return surface.place(name) if surface else Place.whole(name)

    def is_chat(self, name: str) -> bool:
        """Return whether a place is on a chat platform, which gets cards through the outbox.

        At any other place, people see a call right after its commit.
        """
        surface = self.surfaces.get(name.partition(":")[0])
        return surface is not None and surface.is_chat

    def belongs(self, call: Call, conversation: str) -> bool:
        """Return whether the call was asked for, or has a card, in this conversation's room (`Place.room`), such as the
        chat of a thread.
        """
        room = self.place(conversation).room
        return any(self.place(name).room == room for name in (call.origin, *call.routes))

    def principal(self, identity: str) -> str:
        """Return the principal behind an identity."""
        return self._owner.get(identity, identity)

    def whose(self, identity: str) -> frozenset[str]:
        """Return the principal of an identity. For an agent's token, also return the token's owner."""
        own = {self.principal(identity)}
        return frozenset(own | {self.principal(self.owners[name]) for name in (identity, *own) if name in self.owners})

    def is_revoked(self, identity: str) -> bool:
        """Return whether this person has lost all rights. An agent's token loses its rights with its owner."""
        return bool(self.revoked) and not self.whose(identity).isdisjoint(map(self.principal, self.revoked))

    def has_ended(self, identity: str, now: datetime) -> bool:
        """Return whether the identity is a bearer token that was revoked, or whose time has ended."""
        end = self.token_ends.get(identity)
        return end is not None and end <= now

    def lasting(self, names: tuple[str, ...], at: datetime) -> tuple[str, ...]:
        """Return the names without those of people whose only accounts are bearer tokens that have ended."""
        if not self.token_ends:
            return names
        known = ((name, self._accounts(name)) for name in names)
        return tuple(name for name, own in known if not own or not all(self.has_ended(i, at) for i in own))

    def can_approve(self, name: str, risk: Risk, at: datetime) -> bool:
        """Return whether the person has an account with which they could approve a call of this risk at that time.

        An agent's token isn't such an account, nor is a token that has ended or whose limit is below the risk.
        """
        return any(
            i not in self.owners and not self.has_ended(i, at) and risk.rank <= self.token_limit(i).rank
            for i in self._accounts(name)
        )

    def _accounts(self, name: str) -> tuple[str, ...]:
        """Return the identities of a person that are accounts: `PLATFORM:USER`, not the operator's name for them."""
        return tuple(i for i in self.identities(self.principal(name)) if ":" in i)

    def on_behalf_of(self, identity: str) -> str:
        """Return the person for whom an identity asks: the owner of an agent's token, or else the principal."""
        return self.principal(self.owners.get(identity, identity))

    def token_limit(self, identity: str) -> Risk:
        """Return the highest risk that this identity may approve.

        For a bearer token it is the risk in the setting `http.tokens`, or medium if that setting doesn't name the
        token. Other identities have no limit.
        """
        if not identity.startswith("token:"):
            return Risk.CRITICAL
        return self.token_limits.get(identity, Risk.MEDIUM)

    def owner(self, place: str) -> str:
        """Return the principal whose private conversation this place is, or belongs to."""
        return self.principal(self.place(place).chat)

    def wording(self, place: str, reader: str = "") -> Wording:
        """Return the language (`Wording`) for texts in a place, for all people in the place or for one reader.

        The result is the first of these languages that is set. For one reader: the reader's own, the conversation's,
        the installation's. For all people: the conversation's, the language of the person whose private conversation it
        is, the installation's. The language that a person's app reports is never used.
        """
        own = self.languages.get(self.principal(reader)) if reader else None
        there = self._conversation(place).language or self.languages.get(self.owner(place))
        return wording_of(own or there or self.language)

    def approvers_for(self, origin: str, verdict: Verdict) -> tuple[str, ...]:
        """Return the approvers: the rule's list, or else the conversation's, or else the installation's.

        () means nobody. Revoked people are left out, so no card names them or is sent to them.
        """
        if verdict.approvers is not None:
            return self._left(verdict.approvers)
        listed = self._conversation(origin).approvers
        return self._left(self.approvers if listed is None else listed)

    def requesters_for(self, origin: str) -> tuple[str, ...]:
        """Return the people who may start calls: the conversation's list, or else the installation's."""
        listed = self._conversation(origin).requesters
        return self.requesters if listed is None else listed

    def self_approval(self, origin: str, surface: str) -> Risk | None:
        """Return the highest risk that a requester may approve alone, in this conversation and on this surface.

        Return None if a requester may never approve alone.
        """
        declared = self.surfaces.get(surface)
        own = declared is not None and declared.own_self_approval
        return self.self_approval_socket if own else self._conversation(origin).self_approval

    def routes_for(self, origin: str, approvers: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Return the chat places that get the card of a call from the conversation `origin`, without duplicates.

        A revoked person's private conversation gets no card, even if it is listed as a route.
        """
        listed = self._conversation(origin).routes
        if listed is None:
            listed = (ORIGIN,) if self.is_chat(origin) else self.routes
        found = (place for route in listed for place in self._places(route, origin, approvers))
        return self._left(tuple(dict.fromkeys(found)))

    def tested(self, origin: str, at: datetime) -> tuple[Tried, ...]:
        """Return the people whom `sayso test` asks at the time `at`, each with a conversation and a surface.

        An approver comes once for each surface that gets the conversation's cards, if the approver has an account
        there. `origin` is tested first, then all chats that have settings of their own.
        """
        chats = (place for place in self.conversations if self.is_chat(place))
        places = dict.fromkeys((origin, *chats))
        found: list[Tried] = []
        for place in places:
            own = self._conversation(place).approvers
            approvers = self.lasting(self._left(self.approvers if own is None else own), at)
            cards = dict.fromkeys(route.partition(":")[0] for route in self.routes_for(place, approvers))
            for who in map(self.principal, approvers):
                accounts = {each.partition(":")[0] for each in self.identities(who)}
                found += [Tried(place, who, surface) for surface in [on for on in cards if on in accounts] or [""]]
        return tuple(dict.fromkeys(found))

    def named_routes(self) -> frozenset[str]:
        """Return the entries of all lists of routes."""
        listed = (self.routes, *(conversation.routes or () for conversation in self.conversations.values()))
        return frozenset(itertools.chain.from_iterable(listed))

    def identities(self, principal: str) -> tuple[str, ...]:
        """Return the principal's own name and all identities of the principal."""
        return (principal, *self.principals.get(principal, ()))

    def _places(self, route: str, origin: str, approvers: tuple[str, ...]) -> tuple[str, ...]:
        """Return the places to which one entry of a list of routes sends the card of a call from `origin`.

        On every chat platform, a person's private conversation has the same name as the person's identity.
        """
        if route == ORIGIN:
            return (origin,) if self.is_chat(origin) else ()
        if route == APPROVERS:
            return tuple(i for principal in approvers for i in self.identities(principal) if self.is_chat(i))
        return (route,)

    def is_local(self, principal: str) -> bool:
        """Return whether the principal can read the pending list, which shows every call.

        Users of this machine and holders of a bearer token can read it.
        """
        return any(i.startswith(("local:", "token:")) for i in (principal, *self.principals.get(principal, ())))

    def is_listed(self, principal: str) -> bool:
        """Return whether a list of approvers, requesters or operators names the principal. Return False for a revoked
        principal.
        """
        named = any(principal in map(self.principal, listed or ()) for listed in self._lists())
        return named and not self.is_revoked(principal)

    def in_force(self, at: datetime) -> Directory:
        """Return a copy of this directory whose lists hold neither revoked people nor tokens that have ended.

        Checks of the lists use this copy.
        """

        def left(names: tuple[str, ...]) -> tuple[str, ...]:
            return self.lasting(self._left(names), at)

        places = {
            name: replace(
                place,
                approvers=None if place.approvers is None else left(place.approvers),
                requesters=None if place.requesters is None else left(place.requesters),
            )
            for name, place in self.conversations.items()
        }
        lists = {name: left(getattr(self, name)) for name in ("approvers", "requesters", "operators")}
        return replace(self, conversations=places, **lists)

    def _left(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the names without those of revoked people."""
        return tuple(name for name in names if not self.is_revoked(name)) if self.revoked else names

    def places_on(self, platform: str) -> list[str]:
        """Return the names of the places on a platform that get cards or have their own settings, sorted."""
        routes = (route for conversation in self.conversations.values() for route in conversation.routes or ())
        return _on(platform, (*self.conversations, *self.routes, *routes))

    def approvers_on(self, platform: str) -> list[str]:
        """Return the identities on a platform of all people who may approve calls somewhere, sorted."""
        own = (name for conversation in self.conversations.values() for name in conversation.approvers or ())
        return _on(platform, (i for name in (*self.approvers, *own) for i in self.identities(name)))

    def _lists(self) -> Iterator[tuple[str, ...] | None]:
        yield from (self.approvers, self.requesters, self.operators)
        for conversation in self.conversations.values():
            yield from (conversation.approvers, conversation.requesters)

    def _conversation(self, origin: str) -> Conversation:
        """Return the settings of a place, or else of its room (`Place.room`, such as a thread's chat), or else empty
        settings.
        """
        found = self.conversations.get(origin) or self.conversations.get(self.place(origin).room)
        return found or Conversation(origin)


def _on(platform: str, names: Iterable[str]) -> list[str]:
    return sorted({name for name in names if name.startswith(f"{platform}:")})
