"""The limits that the operator may set (times, counts, sizes) with their defaults, and the checks of new requests."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from cachetools import FIFOCache
from msgspec import Struct, field

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
#: The limit for all agents of one requester together is the limit for one agent times this number.
CEILING = 4
#: The time for which a handled event of a chat is kept. While its row is there, the service recognises the event and
#: doesn't handle it again if the platform repeats it. Platforms repeat an event for at most a day.
KEEP_EVENTS = timedelta(days=30)
_KEPT = 10_000


class Limits(Struct, frozen=True):
    """The limits. Fields that end in `_s` are in seconds, and `args_bytes` is in bytes. The other fields are counts.

    - `claim_caller_s`: how long a caller may wait after an approval before it claims the call. If this service runs the
      call, the commit that decides the call also claims it.
    - `lease_grace_s`: how long a lease lasts after the tool's time limit.
    - `execution_s`: the highest time limit that a policy may set for a tool that this service runs.
    - `caller_execution_s`: the time limit for a tool that the caller runs.
    - `soonest_second_yes_s`, `second_yes_s`: the earliest and the latest time for the second confirmation of a critical
      call, after the first.
    - `late_reason_s`: how long a reason can follow a rejection.
    - `open_per_requester`: how many calls of one requester and agent may be pending at the same time.
    - `args_bytes`: the highest size of the arguments as canonical JSON. Each rendering of a card reads all of them.
    - `asks`, `asks_within_s`: people are asked about at most `asks` calls of one requester and agent within
      `asks_within_s` seconds.
    - `approvals`: the number of people who must approve a call.
    - `again_s`: how long an agent outside of this service can't ask for a call again after a person rejected it.

    Agents choose their own names. So the limits for one agent, times `CEILING`, also hold for all agents of a requester
    together.
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
    """Return how many seconds people have to answer: the policy's number, or the caller's if it is smaller.

    Raises InvalidConfirmation if the caller's number is out of range.
    """
    if asked_s is not None and not SHORTEST_TIMEOUT_S <= asked_s <= LONGEST_TIMEOUT_S:
        raise InvalidConfirmation(fact(Refusal.TIMEOUT, given=asked_s))
    return min(policy_s, asked_s or policy_s)


class Rejections(Struct):
    """Remembers recent rejections, so that no agent asks for a rejected call again and again.

    It isn't stored, because it only protects people's attention. It holds the latest 10,000 rejections since the start.
    """

    limits: Limits
    #: (requester, agent, tool, digest) -> the short ref of the rejected call, the time of the rejection, and the
    #: outcome with the person and the reason.
    _rejected: FIFOCache[tuple[str, str, str, str], tuple[str, datetime, Fact]] = field(
        default_factory=lambda: FIFOCache(_KEPT)
    )

    def heard(self, call: Call) -> None:
        """Remember that a person rejected this call.

        If a reason follows later, the method is called again with the reason.
        """
        if call.decision is Decision.REJECTED and call.decided_at is not None and not _is_own(call):
            told = call.short, call.decided_at, outcome_fact(call)
            self._rejected[call.requester, call.agent, call.tool, call.digest] = told

    def admit(self, ask: Ask, digest: str, now: datetime) -> None:
        """Raise RejectedRecently if a person rejected the same call of the same agent less than `again_s` ago.

        The error names that person and repeats the reason, because another session of the agent may be asking now.

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
    """Return whether this is a tool call of the service's own chat agent, and not a question.

    The service also runs the calls of the MCP gateway, but those calls name a session. The chat agent's calls don't.
    """
    question = is_asked(call) if isinstance(call, Ask) else is_question(call)
    return call.runs is Runs.SERVICE and not call.session and not question


class Flood(Struct):
    """Limits how many calls each agent asks people about. If too many cards come, people stop reading them.

    The counts aren't stored, because they only protect people's attention. They cover at most 10,000 agents since the
    start; the agents that haven't asked for the longest time are dropped first.
    """

    limits: Limits
    #: (requester, agent) -> the times of the agent's recent calls, oldest first. (requester, None) -> the times of all
    #: the requester's recent calls. Tuples take a tenth of the memory of deques.
    _asked: FIFOCache[tuple[str, str | None], tuple[datetime, ...]] = field(default_factory=lambda: FIFOCache(_KEPT))

    def admit(self, requester: str, agent: str, now: datetime) -> None:
        """Count one more call. Raises TooManyPending, with the time to wait, if the call exceeds a limit."""
        of_agent = self._recent(requester, agent, self.limits.asks, now)
        of_all = self._recent(requester, None, CEILING * self.limits.asks, now)
        self._asked[requester, agent] = (*of_agent, now)
        self._asked[requester, None] = (*of_all, now)

    def _recent(self, requester: str, agent: str | None, most: int, now: datetime) -> tuple[datetime, ...]:
        """Return the times of the calls of the last `asks_within_s` seconds, of one agent or (None) of all agents.

        Raises TooManyPending if there are already `most` or more.
        """
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
