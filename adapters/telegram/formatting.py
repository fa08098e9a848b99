"""Converts a message's entities into spans for the reply reader.

Each span has its start and end as Python string indices, and its kind of formatting.

The Bot API counts offsets and lengths in UTF-16 code units ("MessageEntity"), so a character beyond the Basic
Multilingual Plane, such as most emoji, counts twice.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from telegram import MessageEntity

from hitl.replies import Span, SpanKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_TWO_UNITS = 0x10000
#: The kind of span for each type of entity. Telegram's apps mark some plain words by themselves (a hashtag, a number);
#: such words count as emphasised. Types that aren't listed here (links, custom emoji, dates, future types) count as
#: links, because a person may see something other than the text.
_KINDS = {
    MessageEntity.STRIKETHROUGH: SpanKind.STRUCK,
    MessageEntity.SPOILER: SpanKind.SPOILER,
    MessageEntity.CODE: SpanKind.CODE,
    MessageEntity.PRE: SpanKind.CODE,
    MessageEntity.BLOCKQUOTE: SpanKind.QUOTE,
    MessageEntity.EXPANDABLE_BLOCKQUOTE: SpanKind.QUOTE,
    MessageEntity.MENTION: SpanKind.MENTION,
    MessageEntity.TEXT_MENTION: SpanKind.MENTION,
    MessageEntity.BOLD: SpanKind.EMPHASIS,
    MessageEntity.ITALIC: SpanKind.EMPHASIS,
    MessageEntity.UNDERLINE: SpanKind.EMPHASIS,
    MessageEntity.HASHTAG: SpanKind.EMPHASIS,
    MessageEntity.CASHTAG: SpanKind.EMPHASIS,
    MessageEntity.BOT_COMMAND: SpanKind.EMPHASIS,
    MessageEntity.PHONE_NUMBER: SpanKind.EMPHASIS,
    "bank_card_number": SpanKind.EMPHASIS,
}


def spans_of(text: str, entities: Iterable[MessageEntity]) -> tuple[Span, ...]:
    """Return the formatted spans of a text."""
    units = list(accumulate((2 if ord(char) >= _TWO_UNITS else 1 for char in text), initial=0))
    return tuple(_span(units, entity) for entity in entities)


def _span(units: Sequence[int], entity: MessageEntity) -> Span:
    """Return the span of an entity, counted in characters. If an entity covers half of a character, the span covers all
    of it.

    `units` has the number of the first UTF-16 unit of each character.
    """
    start = bisect_right(units, entity.offset) - 1
    end = bisect_left(units, entity.offset + entity.length)
    return Span(start, end, _KINDS.get(entity.type, SpanKind.LINK))


def cut_off(spans: Iterable[Span], count: int) -> tuple[Span, ...]:
    """Return the spans of a text whose first `count` characters were cut off."""
    return tuple(Span(max(one.start - count, 0), one.end - count, one.kind) for one in spans if one.end > count)
