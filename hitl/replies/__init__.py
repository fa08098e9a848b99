"""Understands people's replies to a card: takes text and emoji, and returns an approval, a rejection or "unclear".

The modules that read words are imported at their first use, because importing them takes a tenth of the service's
start.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from hitl.replies.model import ALL, Meaning, Reading, Span, SpanKind, unclear

if TYPE_CHECKING:
    from hitl.replies.actions import another, says_the_action
    from hitl.replies.formatting import unformatted
    from hitl.replies.reader import read, verdict
    from hitl.replies.yes_with_reason import is_reason, reasoned_yes

__all__ = [
    "ALL",
    "Meaning",
    "Reading",
    "Span",
    "SpanKind",
    "another",
    "is_reason",
    "read",
    "reasoned_yes",
    "says_the_action",
    "unclear",
    "unformatted",
    "verdict",
]

_READERS = {"read": "reader", "verdict": "reader", "unformatted": "formatting"}
_READERS |= dict.fromkeys(("another", "says_the_action"), "actions")
_READERS |= dict.fromkeys(("is_reason", "reasoned_yes"), "yes_with_reason")


def __getattr__(name: str) -> object:
    """Return the function `name` of a module that reads words, after importing that module."""
    if name not in _READERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"{__name__}.{_READERS[name]}"), name)
    globals()[name] = found
    return found
