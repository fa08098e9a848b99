"""The results of reading a reply, and the formatting that a surface reports."""

from dataclasses import dataclass
from enum import StrEnum

from hitl.outcomes import Doubt, Fact, fact

ALL = "all"


class Meaning(StrEnum):
    """The three meanings that a reply can have for a card."""

    APPROVE = "approve"
    REJECT = "reject"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class Reading:
    """One answer that was found in a message.

    `reason` holds the person's own words after a rejection, unchanged. `target` is the ref that the answer names,
    without `#`. The target `"all"` means every open call; such an answer decides nothing, and the person gets a list of
    the calls instead. `why` is the reason why an unclear message is no answer (a `Doubt`). For an answer in a language
    that has no file, `why` names the language. Otherwise it is None.
    """

    verdict: Meaning
    reason: str | None = None
    target: str | None = None
    why: Fact | None = None

    @property
    def doubt(self) -> str:
        """The code of `why`, or ''."""
        return self.why.what if self.why else ""


def unclear(doubt: Doubt, said: str | None = None) -> Reading:
    """Return the reading of a message that is no answer. `said` holds the words that make it doubtful, if any."""
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


@dataclass(frozen=True, slots=True)
class Span:
    """One formatted stretch of a message, as the surface reports it.

    `start` and `end` are Python string indices, `end` excluded. A span that lies outside of the text, or is empty,
    has no effect.
    """

    start: int
    end: int
    kind: SpanKind
