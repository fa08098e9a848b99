"""What formatting takes away from a message: quoted stretches, and words that their author hid, struck or linked."""

from collections.abc import Sequence
from typing import NamedTuple

from hitl.replies.model import Span, SpanKind
from hitl.replies.tokens import Token, TokenKind

#: The token that replaces one under a span of this kind. Nothing explains an OTHER, so that it neither approves nor
#: rejects. Emphasis isn't here: bold words are the person's own.
_BECOMES = {
    SpanKind.MENTION: TokenKind.MENTION,
    **dict.fromkeys((SpanKind.STRUCK, SpanKind.SPOILER, SpanKind.CODE, SpanKind.LINK), TokenKind.OTHER),
}


class Marked(NamedTuple):
    """The tokens of a formatted message, and whether one of them mentions somebody by the surface's own account."""

    tokens: list[Token]
    mentions: bool


def unformatted(spans: Sequence[Span]) -> bool:
    """Tell whether all words are the person's own and meant: there is no formatting but emphasis."""
    return all(span.kind is SpanKind.EMPHASIS for span in spans)


def without_quotes(text: str, spans: Sequence[Span]) -> str:
    """Blank the quoted stretches of a text and keep every other character, and every line break, in its place."""
    quoted = _mask(text, spans, {SpanKind.QUOTE: 1})
    if not any(quoted):
        return text
    return "".join(" " if hit and letter not in "\r\n" else letter for letter, hit in zip(text, quoted, strict=True))


def marked(tokens: list[Token], text: str, spans: Sequence[Span]) -> Marked:
    """Replace the tokens that touch a span: by a mention, or by a token that nothing explains."""
    mask = _mask(text, spans, _BECOMES)
    found = [_under(token, TokenKind(max(mask[token.start : token.end], default=0))) for token in tokens]
    return Marked(found, mentions=TokenKind.MENTION in mask)


def _mask(text: str, spans: Sequence[Span], values: dict[SpanKind, TokenKind] | dict[SpanKind, int]) -> bytearray:
    """Give a value for each character: that of the spans over it, the later kind of the table where several are."""
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
