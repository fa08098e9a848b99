"""The part of the running service that carries out the API's requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from hitl.call import Ask, Call, Reply
    from hitl.gate import Gate
    from hitl.gate.response import Answer, Submitted


class Desk(Protocol):
    """Submits and decides calls, and waits for them (`bot.service.Service`)."""

    gate: Gate

    async def submit(self, ask: Ask) -> Submitted:
        """Record a call, and ask people if the policy says so."""

    async def decide(self, reply: Reply) -> tuple[Answer, ...]:
        """Pass a reply to the gate, which may decide a call. Return the gate's answers to the person who replied."""

    async def decided(self, call: Call, limit_s: float | None = None) -> Call:
        """Wait until people have decided, at most `limit_s` seconds. Return the call."""

    async def explained(self, call: Call, limit_s: float | None = None) -> Call:
        """Wait until people have decided.

        After a rejection, also wait for its reason, as long as people can still give a reason.

        Return the call.
        """

    async def ended(self, call: Call, limit_s: float | None = None) -> Call:
        """Wait until the call has ended. Return the call."""
