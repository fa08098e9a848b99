"""What a reply is understood as."""

from dataclasses import dataclass
from enum import StrEnum

ALL = "all"


class Meaning(StrEnum):
    """The three things that a reply can say to a card."""

    APPROVE = "approve"
    REJECT = "reject"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class Reading:
    """One answer found in a message.

    `reason` is the person's own words after a rejection, untouched. `target` is the ref or number that the answer
    names, without `#`; `"all"` stands for every open call, and must be shown back before it counts. `why` says in
    a few words what kept an unclear message from being an answer, and is empty otherwise.
    """

    verdict: Meaning
    reason: str | None = None
    target: str | None = None
    why: str = ""


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
