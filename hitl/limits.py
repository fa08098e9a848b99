"""The limits that the operator may set (times, counts, sizes), with their documented defaults."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cachetools import FIFOCache

from hitl.call import Ask, Call, Decision, Runs
from hitl.cards.card import outcome_fact
from hitl.errors import InvalidConfirmation, RejectedRecently, TooManyPending
from hitl.outcomes import Refusal, fact
from hitl.question import is_asked, is_question

if TYPE_CHECKING:
    from datetime import datetime

    from hitl.outcomes import Fact

SHORTEST_TIMEOUT_S = 5
LONGEST_TIMEOUT_S = 7 * 24 * 3600
#: All agents of one requester together may have this many times the pending and recent calls of one agent.
CEILING = 4
_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits. Fields that end in `_s` are in seconds, the others are counts.

    `claim_caller_s` is how long a caller may wait after an approval before it claims the call. (If this service runs
    the call, the commit that decides the call also claims it.) A lease lasts for the tool's time limit plus
    `lease_grace_s`. The time limit is `caller_execution_s` if the caller runs the call, and else the policy's, at most
    `execution_s`. The second confirmation of a critical call must come between `soonest_second_yes_s` and
    `second_yes_s` after the first. A reason can follow a rejection for `late_reason_s`. At most `open_per_requester`
    calls of one requester and agent are pending at once. Of one requester and agent, at most `asks` calls may go to
    people within `asks_within_s`; more are a flood. Agents name themselves, so all agents of one requester together may
    have `CEILING` times as many. If a person rejected a call of an agent outside of this service, the same requester
    and agent can't ask for it again within `again_s`. Arguments take at most `args_bytes` bytes as canonical JSON,
    because each drawing of a card reads all of them. `approvals` is the number of people who must approve.
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
    """Return how many seconds people get to answer: the policy's number, or the caller's if that is smaller.

    Raises InvalidConfirmation if the caller's number is out of range.
    """
    if asked_s is not None and not SHORTEST_TIMEOUT_S <= asked_s <= LONGEST_TIMEOUT_S:
        raise InvalidConfirmation(fact(Refusal.TIMEOUT, given=asked_s))
    return min(policy_s, asked_s or policy_s)


@dataclass(slots=True)
class Rejections:
    """Remembers recent rejections, so that no agent asks for the same call again and again.

    This memory isn't a record. It only protects people's attention. The latest 10,000 rejections are kept until a
    restart.
    """

    limits: Limits
    #: (requester, agent, tool, digest) -> the short ref of the rejected call, the time of the rejection, and the
    #: outcome with the person and the reason.
    _rejected: FIFOCache[tuple[str, str, str, str], tuple[str, datetime, Fact]] = field(
        default_factory=lambda: FIFOCache(_KEPT)
    )

    def heard(self, call: Call) -> None:
        """Remember a call that a person rejected, and the reason, which may follow later."""
        if call.decision is Decision.REJECTED and call.decided_at is not None and not _is_own(call):
            told = call.short, call.decided_at, outcome_fact(call)
            self._rejected[call.requester, call.agent, call.tool, call.digest] = told

    def admit(self, ask: Ask, digest: str, now: datetime) -> None:
        """Raise RejectedRecently if a person rejected the same call of the same agent less than `again_s` ago.

        The error names the person and repeats the reason, because another session may ask this time.

        A tool call of the service's own agent is always admitted, because a person told that agent to make it. A person
        who repeats an instruction means it.
        """
        if _is_own(ask):
            return
        rejected = self._rejected.get((ask.requester, ask.agent, ask.tool, digest))
        if rejected is None:
            return
        short, decided_at, outcome = rejected
        seconds = (now - decided_at).total_seconds()
        if seconds < self.limits.again_s:
            raise RejectedRecently(fact(Refusal.AGAIN, short=short, seconds=int(seconds), outcome=outcome))


def _is_own(call: Ask | Call) -> bool:
    """Return whether this is a tool call of the service's own agent.

    The service also runs the calls of the MCP gateway, which name a session, and all questions. Only a call without a
    session that isn't a question comes from the service's own agent.
    """
    question = is_asked(call) if isinstance(call, Ask) else is_question(call)
    return call.runs is Runs.SERVICE and not call.session and not question


@dataclass(slots=True)
class Flood:
    """Counts how many calls each agent asked people about recently. With too many cards, people stop reading them.

    These counts aren't a record. They only protect people's attention. They are kept in memory until a restart, for at
    most 10,000 agents; the agents that haven't asked for the longest time are dropped first.
    """

    limits: Limits
    #: By requester and agent, and by requester alone (with None): the times of their calls, the oldest first. A tuple
    #: takes a tenth of the memory of a deque.
    _asked: FIFOCache[tuple[str, str | None], tuple[datetime, ...]] = field(default_factory=lambda: FIFOCache(_KEPT))

    def admit(self, requester: str, agent: str, now: datetime) -> None:
        """Count one more call. Raises TooManyPending, with the time to wait, if that is one call too many."""
        of_agent = self._recent(requester, agent, self.limits.asks, now)
        of_all = self._recent(requester, None, CEILING * self.limits.asks, now)
        self._asked[requester, agent] = (*of_agent, now)
        self._asked[requester, None] = (*of_all, now)

    def _recent(self, requester: str, agent: str | None, most: int, now: datetime) -> tuple[datetime, ...]:
        """Return the times of the recent calls, fewer than `most`. Raises TooManyPending if there are more."""
        before = self._asked.get((requester, agent), ())
        asked = tuple(at for at in before if (now - at).total_seconds() < self.limits.asks_within_s)
        if len(asked) >= most:
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
        return asked
