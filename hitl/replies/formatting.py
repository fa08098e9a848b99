"""Handles formatted words that aren't the person's own answer: quoted, struck, hidden, code or linked words.

Quoted words are ignored. A message with struck, hidden, code or linked words neither approves nor rejects.
"""

from collections.abc import Sequence
from typing import NamedTuple

from hitl.replies.model import Span, SpanKind
from hitl.replies.tokens import Token, TokenKind

#: Kind of span -> the kind that tokens in such a span get. No phrase holds a token of the kind OTHER, so a message with
#: such a token neither approves nor rejects. EMPHASIS isn't here, because bold words are the person's own.
_BECOMES = {
    SpanKind.MENTION: TokenKind.MENTION,
    **dict.fromkeys((SpanKind.STRUCK, SpanKind.SPOILER, SpanKind.CODE, SpanKind.LINK), TokenKind.OTHER),
}


class Marked(NamedTuple):
    """The tokens of a formatted message, and whether the surface reports a mention of somebody in it."""

    tokens: list[Token]
    mentions: bool


def unformatted(spans: Sequence[Span]) -> bool:
    """Return whether the message has no formatting except emphasis, so that all its words count."""
    return all(span.kind is SpanKind.EMPHASIS for span in spans)


def without_quotes(text: str, spans: Sequence[Span]) -> str:
    """Return the text with blanks in place of quoted characters.

    Line breaks and all other characters keep their places.
    """
    quoted = _mask(text, spans, {SpanKind.QUOTE: 1})
    if not any(quoted):
        return text
    return "".join(" " if hit and letter not in "\r\n" else letter for letter, hit in zip(text, quoted, strict=True))


def marked(tokens: list[Token], text: str, spans: Sequence[Span]) -> Marked:
    """Return the tokens, with a new kind for each token that overlaps a span.

    The new kind is MENTION or OTHER. No phrase holds a token of the kind OTHER.
    """
    mask = _mask(text, spans, _BECOMES)
    found = [_under(token, TokenKind(max(mask[token.start : token.end], default=0))) for token in tokens]
    return Marked(found, mentions=TokenKind.MENTION in mask)


def _mask(text: str, spans: Sequence[Span], values: dict[SpanKind, TokenKind] | dict[SpanKind, int]) -> bytearray:
    """Return, for each character, the value of the span over it, or 0 without a span.

    If several spans cover a character, the value that is last in `values` is used.
    """
    mask = bytearray(len(text))
    for kind, value in values.items():
        for span in spans:
            start, end = max(span.start, 0), min(span.end, len(text))
            if span.kind is kind and start < end:
                mask[start:end] = bytes((value,)) * (end - start)
    return mask


def _under(token: Token, kind: TokenKind) -> Token:
    plain = token.kind is TokenKind.BREAK or not kind
    return token if plain else Token(kind, token.text, token.start, token.end)
