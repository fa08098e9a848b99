"""What a surface's formatting does to a reply."""

import pytest

from hitl.replies import Meaning, Reading, Span, SpanKind, read, verdict

_NOT_PLAIN = [SpanKind.STRUCK, SpanKind.SPOILER, SpanKind.CODE, SpanKind.LINK]


def _under(text: str, words: str, kind: SpanKind) -> Reading:
    start = text.index(words)
    return verdict(read(text, spans=[Span(start, start + len(words), kind)]))


@pytest.mark.parametrize("kind", _NOT_PLAIN)
@pytest.mark.parametrize(
    ("text", "words"),
    [("sure", "sure"), ("yes please", "please"), ("yes please", "es pl"), ("👍", "👍"), ("нет", "нет")],
)
def test_words_that_are_not_plain_never_decide(kind: SpanKind, text: str, words: str) -> None:
    """A yes or a no that is struck out, hidden, code or a link is unclear, also if only a part of it is."""
    assert Meaning.UNCLEAR is _under(text, words, kind).verdict


@pytest.mark.parametrize("kind", _NOT_PLAIN)
def test_a_reason_may_hold_words_that_are_not_plain(kind: SpanKind) -> None:
    """A no in plain words keeps its reason as the person wrote it."""
    assert Reading(Meaning.REJECT, reason="use main.py") == _under("no, use main.py", "main.py", kind)


@pytest.mark.parametrize("text", ["yes", "no", "go ahead"])
def test_emphasis_changes_nothing(text: str) -> None:
    """Bold, italic and underlined words are read as they are."""
    assert verdict(read(text)) == _under(text, text, SpanKind.EMPHASIS)


@pytest.mark.parametrize("text", ["Ada yes", "yes Ada", "Ada, go ahead please"])
def test_a_mention_makes_a_yes_unclear(text: str) -> None:
    """A yes in a message that mentions a person is addressed to that person."""
    assert Meaning.UNCLEAR is _under(text, "Ada", SpanKind.MENTION).verdict


def test_a_mention_leaves_a_no() -> None:
    """A no in a message that mentions a person still rejects."""
    assert Meaning.REJECT is _under("Ada no", "Ada", SpanKind.MENTION).verdict


def test_a_quoted_stretch_is_taken_off() -> None:
    """A quoted yes decides nothing, and what stands beside the quotation is read alone."""
    assert Meaning.UNCLEAR is _under("yes", "yes", SpanKind.QUOTE).verdict
    assert Meaning.REJECT is _under("shall I go on\nno", "shall I go on", SpanKind.QUOTE).verdict


@pytest.mark.parametrize("span", [Span(-5, 0, SpanKind.CODE), Span(9, 99, SpanKind.CODE), Span(2, 1, SpanKind.CODE)])
def test_a_span_without_text_has_no_effect(span: Span) -> None:
    """A span outside of the text, or an empty one, is ignored."""
    assert Meaning.APPROVE is verdict(read("yes", spans=[span])).verdict


@pytest.mark.parametrize(
    ("text", "words"),
    [("ok\nrun it at night", "run it at night"), ("sure not today", "not today"), ("ok never ok", "never")],
)
def test_a_yes_that_a_quotation_touches_is_unclear(text: str, words: str) -> None:
    """A yes directly above a quotation, on one line with it, or on both sides of it may be a remark about it."""
    assert Meaning.UNCLEAR is _under(text, words, SpanKind.QUOTE).verdict


@pytest.mark.parametrize(
    ("text", "words"),
    [("may I run it?\nyes", "may I run it?"), ("yes\n\nmay I run it?", "may I run it?")],
)
def test_a_yes_apart_from_a_quotation_counts(text: str, words: str) -> None:
    """People answer below what they quote, and mail programs quote below an empty line."""
    assert Meaning.APPROVE is _under(text, words, SpanKind.QUOTE).verdict
