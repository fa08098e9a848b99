"""The operations behind the routes of the API. They translate API documents to use cases of the gate, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.http.asking import Asking
from adapters.http.deciding import Deciding
from adapters.http.reading import Reading
from adapters.http.running import Running
from adapters.http.waiters import Waiters
from hitl.credentials import Scope

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from adapters.http.callers import Caller
    from adapters.http.desk import Desk
    from adapters.http.waits import Waits
    from hitl.people.names import Names

    #: Returns sentences about the faults that keep the service from gating calls.
    Troubles = Callable[[], Awaitable[Sequence[str]]]


class Operations:
    """Carries out the API's requests, by kind. Each request comes from an authenticated caller.

    `check` raises Unauthenticated for a caller whose token or right has ended.
    """

    def __init__(
        self, desk: Desk, waits: Waits, troubles: Troubles, check: Callable[[Caller], None], state: str | None = None
    ) -> None:
        self._gate = desk.gate
        self._state = state
        self.reading = Reading(desk.gate)
        self.waiters = Waiters(desk, waits, check)
        self.running = Running(desk.gate, self.reading, self.waiters)
        self.asking = Asking(desk, self.running, self.waiters)
        self.deciding = Deciding(desk, self.reading)
        self.troubles = troubles

    @property
    def names(self) -> Names:
        """Return the gate's directory of people's display names, used to name people in answers."""
        return self._gate.names

    def state_for(self, caller: Caller) -> str | None:
        """Return the id of the service's state folder if the caller is an operator, else None."""
        return self._state if Scope.OPERATOR in caller.scopes and self._gate.access.operates(caller.principal) else None
