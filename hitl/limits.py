"""How long, how many, how fast: the operator's numbers, with the defaults that people were promised."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cachetools import FIFOCache

from hitl.call import Ask, Call, Decision, Runs
from hitl.errors import InvalidConfirmation, RejectedRecently, TooManyPending
from hitl.outcomes import Refusal, fact

if TYPE_CHECKING:
    from datetime import datetime

SHORTEST_TIMEOUT_S = 5
LONGEST_TIMEOUT_S = 7 * 24 * 3600
_KEPT_AGENTS = 10_000


@dataclass(frozen=True, slots=True)
class Limits:
    """All in seconds or counts.

    `claim_caller_s` is how long an approval waits for its caller to claim it (this service claims its own in the
    deciding commit). `lease_grace_s` is added to a tool's time limit, which for a caller that runs its own command
    is `caller_execution_s`; no policy gives a tool of the service more than `execution_s`. `second_yes_s` and
    `soonest_second_yes_s` bound the second confirmation of a critical call; `late_reason_s` is how long a reason can
    follow a rejection. A flood is more than `asks` parked calls of one requester and agent within `asks_within_s`.
    What a person rejected isn't asked again within `again_s` by the same requester and agent, if these run it.
    Arguments take at most `args_bytes` as canonical JSON: each time a card is drawn all of them are read. `approvals`
    is how many people must say yes.
    """

    claim_caller_s: float = 300
    lease_grace_s: float = 10
    execution_s: int = 3600
    caller_execution_s: float = 3600
    second_yes_s: float = 60
    soonest_second_yes_s: float = 1
    late_reason_s: float = 60
    open_per_requester: int = 50
    args_bytes: int = 1 << 20
    asks: int = 30
    asks_within_s: float = 300
    approvals: int = 1
    again_s: float = 60


def timeout_of(policy_s: int, asked_s: int | None) -> int:
    """The time people get: the policy's, or less if the caller wants less. Raises InvalidConfirmation out of range."""
    if asked_s is not None and not SHORTEST_TIMEOUT_S <= asked_s <= LONGEST_TIMEOUT_S:
        raise InvalidConfirmation(fact(Refusal.TIMEOUT, given=asked_s))
    return min(policy_s, asked_s or policy_s)


@dataclass(slots=True)
class Rejections:
    """Remembers what people rejected recently, so that no agent asks the same again and again.

    It forgets at a restart, and the oldest rejections beyond 10,000: it protects attention, it is no record.
    """

    limits: Limits
    #: By requester, agent, tool and digest: the short ref of the rejected call, and when it was rejected.
    _rejected: FIFOCache[tuple[str, str, str, str], tuple[str, datetime]] = field(
        default_factory=lambda: FIFOCache(_KEPT_AGENTS)
    )

    def heard(self, call: Call) -> None:
        """Remember a call that a person rejected."""
        if call.decision is Decision.REJECTED and call.decided_at is not None and call.runs is not Runs.SERVICE:
            self._rejected[call.requester, call.agent, call.tool, call.digest] = call.short, call.decided_at

    def admit(self, ask: Ask, digest: str, now: datetime) -> None:
        """Raise RejectedRecently for what the same agent was refused less than `again_s` ago.

        A person who tells the service's own agent the same thing again means it, so that is asked.
        """
        if ask.runs is Runs.SERVICE:
            return
        rejected = self._rejected.get((ask.requester, ask.agent, ask.tool, digest))
        if rejected is None:
            return
        short, decided_at = rejected
        seconds = (now - decided_at).total_seconds()
        if seconds < self.limits.again_s:
            raise RejectedRecently(fact(Refusal.AGAIN, short=short, seconds=int(seconds)))


@dataclass(slots=True)
class Flood:
    """Counts what each agent asked people lately, so that nobody is made to stop reading cards.

    It forgets at a restart, and the longest-silent agents beyond 10,000: it protects attention, it is no record.
    """

    limits: Limits
    _asked: FIFOCache[tuple[str, str], deque[datetime]] = field(default_factory=lambda: FIFOCache(_KEPT_AGENTS))

    def admit(self, requester: str, agent: str, now: datetime) -> None:
        """Count one more; raises TooManyPending, saying how long to wait, where it is one too many."""
        asked = self._asked.get((requester, agent)) or deque()
        self._asked[requester, agent] = asked
        while asked and (now - asked[0]).total_seconds() >= self.limits.asks_within_s:
            asked.popleft()
        if len(asked) >= self.limits.asks:
            wait = self.limits.asks_within_s - (now - asked[0]).total_seconds()
            minutes = round(self.limits.asks_within_s / 60)
            raise TooManyPending(
                fact(
                    Refusal.FLOOD,
                    who=agent or requester,
                    count=len(asked),
                    minutes=minutes,
                    wait=round(wait) + 1,
                )
            )
        asked.append(now)
