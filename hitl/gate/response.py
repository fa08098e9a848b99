"""The gate's responses to the caller who submits a call, and to the person who replies to a card."""

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
    """The outcomes of a reply."""

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
    """The gate's answer to a reply: the outcome, a fact for the message to the person, and the call in its new state.

    The fact holds the key and the values of the message's sentence. `lease` is set if this service must now run the
    call. `error` is set if the outcome is REFUSED.
    """

    came: Came
    fact: Fact | None = None
    call: Call | None = None
    lease: Lease | None = None
    error: SaysoError | None = None

    @property
    def text(self) -> str:
        """The text of the answer, in English, or '' if there is nothing to say.

        For the outcome DETAILS, it is the details of the call.
        """
        return self.told()

    def told(self, names: Names = NOBODY, wording: Wording = IN_ENGLISH) -> str:
        """Return the text of the answer in the language of `wording`, with the names of people instead of their ids."""
        if self.came is Came.DETAILS and self.call:
            return details(self.call, names, wording)
        if self.error:
            return self.error.told(wording, names)
        return wording.sentence(self.fact, names) if self.fact else ""


class Submitted(Struct, frozen=True):
    """The result of submitting a call.

    `lease` is set if the call may run immediately and this service runs it. `fresh` is False if the idempotency key
    belongs to an earlier call; then `call` is that earlier call. `same_as` is the short ref of a pending call with the
    same digest.
    """

    call: Call
    lease: Lease | None = None
    fresh: bool = True
    same_as: str | None = None


#: The answer to a message that isn't a reply to a card. It has no text.
NOTHING = Answer(Came.NOT_A_REPLY)


def refuse(error: SaysoError, call: Call | None = None) -> Answer:
    """Return an answer with the outcome REFUSED and this error."""
    return Answer(Came.REFUSED, error.fact, call, error=error)


def too_late(call: Call) -> SaysoError:
    """Return the error for a reply that comes after the call's end. It says who decided, or that the time had ended."""
    if call.decision is Decision.EXPIRED:
        return ConfirmationExpired(fact(Refusal.EXPIRED, short=call.short, time=f"{call.deadline:%H:%M:%S}"))
    return AlreadyDecided(fact(Refusal.DECIDED, short=call.short, outcome=outcome_fact(call)))


def unknown_call(named: str) -> CallUnknown:
    """Return the error for a text that should be a call's ref or short ref, but belongs to no call.

    The error repeats the text only if it has the form of a short ref. Any other text could be a secret.
    """
    short = as_short(named)
    return CallUnknown(fact(Refusal.UNKNOWN, short=short) if short else fact(Refusal.UNKNOWN_NAME))
