"""What came of a request or a reply, as facts: what, and the particulars. Sentences are made of them at the edge.

Every `what` is a key of the catalogue of sentences (`wording`): a fact can be told in any language that has one.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct


class Fact(Struct, frozen=True):
    """Something to tell. `particulars` are texts, numbers, further facts, or tuples of those, each on its own line.

    A text among them is visible and masked already.
    """

    what: str
    particulars: Mapping[str, object]

    def __hash__(self) -> int:
        """Facts that are equal are about the same."""
        return hash(self.what)


class Person(Struct, frozen=True):
    """Somebody as a particular of a fact: the principal, and how the id is shown where no name is known."""

    principal: str
    shown: str

    def __str__(self) -> str:
        """Return the id."""
        return self.shown


class Stored(Struct, frozen=True):
    """A text as a particular of a fact. If it is a sentence of ours, stored in English, it is told in any language."""

    text: str

    def __str__(self) -> str:
        """Return the text."""
        return self.text


def fact(what: str, /, **particulars: object) -> Fact:
    """A fact with its particulars."""
    return Fact(what, particulars)


class Refusal(StrEnum):
    """Why a request or a reply was refused."""

    UNKNOWN = "refused.unknown"
    UNKNOWN_NAME = "refused.unknown.name"
    NOTHING_WAITS = "refused.unknown.none"
    PLACE = "refused.place"
    STRANGER = "refused.stranger"
    OWN = "refused.own"
    AGENT = "refused.agent"
    TOKEN = "refused.token"  # noqa: S105 - a key of the catalogue
    SCOPE = "refused.scope"
    ORIGIN = "refused.origin"
    ROUTE = "refused.route"
    BEHALF = "refused.behalf"
    CHANGED = "refused.changed"
    AGAIN = "refused.again"
    WAITING = "refused.waiting"
    CONFIRM = "refused.confirm"
    NOT_PENDING = "refused.not_pending"
    DECIDED = "refused.decided"
    EXPIRED = "refused.expired"
    POLICY = "refused.policy"
    PEER = "refused.peer"
    KEPT = "refused.peer.kept"
    REQUESTER = "refused.requester"
    PENDING = "refused.pending"
    FLOOD = "refused.flood"
    KEY = "refused.key"
    WITHDRAW = "refused.withdraw"
    CLAIM = "refused.claim"
    CLAIMED = "refused.claimed"
    FINISH = "refused.finish"
    REASON_LATE = "refused.reason_late"
    SIZE = "refused.size"
    WORDS = "refused.words"
    TIMEOUT = "refused.timeout"
    BUTTON = "refused.button"
    NOT_RUN = "agent.refused"
    DENIED_NOW = "answer.denied_now"


class Told(StrEnum):
    """Answers to replies that were accepted or held."""

    APPROVED = "answer.approved"
    NOT_RUN = "answer.approved.late_hold"
    COUNTED = "answer.counted"
    REJECTED = "answer.rejected"
    REJECTED_WITH_REASON = "answer.rejected.reason"
    CONFIRM = "answer.confirm"
    CONFIRM_RAISED = "answer.confirm.raised"
    CONFIRM_SOON = "answer.confirm.soon"
    CONFIRM_BY_API = "answer.confirm.api"
    REASON_NEEDED = "answer.reason_needed"
    DETAILS_NEEDED = "answer.details_needed"
    NAME_IT = "answer.name_it"
    NO_REACTION = "answer.no_reaction"
    UNCLEAR = "answer.unclear"
    UNCLEAR_OTHER = "answer.unclear.other"
    ALL = "answer.all"
    ALL_LINE = "answer.all.line"
    WHICH = "answer.which"
    POINT = "answer.point"
    TWO_TARGETS = "answer.two_targets"
    NO_WORDS = "answer.no_words"
    REASON_ADDED = "answer.reason_added"


class Unfit(StrEnum):
    """Why a call could not be asked, or why an approved call was not run."""

    ROW = "unfit.row"
    DECISION = "unfit.decision"
    VOTES = "unfit.votes"
    APPROVERS = "unfit.approvers"
    POLICY = "unfit.policy"
    POLICY_ASKS = "unfit.policy_asks"
    POLICY_ERROR = "unfit.policy_error"
    LATE = "unfit.late"
    TOOL = "unfit.tool"
    CHANGED = "unfit.changed"
    EXPOSED = "unfit.exposed"
    NOBODY = "unfit.nobody"
    NOWHERE = "unfit.nowhere"
    OLDER = "unfit.older"
    #: As older versions stored it, without the platform's words.
    SURFACES = "unfit.surfaces"
    UNSHOWN = "unfit.unshown"
    UNSEEN = "unfit.unseen"


#: A stored row, decision or vote was changed: nothing it says may be believed.
BROKEN = frozenset({Unfit.ROW, Unfit.DECISION, Unfit.VOTES})


def kept(unfit: Fact) -> str:
    """The form in which a call's row and the record keep why it was unfit: its code, and the reason given, if any."""
    why = unfit.particulars.get("why")
    return f"{unfit.what}: {why}" if why else str(unfit.what)


def unkept(text: str) -> Fact | None:
    """Parse a text that `kept` wrote; None for any other text."""
    what, _, why = text.partition(": ")
    return fact(Unfit(what), why=why) if what in _CODES else None


_CODES = frozenset(map(str, Unfit))
