"""What people answer to a card, in their own words: text and emoji in, verdicts out."""

from hitl.replies.because import is_reason, reasoned_yes
from hitl.replies.formatting import unformatted
from hitl.replies.model import ALL, Reading, Span, SpanKind, Verdict
from hitl.replies.reader import read, verdict

__all__ = [
    "ALL",
    "Reading",
    "Span",
    "SpanKind",
    "Verdict",
    "is_reason",
    "read",
    "reasoned_yes",
    "unformatted",
    "verdict",
]
