"""The base class of `Gate`: the ports, the operator's limits, and the state that the gate keeps in memory."""

from __future__ import annotations

import contextlib
import math
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from hitl.call import Runs
from hitl.cards import masked
from hitl.cards.card import is_drawn
from hitl.cards.wording import IN_ENGLISH
from hitl.limits import Flood, Limits, Rejections
from hitl.operating_mode import Terms
from hitl.people import Access
from hitl.people.names import Names
from hitl.proof.keyring import new_secret, secret_hash
from hitl.route_health import Reach
from hitl.throttle import Patience

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from hitl.call import Call
    from hitl.cards.wording import Wording
    from hitl.people import Directory
    from hitl.ports import Beside, Change, Executor, PolicySource, Store
    from hitl.proof.keyring import Keyring


class Claimant(NamedTuple):
    """A caller that waits for the decision on its call.

    If the call is approved, the commit that approves the call also gives the caller the lease.
    """

    owner: str
    #: The SHA-256 (hex) of the claimant's secret.
    secret_hash: str
    #: A function that returns whether the caller's connection is open and the caller still has its rights.
    ready: Callable[[], bool]


class Claimants:
    """The callers that wait in this process for the decisions on their calls, at most one for each call."""

    def __init__(self) -> None:
        self._by_ref: dict[str, Claimant] = {}

    @contextlib.contextmanager
    def waiting(self, call: Call, claimant: Claimant) -> Iterator[None]:
        """Register a claimant as waiting until the `with` block ends, unless another claimant waits for the call."""
        first = self._by_ref.setdefault(call.ref, claimant)
        try:
            yield
        finally:
            if first is claimant:
                del self._by_ref[call.ref]

    def ready(self, call: Call) -> Claimant | None:
        """Return the call's waiting claimant if it is ready (`Claimant.ready`), else None.

        Only a call that its caller runs can have a claimant.
        """
        found = self._by_ref.get(call.ref) if call.runs is Runs.CALLER else None
        return found if found and found.ready() else None


class GateContext:
    """The ports, limits and in-memory state that every use case of the gate uses."""

    def __init__(  # noqa: PLR0913 - all parameters are named at each call
        self,
        *,
        store: Store,
        policies: PolicySource,
        people: Directory,
        executor: Executor,
        keys: Keyring,
        owner: str,
        limits: Limits | None = None,
        terms: Terms | None = None,
        names: Names | None = None,
        exposed: Callable[[], str | None] = lambda: None,
        beside: Beside | None = None,
    ) -> None:
        self.store = store
        self.clock = store.clock
        self.policies = policies
        #: Maps principals to the names of people, for texts only. No decision depends on a name.
        self.names = names or Names(people)
        #: A function that is called after each change of the directory.
        self.people_changed: Callable[[], None] = lambda: None
        self.people = people
        self.executor = executor
        self.keys = keys
        self.owner = owner
        self.limits = limits or Limits()
        self.terms = terms or Terms()
        #: A function that returns a sentence if other users of the machine may read or change the master keys, else
        #: None. While it returns a sentence, no call is accepted or run.
        self.exposed = exposed
        self.reach = Reach()
        self.beside = beside
        self.flood = Flood(self.limits)
        self.rejections = Rejections(self.limits)
        self.follow(self.rejections.heard)
        self.claimants = Claimants()
        self.refusals = Patience(lambda: self.clock.now().timestamp())
        self.secret = new_secret()
        self.secret_hash = secret_hash(self.secret)

    @property
    def access(self) -> Access:
        """The rules about who may ask, see and decide, applied to the current directory."""
        return self._access

    @property
    def people(self) -> Directory:
        """The current directory of people, groups and conversations. Setting it also updates `access` and `names`."""
        return self._access.people

    @people.setter
    def people(self, people: Directory) -> None:
        self._access = Access(people)
        self.names.people = people
        self.people_changed()

    def follow(self, hear: Callable[[Call], None]) -> Callable[[], None]:
        """Call `hear` with each call that changes, when the change is durable. Return a function that ends this.

        `hear` isn't told of an erased or archived call, because that call had ended before.
        """

        def heard(change: Change) -> None:
            if change.call is not None and change.call.erased_at is None:
                hear(change.call)

        return self.store.follow(heard)

    async def ready(self, call: Call) -> None:
        """Mask the secrets in the texts of a large call, outside the event loop.

        Later its cards are rendered without delay.
        """
        await self.prepare(masked.key_of(call))

    async def ready_to_list(self, call: Call, wording: Wording = IN_ENGLISH) -> None:
        """Do the work of `ready` for a list, which shows only the call's headline in this language."""
        if not is_drawn(call, wording):
            await self.ready(call)

    async def prepare(self, key: masked.Key) -> None:
        """Mask the secrets in the texts of a call that isn't stored yet, outside the event loop.

        `key` holds the call's arguments and preview.
        """
        if self.beside and masked.is_large(key) and not masked.is_kept(key):
            masked.keep(key, await self.beside(partial(masked.made, key)))

    def seen_locally(self, call: Call) -> bool:
        """Return whether one of the call's approvers can see it in the service's pending list, without any chat."""
        return any(map(self.people.is_local, call.approvers))

    def age(self, at: datetime | None) -> float:
        """Return the seconds from `at` until now, or infinity if `at` is None."""
        return (self.clock.now() - at).total_seconds() if at else math.inf
