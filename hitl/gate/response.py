"""What the gate says back: to whoever asked, and to whoever answered."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from hitl.call import Call, Decision, Lease
from hitl.cards.card import details, outcome_fact
from hitl.cards.wording import IN_ENGLISH, Wording
from hitl.errors import AlreadyDecided, CallUnknown, ConfirmationExpired, SaysoError
from hitl.outcomes import Fact, Refusal, fact
from hitl.people.names import NOBODY, Names
from hitl.proof.keyring import as_short


class Came(StrEnum):
    """What came of a reply that wasn't an error."""

    APPROVED = "approved"
    COUNTED = "counted"
    REJECTED = "rejected"
    DETAILS = "details"
    CONFIRM = "confirm"
    REASON_NEEDED = "reason_needed"
    DETAILS_NEEDED = "details_needed"
    UNCLEAR = "unclear"
    WHICH = "which"
    NOT_A_REPLY = "not_a_reply"
    REFUSED = "refused"


class Answer(Struct, frozen=True):
    """What the gate answers to a reply: what to tell, the call as it is now, and what to run, if anything.

    `error` is set for REFUSED and tells which error of the tree it was.
    """

    came: Came
    fact: Fact | None = None
    call: Call | None = None
    lease: Lease | None = None
    error: SaysoError | None = None

    @property
    def text(self) -> str:
        """The sentence to answer with: the whole call for DETAILS, nothing where there is nothing to tell."""
        return self.told()

    def told(self, names: Names = NOBODY, wording: Wording = IN_ENGLISH) -> str:
        """Return the same sentence in a language, with people called by these names."""
        if self.came is Came.DETAILS and self.call:
            return details(self.call, names, wording)
        if self.error:
            return self.error.told(wording, names)
        return wording.sentence(self.fact, names) if self.fact else ""


class Submitted(Struct, frozen=True):
    """A recorded call.

    `lease` is there when it may run at once and this service is to run it; `fresh` is False when an idempotency
    key gave an earlier call back; `same_as` is the short ref of a waiting twin.
    """

    call: Call
    lease: Lease | None = None
    fresh: bool = True
    same_as: str | None = None


#: Nothing to say: what was heard is no reply to a card.
NOTHING = Answer(Came.NOT_A_REPLY)


def refuse(error: SaysoError, call: Call | None = None) -> Answer:
    """The answer that an error is."""
    return Answer(Came.REFUSED, error.fact, call, error=error)


def too_late(call: Call) -> SaysoError:
    """The error for whoever comes after the end: who won, or that time was up."""
    if call.decision is Decision.EXPIRED:
        return ConfirmationExpired(fact(Refusal.EXPIRED, short=call.short, time=f"{call.deadline:%H:%M:%S}"))
    return AlreadyDecided(fact(Refusal.DECIDED, short=call.short, outcome=outcome_fact(call)))


def unknown_call(named: str) -> CallUnknown:
    """The error for a name that no call has. It repeats a short ref alone: the name may be anything, a secret too."""
    short = as_short(named)
    return CallUnknown(fact(Refusal.UNKNOWN, short=short) if short else fact(Refusal.UNKNOWN_NAME))
