"""HTML parse mode of the Telegram server."""

from __future__ import annotations

from typing import Any

import pytest

from simulators.telegram.entities import covered, detect
from simulators.telegram.errors import ApiError
from simulators.telegram.html import Formatted, checked_link, parse_html, trim, units

CAT = "\N{CAT FACE}"


def shape(source: str) -> tuple[str, list[tuple[Any, ...]]]:
    """Return a text and its entities as plain tuples."""
    parsed = parse_html(source)
    return parsed.text, [(one.type, one.offset, one.length, *one.extra) for one in parsed.entities]


@pytest.mark.parametrize(
    ("source", "text", "entities"),
    [
        ("plain", "plain", []),
        ("<b>x</b>", "x", [("bold", 0, 1)]),
        ("<STRONG>x</strong>", "x", [("bold", 0, 1)]),
        ("<i>x</i><em>y</em>", "xy", [("italic", 0, 1), ("italic", 1, 1)]),
        ("<u>x</u><ins>y</ins>", "xy", [("underline", 0, 1), ("underline", 1, 1)]),
        (
            "<s>a</s><strike>b</strike><del>c</del>",
            "abc",
            [("strikethrough", 0, 1), ("strikethrough", 1, 1), ("strikethrough", 2, 1)],
        ),
        (
            '<tg-spoiler>a</tg-spoiler><span class="tg-spoiler">b</span>',
            "ab",
            [("spoiler", 0, 1), ("spoiler", 1, 1)],
        ),
        ("<code>x</code>", "x", [("code", 0, 1)]),
        ("<pre>x</pre>", "x", [("pre", 0, 1)]),
        ('<pre><code class="language-json">{}</code></pre>', "{}", [("pre", 0, 2, ("language", "json"))]),
        ('<code class="language-json">{}</code>', "{}", [("code", 0, 2)]),
        ("<blockquote>x</blockquote>", "x", [("blockquote", 0, 1)]),
        ("<blockquote expandable>x</blockquote>", "x", [("expandable_blockquote", 0, 1)]),
        (
            "<a href='https://a.example/b?c=1&amp;d=2'>x</a>",
            "x",
            [("text_link", 0, 1, ("url", "https://a.example/b?c=1&d=2"))],
        ),
        ("<a href=example.org>x</a>", "x", [("text_link", 0, 1, ("url", "http://example.org/"))]),
        ("<a href='http://localhost/'>x</a>", "x", []),
        ("<a href='tg://user?id=7'>x</a>", "x", [("text_mention", 0, 1, ("user_id", 7))]),
        (
            '<tg-time unix="1764280000" format="r">soon</tg-time>',
            "soon",
            [("date_time", 0, 4, ("unix_time", 1764280000), ("date_time_format", "r"))],
        ),
        ("<b><i>x</i></b>", "x", [("bold", 0, 1), ("italic", 0, 1)]),
        ("<tg-emoji emoji-id='5'>x</tg-emoji>", "x", [("custom_emoji", 0, 1, ("custom_emoji_id", "5"))]),
        ("<b></b>x", "x", []),
        ("&lt;&gt;&amp;&quot;&#39;&#x27;", "<>&\"''", []),
        ("&nbsp; &lt", "&nbsp; <", []),
        ("&#0;&#99999999;", "&#0;&#99999999;", []),
    ],
)
def test_markup_becomes_text_and_entities(source: str, text: str, entities: list[tuple[Any, ...]]) -> None:
    """Every documented tag and reference gives the documented entity; an unknown reference stays."""
    assert (text, entities) == shape(source)


def test_offsets_count_utf16_units() -> None:
    """A character beyond the basic plane counts two."""
    assert (f"{CAT} x", [("bold", 3, 1)]) == shape(f"{CAT} <b>x</b>")


@pytest.mark.parametrize(
    ("source", "refusal"),
    [
        ("<x>", 'Unsupported start tag "x" at byte offset 0'),
        (f"{CAT}<x>", 'Unsupported start tag "x" at byte offset 4'),
        ("<", "Unclosed start tag at byte offset 0"),
        ("<b", "Unclosed start tag at byte offset 0"),
        ("a <b>x", 'Can\'t find end tag corresponding to start tag "b"'),
        ("x</b>", "Unexpected end tag at byte offset 1"),
        ("<b>x</i>", 'Unmatched end tag at byte offset 4, expected "</b>", found "</i>"'),
        ("<b>x</b", "Unclosed end tag at byte offset 4"),
        ("<a =1>x</a>", 'Empty attribute name in the tag "a" at byte offset 0'),
        ("<a href=", 'Unclosed start tag "a" at byte offset 0'),
        ("<a href='x", "Unclosed start tag at byte offset 0"),
        ("<a href=x,>y</a>", "Unexpected end of name token at byte offset 8"),
        ('<span class="x">y</span>', 'Tag "span" must have class "tg-spoiler" at byte offset 0'),
        ("<tg-time unix='x'>y</tg-time>", "Invalid Unix time specified"),
        ("<tg-time unix='1' format='q'>y</tg-time>", "Invalid date-time format specified"),
        ("<tg-emoji emoji-id='x'>y</tg-emoji>", "Invalid custom emoji identifier specified"),
        ("<blockquote><blockquote>x</blockquote></blockquote>", "Nested blockquote at byte offset 12"),
        ("<code><b>x</b></code>", 'Tag "b" inside verbatim text at byte offset 6'),
    ],
)
def test_bad_markup_is_refused_in_the_servers_words(source: str, refusal: str) -> None:
    """What isn't well formed says what and where, in bytes of what was sent."""
    with pytest.raises(ApiError) as caught:
        parse_html(source)

    assert f"Bad Request: can't parse entities: {refusal}" == caught.value.refusal.description


def test_blank_ends_go_and_take_their_entities_along() -> None:
    """Leading blanks before the first entity and trailing blanks are cut, entities shortened."""
    assert ("x", [("bold", 0, 1)]) == shape(" \n<b>x </b> <i> </i>")


def test_nothing_but_blanks_is_nothing() -> None:
    """A text of blanks is empty."""
    assert Formatted("") == trim(Formatted(" \n "))


def test_entities_beyond_a_hundred_are_dropped() -> None:
    """A message keeps its first hundred entities."""
    assert 100 == len(parse_html("<b>x</b> " * 120).entities)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see https://a.example/b.", [("url", "https://a.example/b")]),
        ("see example.com/x now", [("url", "example.com/x")]),
        ("mail bob@example.com", [("email", "bob@example.com")]),
        ("ask @alice_a, please", [("mention", "@alice_a")]),
        ("/start@sayso_bot now", [("bot_command", "/start@sayso_bot")]),
        ("rm /etc/passwd", []),
        ("run a/b", []),
        ("#tag and $USD", [("hashtag", "#tag"), ("cashtag", "$USD")]),
        (f"{CAT} /yes", [("bot_command", "/yes")]),
    ],
)
def test_telegram_finds_live_parts_in_text(text: str, found: list[tuple[str, str]]) -> None:
    """Links, mentions, commands and tags are found without markup."""
    detected = detect(Formatted(text))

    assert found == [(one.type, covered(text, one)) for one in detected.entities]


@pytest.mark.parametrize("tag", ["code", "pre"])
def test_verbatim_text_has_nothing_live(tag: str) -> None:
    """Nothing is found inside code."""
    detected = detect(parse_html(f"<{tag}>@alice_a example.com /start</{tag}>"))

    assert [tag] == [one.type for one in detected.entities]


@pytest.mark.parametrize(
    ("url", "link"),
    [
        ("https://a.example", "https://a.example/"),
        ("http://127.0.0.1:8080/x", "http://127.0.0.1:8080/x"),
        ("http://localhost:8080/x", ""),
        ("javascript:alert(1)", ""),
        ("http://[", ""),
        ("tg://resolve?domain=x", "tg://resolve?domain=x"),
    ],
)
def test_only_addresses_that_clients_follow_are_links(url: str, link: str) -> None:
    """A host needs a dot, a scheme must be known."""
    assert link == checked_link(url)


def test_units_of_a_text() -> None:
    """Length is counted in UTF-16 units."""
    assert 3 == units(f"a{CAT}")
