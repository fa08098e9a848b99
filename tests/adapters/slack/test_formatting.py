"""Slack's rich text and mrkdwn as a text with spans."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.slack.formatting import FormattedText, plain, shown
from hitl.replies import Meaning as Says
from hitl.replies import Span, SpanKind, read, verdict

ME = "UBOT"


def text(words: str, **style: bool) -> dict[str, Any]:
    """A text element."""
    return {"type": "text", "text": words, **({"style": style} if style else {})}


def rich(*elements: dict[str, Any], kind: str = "rich_text_section") -> dict[str, Any]:
    """A message with one rich text part; its mrkdwn says something else, so that a test sees which of them counts."""
    part = {"type": kind, "elements": list(elements)}
    return {"text": "the mrkdwn", "blocks": [{"type": "rich_text", "elements": [part]}]}


def covered(found: FormattedText) -> list[tuple[str, SpanKind]]:
    """The words under each span."""
    return [(found.text[span.start : span.end], span.kind) for span in found.spans]


def says(event: dict[str, Any]) -> Says:
    """What the reader takes a message for."""
    found = shown(event, ME)
    return verdict(read(found.text, spans=found.spans)).verdict


MRKDWN: dict[str, tuple[str, str, list[tuple[str, SpanKind]]]] = {
    "plain words": ("if x &lt; y &amp;lt; z", "if x < y &lt; z", []),
    "struck": ("~ok~ hm", "ok hm", [("ok", SpanKind.STRUCK)]),
    "no strike": ("~5 or ~ 6~", "~5 or ~ 6~", []),
    "code": ("run `ok` now", "run ok now", [("ok", SpanKind.CODE)]),
    "a block of code": ("```\nok\n```", "\nok\n", [("\nok\n", SpanKind.CODE)]),
    "a quoted line": ("&gt; ok\nhm", "> ok\nhm", [("> ok", SpanKind.QUOTE)]),
    "all quoted": ("hm\n&gt;&gt;&gt; a\nb", "hm\n>>> a\nb", [(">>> a\nb", SpanKind.QUOTE)]),
    "a bare link": (
        "<https://a.test/?y=1&amp;z=2>",
        "https://a.test/?y=1&z=2",
        [("https://a.test/?y=1&z=2", SpanKind.LINK)],
    ),
    "a link's label": ("<https://a.test|ok>", "ok", [("ok", SpanKind.LINK)]),
    "an address's label": ("<mailto:a@b.test|ok>", "ok", [("ok", SpanKind.LINK)]),
    "a date's label": ("<!date^1^{date}|ok> hm", "ok hm", [("ok", SpanKind.LINK)]),
    "a channel": ("<#C2|ops>", "#ops", [("#ops", SpanKind.LINK)]),
    "a person": ("<@U2> hm", "@U2 hm", [("@U2", SpanKind.MENTION)]),
    "a person by name": ("<@U2|Ok> yes", "@Ok yes", [("@Ok", SpanKind.MENTION)]),
    "a group": ("<!subteam^S1|@ops> yes", "@ops yes", [("@ops", SpanKind.MENTION)]),
    "everybody": ("<!here> yes", "@here yes", [("@here", SpanKind.MENTION)]),
    "our name in front": ("<@UBOT>: ~ok~", "ok", [("ok", SpanKind.STRUCK)]),
    "our name at the end": ("~yes~ <@UBOT|sayso>!", "yes", [("yes", SpanKind.STRUCK)]),
    "our name behind a comma": ("yes, <@UBOT|sayso>", "yes", []),
    "our name between words": ("yes <@UBOT|sayso>, go", "yes @sayso, go", []),
    "our name in a question": ("yes <@UBOT>?", "yes @sayso?", []),
    "a link in a strike": ("~<https://a.test|ok>~", "ok", [("ok", SpanKind.LINK), ("ok", SpanKind.STRUCK)]),
    "an emoji in front": (":+1: `a`", "👍 a", [("a", SpanKind.CODE)]),
}


@pytest.mark.parametrize("name", MRKDWN)
def test_mrkdwn_is_read_as_people_see_it(name: str) -> None:
    """The signs are gone, the words stay, and the spans cover them."""
    sent, seen, spans = MRKDWN[name]
    found = shown({"text": sent}, ME)

    assert (seen, spans) == (found.text, covered(found))


LINK = {"type": "link", "url": "https://a.test", "text": "ok"}
RICH: dict[str, tuple[dict[str, Any], str, list[tuple[str, SpanKind]]]] = {
    "plain words": (rich(text("a < b &amp; c")), "a < b &amp; c", []),
    "bold words": (rich(text("ok", bold=True)), "ok", []),
    "struck": (rich(text("ok", strike=True), text(" hm")), "ok hm", [("ok", SpanKind.STRUCK)]),
    "code": (rich(text("ok", code=True)), "ok", [("ok", SpanKind.CODE)]),
    "a block of code": (rich(text("ok"), kind="rich_text_preformatted"), "ok", [("ok", SpanKind.CODE)]),
    "a quotation": (rich(text("ok"), kind="rich_text_quote"), "ok", [("ok", SpanKind.QUOTE)]),
    "a link": (rich(LINK), "ok", [("ok", SpanKind.LINK)]),
    "a bare link": (rich({"type": "link", "url": "a:b"}), "a:b", [("a:b", SpanKind.LINK)]),
    "a date": (
        rich({"type": "date", "timestamp": 1, "format": "{date}", "fallback": "ok"}),
        "ok",
        [("ok", SpanKind.LINK)],
    ),
    "a person": (rich({"type": "user", "user_id": "U2"}, text(" yes")), "@U2 yes", [("@U2", SpanKind.MENTION)]),
    "a group": (rich({"type": "usergroup", "usergroup_id": "S1"}), "@S1", [("@S1", SpanKind.MENTION)]),
    "everybody": (rich({"type": "broadcast", "range": "here"}), "@here", [("@here", SpanKind.MENTION)]),
    "our name in front": (
        rich({"type": "user", "user_id": ME}, text(" ok", strike=True)),
        "ok",
        [("ok", SpanKind.STRUCK)],
    ),
    "an emoji": (rich({"type": "emoji", "name": "tada", "unicode": "1f389"}), "🎉", []),
    "a picture of their own": (
        rich({"type": "emoji", "name": "approved"}),
        ":approved:",
        [(":approved:", SpanKind.LINK)],
    ),
    "an element to come": (rich({"type": "aura", "text": "ok"}), "[aura]", [("[aura]", SpanKind.LINK)]),
}


@pytest.mark.parametrize("name", RICH)
def test_rich_text_wins_and_is_read_as_people_see_it(name: str) -> None:
    """The same words and spans as in the app's own view of the message."""
    event, seen, spans = RICH[name]
    found = shown(event, ME)

    assert (seen, spans) == (found.text, covered(found))


def test_parts_of_rich_text_are_lines() -> None:
    """A section, a quotation and list items each begin on a line of their own."""
    item = {"type": "rich_text_section", "elements": [text("b")]}
    parts = [
        {"type": "rich_text_quote", "elements": [text("a")]},
        {"type": "rich_text_section", "elements": [text("ok")]},
        {"type": "rich_text_list", "style": "bullet", "elements": [item, item]},
    ]
    found = shown({"blocks": [{"type": "rich_text", "elements": parts}]}, ME)

    assert ("a\nok\n• b\n• b", (Span(0, 1, SpanKind.QUOTE),)) == found


@pytest.mark.parametrize(
    "blocks",
    [
        [{"type": "section", "text": {"type": "mrkdwn", "text": "ok"}}],
        [{"type": "rich_text", "elements": None}],
        ["ok"],
        [{"type": "rich_text", "elements": ["ok", {"type": "rich_text_section", "elements": "ok"}]}],
    ],
)
def test_blocks_that_no_person_can_type_never_decide(blocks: list[Any]) -> None:
    """Beside such blocks the text isn't what people see, so it isn't read."""
    assert Says.UNCLEAR is says({"text": "ok", "blocks": blocks})


@pytest.mark.parametrize("name", ["bold words", "plain yes"])
def test_bold_and_plain_words_count(name: str) -> None:
    """Emphasis changes nothing."""
    assert Says.APPROVE is says(RICH[name][0] if name in RICH else {"text": "*ok*"})


HIDDEN = ["struck", "code", "a block of code", "a quoted line", "all quoted", "a link's label", "an address's label"]


@pytest.mark.parametrize("name", [*HIDDEN, "a date's label", "a person by name", "a group", "everybody"])
def test_formatted_words_of_mrkdwn_never_approve(name: str) -> None:
    """Whatever the words say."""
    assert Says.UNCLEAR is says({"text": MRKDWN[name][0].replace(" hm", "").replace("hm", "")})


@pytest.mark.parametrize("name", ["code", "a block of code", "a quotation", "a link", "a date", "a person"])
def test_formatted_words_of_rich_text_never_approve(name: str) -> None:
    """Whatever the words say."""
    assert Says.UNCLEAR is says(RICH[name][0])


@pytest.mark.parametrize(
    ("sent", "seen"),
    [
        ("ABC234 because `x` &lt; ~y~", "ABC234 because `x` < ~y~"),
        ("<@U2|Ok> yes", "@Ok yes"),
        (":thumbsdown::skin-tone-3: no", "👎 no"),
        ("write x.txt :x:", "write x.txt :x:"),
    ],
)
def test_the_words_of_a_command_keep_their_signs(sent: str, seen: str) -> None:
    """Slack formats no command: what looks like formatting was meant as it was typed."""
    assert seen == plain(sent)
