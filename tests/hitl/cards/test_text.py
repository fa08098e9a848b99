"""Text from others can't change, unseen, how the text around it looks."""

from __future__ import annotations

import re

import pytest

from hitl.cards.text import Cut, cut_middle, hidden, one_line, visible
from hitl.cards.wording import say
from tests.sentences import says

HIDING = {
    "zero-width space": "\u200b",
    "zero-width joiner": "\u200d",
    "word joiner": "\u2060",
    "byte order mark": "\ufeff",
    "soft hyphen": "\u00ad",
    "right-to-left override": "\u202e",
    "left-to-right isolate": "\u2066",
    "Arabic letter mark": "\u061c",
    "tag": "\U000e0041",
    "escape": "\x1b",
    "backspace": "\b",
    "delete": "\x7f",
    "NUL": "\0",
    "vertical tab": "\v",
    "next line": "\u0085",
    "control sequence introducer": "\u009b",
    "line separator": "\u2028",
    "paragraph separator": "\u2029",
    "private use": "\ue000",
    "private use, plane 16": "\U0010fffd",
    "noncharacter": "\ufffe",
    "unassigned": "\U000e1000",
    "lone surrogate": "\ud800",
    "variation selector": "\ufe00",
    "variation selector without a picture": "\ufe0f",
    "supplementary variation selector": "\U000e0100",
    "Hangul filler": "\u3164",
    "Mongolian vowel separator": "\u180e",
    "combining grapheme joiner": "\u034f",
    "no-break space": "\u00a0",
    "ideographic space": "\u3000",
    "blank braille": "\u2800",
    "object replacement": "\ufffc",
    "interlinear annotation": "\ufff9",
}


@pytest.mark.parametrize("character", HIDING.values(), ids=HIDING.keys())
def test_what_hides_is_written_out(character: str) -> None:
    """A character that is drawn as nothing or moves others is shown as its code point, and counted."""
    text = f"rm{character} x"

    assert f"rm\\u{{{ord(character):x}}} x" == visible(text)
    assert 1 == hidden(text)


@pytest.mark.parametrize(
    "text",
    [
        "rm -rf build/",
        "é e\u0301 Việt",
        "שלום עולם",
        "नमस्ते",
        "กรุงเทพ",
        "❤\ufe0f done",
        "press 1\ufe0f\u20e3",
        "🇩🇪 👍🏽",
        "a\tb\nc",
        "<b>&amp;</b> `x` [y](z)",
    ],
)
def test_what_is_seen_stays(text: str) -> None:
    """Living scripts, pictures, and markup (which is the surfaces' to escape) are left as they are."""
    assert text == visible(text)
    assert 0 == hidden(text)


def test_a_carriage_return_is_written_out() -> None:
    """A carriage return would write over the line; as part of CR LF it isn't counted as hidden."""
    assert "safe\\rrm" == visible("safe\rrm")
    assert 1 == hidden("safe\rrm")
    assert 0 == hidden("one\r\ntwo")


def test_line_breaks_and_tabs_are_written_out_where_one_line_is_wanted() -> None:
    """Without line breaks nothing can start a line of its own."""
    assert r"fine\n\n🟢 checked\t!" == visible("fine\n\n🟢 checked\t!", keep_newlines=False)


def test_a_mark_without_a_letter_is_written_out() -> None:
    """At the start, behind a space or behind an escape a mark would sit on what isn't its own."""
    assert "\\u{301}x" == visible("\u0301x")
    assert "a \\u{301}x" == visible("a \u0301x")
    assert "\\u{200b}\\u{301}" == visible("\u200b\u0301")


def test_a_pile_of_marks_is_counted() -> None:
    """Four marks stay on a letter; the rest, which would cover the lines around, are counted."""
    counted = say("card.marks_left_out", count=46)

    assert "z" + "\u0301" * 4 + counted + "!" == visible("z" + "\u0301" * 50 + "!")
    assert 46 == hidden("z" + "\u0301" * 50 + "!")


def test_one_line_shows_breaks_and_keeps_both_ends() -> None:
    """Breaks become a sign, the middle goes, and how much went is said."""
    assert "fine⏎⏎🟢 checked⏎x" == one_line("fine\n\n🟢 checked\r\nx")

    line = one_line("start" + "x" * 3000 + "end", 60)

    assert line.startswith("startxxx")
    assert line.endswith("xxxend")
    assert says(line, "card.left_out.short")
    assert len(line) <= 60


def test_a_cut_counts_what_is_missing() -> None:
    """What stays and what is left out make the whole."""
    cut = cut_middle("a" * 500 + "b" * 735 + "c" * 500, 529)

    assert Cut("a" * 250 + say("card.left_out", count=1235) + "c" * 250, 1235) == cut


def test_what_fits_is_not_cut() -> None:
    """A text within the limit is given back whole."""
    assert Cut("abc", 0) == cut_middle("abc", 3)


@pytest.mark.parametrize("cluster", ["e\u0301", "👨\u200d👩\u200d👧", "🇩🇪", "नि", "\r\n"])
@pytest.mark.parametrize("limit", range(40, 52))
def test_no_cluster_is_split(cluster: str, limit: int) -> None:
    """What a person sees as one character stays or goes as one, wherever the cut falls."""
    cut = cut_middle(cluster * 100, limit)
    start, _, end = cut.text.split("…")

    assert start == cluster * (len(start) // len(cluster))
    assert end == cluster * (len(end) // len(cluster))
    assert len(cut.text) <= limit


@pytest.mark.parametrize("limit", range(40, 60))
def test_no_escape_is_split(limit: int) -> None:
    """An escape of ours is never cut into something that reads otherwise."""
    start, _, end = one_line("\u202e" * 100, limit).split("…")

    assert start == "\\u{202e}" * (len(start) // 8)
    assert end == "\\u{202e}" * (len(end) // 8)


@pytest.mark.parametrize("unit", ["a\n", "é", "\r\n", "e" + "\u0301" * 3, "\U0001f600", "\u0301", "a\u202e"], ids=ascii)
def test_a_line_of_a_long_text_is_that_of_the_whole_text(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only its ends are looked at. What is left out is then counted as it was written."""
    text = "start " + unit * 30_000 + " end"
    quick = one_line(text)
    monkeypatch.setattr("hitl.cards.text._EDGE", 10**9)

    assert re.sub("[0-9][0-9,]*", "", one_line(text)) == re.sub("[0-9][0-9,]*", "", quick)
