"""The result of reading a reply (`Reading`), and the formatting that a surface reports (`Span`)."""

from enum import StrEnum

from msgspec import Struct

from hitl.outcomes import Doubt, Fact, fact

ALL = "all"


class Meaning(StrEnum):
    """The possible meanings of a reply for a card."""

    APPROVE = "approve"
    REJECT = "reject"
    UNCLEAR = "unclear"


class Reading(Struct, frozen=True):
    """The meaning of a reply, or of the part of a reply that answers one call.

    `reason` holds the person's own words after a rejection, unchanged. `target` is the ref that the answer names,
    without `#`. The target `"all"` means every open call; such an answer decides nothing, and the person gets a list of
    the calls instead. For an unclear message, `why` is the reason (a `Doubt`). For an answer in a language that has no
    file, `why` names the language. Otherwise it is None.
    """

    verdict: Meaning
    reason: str | None = None
    target: str | None = None
    why: Fact | None = None

    @property
    def doubt(self) -> str:
        """The code of `why`, or '' if `why` is None."""
        return self.why.what if self.why else ""


def unclear(doubt: Doubt, said: str | None = None) -> Reading:
    """Return the reading of an unclear message. `said` holds the words that make the message unclear, if any."""
    return Reading(Meaning.UNCLEAR, why=fact(doubt) if said is None else fact(doubt, said=said))


class SpanKind(StrEnum):
    """The kinds of formatting that a surface reports to the reader."""

    STRUCK = "struck"
    SPOILER = "spoiler"
    CODE = "code"
    QUOTE = "quote"
    LINK = "link"
    MENTION = "mention"
    EMPHASIS = "emphasis"


class Span(Struct, frozen=True):
    """A part of a message that has one kind of formatting, as the surface reports it.

    `start` and `end` are indices in the Python string, and `end` is excluded. A span that is empty or outside of the
    text has no effect.
    """

    start: int
    end: int
    kind: SpanKind
