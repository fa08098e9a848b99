"""Telegram's entities as the reader's spans."""

from __future__ import annotations

import pytest
from telegram import MessageEntity

from adapters.telegram.formatting import cut_off, spans_of
from hitl.replies import Span, SpanKind


@pytest.mark.parametrize(
    ("kind", "means"),
    [
        ("strikethrough", SpanKind.STRUCK),
        ("spoiler", SpanKind.SPOILER),
        ("code", SpanKind.CODE),
        ("pre", SpanKind.CODE),
        ("blockquote", SpanKind.QUOTE),
        ("expandable_blockquote", SpanKind.QUOTE),
        ("text_link", SpanKind.LINK),
        ("url", SpanKind.LINK),
        ("email", SpanKind.LINK),
        ("mention", SpanKind.MENTION),
        ("text_mention", SpanKind.MENTION),
        ("bold", SpanKind.EMPHASIS),
        ("italic", SpanKind.EMPHASIS),
        ("underline", SpanKind.EMPHASIS),
        ("phone_number", SpanKind.EMPHASIS),
    ],
)
def test_each_type_of_entity_has_its_meaning(kind: str, means: SpanKind) -> None:
    """Types that clients find in plain words by themselves count as emphasis, which changes nothing."""
    assert (Span(0, 2, means),) == spans_of("ok", [MessageEntity(kind, 0, 2)])


@pytest.mark.parametrize("kind", ["custom_emoji", "date_time", "something_new"])
def test_a_type_that_may_show_something_else_than_its_text_is_a_link(kind: str) -> None:
    """So is a type that nobody knows yet: its words are never taken for the person's own yes."""
    assert (Span(0, 2, SpanKind.LINK),) == spans_of("ok", [MessageEntity(kind, 0, 2)])


@pytest.mark.parametrize(
    "before", ["", "a", "\N{THUMBS UP SIGN}", "\N{THUMBS UP SIGN}\N{EMOJI MODIFIER FITZPATRICK TYPE-4}é"]
)
def test_offsets_are_counted_in_utf_16_units(before: str) -> None:
    """A span covers the same words whatever stands before them."""
    units = len(before.encode("utf-16-le")) // 2
    (span,) = spans_of(f"{before}ok then", [MessageEntity("strikethrough", units, 2)])

    assert "ok" == f"{before}ok then"[span.start : span.end]


def test_half_a_character_counts_as_a_whole_one() -> None:
    """An entity that ends or begins within an emoji covers the emoji."""
    sign = "\N{THUMBS UP SIGN}"

    assert (Span(0, 1, SpanKind.CODE),) == spans_of(sign, [MessageEntity("code", 0, 1)])
    assert (Span(0, 1, SpanKind.CODE),) == spans_of(sign, [MessageEntity("code", 1, 1)])


def test_a_text_that_lost_its_start_keeps_the_rest_of_its_spans() -> None:
    """A span that began in the lost part begins with the text; one that ended there is gone."""
    spans = (Span(0, 2, SpanKind.MENTION), Span(1, 5, SpanKind.CODE), Span(4, 6, SpanKind.LINK))

    assert (Span(0, 2, SpanKind.CODE), Span(1, 3, SpanKind.LINK)) == cut_off(spans, 3)
